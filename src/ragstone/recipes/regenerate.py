"""Writes gold documents anew from the facts of the questions: their graph stays, their wording goes."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from ragstone.errors import DataError, ModelError
from ragstone.gazetteer import FUNCTION_WORDS
from ragstone.kit import Kit, Recipe
from ragstone.prompts import prompt, quoted
from ragstone.recipes.annotate import all_of, model_of
from ragstone.recipes.annotation import occurs, says, short, spellings
from ragstone.recipes.repair import ask_soundly
from ragstone.store import evidence_ids
from ragstone.text import is_unspaced, language, tokens
from ragstone.types import (
    Benchmark,
    Document,
    Draft,
    Entity,
    Evidence,
    Fact,
    Question,
    ReasoningGraph,
    Record,
    Rejection,
)

REPAIRS = 2
REPLY = 2_048
TONE = 80
"""Words of the original that show its tone."""
WORDS_FOR_A_FACT = 15

WORD = re.compile(r"[^\W_]+")
NEXT_CAPITAL = re.compile(r" (?=[^\W\d_])(?![a-zß-öø-ÿ])")
SENTENCE_END = re.compile(r"[.!?:;\n\"“”„(]\s*$")


class Passage(Record):
    """What the model writes."""

    text: Annotated[str, Field(min_length=1)]


@dataclass(frozen=True)
class Rewriting:
    """A question, and the graph of each document that it names and facts are stated in."""

    question: Question
    graphs: Mapping[str, ReasoningGraph]


class Regenerate(Recipe):
    """Has a model write every document that states facts of a reasoning graph anew, from these facts alone.

    Each fact is stated and every name that stands there comes from the facts; what breaks that is mended at most twice.
    """

    needs: ClassVar = ("generator",)
    prompts: ClassVar = ("regenerate", "repair")
    checks: ClassVar = ("grounding",)

    def plan(self, benchmark: Benchmark, kit: Kit) -> Mapping[str, Rewriting]:
        documents = {document.id: document for document in benchmark.documents}
        graphs = graphs_of_documents(benchmark.questions, documents)
        jobs = {}
        for question in benchmark.questions:
            own = {id: graphs[id] for id in named_documents(question) if id in graphs}
            jobs[question.id] = Rewriting(question, own)
        return jobs

    def make(self, job: Rewriting, kit: Kit, rejections: Sequence[Rejection]) -> Iterable[Draft]:
        question = job.question
        if not question.graph or not question.graph.facts:
            raise DataError(f"question {question.id}: it has no facts to write from; build `annotate` from it first")
        for fact in question.graph.facts:
            if not place_of(fact, question, kit.documents):
                told = " | ".join((fact.subject, fact.relation, fact.object))
                raise DataError(f"question {question.id}: no gold document states {told}; leave it out")
        asks = [partial(rewritten, kit.documents[id], graph, kit, len(rejections)) for id, graph in job.graphs.items()]
        written = dict(zip(job.graphs, all_of(asks), strict=True))
        return [Draft(question=pointing(question, written), documents=tuple(written.values()))]

    def corpus(
        self, benchmark: Benchmark, jobs: Mapping[str, Rewriting], kept: Sequence[Question], kit: Kit
    ) -> Iterable[Document]:
        gone = {id for job in jobs.values() for id in job.graphs}
        return (document for document in benchmark.documents if document.id not in gone)


def named_documents(question: Question) -> list[str]:
    return list(dict.fromkeys((*evidence_ids(question), *question.scope, *question.hidden)))


# ── which facts belong to which document ─────────────────────────────────────────────────────────────────────────────


def graphs_of_documents(questions: Sequence[Question], documents: Mapping[str, Document]) -> dict[str, ReasoningGraph]:
    """What each document states, of the facts of all questions: it is written once for all of them."""
    told: dict[str, list[tuple[Fact, Sequence[Entity]]]] = {}
    for question in questions:
        for fact in question.graph.facts if question.graph else ():
            if place := place_of(fact, question, documents):
                told.setdefault(place, []).append((fact, question.graph.entities if question.graph else ()))
    return {id: graph_in_names(pairs) for id, pairs in told.items()}


def place_of(fact: Fact, question: Question, documents: Mapping[str, Document]) -> str:
    """The document that states the fact: as its evidence says, else the gold one that has most of its names."""
    if fact.evidence:
        return fact.evidence[0].document_id
    known = {entity.id: spellings(entity) for entity in (question.graph.entities if question.graph else ())}

    def named(id: str) -> int:
        text = f"{documents[id].title}\n{documents[id].text}"
        return sum(any(says(text, it) for it in known.get(end, (end,))) for end in (fact.subject, fact.object))

    return max(filter(named, evidence_ids(question)), key=named, default="")


def graph_in_names(told: Sequence[tuple[Fact, Sequence[Entity]]]) -> ReasoningGraph:
    """The facts with names instead of ids, each once, and the entities that they name."""
    entities: dict[str, Entity] = {}
    facts: dict[tuple[str, str, str], Fact] = {}
    for fact, among in told:
        known = {entity.id: entity for entity in among}
        for end in (fact.subject, fact.object):
            if end in known:
                entities.setdefault(known[end].name, known[end].model_copy(update={"id": known[end].name}))
        subject, object = (known[end].name if end in known else end for end in (fact.subject, fact.object))
        facts.setdefault((subject, fact.relation, object), Fact(subject=subject, relation=fact.relation, object=object))
    return ReasoningGraph(entities=tuple(entities.values()), facts=tuple(facts.values()))


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def rewritten(original: Document, graph: ReasoningGraph, kit: Kit, sample: int) -> Document:
    text = written_from_facts(graph.facts, graph.entities, original, kit, sample)
    id = hashlib.sha256(f"{original.id}\x1f{text}".encode()).hexdigest()[:10]
    return Document(id=f"w-{id}", title=original.title, text=text, labels={**original.labels, "written": "from facts"})


def written_from_facts(
    facts: Sequence[Fact], entities: Sequence[Entity], original: Document, kit: Kit, sample: int = 0
) -> str:
    """A passage that states these facts and names nothing else, about as long as the original and in its tone.

    Subjects and objects are ids of the entities, or names and values as they are to be written.
    """
    model = model_of(kit)
    known = {entity.id: entity.name for entity in entities}
    told = [tuple(known.get(end, end) for end in (fact.subject, fact.relation, fact.object)) for fact in facts]
    words = min(len(tokens(original.text)), WORDS_FOR_A_FACT * len(told))
    asked = prompt(Path(__file__).parent, "regenerate").fill(
        documents=quoted(["\n".join(map(described, entities)), "\n".join(map(" | ".join, told)), tone(original.text)]),
        length=f"about {max(words, WORDS_FOR_A_FACT)} words",
        language=language(original.text) or kit.language or "that of the facts",
    )

    def problems(passage: Passage) -> list[str]:
        return passage_problems(passage.text, told, entities, original.title)

    passage, wrong = ask_soundly(model, Passage, asked, problems, repairs=REPAIRS, max_tokens=REPLY, sample=sample)
    if wrong:
        raise ModelError(
            f"{model.name} wrote document {original.id} not from its facts alone, also when asked again: {wrong[0]}"
        )
    return passage.text


def described(entity: Entity) -> str:
    """`Ada Vell (person, female)`."""
    gender = {"m": "male", "f": "female", "": ""}[entity.gender]
    kind = ", ".join(filter(None, (entity.type, gender)))
    return f"{entity.name} ({kind})" if kind else entity.name


def tone(text: str) -> str:
    """The beginning of a text without names and numbers; empty where they cannot be told by their letters."""
    return "" if is_unspaced(text) else WORD.sub(without_names, " ".join(text.split()[:TONE]))


def passage_problems(text: str, told: Sequence[tuple[str, ...]], entities: Sequence[Entity], title: str) -> list[str]:
    """What is missing in a passage, and what was not told."""
    forms = {entity.name: spellings(entity) for entity in entities}
    ends = dict.fromkeys(end for subject, _, object in told for end in (subject, object) if end)
    missing = [
        end for end in ends if not any(occurs(form, text) or says(text, form) for form in forms.get(end, (end,)))
    ]
    known = {
        word
        for part in (title, *(it for fact in told for it in fact), *(f for it in entities for f in spellings(it)))
        for word in tokens(part)
    }
    strange = dict.fromkeys(word for word in names_and_numbers(text) if not known.issuperset(tokens(word)))
    return [
        *(f"{short(end)} is not in the passage" for end in missing),
        *(f"{short(word)} is in no fact" for word in strange),
    ]


def names_and_numbers(text: str) -> Iterator[str]:
    """Numbers, and words with a capital; one that begins a sentence must be followed by another to be a name."""
    for found in WORD.finditer(text):
        begins = not found.start() or bool(SENTENCE_END.search(text[max(0, found.start() - 3) : found.start()]))
        if begins and found[0].lower() not in FUNCTION_WORDS:
            begins = not NEXT_CAPITAL.match(text, found.end())
        if found[0][0].isdigit() or (found[0][0].isupper() and not begins):
            yield found[0]


def without_names(word: re.Match[str]) -> str:
    return "…" if word[0][0].isdigit() or word[0][0].isupper() else word[0]


# ── pointing to what was written ─────────────────────────────────────────────────────────────────────────────────────


def pointing(question: Question, written: Mapping[str, Document]) -> Question:
    """The question with every pointer to a document that was written anew led there."""
    groups = (tuple(dict.fromkeys(moved(piece, written) for piece in group)) for group in question.evidence)
    graph = question.graph
    if graph:
        facts = tuple(
            it.model_copy(update={"evidence": tuple(moved(e, written) for e in it.evidence)}) for it in graph.facts
        )
        graph = graph.model_copy(update={"facts": facts})
    ids = {old: new.id for old, new in written.items()}
    told = {name: tuple(ids.get(id, id) for id in getattr(question, name)) for name in ("scope", "hidden")}
    return question.model_copy(update={**told, "evidence": tuple(dict.fromkeys(groups)), "graph": graph})


def moved(piece: Evidence, written: Mapping[str, Document]) -> Evidence:
    """The quote where it stands now, else the whole document."""
    if piece.document_id not in written:
        return piece
    document = written[piece.document_id]
    start = document.text.find(piece.quote) if piece.quote else -1
    if start < 0:
        return Evidence(document_id=document.id)
    return Evidence(document_id=document.id, quote=piece.quote, start=start, end=start + len(piece.quote))
