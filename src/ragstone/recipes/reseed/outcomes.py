"""Outcomes that differ between draws: comparisons and yes-or-no questions that can end in two ways.

What changes are the documents of one of two compared things: all their years, or every word for their country, so that
each document still agrees with itself. Only where no other text would contradict.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from ragstone.matching import chance
from ragstone.recipes.reseed.sides import Corpus
from ragstone.recipes.reseed.turning import Turn, exchanged, turned, turned_graph
from ragstone.slots import Bound, Places, bind, bound, change_question, slot_ids
from ragstone.types import Document, Question, Slot, Template


def with_outcomes(template: Template) -> Template:
    """The template with choices, one group for each question that can end otherwise; choice 0 is the original."""
    corpus = Corpus(template)
    turns: dict[str, Turn] = {}
    taken: set[str] = set()
    for question in template.questions:
        if turn := turned(question, corpus, taken):
            turns[question.id] = turn
            taken |= turn.documents
    return applied(corpus, turns) if turns else template


def fixed_outcome(template: Template) -> int:
    """How many questions with a closed answer (yes or no, one of several names) end alike in every draw."""
    open_ended = {slot.id for slot in template.slots if slot.choices}
    closed = [question for question in template.questions if chance(question)]
    return sum(not open_ended & set(slot_ids(" ".join(said(question)))) for question in closed)


def said(question: Question) -> list[str]:
    return [alias for group in question.answers for alias in group]


class Picked(NamedTuple):
    """The slots with choices of one question: for what is exchanged in texts and facts, and for its answers."""

    pieces: tuple[Slot, ...]
    answers: tuple[Slot, ...]


def applied(corpus: Corpus, turns: Mapping[str, Turn]) -> Template:
    """The template in which everything that a turn exchanges is a slot with two choices."""
    numbers = count(1)
    picked = {id: choices(id, turn, corpus, numbers) for id, turn in turns.items()}
    changed = {
        id: change(corpus.documents[id], marks(picked[question].pieces))
        for question, turn in turns.items()
        for id in sorted(turn.documents)
    }
    placed = {
        id: (id, changed[id][1] if id in changed else bound(document.text, itself))
        for id, document in corpus.documents.items()
    }
    questions = (
        asked(question, turns.get(question.id), picked.get(question.id), placed)
        for question in corpus.template.questions
    )
    years = {slot.id: slot for turn in turns.values() for slot in turn.years}
    chosen = [slot for both in picked.values() for slots in both for slot in slots]
    return corpus.template.model_copy(
        update={
            "documents": tuple(changed.get(it.id, (it,))[0] for it in corpus.template.documents),
            "questions": tuple(questions),
            "slots": (*corpus.template.slots, *years.values(), *chosen),
        }
    )


def choices(id: str, turn: Turn, corpus: Corpus, numbers: Iterator[int]) -> Picked:
    """A slot for each piece that is exchanged, and for each way to write the answer."""

    def slot(old: str, new: str) -> Slot:
        original, group = bind(old, corpus.values), f"outcome-{id}"
        return Slot(id=f"o{next(numbers)}", kind="outcome", original=original, choices=(old, new), group=group)

    texts = [corpus.text(document) for document in sorted(turn.documents)]
    pieces = [slot(old, new) for old, new in turn.exchange.items() if any(old in text for text in texts)]
    return Picked(tuple(pieces), tuple(slot(alias, turn.answer) for alias in corpus.questions[id].answers[0]))


def marks(slots: Sequence[Slot]) -> dict[str, str]:
    """The mark of the slot that takes the place of each piece."""
    return {slot.choices[0]: f"{{{{{slot.id}}}}}" for slot in slots}


def change(document: Document, marked: Mapping[str, str]) -> tuple[Document, Bound]:
    text, title = exchanged(document.text, marked), exchanged(document.title, marked).text
    return document.model_copy(update={"title": title, "text": text.text}), text


def asked(question: Question, turn: Turn | None, picked: Picked | None, places: Places) -> Question:
    """The question with its evidence where it is now, and with the answer and the facts that turn."""
    moved = change_question(question, itself, places)
    if turn is None or picked is None:
        return moved
    answers = tuple(f"{{{{{slot.id}}}}}" for slot in picked.answers)
    return moved.model_copy(update={"answers": (answers,), "graph": turned_graph(moved, turn, marks(picked.pieces))})


def itself(match: "re.Match[str]") -> str:
    return match[0]
