"""The words of a text: where they stand, how they are written, and how often a whole corpus writes them so."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from ragstone.slots import unaccented

SIGNS = (
    "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0962\u0963\u0981-\u0983\u09bc-\u09cd"
    "\u0a01-\u0a03\u0a3c-\u0a4d\u0a81-\u0a83\u0abc-\u0acd\u0b82\u0bbe-\u0bcd\u0c00-\u0c03\u0c3e-\u0c56\u0c81-\u0c83"
    "\u0cbc-\u0cd6\u0d00-\u0d03\u0d3e-\u0d4d\u0e31\u0e34-\u0e4e"
)
"""Accents and vowel signs, which are no letters but part of words."""
WORD = re.compile(rf"[^\W\d_]+(?:[{SIGNS}]+[^\W\d_]*)*")
LATIN = re.compile(r"[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")
SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s|\n|[:;•]\s|^\s*[\"“‘'(\[]|[\s(\[—–][\"“‘']$|^[\"“‘']$")
ABBREVIATIONS = frozenset(
    "mr mrs ms dr st sr jr prof rev gen col lt sgt capt maj adm gov sen rep hon mt ft vs no vol pt co corp inc ltd "
    "bros dept est approx ca u.s jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
PLAIN_LETTERS = str.maketrans(
    {"ø": "o", "ß": "ss", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"}
)


class Word(NamedTuple):
    """One run of letters."""

    start: int
    end: int
    text: str
    key: str  # the same for all ways to write it; with a # where digits are part of it
    shape: str  # lower, capital, upper, letter (a single capital), mixed (iPhone), other (no case, or with digits)
    initial: bool  # a capital would say nothing here: a sentence or quotation begins


@lru_cache(maxsize=200_000)
def folded(text: str) -> str:
    """The word without case and accents."""
    return unaccented(text.lower().translate(PLAIN_LETTERS))


@lru_cache(maxsize=200_000)
def shape(text: str) -> str:
    if text.islower():
        return "lower"
    if len(text) == 1:
        return "letter" if text.isupper() else "other"
    if text.isupper():
        return "upper"
    return "capital" if text[0].isupper() or text[0].istitle() else "mixed" if text[0].islower() else "other"


@lru_cache(maxsize=200_000)
def key_and_shape(text: str) -> tuple[str, str]:
    return folded(text), shape(text)


def words(text: str) -> list[Word]:
    """Every word of the text, in order."""
    found: list[Word] = []
    end, before, initial = 0, "", True
    for match in WORD.finditer(text):
        start, written = match.start(), match[0]
        gap = text[end:start]
        end = start + len(written)
        if gap != " ":
            initial = not found or begins(gap, before)
        coded = gap[-1:].isdigit() or text[end : end + 1].isdigit()
        key, form = (f"#{written}", "other") if coded else key_and_shape(written)
        found.append(Word(start, end, written, key, form, initial))
        before, initial = written, False
    return found


def begins(gap: str, before: str) -> bool:
    """Whether a sentence or quotation begins after this gap."""
    if not SENTENCE_END.search(gap):
        return False
    return not (gap.startswith(". ") and (len(before) == 1 or before.lower() in ABBREVIATIONS))


def is_foreign(word: str) -> bool:
    """Whether it is written in another script than English is."""
    return not LATIN.match(word) and word[0].isalpha()


class Counts(NamedTuple):
    """How often each word is written in which way; by key."""

    lower: Counter[str]
    inside: Counter[str]  # capitalised where a sentence does not begin
    initial: Counter[str]
    upper: Counter[str]
    surfaces: defaultdict[str, Counter[str]]


def counted(texts: Iterable[list[Word]]) -> Counts:
    counts = Counts(Counter(), Counter(), Counter(), Counter(), defaultdict(Counter))
    columns = {"lower": counts.lower, "upper": counts.upper}
    for found in texts:
        for word in found:
            column = counts.initial if word.initial else counts.inside
            columns.get(word.shape, column)[word.key] += 1
            counts.surfaces[word.key][word.text] += 1
    return counts
