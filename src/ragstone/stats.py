"""Rates with their intervals. Every rate has an n."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

Z95 = 1.959963984540054
NO_VARIANCE = 1e-12  # what rounding leaves of none


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
    return Interval(*around(sum(values) / n, n), n) if n else None


def over_questions(scores: Sequence[Sequence[float]]) -> Interval | None:
    """The mean over questions that were asked several times each.

    How much the mean may be off follows from the variance of the questions' own means, which holds both how questions
    differ and how repeats do. Beside the variance of single scores it tells how many independent scores the repeats are
    worth, which takes the place of n in Wilson's interval: from n, if repeats are all alike, to all of them.
    """
    means = [sum(own) / len(own) for own in scores]
    most = max((len(own) for own in scores), default=0)
    if most <= 1:
        return wilson(means)
    n = len(means)
    p = sum(means) / n
    single = sum(sum((score - p) ** 2 for score in own) / len(own) for own in scores) / n
    between = sum((mean - p) ** 2 for mean in means) / max(1, n - 1)
    unsure = 1 + (Z95**2 + 1) / (4 * max(1, n - 1))  # a variance from few questions: Student's t over the normal
    worth = single * n / between / unsure**2 if between > NO_VARIANCE else n
    return Interval(*around(p, min(max(worth, n), n * most)), n)


def around(p: float, n: float) -> tuple[float, float, float]:
    """A rate between the ends of Wilson's interval."""
    centre = (p + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
    half = Z95 * sqrt(p * (1 - p) / n + Z95**2 / (4 * n**2)) / (1 + Z95**2 / n)
    return p, max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half))
