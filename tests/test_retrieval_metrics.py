"""Each retrieval metric on worked examples and against a plain reference."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kit import Kit, Metric
from ragstone.metrics.retrieval import AllRecall, Map, Mrr, Ndcg, Precision, Recall
from ragstone.plugins import create
from ragstone.types import Answer, Evidence, Passage, Question

KINDS = (Recall, AllRecall, Precision, Mrr, Ndcg, Map)
DOCUMENTS = st.sampled_from("abcdefgh")
GOLD = st.lists(DOCUMENTS, min_size=1, max_size=5, unique=True)
RANKED = st.lists(DOCUMENTS, max_size=12)


def asked(*groups: str) -> Question:
    """A question whose evidence is one group for each word; a group's documents are its letters."""
    evidence = tuple(tuple(Evidence(document_id=letter) for letter in group) for group in groups)
    return Question(id="q", text="?", evidence=evidence)


def found(documents: str) -> Answer:
    return Answer(retrieved=tuple(Passage(document_id=letter) for letter in documents))


def value(metric: Metric, question: Question, answer: Answer) -> float:
    score = metric.score(question, answer, Kit())
    assert score is not None
    return score.value


# ── where they apply ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", KINDS)
def test_a_metric_does_not_apply_without_evidence_or_a_told_retrieval(kind: type[Metric]) -> None:
    metric = kind()
    assert metric.reads == "retrieved"
    assert metric.score(asked("a"), Answer(text="x", retrieved=None), Kit()) is None
    assert metric.score(asked(), found("a"), Kit()) is None
    assert metric.score(asked(""), found("a"), Kit()) is None
    assert metric.score(asked("a").model_copy(update={"answerable": False}), found("a"), Kit()) is None


@pytest.mark.parametrize("kind", KINDS)
def test_retrieving_nothing_or_nothing_relevant_scores_zero(kind: type[Metric]) -> None:
    assert value(kind(), asked("a", "b"), found("")) == 0.0
    assert value(kind(), asked("a", "b"), found("xyz")) == 0.0


def test_the_cut_is_a_part_of_the_name() -> None:
    assert repr(create(Metric, "recall@5")) == "recall@5"
    assert repr(Map()) == "map@10"
    assert repr(Ndcg(k=3, unit="evidence")) == "ndcg@3(unit=evidence)"


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", [Recall, AllRecall, Mrr, Ndcg, Map])
@pytest.mark.parametrize("gold", ["a", "ab", "abc", "abcd"])
def test_a_perfect_ranking_scores_one(kind: type[Metric], gold: str) -> None:
    # MultiHop-RAG's released code gives a perfect ranking of two .75 and of three .61 for MAP.
    assert value(kind(), asked(*gold), found(gold + "xyz")) == 1.0


def test_a_worked_example_by_hand() -> None:
    question, answer = asked("a", "b"), found("xaxyb")  # x a y b once repeats are removed
    assert value(Recall(), question, answer) == 1.0
    assert value(Recall(k=3), question, answer) == 0.5
    assert value(AllRecall(k=3), question, answer) == 0.0
    assert value(AllRecall(k=4), question, answer) == 1.0
    assert value(Precision(k=4), question, answer) == 0.5
    assert value(Mrr(), question, answer) == 0.5
    assert value(Ndcg(), question, answer) == pytest.approx(
        (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3))
    )
    assert value(Map(), question, answer) == pytest.approx((1 / 2 + 2 / 4) / 2)


def test_precision_divides_by_k_even_if_fewer_were_returned() -> None:
    assert value(Precision(k=10), asked("a"), found("a")) == 0.1


def test_any_piece_finds_its_group_and_a_second_piece_finds_nothing_new() -> None:
    question = asked("ab", "c")
    assert value(Recall(k=2), question, found("ba")) == 0.5
    assert value(Recall(k=2), question, found("bc")) == 1.0
    assert value(Precision(k=2), question, found("ba")) == 1.0  # relevant, though not new
    assert value(Map(), question, found("bac")) == pytest.approx((1 + 2 / 3) / 2)


def test_one_document_that_finds_two_groups_never_scores_above_one() -> None:
    question = asked("ab", "ac")
    for kind in (Recall, AllRecall, Mrr, Ndcg, Map):
        assert value(kind(), question, found("a")) == 1.0


