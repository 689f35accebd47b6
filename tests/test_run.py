"""Running: a system sees what it may see and nothing more; a failed call is not a wrong answer."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from ragstone.config import Settings
from ragstone.errors import ConfigError, DataError, ModelError
from ragstone.evaluate import evaluate, load_run, rescore
from ragstone.kit import Answerer, Kit, Metric, System, identity
from ragstone.llm.reader import ModelReader
from ragstone.run import query
from ragstone.systems.closed_book import ClosedBook
from ragstone.systems.context import cut_middle, first_that_fit, without_middle
from ragstone.systems.long_context import LongContext
from ragstone.systems.oracle import Oracle
from ragstone.systems.retrieve_read import Bm25
from ragstone.text import count_tokens
from ragstone.types import Answer, Benchmark, Document, Evidence, Passage, Query, Question, Score

ALL = ("a", "b", "c", "d")
HOPS = Question(
    id="q",
    text="?",
    answers=(("x",),),
    evidence=((Evidence(document_id="a"), Evidence(document_id="d")), (Evidence(document_id="b"),)),
    scope=("a", "b", "c"),
    hidden=("b",),
)


# ── what a system sees ───────────────────────────────────────────────────────────────────────────────────────────────


def test_scoped_keeps_a_question_to_its_scope_and_pooled_opens_all_but_what_is_hidden() -> None:
    assert query(HOPS, Bm25(), "scoped", ALL).scope == ("a", "c")
    assert query(HOPS, Bm25(), "pooled", ALL).scope == ("a", "c", "d")


def test_a_question_without_scope_or_hidden_documents_may_search_everything() -> None:
    open_question = HOPS.model_copy(update={"scope": (), "hidden": ()})
    assert query(open_question, Bm25(), "scoped", ALL).scope is None
    assert query(open_question, Bm25(), "pooled", ALL).scope is None


def test_the_oracle_gets_the_evidence_less_what_is_hidden_and_closed_book_nothing() -> None:
    assert query(HOPS, Oracle(), "pooled", ALL).scope == ("a",)
    assert query(HOPS.model_copy(update={"evidence": ()}), Oracle(), "pooled", ALL).scope == ()
    assert query(HOPS, ClosedBook(), "pooled", ALL).scope == ()


def test_a_query_holds_no_gold() -> None:
    seen = query(HOPS, Bm25(), "scoped", ALL).model_dump()
    assert set(seen) == {"id", "text", "choices", "scope"}


# ── systems and the reader ───────────────────────────────────────────────────────────────────────────────────────────


class Echo:
    """A model that replies with its prompt, so that tests can look at it."""

    name = "echo"

    def __call__(self, prompt: str) -> str:
        return prompt


DOCUMENTS = [Document(id=id, title=id.upper(), text=f"text of {id}") for id in ALL]


def asked(system: System, scope: tuple[str, ...] | None, reader: bool = True) -> Answer:
    answer = system.open(DOCUMENTS, Kit(reader=ModelReader(Echo()) if reader else None))
    return answer(Query(id="q", text="What is the text of b?", choices=("this", "that"), scope=scope))


def test_the_oracle_reads_its_evidence_and_says_so() -> None:
    answer = asked(Oracle(), ("b", "a"))
    assert "<document 1>\nB\ntext of b\n</document 1>\n<document 2>\nA\ntext of a" in answer.raw
    assert "text of c" not in answer.raw
    assert answer.retrieved == (Passage(document_id="b"), Passage(document_id="a"))


def test_the_choices_are_put_to_the_reader() -> None:
    assert "What is the text of b?\n- this\n- that\n" in asked(ClosedBook(), ()).raw


def test_closed_book_reads_nothing_and_long_context_everything_in_scope() -> None:
    assert "text of" not in asked(ClosedBook(), ()).raw.replace("What is the text of b?", "")
    assert all(f"text of {id}\n" in asked(LongContext(), None).raw for id in ALL)
    assert "text of d\n" not in asked(LongContext(), ("a", "b")).raw


def test_a_retriever_without_a_reader_only_retrieves() -> None:
    answer = asked(Bm25(), None, reader=False)
    assert answer.text is None
    assert answer.retrieved is not None
    assert answer.retrieved[0].document_id == "b"
    assert answer.usage.calls == 0


@pytest.mark.parametrize("system", [ClosedBook(), LongContext()])
def test_a_system_that_only_reads_needs_a_reader(system: System) -> None:
    with pytest.raises(ConfigError, match="needs a model that answers; set one with --model"):
        asked(system, None, reader=False)


def test_passages_are_taken_whole_and_in_order_until_the_budget_is_full() -> None:
    texts = ["one two three", "four five", "six seven eight nine", "ten"]
    context = first_that_fit(texts, 8)
    assert context.texts == texts[:2]
    assert context.truncated == sum(map(count_tokens, texts[2:]))
    assert first_that_fit(texts, None).texts == texts


def test_a_context_that_is_too_long_loses_its_middle_and_the_loss_is_counted() -> None:
    text = " ".join(f"w{n}" for n in range(1000))
    context = without_middle([text], 130)
    [kept] = context.texts
    assert kept.startswith("w0 w1 ")
    assert kept.endswith(" w998 w999")
    assert "w500" not in kept
    assert context.truncated == count_tokens(text) - 130
    assert 128 <= count_tokens(cut_middle(text, 130)) <= 130
    assert count_tokens(cut_middle("水" * 500, 130)) == 130


def test_what_was_cut_is_recorded_in_the_answer() -> None:
    answer = asked(LongContext(context_budget=8), None)
    assert answer.usage.truncated_tokens > 0
    assert answer.usage.context_tokens > 0


# ── from systems to scores ───────────────────────────────────────────────────────────────────────────────────────────


class Moody(System):
    """Answers the first question right, the second wrong, declines the third, fails at the fourth."""

    k: int = identity(10, "passages")

    def open(self, documents: Sequence[Document], kit: Kit) -> Answerer:
        def answer(query: Query) -> Answer:
            if query.id == "q4":
                raise ModelError("gave up after 3 tries")
            return {
                "q1": Answer(text="gold", raw="gold"),
                "q2": Answer(text="lead", raw="lead"),
                "q3": Answer(text="I do not know", raw="I do not know", declined=True),
            }[query.id]

        return answer


def four_questions() -> Benchmark:
    questions = tuple(Question(id=f"q{n}", text=f"{n}?", answers=(("gold",),)) for n in range(1, 5))
    return Benchmark(documents=(Document(id="d", text="t"),), questions=questions)


def test_wrong_declined_and_failed_are_counted_apart(settings: Settings) -> None:
    run = evaluate(four_questions(), [Moody()], ["exact_match"], settings=settings)
    [row] = run.rows
    assert row.value == pytest.approx(1 / 3)
    assert (row.n, row.failed, row.declined) == (3, 1, 1)
    assert [failure.value.error for failure in run.failures] == ["gave up after 3 tries"]
    assert "moody: 1 failed; the first: gave up after 3 tries" in run.notes


def test_a_system_with_nothing_right_scores_zero(settings: Settings) -> None:
    class Wrong(Moody):
        """Never right."""

        def open(self, documents: Sequence[Document], kit: Kit) -> Answerer:
            return lambda query: Answer(text="lead", raw="lead")

    run = evaluate(four_questions(), [Wrong()], ["exact_match", "f1", "covered"], settings=settings)
    assert [row.value for row in run.rows] == [0.0, 0.0, 0.0]
    assert all(0 < (row.high or 0) < 1 for row in run.rows)


class Broken(Metric):
    """Cannot score the second question."""

    def score(self, question: Question, answer: Answer, kit: Kit) -> Score | None:
        if question.id == "q2":
            raise ModelError("unreadable verdict")
        return Score(value=1.0)


def test_a_metric_that_fails_is_a_failure_of_that_score_only(settings: Settings) -> None:
    run = evaluate(four_questions(), [Moody()], [Broken(), "exact_match"], settings=settings)
    by_metric = {row.metric: row for row in run.rows}
    assert (by_metric["broken"].n, by_metric["broken"].failed) == (2, 2)
    assert (by_metric["exact_match"].n, by_metric["exact_match"].failed) == (3, 1)


def test_a_metric_that_looks_further_than_the_system_is_refused_before_anything_runs(settings: Settings) -> None:
    with pytest.raises(ConfigError, match=r"recall@20 looks at 20 passages and moody retrieves 10; --set k=20"):
        evaluate(four_questions(), [Moody()], ["recall@20"], settings=settings)


def test_what_cannot_be_scored_is_told(rivers: Benchmark, settings: Settings) -> None:
    run = evaluate(rivers, ["bm25"], ["f1", "recall@5"], settings=settings)
    assert [(row.metric, row.value, row.n) for row in run.rows] == [("f1", None, 0), ("recall@5", 1.0, 3)]
    assert any("f1 has nothing to score for bm25" in note for note in run.notes)


def test_a_corpus_without_questions_cannot_be_evaluated(settings: Settings) -> None:
    with pytest.raises(DataError, match="has no questions"):
        evaluate(Benchmark(documents=(Document(id="d", text="t"),)), ["bm25"], settings=settings)


def test_chance_is_stated_where_answers_are_closed(settings: Settings) -> None:
    questions = [
        question.model_copy(update={"choices": ("gold", "lead", "iron", "tin")})
        for question in four_questions().questions
    ]
    closed = four_questions().model_copy(update={"questions": tuple(questions)})
    notes = evaluate(closed, [Moody()], ["exact_match"], settings=settings).notes
    assert "4 of 4 questions have closed answers: blind guessing alone gets 0.250 right" in notes
    assert "the commonest answer of each question type gets 1.000 right" in notes


# ── the run folder ───────────────────────────────────────────────────────────────────────────────────────────────────


class Counting(System):
    """Counts how often it is asked."""

    calls: ClassVar[list[str]] = []
    label: str = identity("", "tells two of them apart")

    def open(self, documents: Sequence[Document], kit: Kit) -> Answerer:
        def answer(query: Query) -> Answer:
            self.calls.append(query.id)
            return Answer(text="gold", raw="gold")

        return answer


def test_a_run_folder_grows_by_systems_and_metrics_and_asks_nothing_twice(settings: Settings, tmp_path: Path) -> None:
    Counting.calls.clear()
    source, out = four_questions(), tmp_path / "run"
    evaluate(source, [Counting()], ["exact_match"], out=out, settings=settings)
    evaluate(source, [Counting()], ["exact_match"], out=out, settings=settings)
    assert len(Counting.calls) == 4
    both = evaluate(source, [Counting(label="new")], ["f1"], out=out, settings=settings)
    assert len(Counting.calls) == 8
    assert [(row.system, row.metric) for row in both.rows] == [
        ("counting", "exact_match"),
        ("counting", "f1"),
        ("counting(label=new)", "exact_match"),
        ("counting(label=new)", "f1"),
    ]
    assert load_run(out).rows == both.rows


def test_scoring_again_asks_no_system(settings: Settings, tmp_path: Path) -> None:
    Counting.calls.clear()
    evaluate(four_questions(), [Counting()], ["exact_match"], out=tmp_path / "run", settings=settings)
    run = rescore(tmp_path / "run", ["covered"], settings=settings)
    assert [row.metric for row in run.rows] == ["exact_match", "covered"]
    assert len(Counting.calls) == 4


def test_a_run_with_other_settings_is_not_mixed_in(settings: Settings, tmp_path: Path) -> None:
    evaluate(four_questions(), [Counting()], ["exact_match"], out=tmp_path / "run", settings=settings)
    with pytest.raises(ConfigError, match="holds a run with another corpus"):
        evaluate(four_questions(), [Counting()], out=tmp_path / "run", corpus="pooled", settings=settings)


def test_failures_are_kept_and_tried_again_only_when_asked(settings: Settings, tmp_path: Path) -> None:
    first = evaluate(four_questions(), [Moody()], ["exact_match"], out=tmp_path / "run", settings=settings)
    again = evaluate(four_questions(), [Moody()], ["exact_match"], out=tmp_path / "run", settings=settings)
    assert again.failures == first.failures

    class Healed(Moody):
        """Now it answers."""

        def open(self, documents: Sequence[Document], kit: Kit) -> Answerer:
            return lambda query: Answer(text="gold", raw="gold")

    Healed.name = "moody"
    healed = evaluate(
        four_questions(), [Healed()], ["exact_match"], out=tmp_path / "run", settings=settings, retry_failed=True
    )
    assert (healed.rows[0].n, healed.rows[0].failed, len(healed.failures)) == (4, 0, 0)


def test_files_are_the_same_whatever_the_concurrency(rivers: Benchmark, settings: Settings, tmp_path: Path) -> None:
    for concurrency in (1, 8):
        chosen = settings.model_copy(update={"concurrency": concurrency})
        evaluate(rivers, ["bm25", "dense", "hybrid"], out=tmp_path / str(concurrency), settings=chosen)
    for name in ("answers.jsonl", "scores.jsonl", "failures.jsonl", "questions.jsonl", "run.json"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "8" / name).read_bytes()
