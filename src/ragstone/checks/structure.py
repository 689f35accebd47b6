"""The reasoning survived: the answer follows from the facts, and the documents still tell them."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from ragstone.graphs import aligned, answer_of, isomorphic, noise_floor, reasoning
from ragstone.kit import Check, Kit, Model, identity
from ragstone.prompts import quoted
from ragstone.retrieval.chunks import titled
from ragstone.store import evidence_ids
from ragstone.text import canonical_tokens, contains_run
from ragstone.types import Document, Draft, Fact, Question, ReasoningGraph, Record, Verdict

REPLY = 4_096


class Stated(Record):
    """A fact as a model reads it."""

    subject: str
    relation: str
    object: str


class Reading(Record):
    """All that texts state."""

    facts: tuple[Stated, ...]


class Structure(Check):
    """Rejects a question whose answer does not follow from its facts, or whose rewritten documents do not tell them.

    The reason says what kind of evidence there is. Where names were exchanged one to one the graph is the same by
    construction. Documents that a model wrote are read again by the generator, and compared with the facts.
    """

    uses: ClassVar = ("generator",)
    prompts: ClassVar = ("structure",)

    how: Literal["sound", "paper"] = identity(
        "sound", "compare rewritten documents by names against how far readings agree, or one reading by its bare shape"
    )
    readings: int = identity(3, "how often rewritten documents are read", ge=2)
    slack: float = identity(0.05, "how far below the agreement of readings the agreement with the facts may be", ge=0)

    def check(self, draft: Draft, kit: Kit) -> Verdict:
        question = draft.question
        if not question.graph or not question.graph.facts:
            return Verdict(passed=True, reason="not shown: it has no facts")
        if problem := wrong_answer(question):
            return Verdict(passed=False, reason=problem)
        read = read_again(draft, kit) if self.how == "sound" else [kit.documents[id] for id in evidence_ids(question)]
        if not read:
            return Verdict(passed=True, reason=f"by construction: names were exchanged one to one; {follows(question)}")
        if kit.generator is None:
            return Verdict(passed=True, reason=f"not shown: no generator to read its documents; {follows(question)}")
        return self.compared(question, read, kit.generator)

    def compared(self, question: Question, read: Sequence[Document], model: Model) -> Verdict:
        expected = told_in(question, read)
        if self.how == "paper":
            likeness = isomorphic(expected, self.reading(read, model, 0), typed=False, relations=False)
            return Verdict(
                passed=likeness == "isomorphic", reason=f"read again once, names and types left out: {likeness}"
            )
        readings = [self.reading(read, model, sample) for sample in range(self.readings)]
        floor = noise_floor(readings)
        found = [aligned(expected, reading) for reading in readings]
        agreement = sum(one.edge_f1 for one in found) / len(found)
        path = reasoning(question).facts
        lost = [fact for fact in path if 2 * sum(fact in one.missing for one in found) > len(found)]
        if lost:
            return Verdict(passed=False, reason=f"read again: most readings lack {in_words(lost[0], question)}")
        reason = f"read again: edge-F1 {agreement:.2f}, and readings agree to {floor:.2f} among themselves"
        return Verdict(passed=agreement >= floor - self.slack, reason=reason)

    def reading(self, documents: Sequence[Document], model: Model, sample: int) -> ReasoningGraph:
        """What the documents state; the first time as the model thinks likeliest, then otherwise."""
        texts = quoted(titled(document.title, document.text) for document in documents)
        prompt = self.prompt("structure").fill(documents=texts)
        told = model.ask_for(Reading, prompt, sample=sample, temperature=0.7 if sample else 0.0, max_tokens=REPLY)
        return ReasoningGraph(facts=tuple(Fact(**fact.model_dump()) for fact in told.facts))


def wrong_answer(question: Question) -> str:
    """What follows from the facts instead of the answer; nothing where they do not decide."""
    known = answer_of(question)
    if known is None or not question.answerable or len(question.answers) != 1:
        return ""
    said = canonical_tokens(known)
    if any(contains_run(said, run) or contains_run(run, said) for run in map(canonical_tokens, question.answers[0])):
        return ""
    return f"its facts lead to {known!r}, and its answer is {question.answers[0][0]!r}"


def follows(question: Question) -> str:
    return "the answer follows from the facts" if answer_of(question) else "the facts alone do not decide the answer"


def read_again(draft: Draft, kit: Kit) -> list[Document]:
    """The evidence documents that were written from facts."""
    found = [kit.documents[id] for id in evidence_ids(draft.question) if id in kit.documents]
    return [document for document in found if document.labels.get("written") == "from facts"]


def told_in(question: Question, documents: Sequence[Document]) -> ReasoningGraph:
    """The facts that these documents must tell: those whose evidence is there, and those without evidence."""
    graph = question.graph or ReasoningGraph()
    ids = {document.id for document in documents}
    facts = [fact for fact in graph.facts if not fact.evidence or any(it.document_id in ids for it in fact.evidence)]
    return graph.model_copy(update={"facts": tuple(facts)})


def in_words(fact: Fact, question: Question) -> str:
    called = {entity.id: entity.name for entity in question.graph.entities} if question.graph else {}
    return repr(
        " | ".join((called.get(fact.subject, fact.subject), fact.relation, called.get(fact.object, fact.object)))
    )
