"""Intervals: right by hand, right at the edges, right by simulation."""

import random

import pytest

from ragstone.stats import (
    above_chance,
    equivalence,
    luck,
    mcnemar,
    over_questions,
    paired_difference,
    resampled,
    wilson,
)


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


# ── against guessing ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_guessing_explains_is_taken_off_with_its_interval() -> None:
    """A half right of a half that guessing gets is nothing; all right is everything, whatever the chance."""
    half, everything = wilson([1.0, 0.0] * 10), wilson([1.0] * 20)
    assert half is not None
    assert everything is not None
    guessed, known = above_chance(half, 0.5), above_chance(everything, 0.125)
    assert guessed is not None
    assert known is not None
    assert (guessed.value, guessed.n) == (0, 20)
    assert guessed.low == pytest.approx(2 * half.low - 1)
    assert guessed.high == pytest.approx(2 * half.high - 1)
    assert known.value == 1
    assert known.low == pytest.approx((everything.low - 0.125) / 0.875)
    assert above_chance(half, 0.0) == half
    assert above_chance(half, 1.0) is None


@pytest.mark.parametrize("known", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("chance", [0.125, 0.5])
def test_the_corrected_interval_holds_what_is_known_about_95_times_in_100(known: float, chance: float) -> None:
    """Who does not know an answer guesses it."""
    numbers = random.Random(f"{known} {chance}")
    hits = 0
    for _ in range(1000):
        rate = wilson([float(numbers.random() < known or numbers.random() < chance) for _ in range(60)])
        assert rate is not None
        found = above_chance(rate, chance)
        assert found is not None
        hits += found.low <= known <= found.high
    assert 0.925 <= hits / 1000 <= 0.98


def test_luck_by_hand() -> None:
    assert luck(2, 2, 0.5) == pytest.approx(1 / 4)
    assert luck(1, 3, 0.5) == pytest.approx(7 / 8)
    assert luck(0, 5, 0.1) == luck(3, 5, 1.0) == 1
    assert luck(1, 5, 0.0) == 0
    assert luck(2500, 5000, 0.5) == pytest.approx(0.5, abs=0.01)  # numbers beyond what a float holds on the way
    assert luck(60, 100, 0.5) == pytest.approx(0.02844, abs=1e-5)


# ── the same questions twice ─────────────────────────────────────────────────────────────────────────────────────────


def test_mcnemar_by_hand() -> None:
    """Ten questions changed, nine of them for the better: twice the 11 of 1024 ways that are so uneven."""
    before, after = [0.0] * 9 + [1.0] + [1.0] * 5, [1.0] * 9 + [0.0] + [1.0] * 5
    found = mcnemar(before, after)
    assert (found.gained, found.lost, found.n) == (9, 1, 15)
    assert found.p == pytest.approx(22 / 1024)
    assert mcnemar(after, before).p == mcnemar(before, after).p
    assert mcnemar([1.0, 0.0], [1.0, 0.0]).p == 1


def test_mcnemar_finds_a_change_that_is_none_at_most_5_times_in_100() -> None:
    numbers = random.Random(3)
    takes = [[float(numbers.random() < 0.4) for _ in range(60)] for _ in range(1000)]
    found = sum(mcnemar(one, other).p < 0.05 for one, other in zip(takes[::2], takes[1::2], strict=True)) / 500
    assert found <= 0.05 + 3 * (0.05 * 0.95 / 500) ** 0.5


def test_a_paired_difference_is_about_the_same_questions() -> None:
    found = paired_difference([0.0, 0.5, 1.0, 0.0] * 25, [1.0, 0.5, 1.0, 0.0] * 25)
    assert found is not None
    assert (found.value, found.n) == (0.25, 100)
    assert found.low == pytest.approx(
        0.155, abs=0.01
    )  # 1.96 times the root of (.25 × .75 + 2 / 100) / 100 to each side
    assert found.high == pytest.approx(0.345, abs=0.01)
    assert paired_difference([], []) is None


def test_questions_that_all_agree_leave_doubt_that_shrinks_with_their_number() -> None:
    few, many = paired_difference([1.0] * 5, [1.0] * 5), paired_difference([1.0] * 500, [1.0] * 500)
    assert few is not None
    assert many is not None
    assert few.low < -0.3
    assert few.high > 0.3
    assert -0.01 < many.low < 0 < many.high < 0.01
    sure = paired_difference([0.0] * 5, [1.0] * 5)
    assert sure is not None
    assert (sure.value, sure.high) == (1, 1)
    assert sure.low < 0.7


@pytest.mark.parametrize("n", [15, 60])
@pytest.mark.parametrize(("before", "after", "alike"), [(0.5, 0.5, 0.0), (0.8, 0.1, 0.0), (0.9, 0.85, 0.8)])
def test_intervals_of_paired_differences_cover_the_truth(n: int, before: float, after: float, alike: float) -> None:
    """Where the two takes are alike, the same luck decides both."""
    numbers = random.Random(f"{n} {before} {after}")
    hits, rounds = 0, 300
    for _ in range(rounds):
        lucks = [(one := numbers.random(), one if numbers.random() < alike else numbers.random()) for _ in range(n)]
        found = paired_difference([float(a < before) for a, _ in lucks], [float(b < after) for _, b in lucks])
        assert found is not None
        hits += found.low <= after - before <= found.high
    assert hits / rounds >= 0.91  # 95 % less three standard errors of this simulation


def test_a_difference_at_the_margin_passes_for_none_at_most_5_times_in_100() -> None:
    numbers = random.Random(11)
    rounds = 400
    wrong = sum(equivalent([0.5, 0.0, -0.5], [0.2, 0.7, 0.1], 200, numbers) for _ in range(rounds))
    assert wrong / rounds <= 0.05 + 3 * (0.05 * 0.95 / rounds) ** 0.5


def test_equality_is_found_with_enough_questions_and_not_claimed_with_few() -> None:
    numbers = random.Random(12)
    assert sum(equivalent([0.5, 0.0, -0.5], [0.05, 0.9, 0.05], 300, numbers) for _ in range(50)) >= 48
    assert not equivalence([1.0] * 20, [1.0] * 20).equivalent  # type: ignore[union-attr]
    assert equivalence([1.0] * 100, [1.0] * 100).equivalent  # type: ignore[union-attr]
    assert equivalence([], []) is None


def equivalent(values: list[float], weights: list[float], n: int, numbers: random.Random) -> bool:
    """Whether a sample of such differences passes for equal within five points."""
    found = equivalence([0.0] * n, numbers.choices(values, weights, k=n))
    assert found is not None
    assert found.equivalent == (found.p < 0.05)
    return found.equivalent


def test_a_statistic_of_several_means_has_an_interval_too() -> None:
    """The ratio of two means, by the delta method: their relative errors add up."""
    rows = [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [1.0, 1.0]] * 60
    found = resampled(rows, lambda means: means[:, 1] / means[:, 0])
    assert found is not None
    assert found.value == pytest.approx(0.5)
    assert found.n == 300
    assert 0.05 < found.high - found.value < 0.075
    assert (
        resampled(rows, lambda means: means[:, 1] / means[:, 0]) == found
    )  # no other randomness than that of the data
