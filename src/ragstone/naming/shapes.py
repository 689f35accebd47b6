"""Which mould a name is made in: by style, kind, gender and culture."""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from ragstone.naming.moulds import Mould, mould

DATA = Path(__file__).parent
VOWELS = frozenset("aeiouy")
CLOSERS = ("", "l", "n", "r", "m")
"""What may stand between a vowel and an ending that begins with a consonant: To-berg, Tor-berg."""


@cache
def data(name: str) -> Mapping[str, Any]:
    return tomllib.loads((DATA / f"{name}.toml").read_text("utf-8"))


def parts(text: str) -> list[str]:
    return [part.replace("-", "") for part in text.split()]


def kind_in(table: Mapping[str, str], kind: str, gender: str) -> str:
    """The list of endings that a table has for a kind; `name` and `word` serve kinds that it does not tell apart."""
    return next(it for it in (f"{kind}_{gender}", kind, "name", "word") if it in table)


@cache
def spoken(culture: str, kind: str, gender: str) -> Mould:
    """Words of syllables: openings and inner syllables end in a vowel, tails begin with a consonant."""
    sounds = data("sounds")[culture]
    vowels = parts(sounds["vowels"])
    openings = [onset + vowel for onset, vowel in product(parts(sounds["onsets"]), vowels) if sayable(onset, vowel)]
    inners = [inner + vowel for inner, vowel in product(parts(sounds["inners"]), vowels) if len(vowel) == 1]
    endings = parts(sounds[kind_in(sounds, kind, gender)])
    return mould(openings, inners, tails(parts(sounds["middles"]), endings), step=2, short=6, long=11)


def sayable(onset: str, vowel: str) -> bool:
    """Not every vowel goes with every consonant: no `quu`, `yi`, `wu`."""
    return not (onset[-1:] in ("i", "u", "w", "y") and vowel[0] in "iuy") and not (len(onset) > 2 and len(vowel) > 1)


def tails(middles: list[str], endings: list[str]) -> Iterator[str]:
    for ending in endings:
        for middle in middles if ending[0] in VOWELS else CLOSERS:
            if middle[-1:] != ending[0]:
                yield middle + ending


@cache
def compound(kind: str, gender: str) -> Mould:
    """Words of two English morphemes, of more where those are used up."""
    table = data("words")
    firsts = parts(table["firsts"])
    links = parts(table["links"]) if kind in ("surname", "place") else [""]
    openings = [first + link for first, link in product(firsts, links) if joins(first, link)]
    endings = parts(table[kind_in(table, kind, gender)])
    return mould(openings, firsts, endings, step=4, short=9, long=10)


def joins(first: str, link: str) -> bool:
    """Whether a link reads well: no `Tideening`, no `Wateringer`."""
    return not link or not (first[-1] in VOWELS or first[-2:] == link or first[-1] == link)


def shape(style: str, culture: str, kind: str, gender: str) -> Mould:
    if kind == "word" or (style == "word_made" and kind != "concept"):
        return compound(kind, gender)
    neutral = style != "cultural" or kind == "concept"
    return spoken("invented" if neutral else culture, kind, gender if kind == "given" else "")
