"""A model reads questions with their gold documents: what is named, what is stated, how the answer follows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar, Literal, TypeVar

from ragstone.errors import ConfigError, DataError, ModelError, Waiting
from ragstone.kit import Kit, Model, Recipe, identity
from ragstone.matching import spelled_out, with_choices
from ragstone.prompts import Safe, quoted
from ragstone.recipes.annotation import (
    Annotation,
    Named,
    Reading,
    Reasoning,
    Texts,
    annotation_problems,
    graph_of,
    missing_answer,
    reading_problems,
    says,
    spelling_problems,
    way_problems,
)
from ragstone.recipes.merge import merged
from ragstone.recipes.repair import ask_soundly
from ragstone.retrieval.chunks import chunk, titled
from ragstone.text import count_tokens
from ragstone.types import Benchmark, Document, Draft, Question, Record, Rejection

T = TypeVar("T")
R = TypeVar("R", bound=Record)

AT_ONCE = 3_000
"""Tokens of documents that a model reads in one call; more are read piece by piece."""
AT_MOST = 60_000
"""Tokens of documents beyond which a question is not annotated: no question needs them, and they cost."""
WANTED = {
    "reasoning": "Just the facts from which the answer follows, in the order of reasoning.",
    "all": "Every fact that the texts state; first those from which the answer follows, in the order of reasoning.",
}
REPLY = 4_096


class Annotate(Recipe):
    """Gives every question the graph of its reasoning: entities with all their spellings, facts with their sentences.

    What does not stand in the text letter for letter is told to the model once and then left out.
    """

    needs: ClassVar = ("generator",)
    prompts: ClassVar = ("annotate", "annotate_rules", "annotate_document", "annotate_question", "repair")

    documents: Literal["gold", "scope"] = identity(
        "gold", "which documents are read with a question: those of its evidence, or all that it may search"
    )
    facts: Literal["reasoning", "all"] = identity(
        "reasoning", "which facts the graph holds: those from which the answer follows, or after them all others too"
    )

    def plan(self, benchmark: Benchmark, kit: Kit) -> Mapping[str, Question]:
        return {question.id: question for question in benchmark.questions}

    def make(self, job: Question, kit: Kit, rejections: Sequence[Rejection]) -> Iterable[Draft]:
        texts = Texts(job, self.documents_of(job, kit))
        told, faults = self.told(texts, model_of(kit), len(rejections))
        graph, steps = graph_of(told, texts)
        if job.graph:
            graph, steps = merged(job.graph, graph), len(job.graph.facts) or steps
        if self.facts == "reasoning":
            graph = graph.model_copy(update={"facts": graph.facts[:steps]})
        if missing := missing_answer(graph, job):
            raise ModelError(why_missing(missing, texts, model_of(kit)))
        counted = {"steps": steps if self.facts == "all" else 0, "annotation_faults": len(faults)}
        labels = {**job.labels, **{name: number for name, number in counted.items() if number}}
        return [Draft(question=job.model_copy(update={"graph": graph, "labels": labels}))]

    def documents_of(self, question: Question, kit: Kit) -> list[Document]:
        found = gold_documents(question, kit)
        if self.documents == "scope":
            found |= {id: kit.documents[id] for id in question.scope if kit.documents[id].text.strip()}
        size = sum(count_tokens(document.text) for document in found.values())
        if size > AT_MOST:
            raise DataError(
                f"question {question.id}: its documents have about {size:,} tokens, and more than {AT_MOST:,} are not "
                "annotated; split them into passages"
            )
        return list(found.values())

    def told(self, texts: Texts, model: Model, sample: int) -> tuple[Annotation, Sequence[str]]:
        """What the model tells, and what is still wrong with it."""
        if sum(count_tokens(document.text) for document in texts.documents) > AT_ONCE:
            return self.told_in_parts(texts, model, sample)
        shown = quoted([*asked(texts.question), *(titled(it.title, it.text) for it in texts.documents)])
        rules = self.prompt("annotate_rules").fill()
        prompt = self.prompt("annotate").fill(documents=shown, rules=rules, wanted=WANTED[self.facts])
        return sound(model, Annotation, prompt, lambda it: annotation_problems(it, texts), sample)

    def told_in_parts(self, texts: Texts, model: Model, sample: int) -> tuple[Annotation, Sequence[str]]:
        """Document by document, in pieces where it is long, and then how the answer follows from the facts."""
        pieces = chunk(texts.documents, AT_ONCE)
        known = {document.id: document for document in texts.documents}

        def read(text: str, document: Document) -> Callable[[], tuple[Reading, Sequence[str]]]:
            alone = Texts(Question(id="", text=""), [document])
            prompt = self.prompt("annotate_document").fill(
                documents=quoted([text]), rules=self.prompt("annotate_rules").fill()
            )
            return lambda: sound(model, Reading, prompt, lambda it: reading_problems(it, alone), sample)

        readings = all_of([read(piece.text, known[piece.document_id]) for piece in pieces])
        whole = joined([reading for reading, _ in readings])
        reasoning, faults = self.reasoned(whole, texts, model, sample)
        return with_reasoning(whole, reasoning), [*(it for _, wrong in readings for it in wrong), *faults]

    def reasoned(self, whole: Reading, texts: Texts, model: Model, sample: int) -> tuple[Reasoning, Sequence[str]]:
        names = "\n".join(" = ".join(entity.spellings) for entity in whole.entities)
        facts = "\n".join(f"{it.number}. {it.subject} | {it.relation} | {it.object}" for it in whole.facts)
        prompt = self.prompt("annotate_question").fill(documents=quoted([*asked(texts.question), names, facts]))

        def problems(reasoning: Reasoning) -> list[str]:
            return spelling_problems(reasoning.entities, texts) + way_problems(with_reasoning(whole, reasoning), texts)

        return sound(model, Reasoning, prompt, problems, sample)


def sound(
    model: Model, kind: type[R], asked: Safe, problems: Callable[[R], Sequence[str]], sample: int
) -> tuple[R, Sequence[str]]:
    return ask_soundly(model, kind, asked, problems, repairs=1, max_tokens=REPLY, sample=sample)


def gold_documents(question: Question, kit: Kit) -> dict[str, Document]:
    """The documents that say something, of the first piece of evidence of each group."""
    ids = dict.fromkeys(group[0].document_id for group in question.evidence if group)
    if not ids:
        raise DataError(f"question {question.id}: it names no gold documents to read; use a source with evidence")
    for id in ids:
        if id not in kit.documents:
            raise DataError(f"question {question.id}: its gold document {id} does not exist; mend the source")
    found = {id: kit.documents[id] for id in ids if kit.documents[id].text.strip()}
    if not found:
        raise DataError(f"question {question.id}: its gold documents are empty; mend the source")
    return found


def model_of(kit: Kit) -> Model:
    if kit.generator is None:
        raise ConfigError("this recipe needs a model as generator; set one with --model generator=SPEC")
    return kit.generator


def asked(question: Question) -> list[str]:
    return [with_choices(question), spelled_out(question.answers) or "(none)"]


def why_missing(answer: str, texts: Texts, model: Model) -> str:
    read = any(says(f"{document.title}\n{document.text}", answer) for document in texts.documents)
    place = f"no entity or fact that {model.name} found" if read else "none of its gold documents"
    return f"question {texts.question.id}: its answer {answer!r} is in {place}, so it has no graph; leave it out"


def joined(readings: Sequence[Reading]) -> Reading:
    """What several texts name and state, as if they were one; facts are numbered anew."""
    facts = [fact for reading in readings for fact in reading.facts]
    numbered = tuple(fact.model_copy(update={"number": number}) for number, fact in enumerate(facts, 1))
    return Reading(entities=united(entity for reading in readings for entity in reading.entities), facts=numbered)


def united(entities: Iterable[Named]) -> tuple[Named, ...]:
    """Each thing once: it is the same if it has the same type and one has the other's name."""
    found: list[Named] = []
    for entity in entities:
        for position, one in enumerate(found):
            if one.type == entity.type and (entity.name in one.spellings or one.name in entity.spellings):
                forms = tuple(dict.fromkeys((*one.forms, *(it for it in entity.spellings if it != one.name))))
                gender = one.gender if one.gender != "none" else entity.gender
                found[position] = one.model_copy(update={"forms": forms, "gender": gender})
                break
        else:
            found.append(entity)
    return tuple(found)


def with_reasoning(whole: Reading, reasoning: Reasoning) -> Annotation:
    entities = united((*whole.entities, *reasoning.entities))
    return Annotation(entities=entities, facts=whole.facts, operation=reasoning.operation, steps=reasoning.steps)


def all_of(asks: Sequence[Callable[[], T]]) -> list[T]:
    """All replies; where one must be waited for, the others are asked for all the same."""
    replies: list[T] = []
    waiting: Waiting | None = None
    for ask in asks:
        try:
            replies.append(ask())
        except Waiting as error:
            waiting = error
    if waiting:
        raise waiting
    return replies
