"""Nothing is left of the names that were changed."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from ragstone.checks.open_names import replaced
from ragstone.kit import Check, Kit
from ragstone.text import slug
from ragstone.types import Document, Draft, Question, Verdict

SHORTEST_ALIAS = 4
"""Shorter ones that stay among the answers are codes (PL for Poland), which say no name."""


class Residual(Check):
    """Rejects a renamed question that still says its original answer: in question, choices, answers, ids or documents.

    Names of two or more words are found in any case, single words as they are written. What renaming keeps or only
    moves around (countries, nationalities, yes and no, years and numbers) may stand anywhere.
    """

    def check(self, draft: Draft, kit: Kit) -> Verdict:
        gone = names_to_be_gone(draft.question)
        if not gone:
            return Verdict(passed=True)
        for place, text in places(draft, kit):
            for name in gone:
                if still_says(text, name):
                    return Verdict(passed=False, reason=f"the original answer {name!r} is still in {place}")
        return lingering(draft, gone)


def names_to_be_gone(question: Question) -> list[str]:
    """The original answers that were replaced."""
    pairs = zip_longest(question.remembered, question.answers, fillvalue=())
    return list(dict.fromkeys(name for before, after in pairs for name in replaced(before, after)))


def places(draft: Draft, kit: Kit) -> Iterator[tuple[str, str]]:
    """Every text that a reader may meet, with what it is."""
    yield "the question", draft.question.text
    yield from ((f"choice {choice!r}", choice) for choice in draft.question.choices)
    for document in met(draft, kit):
        yield f"the title of document {document.id}", document.title
        yield f"document {document.id}", document.text


def met(draft: Draft, kit: Kit) -> Iterable[Document]:
    """The documents that the draft brings, and those that the question rests on or may search."""
    question = draft.question
    used = (*question.scope, *(piece.document_id for group in question.evidence for piece in group))
    known = {id: kit.documents[id] for id in used if id in kit.documents}
    return {**known, **{document.id: document for document in draft.documents}}.values()


def lingering(draft: Draft, gone: list[str]) -> Verdict:
    """Whether an answer was left as it was, or an id tells it."""
    answers = {alias for group in draft.question.answers for alias in group}
    ids = (draft.question.id, *(document.id for document in draft.documents))
    for name in gone:
        if name in answers and len(name) >= SHORTEST_ALIAS:
            return Verdict(passed=False, reason=f"the original answer {name!r} is still an accepted answer")
        told = [id for id in ids if slug(name) and f"-{slug(name)}-" in f"-{slug(id, len(id))}-"]
        if told:
            return Verdict(passed=False, reason=f"the original answer {name!r} is still in the id {told[0]}")
    return Verdict(passed=True)


def still_says(text: str, name: str) -> bool:
    """Whether the name stands in the text as whole words."""
    if len(name.split()) > 1:
        text, name = text.casefold(), name.casefold()
    at = text.find(name)
    while at >= 0 and not stands_alone(text, at, at + len(name)):
        at = text.find(name, at + 1)
    return at >= 0


def stands_alone(text: str, start: int, end: int) -> bool:
    def in_word(place: int) -> bool:
        return 0 <= place < len(text) and (text[place].isalnum() or text[place] == "_")

    return not (in_word(start - 1) or in_word(end))
