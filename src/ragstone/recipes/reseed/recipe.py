"""`reseed`: the same reasoning about names that no model has seen (SeedRG)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragstone.errors import ConfigError, DataError
from ragstone.extract import extract, question_graph
from ragstone.extract.reading import is_english
from ragstone.kit import Kit, Recipe, identity
from ragstone.naming import Style
from ragstone.recipes.annotate import Annotate
from ragstone.recipes.reseed import shelf
from ragstone.recipes.reseed.difficulty import chosen
from ragstone.recipes.reseed.modes import separated
from ragstone.recipes.reseed.outcomes import with_outcomes
from ragstone.recipes.reseed.policy import Policy
from ragstone.recipes.reseed.seeds import Seeds, slots_in, slots_on_path, used
from ragstone.recipes.reseed.templating import templated
from ragstone.slots import slot_ids
from ragstone.store import evidence_ids, problems
from ragstone.types import Benchmark, Document, Draft, Question, Rejection, Template

CURED_BY_OTHER_NAMES = ("leakage", "familiarity")


@dataclass(frozen=True)
class Seed:
    """One question of a template."""

    question_id: str
    seeds: Seeds


class Reseed(Recipe):
    """Renames every name in questions, answers and documents: same reasoning, same text, nothing to remember.

    Without a generator, names are found by spaCy, titles, word lists and the source's own annotations. With one, a
    model reads each question with its gold documents first (`annotate`).
    """

    uses: ClassVar = ("generator",)
    checks: ClassVar = (
        "name_dependent",
        "answer_found",
        "residual",
        "collisions",
        "structure",
        "grounding",
        "leakage",
        "answerable",
    )
    attempts: ClassVar = 5

    names: Literal["global", "pooled", "isolated"] = identity(
        "global", "one naming for the whole corpus, or one for each question, whose documents are pooled or kept apart"
    )
    style: Style = identity("invented", "how names are coined: invented, word_made or cultural")
    scope: Literal["all", "gold", "path"] = identity(
        "all", "which names are changed: all, those in gold documents, or those that the reasoning touches"
    )
    dates: Literal["shift", "keep"] = identity("shift", "whether years move by one constant")
    numbers: Literal["answers", "keep"] = identity("answers", "whether numbers that answer a question are changed")
    closed: Literal["keep", "swap"] = identity("keep", "whether countries, nationalities and languages change places")
    concepts: Literal["auto", "none", "coin"] = identity(
        "auto", "whether words of the choices are coined: where a question has choices without names, never, or always"
    )
    vary: Literal["names", "outcome"] = identity(
        "names", "what differs between draws: names, or also the outcome of comparisons and yes-or-no questions"
    )
    difficulty: str = identity("", "only questions that meet this, for instance hops>=3+nodes>=4+distractors>=2")

    def first(self, kit: Kit) -> Sequence[Recipe]:
        return (Annotate(),) if kit.has("generator") else ()

    def plan(self, benchmark: Benchmark, kit: Kit) -> Mapping[str, Seed]:
        if benchmark.template:
            raise ConfigError("this benchmark has a template already: `ragstone draw` gives it other names at once")
        for problem in problems(benchmark):
            raise DataError(f"in this source {problem}; mend it first")
        if not benchmark.questions:
            return {}
        template = self.shaped(self.read(within_reach(benchmark), kit))
        seeds = Seeds(template.model_copy(update={"style": self.style}), kit.draw, self.style).named()
        return {question.id: Seed(question.id, seeds) for question in template.questions}

    def read(self, benchmark: Benchmark, kit: Kit) -> Template:
        """The template of the source, recalled where the same was read before."""
        key = shelf.key(benchmark, self.policy().model_dump_json(), self.difficulty)
        if found := shelf.recall(kit.cache, key):
            return found
        graphs = extract(benchmark.documents, kit.cache)
        documents = {document.id: document for document in benchmark.documents}
        about = {question.id: question_graph(question, documents) for question in benchmark.questions}
        if self.difficulty:
            benchmark = chosen(benchmark, about, graphs, self.difficulty)
        template = templated(benchmark, {**graphs, **about}, self.policy())
        shelf.keep(kit.cache, key, template)
        return template

    def policy(self) -> Policy:
        told = {name: getattr(self, name) for name in ("scope", "dates", "numbers", "closed", "concepts")}
        return Policy(**told)

    def shaped(self, template: Template) -> Template:
        """The template as the corpus mode and the wish for other outcomes ask."""
        if self.names != "global":
            template = separated(template, pooled=self.names == "pooled")
        return with_outcomes(template) if self.vary == "outcome" else template

    def make(self, job: Seed, kit: Kit, rejections: Sequence[Rejection]) -> Iterable[Draft]:
        """The question under the names of this round; what was rejected under the same names is not made again."""
        if reason := unfit(job.seeds, job.question_id):
            raise DataError(f"question {job.question_id}: {reason}")
        draft = job.seeds.draft(job.question_id)
        return [] if any(rejection.draft.question == draft.question for rejection in rejections) else [draft]

    def replan(
        self, jobs: Mapping[str, Seed], rejected: Mapping[str, Sequence[Rejection]], kit: Kit
    ) -> Mapping[str, Seed]:
        """Coins other names for what leaked; every question that meets one of them is made and checked again."""
        curable = [id for id, every in rejected.items() if every[-1].check.startswith(CURED_BY_OTHER_NAMES)]
        if not curable:
            return {}
        seeds = latest(jobs)
        tried = {slot.id: slot.tried for slot in seeds.template.slots}
        leaked = {id for question in curable for id in slots_on_path(seeds.questions[question]) & seeds.name_slots}
        renamed = seeds.named({**tried, **{id: tried[id] + 1 for id in leaked}})
        changed = seeds.changed(renamed)
        return {id: Seed(id, renamed) for id in jobs if renamed.slots_of(id) & changed}

    def corpus(
        self, benchmark: Benchmark, jobs: Mapping[str, Seed], kept: Sequence[Question], kit: Kit
    ) -> Iterable[Document]:
        if not jobs:
            return ()
        seeds = latest(jobs)
        return [seeds.document(id)[0] for id in needed(seeds, kept)]

    def template(self, jobs: Mapping[str, Seed], kept: Sequence[Question], kit: Kit) -> Template | None:
        if not jobs:
            return None
        seeds = latest(jobs)
        documents = tuple(seeds.documents[id] for id in needed(seeds, kept))
        questions = tuple(seeds.questions[question.id] for question in kept)
        slots = used(seeds.template.slots, slots_in((*documents, *questions)))
        return seeds.template.model_copy(update={"documents": documents, "questions": questions, "slots": slots})


def unfit(seeds: Seeds, question_id: str) -> str:
    """Why a question cannot be made, if so."""
    question = seeds.questions[question_id]
    gold = evidence_ids(question)
    if not gold and question.answerable:
        return "it names no gold documents, so nothing would show that its answer follows; use a source with evidence"
    texts = [text for id in gold if (text := seeds.original(id)).strip()]
    if gold and not texts:
        return "its gold documents are empty; mend the source"
    if not question.graph and not any(map(is_english, texts or [seeds.asked_originally(question_id)])):
        return "it is not in English, which is all that is read without a model; set one with --model generator=SPEC"
    if not seeds.slots_of(question_id) & seeds.name_slots:
        return "no name was found to change; a model may find one, so set it with --model generator=SPEC"
    changed = {bool(slot_ids(choice)) for choice in question.choices}
    if len(changed) > 1:
        return "only some of its choices could be changed, which would give them away"
    return seeds.left_over(question_id)


def within_reach(benchmark: Benchmark) -> Benchmark:
    """The benchmark with just the documents that its questions may search: with few questions, few are read."""
    if any(not question.scope for question in benchmark.questions):
        return benchmark
    wanted = {id for asked in benchmark.questions for id in (*asked.scope, *asked.hidden, *evidence_ids(asked))}
    return benchmark.model_copy(update={"documents": tuple(one for one in benchmark.documents if one.id in wanted)})


def latest(jobs: Mapping[str, Seed]) -> Seeds:
    """The names that count: a question that no new name touches may still hold the earlier ones."""
    return max((job.seeds for job in jobs.values()), key=lambda seeds: seeds.round)


def needed(seeds: Seeds, kept: Sequence[Question]) -> list[str]:
    """The documents that the kept questions may search, in the order of the source."""
    if any(not question.scope for question in kept):
        return list(seeds.documents)
    wanted = {id for question in kept for id in (*question.scope, *question.hidden, *evidence_ids(question))}
    return [id for id in seeds.documents if id in wanted]
