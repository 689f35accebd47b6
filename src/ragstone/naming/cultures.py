"""Cultures of names: guessed from spelling, and exchanged by each draw so that a name tells no nationality."""

import re
from collections.abc import Mapping
from functools import cache
from random import Random

from ragstone.naming.shapes import data

CULTURES = tuple(name for name in data("sounds") if name != "invented")


@cache
def spellings() -> Mapping[str, tuple[re.Pattern[str], ...]]:
    return {name: tuple(map(re.compile, data("sounds")[name]["spelling"])) for name in CULTURES}


def guess_culture(word: str) -> str:
    """The culture whose spelling fits a word best; empty where none does."""
    lower = word.casefold()
    marks = {name: sum(bool(each.search(lower)) for each in patterns) for name, patterns in spellings().items()}
    best = max(CULTURES, key=marks.__getitem__)
    return best if marks[best] else ""


def exchanged(rng: Random) -> Mapping[str, str]:
    """Another culture for each: a permutation."""
    return dict(zip(CULTURES, rng.sample(CULTURES, len(CULTURES)), strict=True))
