"""Each answer metric on worked examples, against the code that others use, and on the known bugs of that code."""

import doctest
import json
import random
import re
import string
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge import Rouge
from rouge_score.rouge_scorer import RougeScorer

from ragstone.kit import Kit, Metric
from ragstone.metrics.answer import F1, MOST_REFERENCES, Covered, ExactMatch, RougeL, references
from ragstone.plugins import METRICS, create
from ragstone.types import Answer, Question

EVERY = (ExactMatch(), F1(), Covered(), RougeL(), RougeL(variant="rouge"))
TEXT = st.text(string.ascii_letters + string.digits + string.punctuation + " \n\t", max_size=60)
ENGLISH = st.lists(st.sampled_from("The the a an cat. Cat! sat, on mat yes no AT&T 3.5 x_y".split())).map(" ".join)


def value(metric: Metric, text: str, *golds: str, choices: tuple[str, ...] = ()) -> float:
    """The score of a text where any of the golds is right."""
    score = metric.score(Question(id="q", text="?", answers=(golds,), choices=choices), Answer(text=text), Kit())
    assert score is not None
    return score.value


def groups_value(metric: Metric, text: str, *groups: tuple[str, ...]) -> float:
    """The score of a text where one of every group is needed."""
    score = metric.score(Question(id="q", text="?", answers=groups), Answer(text=text), Kit())
    assert score is not None
    return score.value


# ── where they apply ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("metric", EVERY, ids=str)
def test_a_metric_does_not_apply_without_a_text_or_a_gold_answer(metric: Metric) -> None:
    asked = Question(id="q", text="?", answers=(("Paris",),))
    assert metric.score(asked, Answer(text=None), Kit()) is None
    assert metric.score(Question(id="q", text="?"), Answer(text="Paris"), Kit()) is None
    assert metric.score(asked.model_copy(update={"answerable": False}), Answer(text="Paris"), Kit()) is None


@pytest.mark.parametrize("metric", EVERY, ids=str)
@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_answer_scores_zero_even_when_declined_or_the_gold_is_empty(metric: Metric, text: str) -> None:
    for gold in ("Paris", "The The", "", " ", "."):
        asked = Question(id="q", text="?", answers=((gold,),))
        for declined in (False, True):
            score = metric.score(asked, Answer(text=text, declined=declined), Kit())
            assert score is not None
            assert score.value == 0.0


@pytest.mark.parametrize("metric", EVERY, ids=str)
def test_what_a_system_says_while_declining_is_scored_like_any_text(metric: Metric) -> None:
    score = metric.score(Question(id="q", text="?", answers=(("Paris",),)), Answer(text="Paris", declined=True), Kit())
    assert score is not None
    assert score.value == pytest.approx(1.0)


@pytest.mark.parametrize("metric", EVERY, ids=str)
def test_a_system_with_nothing_right_scores_zero(metric: Metric) -> None:
    assert value(metric, "blue whales", "Paris", "City of Light") == 0.0


@pytest.mark.parametrize("metric", EVERY, ids=str)
def test_the_best_alias_counts(metric: Metric) -> None:
    assert value(metric, "New York City", "NYC", "New York City") == pytest.approx(1.0)


@pytest.mark.parametrize("metric", EVERY, ids=str)
def test_several_groups_are_all_needed_in_any_of_their_words(metric: Metric) -> None:
    assert groups_value(metric, "Rome Paris", ("Rom", "Rome"), ("Paris", "Lutetia")) == pytest.approx(1.0)
    assert groups_value(metric, "Rome", ("Rom", "Rome"), ("Paris", "Lutetia")) < 1.0


def test_a_long_list_of_groups_is_scored_without_trying_every_combination() -> None:
    groups = tuple((f"state{number}", f"s{number}", f"the {number}th") for number in range(40))
    text = " ".join(group[number % 3] for number, group in enumerate(groups))
    question = Question(id="q", text="?", answers=groups)
    assert len(references(question, text)) <= MOST_REFERENCES
    assert groups_value(ExactMatch(), text, *groups) == 1.0
    assert groups_value(F1(), text, *groups) == 1.0


def test_every_metric_has_the_name_by_which_it_is_found() -> None:
    for name in METRICS:
        assert create(Metric, name).name == name
    assert repr(create(Metric, "rouge_l(variant=rouge)")) == "rouge_l(variant=rouge)"


def test_every_example_of_the_metrics_page_is_true() -> None:
    page = Path(__file__).parent.parent / "docs" / "metrics.md"
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert result.attempted > 25
    assert result.failed == 0


# ── exact match and F1 ───────────────────────────────────────────────────────────────────────────────────────────────


