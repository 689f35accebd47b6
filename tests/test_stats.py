"""Intervals: right by hand, right at the edges, right by simulation."""

import random

import pytest

from ragstone.stats import wilson


def test_wilson_by_hand() -> None:
    mean = wilson([1.0] * 8 + [0.0] * 2)
    assert mean is not None
    assert mean.value == 0.8
    assert mean.low == pytest.approx(0.4902, abs=1e-4)
    assert mean.high == pytest.approx(0.9433, abs=1e-4)


def test_all_right_and_all_wrong_have_intervals_too() -> None:
    right, wrong = wilson([1.0] * 20), wilson([0.0] * 20)
    assert right is not None
    assert wrong is not None
    assert (right.value, right.high) == (1.0, 1.0)
    assert (wrong.value, wrong.low) == (0.0, 0.0)
    assert right.low == pytest.approx(1 - wrong.high)
    assert wrong.high == pytest.approx(0.1611, abs=1e-4)


def test_nothing_scored_has_no_mean() -> None:
    assert wilson([]) is None


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9])
def test_the_interval_holds_the_truth_about_95_times_in_100(p: float) -> None:
    numbers = random.Random(7)
    intervals = [wilson([float(numbers.random() < p) for _ in range(60)]) for _ in range(2000)]
    covered = sum(mean is not None and mean.low <= p <= mean.high for mean in intervals) / len(intervals)
    assert 0.925 <= covered <= 0.98


def test_for_graded_scores_the_interval_is_on_the_safe_side() -> None:
    numbers = random.Random(7)
    intervals = [wilson([numbers.betavariate(2, 2) for _ in range(60)]) for _ in range(1000)]
    assert sum(mean is not None and mean.low <= 0.5 <= mean.high for mean in intervals) / len(intervals) >= 0.95