def test_two_sentences_of_one_document_count_once_as_documents_and_twice_as_evidence() -> None:
    one, other = (Evidence(document_id="a", quote="x" * 10, start=start, end=start + 10) for start in (0, 50))
    question = Question(id="q", text="?", evidence=((one,), (other,)))
    first_half = Answer(retrieved=(Passage(document_id="a", start=0, end=40),))
    assert value(Recall(), question, first_half) == 1.0
    assert value(Recall(unit="evidence"), question, first_half) == 0.5
    assert value(Recall(), asked("a", "a", "b"), found("a")) == 0.5


def test_a_group_without_evidence_is_nothing_to_find() -> None:
    for unit in ("document", "evidence"):
        assert value(create(Metric, "recall", unit=unit), asked("a", ""), found("a")) == 1.0


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (None, None, 1.0),  # the whole document
        (95, 125, 1.0),
        (0, 110, 1.0),  # holds half of the quote
        (0, 109, 0.0),
        (120, 130, 0.0),
    ],
)
def test_a_passage_must_hold_half_of_the_quote(start: int | None, end: int | None, expected: float) -> None:
    piece = Evidence(document_id="a", quote="x" * 20, start=100, end=120)
    question = Question(id="q", text="?", evidence=((piece,),))
    answer = Answer(retrieved=(Passage(document_id="a", start=start, end=end),))
    assert value(Recall(unit="evidence"), question, answer) == expected
    assert value(Recall(unit="evidence"), asked("a"), answer) == 1.0  # evidence without offsets: the document


def test_a_quote_that_a_boundary_cuts_is_found_by_its_larger_piece() -> None:
    piece = Evidence(document_id="a", quote="x" * 20, start=95, end=115)
    question = Question(id="q", text="?", evidence=((piece,),))
    chunks = tuple(Passage(document_id="a", start=start, end=start + 100) for start in (0, 100))
    assert value(Mrr(unit="evidence"), question, Answer(retrieved=chunks)) == 0.5
    other_document = Answer(retrieved=(Passage(document_id="b", start=95, end=115),))
    assert value(Recall(unit="evidence"), question, other_document) == 0.0


def test_repeated_passages_take_no_rank() -> None:
    again = Passage(document_id="x", start=0, end=9, score=0.5)
    answer = Answer(retrieved=(again, again.model_copy(update={"score": 0.4}), Passage(document_id="a")))
    assert value(Mrr(unit="evidence"), asked("a"), answer) == 0.5
    assert value(Mrr(), asked("a"), answer) == 0.5


# ── against a plain reference ────────────────────────────────────────────────────────────────────────────────────────


def plain(gold: list[str], ranked: list[str], k: int) -> dict[str, float]:
    """The textbook's values for single golds."""
    unique: list[str] = []
    for document in ranked:
        if document not in unique:
            unique.append(document)
    hits = [document in gold for document in unique[:k]]
    ranks = [rank for rank, hit in enumerate(hits, 1) if hit]
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(gold)) + 1))
    return {
        "recall": len(ranks) / len(gold),
        "all_recall": float(len(ranks) == len(gold)),
        "precision": len(ranks) / k,
        "mrr": 1 / ranks[0] if ranks else 0.0,
        "ndcg": sum(1 / math.log2(rank + 1) for rank in ranks) / ideal,
        "map": sum(sum(hits[:rank]) / rank for rank in ranks) / len(gold),
    }


@given(GOLD, RANKED, st.integers(1, 12))
def test_single_golds_score_as_in_the_textbook(gold: list[str], ranked: list[str], k: int) -> None:
    question, answer = asked(*gold), found("".join(ranked))
    for name, expected in plain(gold, ranked, k).items():
        for unit in ("document", "evidence"):
            assert value(create(Metric, f"{name}@{k}", unit=unit), question, answer) == pytest.approx(expected), name


@given(st.lists(st.text("abcdefgh", max_size=3), min_size=1, max_size=5).filter(any), RANKED, st.integers(1, 12))
def test_values_lie_between_zero_and_one_and_recall_grows_with_k(groups: list[str], ranked: list[str], k: int) -> None:
    question, answer = asked(*groups), found("".join(ranked))
    for kind in KINDS:
        assert 0.0 <= value(kind(k=k), question, answer) <= 1.0
        assert 0.0 <= value(kind(k=k, unit="evidence"), question, answer) <= 1.0
    assert value(Recall(k=k), question, answer) <= value(Recall(k=k + 1), question, answer)
    assert value(AllRecall(k=k), question, answer) <= value(Recall(k=k), question, answer)
