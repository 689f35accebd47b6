"""Countries, their people and languages, where these are exchanged."""

import re
from functools import cache

from ragstone.gazetteer import ALL_COUNTRIES, Country, closed_class


@cache
def codes() -> dict[str, str]:
    """The country of every word that names one, its people or its language; the first that says so."""
    found: dict[str, str] = {}
    for part in (Country._fields.index(name) for name in ("names", "adjectives", "people", "languages")):
        for country in ALL_COUNTRIES:
            for word in country[part]:
                found.setdefault(word, country.code)
    return {word: code for word, code in found.items() if closed_class(word) in ("country", "nationality", "language")}


@cache
def countries() -> re.Pattern[str]:
    longest_first = sorted(codes(), key=lambda word: (-len(word), word))
    return re.compile(rf"(?<!\w)(?=[A-Z])(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")


def country_of(word: str) -> tuple[str, str]:
    """The class of such a word, and its country."""
    return closed_class(word), codes()[word]