def squad_normal(text: str) -> str:
    """The published rules, one step at a time."""
    lowered = text.lower()
    unmarked = "".join(character for character in lowered if character not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", unmarked).split())


def squad_f1(text: str, gold: str) -> float:
    """The published F1 with HotpotQA's rule for closed answers."""
    said, meant = squad_normal(text), squad_normal(gold)
    if said != meant and ({said, meant} & {"yes", "no", "noanswer"}):
        return 0.0
    same = sum((Counter(said.split()) & Counter(meant.split())).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(said.split()), same / len(meant.split())
    return 2 * precision * recall / (precision + recall)


@given(TEXT | ENGLISH, TEXT | ENGLISH)
def test_exact_match_and_f1_equal_the_published_code_on_ascii(text: str, gold: str) -> None:
    if squad_normal(text) and squad_normal(gold):
        assert value(F1(), text, gold) == squad_f1(text, gold)
        assert value(ExactMatch(), text, gold) == float(squad_normal(text) == squad_normal(gold))


def test_f1_of_a_worked_example() -> None:
    assert value(F1(), "the cat sat on a mat", "a cat on the mat!") == pytest.approx(2 * 0.75 * 1 / 1.75)


def test_a_closed_answer_is_right_or_wrong_and_never_in_part() -> None:
    assert value(F1(), "yes, they are", "yes") == 0.0
    assert value(F1(), "Yes.", "yes") == 1.0
    assert value(F1(), "no", "no man's land") == 0.0


def test_a_gold_of_articles_or_marks_alone_equals_only_itself() -> None:
    # The published code leaves nothing of these golds, so that an empty answer would match them.
    assert value(ExactMatch(), "the the", "The The") == value(F1(), "the the", "The The") == 1.0
    assert value(ExactMatch(), "The", "A") == value(F1(), "!", "The The") == 0.0


def test_unicode_marks_and_widths_do_not_count() -> None:
    assert value(ExactMatch(), "«Ｐaris» —", "Paris") == 1.0
    assert value(F1(), "O’Neill", "O'Neill") == 1.0


def test_an_unspaced_script_is_scored_by_characters() -> None:
    assert value(ExactMatch(), "北京。", "北京") == 1.0
    assert value(F1(), "北京市", "北京") == pytest.approx(0.8)
    assert value(F1(), "上海", "北京") == 0.0


# ── covered ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        ("There are 14 of them", "4"),  # PRGB's substring test accepts all of these
        ("the removal", "oval"),
        ("meet me at t junction", "AT&T"),
        ("anything at all", ""),
        ("anything at all", "?!"),
        ("4.5 metres", "4"),
        ("4,000 men", "4"),
        ("19 November 1786", "9 November 1786"),
        ("November 9, 1786", "November 8, 1786"),
        ("November 9, 1786", "November 1787"),
        ("9 November", "9 November 1786"),
        ("17865", "1786"),
        ("It was -5 degrees", "5"),
        ("Lake Paris is in Texas, France is not", "Paris (France)"),
    ],
)
def test_a_gold_inside_something_else_is_not_covered(text: str, gold: str) -> None:
    assert value(Covered(), text, gold) == 0.0


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        ("About 12,000 people", "12000"),  # PRGB's substring test rejects all of these
        ("on November 9th, 1786.", "November 9, 1786"),
        ("on 1786-11-09", "9 November 1786"),
        ("于1786年11月9日演出", "November 9, 1786"),
        ("from 1914–1918", "1914-1918"),
        ("New  York", "New York"),
        ("It is in Paris, France.", "Paris (France)"),
        ("She works for AT&T.", "AT&T"),
        ("Einstein’s theory", "Einstein"),
        ("on November 9, 1786", "1786"),
        ("on November 9, 1786", "November 1786"),
        ("on November 9, 1786", "November"),
        ("the 9th district", "9"),
        ("他住在北京市。", "北京"),
        ("共１２，０００人", "12000"),
    ],
)
def test_a_gold_is_covered_however_it_is_written(text: str, gold: str) -> None:
    assert value(Covered(), text, gold) == 1.0


@pytest.mark.parametrize(
    ("text", "gold", "expected"),
    [
        ("Yes, there is no doubt.", "yes", 1.0),
        ("No; yes would be wrong.", "yes", 0.0),
        ("No.", "No", 1.0),
        ("I do not know.", "no", 0.0),
        ("不是。", "是", 0.0),
        ("是的", "是", 1.0),
    ],
)
def test_the_first_yes_or_no_decides(text: str, gold: str, expected: float) -> None:
    assert value(Covered(), text, gold) == expected


