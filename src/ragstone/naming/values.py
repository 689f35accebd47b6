"""Values that are no names: years, numbers, letters and acronyms."""

import re
from calendar import isleap
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import product
from random import Random
from string import ascii_lowercase

from ragstone.errors import DataError
from ragstone.naming.moulds import SLICES, pick, slice_of
from ragstone.types import Slot

SHIFTS = tuple(range(-50, 0, 10))
"""Whole decades back: decades stay decades, and nothing happens in the future. Not far: texts about television would
be told of times that had none. Five values, so five draws in a row differ."""

YEAR = re.compile(r"\d{3,4}")
NUMBER = re.compile(r"\d[\d,.]*\d|\d")
NUMBER_WORDS = "one two three four five six seven eight nine ten eleven twelve".split()
INITIALS = "ABCDEFGHJKLMNOPRSTVW"
ROMAN = re.compile(r"[ivxlcdm]+")


# ── years ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def year_shifts(slots: Iterable[Slot], draw: int, rng_of: Callable[..., Random]) -> Mapping[str, int]:
    """By how much the years of each group move; the next draw takes the group's next shift."""
    groups: dict[str, list[Slot]] = defaultdict(list)
    for slot in slots:
        groups[slot.group].append(slot)
    return {group: year_shift(members, draw, rng_of("years", group)) for group, members in groups.items()}


def year_shift(slots: Sequence[Slot], draw: int, rng: Random) -> int:
    possible = [shift for shift in SHIFTS if all(stays_leap(slot, shift) for slot in slots)]
    sensible = [shift for shift in possible if all(as_many_digits(slot, shift) for slot in slots)]
    choices = sensible or possible or SHIFTS
    return rng.sample(choices, len(choices))[draw % len(choices)]


def years(slot: Slot) -> list[int]:
    return [int(year) for year in YEAR.findall(slot.original)]


def stays_leap(slot: Slot, shift: int) -> bool:
    """Whether a 29th of February still exists; 1900 had none."""
    return "leap" not in slot.traits or all(shift % 20 == 0 and isleap(year + shift) for year in years(slot))


def as_many_digits(slot: Slot, shift: int) -> bool:
    return all(len(str(year)) == len(str(year + shift)) for year in years(slot))


def moved(slot: Slot, shift: int) -> str:
    """The year after the shift. Years before 100 have no room to move and stay."""
    return YEAR.sub(lambda match: str(int(match[0]) + shift), slot.original)


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def other_number(slot: Slot, rng: Random) -> str:
    """Another number within 30 %, written alike: digits, separators, and zeros at the end."""
    word = slot.original.casefold()
    if word in NUMBER_WORDS:
        other = NUMBER_WORDS[near(NUMBER_WORDS.index(word) + 1, 1, len(NUMBER_WORDS), rng, slot.tried) - 1]
        return other.capitalize() if slot.original[0].isupper() else other
    found = NUMBER.search(slot.original)
    if not found:
        raise DataError(f"slot {slot.id}: {slot.original!r} is no number; write it in digits or give it another kind")
    return slot.original[: found.start()] + other_digits(found[0], rng, slot.tried) + slot.original[found.end() :]


def other_digits(written: str, rng: Random, tried: int) -> str:
    digits = re.sub(r"\D", "", written)
    significant = digits[: max(2, len(digits.rstrip("0")))]
    fewest = 0 if digits[0] == "0" else 10 ** (len(significant) - 1)
    value = near(int(significant), fewest, 10 ** len(significant) - 1, rng, tried)
    fresh = iter(str(value).zfill(len(significant)).ljust(len(digits), "0"))
    return re.sub(r"\d", lambda _: next(fresh), written)


def near(value: int, fewest: int, most: int, rng: Random, tried: int) -> int:
    """A number near another, and never the same: within 30 %, or the next where that leaves none."""
    reach = max(1, 3 * value // 10)
    others = range(max(fewest, value - reach), min(most, value + reach))
    chosen = others[(int(rng.random() * len(others)) + tried) % len(others)] if others else fewest
    return chosen + 1 if chosen >= value else chosen


# ── letters ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def other_letter(slot: Slot, rng: Random) -> str:
    others = INITIALS.replace(slot.original[:1].upper(), "")
    return others[(int(rng.random() * len(others)) + slot.tried) % len(others)]


@cache
def letter_pairs() -> Mapping[int, Sequence[str]]:
    """All pairs of letters by their checksum: what a draw may end its acronyms with."""
    pairs: dict[int, list[str]] = defaultdict(list)
    for pair in map("".join, product(ascii_lowercase, repeat=2)):
        pairs[slice_of(pair)].append(pair)
    return pairs


def acronym(letters: int, owner: int, rng: Random) -> str:
    """Letters that belong to the owner's slice, or nothing: the attempt failed. Two letters or fewer belong to all."""
    if letters <= 2:
        return "".join(pick(rng, ascii_lowercase) for _ in range(letters))
    start = "".join(pick(rng, ascii_lowercase) for _ in range(letters - 2))
    fitting = letter_pairs().get((owner - slice_of(start + "\0\0")) % SLICES)
    return start + pick(rng, fitting) if fitting else ""


def dressed(letters: str, original: str) -> str:
    """The letters where those of the original stood: `R.E.M.` keeps its points. More letters go to the end."""
    rest = iter(letters)
    told = "".join(next(rest) if each.isalpha() else each for each in original)
    return told + "".join(rest)
