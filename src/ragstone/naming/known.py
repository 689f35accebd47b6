"""Which words a coined name must not be: words that exist, rude ones, and what the caller wants to avoid."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from ragstone.naming.shapes import data
from ragstone.slots import unaccented

COMMON = 1e-6
"""The frequency from which on a word is common: once in a million words."""


@cache
def known_words() -> Mapping[str, float]:
    """Every English word and name that has a frequency (needs the extra `names`), or our own short list."""
    own = dict.fromkeys(data("known")["words"].split(), COMMON)
    try:
        from wordfreq import get_frequency_dict
    except ImportError:
        return own
    return own | get_frequency_dict("en", wordlist="best")


def word_list() -> str:
    """What `known_words` are: names of two draws are byte-identical only where this is equal."""
    try:
        return f"wordfreq {version('wordfreq')}"
    except PackageNotFoundError:
        return "built in"


@cache
def acronyms() -> frozenset[str]:
    return frozenset(data("known")["acronyms"].casefold().split())


@cache
def rude() -> re.Pattern[str]:
    return re.compile("|".join(data("known")["rude"].split()))


def plain(word: str) -> str:
    """A word as names are compared: case and accents do not count."""
    return (word if word.isascii() else unaccented(word)).casefold()
