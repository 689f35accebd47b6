"""Sentences by a rule, and facts by a rule: who stands in a sentence with whom, and the words between them.

This is model-free and coarse. It tells which things a text joins, in which sentence, and in which words; it does not
understand them.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragstone.types import Evidence, Fact

END = re.compile(r"[.!?…][\"”’')\]]*(?=\s+[\"“‘'(\[]*[^\W_a-z])|\n+")
ABBREVIATION = re.compile(
    r"(?:^|[\s(\"“])(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Sr|Jr|Prof|Rev|Gen|Col|Lt|Sgt|Capt|Maj|Adm|Gov|Sen|Rep|Hon|Mt|Ft|vs|v|No|Vol|"
    r"pp?|Op|cf|ca|c|b|d|r|approx|est|Inc|Ltd|Co|Corp|Bros|Dept|Univ|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|"
    r"(?:[A-Za-z]\.)+[A-Za-z])\.$"
)
OPENING = re.compile(r"\W*(?:it|its|he|his|she|her|they|their|this|the (?:\w+ ){0,2}\w+)\b", re.IGNORECASE)
SPACES = re.compile(r"\s+")
EDGE = re.compile(r"^[\s,;:.)\]\"”’'—–-]+|[\s,;:(\[\"“‘'—–-]+$")
SAYS_NOTHING = re.compile(r"\W*(?:and|or|as well as|&|the|a|an)?\W*(?:the|a|an)?\W*", re.IGNORECASE)
LONGEST = 120
"""Characters of a relation: what is longer joins things that stand far apart."""


class Place(NamedTuple):
    """Where something stands: an entity by its number, or a value that names itself."""

    start: int
    end: int
    entity: int | None
    text: str


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence begins and ends, without the space around it."""
    start = 0
    for match in END.finditer(text):
        if match[0][0] == "." and ABBREVIATION.search(text[max(start, match.start() - 12) : match.start() + 1]):
            continue
        yield from trimmed(text, start, match.end())
        start = match.end()
    yield from trimmed(text, start, len(text))


def trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if piece.strip():
        yield start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def facts(text: str, places: Sequence[Place], title: int | None) -> list[Fact]:
    """The facts of every sentence, each once; `title` is the entity that the text is about."""
    found: dict[tuple[str, str, str], Fact] = {}
    number = 0
    for start, end in sentences(text):
        inside: list[Place] = []
        while number < len(places) and places[number].start < end:
            inside += [places[number]] if places[number].end <= end else []
            number += 1
        piece = Evidence(document_id="", quote=text[start:end], start=start, end=end)
        for told in of_sentence(text, start, inside, title):
            found.setdefault(told, Fact(subject=told[0], relation=told[1], object=told[2], evidence=(piece,)))
    return list(found.values())


def of_sentence(text: str, start: int, places: Sequence[Place], title: int | None) -> Iterator[tuple[str, str, str]]:
    """Subject, words, object: from the sentence's subject to everything else in it."""
    first = next((place for place in places if place.entity is not None), None)
    named = next((place for place in places if place.entity == title), None) if title is not None else None
    speaks = title is not None and (named is not None or (first is not None and bool(OPENING.match(text, start))))
    subject = title if speaks else first.entity if first else None
    if subject is None:
        return
    relation, before = "", start
    for place in places:
        if place.entity == subject:
            before = place.end
            continue
        relation = between(text, before, place.start) or relation
        before = place.end
        if relation:
            yield f"e{subject + 1}", relation, place.text if place.entity is None else f"e{place.entity + 1}"


def between(text: str, start: int, end: int) -> str:
    """The words between two places on one line; empty where they say nothing, as in a list."""
    words = EDGE.sub("", SPACES.sub(" ", text[start:end]))
    if len(words) > LONGEST:
        words = words[-LONGEST:].partition(" ")[2]
    return "" if SAYS_NOTHING.fullmatch(words) else words
