"""Rates and differences with their intervals. Each has an n."""

from collections.abc import Callable, Sequence
from math import exp, fsum, lgamma, log, log1p, sqrt
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

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


# ── against guessing ─────────────────────────────────────────────────────────────────────────────────────────────────


def above_chance(rate: Interval, chance: float) -> Interval | None:
    """A rate as the share that guessing does not explain, (rate − chance) / (1 − chance), its interval moved along.

    Below 0 where a guess does better. None where every guess is right. The chance is known, so what is uncertain is the
    rate alone; where chances differ between questions their mean stands for them, and the interval is a little wide.
    """
    if chance >= 1:
        return None
    value, low, high = ((end - chance) / (1 - chance) for end in rate[:3])
    return Interval(value, low, high, rate.n)


def luck(right: int, n: int, chance: float) -> float:
    """How likely blind guessing gets so many of n right, or more."""
    if right <= 0 or chance >= 1:
        return 1.0
    if chance <= 0:
        return 0.0
    return min(1.0, fsum(exp(log_likelihood(k, n, chance)) for k in range(right, n + 1)))


def log_likelihood(k: int, n: int, p: float) -> float:
    ways = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
    return ways + k * log(p) + (n - k) * log1p(-p)


# ── the same questions twice ─────────────────────────────────────────────────────────────────────────────────────────


class Changed(NamedTuple):
    """McNemar's exact test: how many questions went which way, and how likely so uneven a split is by chance."""

    gained: int
    lost: int
    p: float
    n: int


class Equivalence(NamedTuple):
    """A mean difference with its 90 % interval; within the margin on both sides, the two are taken for equal."""

    value: float
    low: float
    high: float
    n: int
    margin: float
    p: float  # the larger of the two one-sided tests
    equivalent: bool


def mcnemar(before: Sequence[float], after: Sequence[float]) -> Changed:
    """Whether right and wrong changed between two takes of the same questions; scores above a half are right."""
    pairs = [(one > 0.5, other > 0.5) for one, other in zip(before, after, strict=True)]
    gained, lost = pairs.count((False, True)), pairs.count((True, False))
    return Changed(gained, lost, min(1.0, 2 * luck(max(gained, lost), gained + lost, 0.5)), len(pairs))


def paired_difference(before: Sequence[float], after: Sequence[float]) -> Interval | None:
    """The mean of after − before over the same questions, with its bootstrap interval; None without any question."""
    differences = [[other - one] for one, other in zip(before, after, strict=True)]
    return resampled(differences, lambda means: means[:, 0].clip(-1, 1))


def equivalence(before: Sequence[float], after: Sequence[float], margin: float = 0.05) -> Equivalence | None:
    """Whether two takes of the same questions have the same mean but for a margin: two one-sided tests at 5 %."""
    differences = [other - one for one, other in zip(before, after, strict=True)]
    if not differences:
        return None
    means = resampled_means([[value] for value in differences])[:, 0].clip(-1, 1)
    value, n = sum(differences) / len(differences), len(differences)
    p = max(float((means >= margin).mean()), float((means <= -margin).mean()))
    return Equivalence(*between(means, value, 0.9), n, margin, p, p < 0.05)


def resampled(
    rows: Sequence[Sequence[float]], statistic: "Callable[[NDArray[float64]], NDArray[float64]]"
) -> Interval | None:
    """What a statistic makes of the means of the columns, with the bootstrap interval over questions, one row each.

    The statistic maps an array of means, a line for each sample, to a value for each line.
    """
    if not rows:
        return None
    from numpy import array

    value = float(statistic(array(rows, dtype=float).mean(axis=0, keepdims=True))[0])
    return Interval(*between(statistic(resampled_means(rows)), value, 0.95), len(rows))


def between(values: "NDArray[float64]", value: float, level: float) -> tuple[float, float, float]:
    """A value and the middle part of what samples gave in its place."""
    from numpy import quantile

    low, high = (float(end) for end in quantile(values, ((1 - level) / 2, (1 + level) / 2)))
    return value, min(value, low), max(value, high)


SAMPLES = 10_000


def resampled_means(rows: Sequence[Sequence[float]]) -> "NDArray[float64]":
    """The means of the columns in samples of the questions, drawn with replacement; the same for the same rows.

    Questions that all agree would give no spread at all, however few they are. So two more are imagined for each
    column, which is a whole point higher in one and lower in the other; and the spread is widened as Student's t is
    over the normal.
    """
    from numpy import array, concatenate, eye, unique
    from numpy.random import default_rng

    table = array(rows, dtype=float)
    centre, apart = table.mean(axis=0), eye(table.shape[1])
    padded = concatenate([table, centre + apart, centre - apart])
    distinct, counts = unique(padded, axis=0, return_counts=True)
    size = len(padded)
    drawn = default_rng(0).multinomial(size, counts / size, size=SAMPLES) @ distinct / size
    widened: NDArray[float64] = centre + (drawn - centre) * (1 + (Z95**2 + 1) / (4 * (size - 1)))
    return widened
