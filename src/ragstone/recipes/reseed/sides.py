"""The two things that a question compares, with the facts and documents about each."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ragstone.graphs.edges import edges, names
from ragstone.graphs.execution import Plan, Way, follow_up, plain_name, reasoning, walk
from ragstone.slots import bind_all, originals, slot_ids
from ragstone.store import evidence_ids
from ragstone.types import Document, Question, ReasoningGraph, Slot, Template

SENTENCE = re.compile(r"(?<=[.!?])\s")


@dataclass(frozen=True)
class Side:
    """One of the things that are compared."""

    start: str  # its node
    facts: frozenset[int]
    documents: tuple[str, ...]
    value: int  # the fact that tells what is compared
    told_in: str  # its document


@dataclass(frozen=True)
class Corpus:
    """A template, and how its texts read with the names that stood there."""

    template: Template

    @cached_property
    def read(self) -> tuple[dict[str, Document], dict[str, Question]]:
        documents, questions = bind_all(self.template, self.values)
        return {it.id: it for it in documents}, {it.id: it for it in questions}

    @cached_property
    def values(self) -> dict[str, str]:
        return originals(self.template.slots)

    @cached_property
    def documents(self) -> dict[str, Document]:
        return {document.id: document for document in self.template.documents}

    @cached_property
    def questions(self) -> dict[str, Question]:
        return {question.id: question for question in self.template.questions}

    @cached_property
    def year_slots(self) -> dict[str, Slot]:
        return {slot.id: slot for slot in self.template.slots if slot.kind == "year"}

    @cached_property
    def holders(self) -> dict[str, set[str]]:
        """The documents in which each slot stands."""
        found: dict[str, set[str]] = {}
        for document in self.template.documents:
            for id in slot_ids(f"{document.title} {document.text}"):
                found.setdefault(id, set()).add(document.id)
        return found

    @cached_property
    def asked(self) -> dict[str, set[str]]:
        """The questions for which each document is evidence."""
        found: dict[str, set[str]] = {}
        for question in self.template.questions:
            for id in evidence_ids(question):
                found.setdefault(id, set()).add(question.id)
        return found

    def text(self, id: str) -> str:
        return f"{self.documents[id].title}\n{self.documents[id].text}"

    def mentions(self, side: Side) -> Iterator[str]:
        """The sentences of other documents that may be about the side: they have a part of its name."""
        for own in side.documents:
            marks = set(slot_ids(self.documents[own].title)) - set(self.year_slots)
            holding = [self.holders[mark] for mark in marks]
            for id in set.intersection(*holding) - set(side.documents) if holding else ():
                for sentence in SENTENCE.split(self.text(id)):
                    if marks & set(slot_ids(sentence)):
                        yield sentence


def compared(read: Question, made: Plan, corpus: Corpus) -> list[Side]:
    """The two sides, if there are two, each with facts and documents of its own."""
    starts = {way.start for way in made.ways}
    if made.operation not in ("least", "greatest", "same") or len(starts) != 2 or len(made.ways) != 2:
        return []
    sides = [side_of(way, read, corpus) for way in made.ways]
    both = [side for side in sides if side]
    apart = len(both) == 2 and not (both[0].facts & both[1].facts or {*both[0].documents} & {*both[1].documents})
    return both if apart else []


def side_of(way: Way, read: Question, corpus: Corpus) -> Side | None:
    """The facts along a way that does not fork, and the evidence documents that bear the names of their subjects."""
    graph = reasoning(read)
    told, called = edges(graph), names(graph)
    facts = walk(way, told, called).used
    goes_on = {told[place].subject for place in facts}
    values = [place for place in facts if follow_up(told[place].object, told, called) not in goes_on]
    titles = {plain_name(corpus.read[0][id].title): id for id in evidence_ids(read)}
    own = {place: titles.get(plain_name(called[told[place].subject])) for place in sorted(facts)}
    documents = tuple(dict.fromkeys(id for id in own.values() if id))
    if len(values) != 1 or not all(own.values()):
        return None
    return Side(way.start, frozenset(facts), documents, values[0], str(own[values[0]]))


def value_of(side: Side, graph: ReasoningGraph) -> str:
    """What is compared, by name."""
    return names(graph)[graph.facts[side.value].object]
