"""Moulds: the shapes of coined words, and the slice of all words that belongs to one draw.

A word belongs to a draw by a checksum of its letters, whatever its kind and style. So two draws share no word by
construction, and need not know of each other. A mould takes the beginning of a word freely and looks up the tails that
bring the checksum to what the draw needs.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

SLICES = 101
"""Draws below this number share no coined name. Draw 101 has the words of draw 0 again, for other slots."""

AWKWARD = re.compile(r"(.)\1\1|[aeiouy]{4}|[^aeiouy]{6}|(..+).?\2|([^aeiou])[aeiouy]+\3")
"""Letters that no name should have in a row: three alike, too many vowels or consonants, a stammer."""

PATIENCE = 4
"""Attempts before a word may be longer, and again before it may be longer still."""
MOST_GROWTH = 10
SIBLINGS = 4
"""Words with the same beginning that are tried before another beginning."""


def slice_of(word: str) -> int:
    """The one slice to which a word belongs."""
    return int.from_bytes(word.lower().encode(), "big") % SLICES


class Mould(NamedTuple):
    """A shape of words: an opening, inner parts as the length asks, a tail."""

    openings: Sequence[str]
    inners: Sequence[str]
    tails: Sequence[tuple[int, int, Mapping[int, Sequence[str]]]]  # length, its weight, tails by their checksum
    step: int  # letters of a short inner part
    short: int  # up to here a word may grow whatever the length of the original…
    long: int  # …and not beyond, as long as names are left

    def words(self, rng: Random, owner: int, letters: int, attempt: int) -> list[str]:
        """A few words of the owner's slice with one beginning, about so many letters long; there may be none.

        The more attempts came before, the longer they may be: short words are few, and may be used up.
        """
        low, high = self.window(letters)
        growth = min(attempt // PATIENCE * self.step // 2, MOST_GROWTH)
        start = self.start(rng, low + growth, high + growth)
        tails = () if AWKWARD.search(start) else self.fitting(owner, start, low, high + growth)
        first = int(rng.random() * len(tails))
        return [start + tail for tail in tails[first : first + SIBLINGS] if tail[0] != start[-1]]

    def start(self, rng: Random, low: int, high: int) -> str:
        """All but the tail of a word with so many letters."""
        wanted = low + int(rng.random() * (high - low + 1)) - self.tails[int(rng.random() * len(self.tails))][0]
        start = pick(rng, self.openings)
        while len(start) + self.step <= wanted:
            start += pick(rng, self.inners)
        return start

    def fitting(self, owner: int, start: str, low: int, high: int) -> Sequence[str]:
        """The tails with which a word belongs to the owner and has the right length."""
        begun, letters = slice_of(start), len(start)
        found: list[str] = []
        for length, weight, by_checksum in self.tails:
            if low <= letters + length <= high:
                found += by_checksum.get((owner - begun * weight) % SLICES, ())
        return found

    def window(self, letters: int) -> tuple[int, int]:
        """The fewest and the most letters in place of so many: 30 % off at most, and at least four."""
        low, high = -(-7 * letters // 10), 13 * letters // 10
        return max(4, min(low, self.long - 3)), min(max(high, self.short), self.long)


def pick(rng: Random, choices: Sequence[str]) -> str:
    return choices[int(rng.random() * len(choices))]


def mould(
    openings: Sequence[str], inners: Sequence[str], tails: Iterable[str], *, step: int, short: int, long: int
) -> Mould:
    found: dict[int, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for tail in tails:
        found[len(tail)][slice_of(tail)].append(tail)
    by_length = [(length, pow(256, length, SLICES), dict(found[length])) for length in sorted(found)]
    return Mould(openings, inners, by_length, step, short, long)
