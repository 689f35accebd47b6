"""Dates and numbers as intervals, so that nothing is decided that they leave open: 1954 is all of that year."""

import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import date

from ragstone.text import DATE_TOKEN, MONTHS, YEAR_ALONE, canonical_tokens

Interval = tuple[float, float]

AMOUNT = re.compile(r"([-+]?)[$€£]?(\d[\d,]*(?:\.\d+)?)(?: ?(?:%|percent))?")


def amount(value: str) -> Interval | None:
    """A plain number; no units, which might differ."""
    match = AMOUNT.fullmatch(value.strip())
    if not match:
        return None
    size = float(match[2].replace(",", ""))
    return (-size, -size) if match[1] == "-" else (size, size)


def day(value: str) -> Interval | None:
    """The first and the last day that a date may mean; it must name its year."""
    tokens = canonical_tokens(value)
    if len(tokens) != 1:
        return None
    if YEAR_ALONE.fullmatch(tokens[0]):
        return days(int(tokens[0]), 1, 1)[0], days(int(tokens[0]), 12, 31)[1]
    match = DATE_TOKEN.fullmatch(tokens[0])
    if not match or not match[1]:
        return None
    year, month = int(match[1]), MONTHS.index(match[2]) + 1
    last = monthrange(year, month)[1]
    first, until = (int(match[3]), int(match[3])) if match[3] else (1, last)
    return (days(year, month, first)[0], days(year, month, until)[1]) if until <= last else None


def days(year: int, month: int, day: int) -> Interval:
    ordinal = float(date(year, month, day).toordinal())
    return ordinal, ordinal


def intervals(values: Sequence[str]) -> list[Interval] | None:
    """All as numbers, else all as dates, else nothing."""
    for read in (amount, day):
        found = [interval for value in values if (interval := read(value))]
        if len(found) == len(values):
            return found
    return None


def between(start: Interval, end: Interval) -> Interval:
    """How long it takes from one to the other, at least and at most."""
    return end[0] - start[1], end[1] - start[0]


def literal_type(value: str) -> str:
    """The type of a value that is no entity: date, number, or unknown."""
    if day(value):
        return "date"
    return "number" if amount(value) else ""
