"""Intervals: right by hand, right at the edges, right by simulation."""

import random

import pytest

from ragstone.stats import over_questions, wilson


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


# ── repeats ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_question_asked_once_is_worth_one_score() -> None:
    values = [0.0, 0.25, 1.0, 0.5]
    assert over_questions([[value] for value in values]) == wilson(values)


@pytest.mark.parametrize("values", [[0.0, 1.0, 1.0], [0.2, 0.5, 0.9, 0.4], [0.02] * 24, [1.0] * 5])
def test_repeats_that_are_all_alike_add_nothing(values: list[float]) -> None:
    once, often = wilson(values), over_questions([[value] * 7 for value in values])
    assert once is not None
    assert often is not None
    assert often.n == len(values)
    assert often == pytest.approx(once)


def test_repeats_by_hand() -> None:
    """Four questions, two repeats: the variance of single scores is 1/4, that of the means 1/6, n - 1 of 4."""
    found = over_questions([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [0.0, 1.0]])
    assert found is not None
    student = 1 + (1.959963984540054**2 + 1) / 12
    worth = 0.25 * 4 / (1 / 6) / student**2
    assert worth < 4  # so few questions cannot show that repeats tell more
    assert found == pytest.approx(wilson([0.0, 0.0, 1.0, 1.0]))


@pytest.mark.parametrize("questions", [15, 50])
@pytest.mark.parametrize("repeats", [3, 10])
@pytest.mark.parametrize("shape", [(0.5, 0.5), (2, 2), (8, 2), (1, 9)])
@pytest.mark.parametrize("graded", [False, True])
def test_intervals_over_repeats_cover_the_truth(
    questions: int, repeats: int, shape: tuple[float, float], graded: bool
) -> None:
    """Questions differ in how hard they are, by a Beta distribution, and each repeat is another draw."""
    draws = random.Random(f"{questions} {repeats} {shape} {graded}")
    truth, rounds = shape[0] / sum(shape), 400

    def score(difficulty: float) -> float:
        return sum(draws.random() < difficulty for _ in range(4)) / 4 if graded else float(draws.random() < difficulty)

    hits = 0
    for _ in range(rounds):
        found = over_questions(
            [[score(hard) for _ in range(repeats)] for hard in (draws.betavariate(*shape) for _ in range(questions))]
        )
        assert found is not None
        hits += found.low <= truth <= found.high
    assert hits / rounds >= 0.91  # 95 % less three standard errors of this simulation
