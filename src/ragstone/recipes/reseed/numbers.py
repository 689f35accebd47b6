"""Numbers that answer a question, and where else they stand."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ragstone.recipes.reseed.years import YEAR
from ragstone.types import Document, Question

NUMBER = re.compile(r"(?<![\w.,#/:+–-])\d[\d,]*(?:\.\d+)?(?![\w/:#–-]|[.,]\d)")
DATE = re.compile(r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)|\d(?:st|nd|rd|th)\b|:\d\d")
SMALL = 12
"""Numbers up to a dozen often count what a text lists; changed, they would be wrong."""


def asked_numbers(questions: Sequence[Question], documents: Iterable[Document]) -> Mapping[str, frozenset[str]]:
    """The numbers that answer questions, by question id."""
    texts = {document.id: document.text for document in documents}
    asked = {}
    for question in questions:
        gold = [texts[piece.document_id] for group in question.evidence for piece in group]
        found = {one for alias in aliases(question) for one in of_answer(alias)}
        asked[question.id] = frozenset(one for one in found if not is_converted(one, gold))
    return asked


def aliases(question: Question) -> Iterable[str]:
    return (*(alias for group in question.answers for alias in group), *question.choices)


def of_answer(alias: str) -> list[str]:
    """The numbers of an answer that is little else; no dates, years or small counts."""
    if DATE.search(alias) or len(alias.split()) > 4:
        return []
    found = NUMBER.findall(alias)
    return [one for one in found if not YEAR.fullmatch(one) and float(one.replace(",", "")) > SMALL]


def numbers_by_document(
    questions: Iterable[Question], asked: Mapping[str, frozenset[str]]
) -> Mapping[str, frozenset[str]]:
    """The numbers that change in each document: those that answer the questions that it proves."""
    wanted: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for question in questions:
        for piece in (piece for group in question.evidence for piece in group):
            wanted[piece.document_id] |= asked[question.id]
    return wanted


def is_converted(number: str, texts: Iterable[str]) -> bool:
    """Whether a text gives the number in another unit too: `4145 ft (1263 m)`."""
    pattern = re.compile(
        rf"(?<![\w.,]){re.escape(number)}\s*[\w ²³/]{{0,14}}\(\s*[\d,.]+\s*\w|\(\s*{re.escape(number)}\s*\w"
    )
    return any(pattern.search(text) for text in texts)
