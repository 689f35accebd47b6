"""Rates with their intervals. Every rate has an n."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

Z95 = 1.959963984540054


class Interval(NamedTuple):
    """A mean with its 95 % interval and the number of questions behind it."""

    value: float
    low: float
    high: float
    n: int


def wilson(values: Sequence[float]) -> Interval | None:
    """The mean of scores from 0 to 1 with Wilson's interval; None without any score.

    Exact in form for scores of 0 or 1. Scores in between vary less than 0-or-1 scores of the same mean, so for them
    the interval is on the safe side: wider than it need be.
    """
    n = len(values)
    if n == 0:
        return None
    p = sum(values) / n
    centre = (p + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
    half = Z95 * sqrt(p * (1 - p) / n + Z95**2 / (4 * n**2)) / (1 + Z95**2 / n)
    return Interval(p, max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half)), n)
