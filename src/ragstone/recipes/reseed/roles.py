"""What a word may be in a name: grammar, a closed class, a type word, a common word, or a name of its own."""

import re
import tomllib
from functools import cache
from pathlib import Path

from ragstone.gazetteer import (
    FUNCTION_WORDS,
    HONORIFICS,
    KNOWN_EVENTS,
    TYPE_WORDS,
    closed_class,
    given_gender,
    is_common,
)
from ragstone.recipes.reseed.policy import Policy
from ragstone.recipes.reseed.words import Counts, folded

ROMAN = re.compile(r"(?=[IVXLC]{1,6}$)C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$")


@cache
def kept() -> dict[str, frozenset[str]]:
    tables = tomllib.loads((Path(__file__).parent / "kept.toml").read_text("utf-8"))
    return {name: frozenset(words.split()) for name, words in tables.items()}


def is_fixed(key: str) -> bool:
    return len(key) == 1 or key[0] == "#" or key in FUNCTION_WORDS or key in kept()["fixed"]


def is_generic(key: str) -> bool:
    single = key.removesuffix("s")
    listed = (
        key in TYPE_WORDS or single in TYPE_WORDS or key in HONORIFICS or key in kept()["generic"] or is_office(key)
    )
    return listed and key not in kept()["own"]


def is_office(key: str) -> bool:
    """A rank, office or institution: every country has one."""
    return key in kept()["office"] or key.removesuffix("s") in kept()["office"]


def closed_word(text: str) -> str:
    """The closed class of a word in any case: `turkish` is none, `TURKISH` and `Turkish` are."""
    plain = text.capitalize() if text.isupper() else text
    if plain in KNOWN_EVENTS or (plain[:1].isupper() and plain.lower() in kept()["ideologies"]):
        return "known"
    return closed_class(text) or closed_class(plain)


class Roles:
    """Gives each word its role, by word lists and by how the corpus writes it."""

    def __init__(self, counts: Counts, policy: Policy) -> None:
        self.counts = counts
        self.policy = policy
        self.known: dict[str, str] = {}

    def __call__(self, key: str) -> str:
        """fixed, generic, closed, common or name."""
        if key not in self.known:
            self.known[key] = self.found(key)
        return self.known[key]

    def found(self, key: str) -> str:
        if is_fixed(key):
            return "fixed"
        surface = self.surface(key)
        if kind := closed_word(surface):
            return "name" if self.policy.treatment(kind) == "coin" else "closed"
        if is_generic(key):
            return "generic"
        return "common" if is_common(key) or self.written_small(key) else "name"

    def surface(self, key: str) -> str:
        """How the word is mostly written with a capital, else at all."""
        written = self.counts.surfaces.get(key)
        if not written:
            return key.capitalize()
        capital = [text for text in written if text[0].isupper() and not text.isupper()]
        plain = [text for text in capital if folded(text) == text.lower()]
        best = plain or capital or list(written)
        return max(best, key=lambda text: (written[text], text))

    def written_small(self, key: str) -> bool:
        """Whether the corpus has it as an ordinary word, though word lists do not."""
        lower, counts = self.counts.lower[key], self.counts
        return lower > 0 and 3 * lower > counts.inside[key] + counts.initial[key] and not given_gender(key)

    def is_acronym(self, text: str, key: str) -> bool:
        """Whether a word in capitals is not just another word written large."""
        if (
            text in kept()["capitals"]
            or ROMAN.match(text)
            or not 2 <= len(text) <= 6
            or not all(map(str.isupper, text))
        ):
            return False
        if len(text) <= 3 and not is_common(key) and not self.counts.lower[key]:
            return True
        counts = self.counts
        plain = counts.inside[key] + counts.initial[key]
        return counts.upper[key] > (plain if self(key) == "name" else counts.lower[key] + plain)

    def mostly_capital(self, key: str) -> bool:
        """A common word that this corpus has as a name."""
        return self.counts.inside[key] >= 3 and self.counts.inside[key] > 4 * self.counts.lower[key]
