"""A template with the names of one draw, bound where it is looked at."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from ragstone.naming import Style, coin
from ragstone.recipes.reseed.residue import Residue, said_in
from ragstone.slots import (
    NAMES,
    Bound,
    bind,
    change_document,
    change_question,
    filling,
    originals,
    slot_ids,
    template_words,
    values,
)
from ragstone.store import evidence_ids
from ragstone.types import Document, Draft, Question, ReasoningGraph, Slot, Template


@dataclass(frozen=True)
class Seeds:
    """All questions of a template under one naming. Every job of a build shares it."""

    template: Template
    draw: int
    style: Style
    round: int = 0  # how often names were coined
    bound: dict[str, tuple[Document, Bound]] = field(default_factory=dict)  # filled as documents are looked at
    residues: dict[str, str] = field(default_factory=dict)  # likewise

    @cached_property
    def values(self) -> dict[str, str]:
        return values(self.template.slots)

    @cached_property
    def documents(self) -> dict[str, Document]:
        return {document.id: document for document in self.template.documents}

    @cached_property
    def questions(self) -> dict[str, Question]:
        return {question.id: question for question in self.template.questions}

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of the original, which no coined name may be."""
        return frozenset(word.casefold() for word in template_words(self.template))

    @cached_property
    def originals(self) -> dict[str, str]:
        return originals(self.template.slots)

    def original(self, document_id: str) -> str:
        """The text of a document before names were changed."""
        return bind(self.documents[document_id].text, self.originals)

    def asked_originally(self, question_id: str) -> str:
        return bind(self.questions[question_id].text, self.originals)

    def document(self, id: str) -> tuple[Document, Bound]:
        if id not in self.bound:
            self.bound[id] = change_document(self.documents[id], filling(self.values))
        return self.bound[id]

    @cached_property
    def residue(self) -> Residue:
        return Residue(self.template, self.originals, self.values)

    def left_over(self, question_id: str) -> str:
        """Where an original name is still to be read, if anywhere."""
        draft = self.draft(question_id)
        told = {"the question": said_in(draft.question)}
        told |= {f"document {document.id}": f"{document.title}\n{document.text}" for document in draft.documents}
        for place, text in told.items():
            if name := self.found_in(text):
                return f"{name!r} is left in {place}"
        return ""

    def found_in(self, text: str) -> str:
        """The first original name in a text, which many questions may share."""
        if text not in self.residues:
            self.residues[text] = self.residue.left_in(text)
        return self.residues[text]

    def draft(self, question_id: str) -> Draft:
        """The question under this naming, with the documents that it may search and that its evidence names."""
        question = self.questions[question_id]
        own = {id: self.document(id) for id in dict.fromkeys((*question.scope, *evidence_ids(question)))}
        places = {id: (id, place) for id, (_, place) in own.items()}
        asked = change_question(question, filling(self.values), places)
        return Draft(question=asked, documents=tuple(document for document, _ in own.values()))

    def named(self, tried: Mapping[str, int] | None = None) -> "Seeds":
        """The same template with names coined: anew for the slots in `tried`, after as many that were turned down."""
        slots = [
            slot.model_copy(update={"tried": (tried or {}).get(slot.id, slot.tried)}) for slot in self.template.slots
        ]
        coined = coin(slots, draw=self.draw, style=self.style, avoid=self.words)
        filled = tuple(slot.model_copy(update={"value": coined[slot.id]}) for slot in slots)
        template = self.template.model_copy(update={"slots": filled})
        named = replace(self, template=template, round=self.round + 1, bound={}, residues={})
        named.__dict__["words"] = self.words  # the same template has the same words
        return named

    def slots_of(self, question_id: str) -> set[str]:
        """The slots in the question and in the documents that it may search."""
        question = self.questions[question_id]
        found = slots_in([question])
        for id in {*evidence_ids(question), *question.scope}:
            found |= self.by_document[id]
        return found

    @cached_property
    def by_document(self) -> dict[str, set[str]]:
        """The slots of each document."""
        return {document.id: slots_in([document]) for document in self.template.documents}

    def changed(self, other: "Seeds") -> set[str]:
        """The slots that have another value there."""
        return {id for id, value in self.values.items() if other.values[id] != value}

    @cached_property
    def name_slots(self) -> frozenset[str]:
        return frozenset(slot.id for slot in self.template.slots if slot.kind in NAMES)


def slots_on_path(question: Question) -> set[str]:
    """The slots in what is asked, what is answered, and the facts between them where they are told."""
    said = [question.text, *question.choices, *(alias for group in question.answers for alias in group)]
    graph = question.graph or ReasoningGraph()
    names = {entity.id: " ".join((entity.name, *entity.forms)) for entity in graph.entities}
    said += [names.get(end, end) for fact in graph.facts for end in (fact.subject, fact.object)]
    return set(slot_ids(" ".join(said)))


def slots_in(records: Iterable[Document | Question]) -> set[str]:
    """Every slot that these records name, wherever it stands in them."""
    return {id for record in records for id in slot_ids(record.model_dump_json(exclude={"remembered"}))}


def used(slots: Iterable[Slot], ids: Collection[str]) -> tuple[Slot, ...]:
    """These slots and those that they follow from."""
    known = {slot.id: slot for slot in slots}
    wanted = set(ids)
    todo = list(ids)
    while todo:
        slot = known[todo.pop()]
        parts = {part for pattern in (slot.template, *slot.choices) for part in slot_ids(pattern)} - wanted
        wanted |= parts
        todo += parts
    return tuple(slot for id, slot in known.items() if id in wanted)