def test_naming_another_choice_as_well_is_not_covering() -> None:
    choices = ("water", "salt water", "sand", "yes")
    assert value(Covered(), "It is salt water.", "salt water", choices=choices) == 1.0  # "water" is a part of the gold
    assert value(Covered(), "It is salt water.", "water", choices=choices) == 0.0
    assert value(Covered(), "water, salt water, sand", "sand", choices=choices) == 0.0
    assert value(Covered(), "sand", "sand", choices=choices) == 1.0
    assert value(Covered(), "No, not yes", "no", choices=("yes", "no")) == 1.0


def test_a_score_of_zero_says_what_is_missing_or_too_much() -> None:
    missing = Covered().score(Question(id="q", text="?", answers=(("A", "B"),)), Answer(text="C"), Kit())
    listed = Covered().score(
        Question(id="q", text="?", answers=(("sand",),), choices=("sand", "rock")), Answer(text="sand or rock"), Kit()
    )
    assert missing is not None
    assert missing.reason == "does not say 'A' or 'B'"
    assert listed is not None
    assert listed.reason == "also says 'rock'"


def real_golds(data: Path) -> list[str]:
    hotpot = json.loads((data / "hotpotqa" / "hotpot_dev_distractor_sample.json").read_text())
    wiki = json.loads((data / "2wikimultihopqa" / "dev_sample.json").read_text())
    lines = (data / "musique" / "musique_ans_v1.0_dev_sample.jsonl").read_text().splitlines()
    musique = [gold for row in map(json.loads, lines) for gold in (row["answer"], *row["answer_aliases"])]
    return [row["answer"] for row in (*hotpot, *wiki)] + musique


def test_every_gold_answer_of_real_benchmarks_is_right_by_every_metric(data: Path) -> None:
    golds = real_golds(data)
    assert len(golds) > 800
    for gold in golds:
        assert [value(metric, gold, gold) for metric in EVERY] == pytest.approx([1.0] * len(EVERY)), gold
        assert value(Covered(), f"“{gold}”, I think.", gold) == 1.0, gold


# ── ROUGE-L ──────────────────────────────────────────────────────────────────────────────────────────────────────────

GOOGLE = RougeScorer(["rougeL"], use_stemmer=False)
PLTRDY = Rouge(metrics=["rouge-l"], stats=["f"])


def pltrdy(text: str, gold: str) -> float:
    try:
        return float(PLTRDY.get_scores(text, gold)[0]["rouge-l"]["f"])
    except ValueError:  # the package refuses texts without a sentence
        return 0.0


@given((TEXT | ENGLISH).filter(str.strip), TEXT | ENGLISH)
def test_both_variants_equal_their_packages_on_ascii(text: str, gold: str) -> None:
    assert value(RougeL(), text, gold) == pytest.approx(GOOGLE.score(gold, text)["rougeL"].fmeasure, abs=1e-12)
    assert value(RougeL(variant="rouge"), text, gold) == pytest.approx(pltrdy(text, gold), abs=1e-9)


def test_both_variants_equal_their_packages_on_long_texts() -> None:
    rng = random.Random(7)
    words = [*string.ascii_lowercase, "The", "end.", "3.5", "so,", "no.", "."]
    for length in (20, 60, 120, 200):
        for _ in range(8):
            text, gold = (" ".join(rng.choices(words, k=rng.randint(length // 2, length))) for _ in range(2))
            assert value(RougeL(), text, gold) == pytest.approx(GOOGLE.score(gold, text)["rougeL"].fmeasure, abs=1e-12)
            assert value(RougeL(variant="rouge"), text, gold) == pytest.approx(pltrdy(text, gold), abs=1e-9)


@pytest.mark.parametrize(
    ("text", "gold", "google", "summary"),
    [
        ("paris", "Paris", 1.0, 0.0),
        ("x y z x y z", "x y z", 2 / 3, 1.0),
        ("c d. a b", "a b. c d", 0.5, 1.0),
        ("...", "Paris", 0.0, 0.0),  # the package raises an error
    ],
)
def test_the_two_packages_mean_two_things_by_rouge_l(text: str, gold: str, google: float, summary: float) -> None:
    assert value(RougeL(), text, gold) == pytest.approx(google)
    assert value(RougeL(variant="rouge"), text, gold) == pytest.approx(summary)


def test_an_unspaced_script_has_a_rouge_l_although_the_package_sees_nothing_there() -> None:
    assert GOOGLE.score("北京大学", "北京大学")["rougeL"].fmeasure == 0.0
    assert value(RougeL(), "北京大学", "北京大学") == 1.0
    assert value(RougeL(), "京北", "北京") == 0.5
    assert value(RougeL(), "naïve_été", "Naïve été") == 1.0


@pytest.mark.parametrize("metric", EVERY, ids=str)
@given(text=st.text(max_size=40), gold=st.text(max_size=40))
def test_every_value_lies_between_zero_and_one(metric: Metric, text: str, gold: str) -> None:
    assert 0.0 <= value(metric, text, gold) <= 1.0
