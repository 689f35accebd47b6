"""Running: a system sees what it may see and nothing more; a failed call is not a wrong answer."""

import contextlib
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

import pytest

from ragstone.config import Settings
from ragstone.errors import ConfigError, DataError, ModelError
from ragstone.evaluate import evaluate, rescore
from ragstone.journal import Journal
from ragstone.kit import Answerer, Kit, Metric, System, identity
from ragstone.llm.model import LanguageModel
from ragstone.llm.reader import ModelReader
from ragstone.report.show import shown_item
from ragstone.run import query
from ragstone.run_folder import Run, load_run
from ragstone.systems.closed_book import ClosedBook
from ragstone.systems.context import cut_middle, first_that_fit, without_middle
from ragstone.systems.long_context import LongContext
from ragstone.systems.oracle import Oracle
from ragstone.systems.retrieve_read import Bm25
from ragstone.text import count_tokens
from ragstone.types import Answer, Benchmark, Call, Document, Evidence, Passage, Query, Question, Reply, Score

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
    telling = HOPS.model_copy(update={"id": "q7-unanswerable"})
    seen = query(telling, Bm25(), "scoped", ALL)
    assert set(seen.model_dump()) == {"id", "text", "choices", "scope", "repeat"}
    assert "unanswerable" not in repr(seen)


# ── systems and the reader ───────────────────────────────────────────────────────────────────────────────────────────


class Echo:
    """A model that replies with its prompt, so that tests can look at it."""

    name = "echo"

    keeps = False

    def complete(self, call: Call) -> Reply:
        return Reply(text=call.messages[-1].content)


DOCUMENTS = [Document(id=id, title=id.upper(), text=f"text of {id}") for id in ALL]


def asked(system: System, scope: tuple[str, ...] | None, reader: bool = True) -> Answer:
    answer = system.open(DOCUMENTS, Kit(reader=ModelReader(LanguageModel(Echo())) if reader else None))
    return answer(Query(id="q", text="What is the text of b?", choices=("this", "that"), scope=scope))


def test_the_oracle_reads_its_evidence_and_says_so() -> None:
    answer = asked(Oracle(), ("b", "a"))
    assert "<document 1>\nB\ntext of b\n</document 1>\n<document 2>\nA\ntext of a" in answer.raw
    assert "text of c" not in answer.raw
    assert answer.retrieved == (Passage(document_id="b"), Passage(document_id="a"))


def test_the_choices_are_put_to_the_reader() -> None:
    assert "What is the text of b?\nA) this\nB) that" in asked(ClosedBook(), ()).raw


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

    healed: ClassVar[bool] = False
    k: int = identity(10, "passages")

    def open(self, documents: Sequence[Document], kit: Kit) -> Answerer:
        def answer(query: Query) -> Answer:
            if query.text == "4?" and not self.healed:
                raise ModelError("gave up after 3 tries")
            return {
                "4?": Answer(text="gold", raw="gold"),
                "1?": Answer(text="gold", raw="gold"),
                "2?": Answer(text="lead", raw="lead"),
                "3?": Answer(text="I do not know", raw="I do not know", declined=True),
            }[query.text]

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
    assert "failed: moody 1 (--retry-failed tries again); the first: gave up after 3 tries" in run.notes


def test_a_system_with_nothing_right_scores_zero(settings: Settings) -> None:
    class Wrong(Moody):
        """Never right."""

        def open(self, documents: Sequence[Document], kit: Kit) -> Answerer:
            return lambda query: Answer(text="lead", raw="lead")

    run = evaluate(four_questions(), [Wrong()], ["exact_match", "f1", "covered"], settings=settings)
    assert [row.value for row in run.rows] == [0.0, 0.0, 0.0]
    assert all(0 < (row.high or 0) < 1 for row in run.rows)


def test_a_system_that_returns_documents_it_may_not_use_fails_and_is_told_why(
    rivers: Benchmark, settings: Settings
) -> None:
    class Lost(System):
        """Returns a document from elsewhere, or from outside the scope."""

        def open(self, documents: Sequence[Document], kit: Kit) -> Answerer:
            return lambda query: Answer(retrieved=(Passage(document_id="volga" if query.scope else "thames"),))

    scoped = rivers.questions[0].model_copy(update={"scope": ("nile",)})
    source = rivers.model_copy(update={"questions": (scoped, *rivers.questions[1:])})
    run = evaluate(source, [Lost()], ["recall@5"], settings=settings)
    assert [re.findall("'(.*?)'", failure.value.error) for failure in run.failures] == [
        ["volga"],
        ["thames"],
        ["thames"],
    ]
    assert run.rows[0].n == 0


def test_what_was_retrieved_counts_although_the_reader_failed(
    rivers: Benchmark, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "one.jsonl").write_text('{"when": "Nile end", "reply": "Mediterranean Sea"}\n', "utf-8")
    chosen = settings.model_copy(update={"models": {"reader": f"scripted:{tmp_path / 'one.jsonl'}"}})
    run = evaluate(rivers, ["bm25"], ["recall@5", "covered"], out=tmp_path / "run", settings=chosen)
    recall, covered = run.rows
    assert (recall.value, recall.n, recall.failed) == (1.0, 3, 0)
    assert (covered.value, covered.n, covered.failed) == (1.0, 1, 2)
    assert load_run(tmp_path / "run").rows == run.rows
    assert rescore(tmp_path / "run", ["mrr@5"], settings=chosen).rows[2].n == 3
    shown = shown_item(str(tmp_path / "run"), "q-volga")[1]
    assert "bm25: failed: " in shown
    assert "* 1. volga" in shown


def test_a_failure_is_counted_only_where_the_metric_applies(settings: Settings) -> None:
    questions = list(four_questions().questions)
    questions[3] = questions[3].model_copy(update={"answerable": False})
    source = four_questions().model_copy(update={"questions": tuple(questions)})
    run = evaluate(source, [Moody()], ["exact_match", Broken()], settings=settings)
    assert [(row.metric, row.n, row.failed) for row in run.rows] == [("exact_match", 3, 0), ("broken", 2, 2)]
    assert "not every question can be scored; of 4: exact_match 3" in run.notes


def test_a_bug_in_a_component_names_the_item(settings: Settings) -> None:
    class Buggy(System):
        """Divides by zero."""

        def open(self, documents: Sequence[Document], kit: Kit) -> Answerer:
            return lambda query: Answer(text=str(1 / 0))

    with pytest.raises(ZeroDivisionError) as caught:
        evaluate(four_questions(), [Buggy()], ["exact_match"], settings=settings)
    assert re.search("while working on .* q1", caught.value.__notes__[0])


def test_means_over_different_questions_are_marked(settings: Settings) -> None:
    notes = evaluate(four_questions(), [Moody(), Counting()], ["exact_match"], settings=settings).notes
    assert "exact_match: not every system was scored on the same questions (see n)" in notes


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
    assert any("nothing to score for bm25 by f1" in note for note in run.notes)


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
    with pytest.raises(ConfigError, match="holds a run with another --corpus"):
        evaluate(four_questions(), [Counting()], out=tmp_path / "run", corpus="pooled", settings=settings)


def test_failures_are_kept_and_tried_again_only_when_asked(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(retry_failed: bool) -> Run:
        out = tmp_path / "run"
        return evaluate(
            four_questions(), [Moody()], ["exact_match"], out=out, settings=settings, retry_failed=retry_failed
        )

    first = ask(False)
    monkeypatch.setattr(Moody, "healed", True)
    assert ask(False).failures == first.failures
    healed = ask(True)
    assert (healed.rows[0].n, healed.rows[0].failed, len(healed.failures)) == (4, 0, 0)
    assert healed.rows[0].value == 0.5


def test_a_command_with_nothing_new_writes_nothing(settings: Settings, tmp_path: Path) -> None:
    out = tmp_path / "run"
    evaluate(four_questions(), [Counting(), Counting(label="b")], ["exact_match"], out=out, settings=settings)
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in out.glob("*.json*")}
    evaluate(four_questions(), [Counting()], ["exact_match"], out=out, settings=settings)
    assert {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in out.glob("*.json*")} == before


def another_counting() -> System:
    class Counting(System):
        """Has the name of the other one."""

        def open(self, documents: Sequence[Document], kit: Kit) -> Answerer:
            return lambda query: Answer(text="lead", raw="lead")

    return Counting()


def test_two_systems_of_one_name_are_never_taken_for_each_other(settings: Settings, tmp_path: Path) -> None:
    out = tmp_path / "run"
    evaluate(four_questions(), [Counting()], ["exact_match"], out=out, settings=settings)
    with pytest.raises(ConfigError, match=r"answers of another counting \(other component\)"):
        evaluate(four_questions(), [another_counting()], ["exact_match"], out=out, settings=settings)
    with pytest.raises(ConfigError, match="results of another counting"):
        evaluate(four_questions(), [Counting(), another_counting()], ["exact_match"], settings=settings)


def test_another_reader_is_a_row_of_its_own_and_names_tell_which_is_which(
    rivers: Benchmark, settings: Settings, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text(f'{{"when": "", "reply": "{name}"}}\n', "utf-8")

    def ask(script: str) -> Run:
        models = {"reader": f"scripted:{tmp_path / script}.jsonl", "embedder": "wordllama"}
        chosen = settings.model_copy(update={"models": models})
        return evaluate(rivers, ["oracle"], ["covered"], out=tmp_path / "run", settings=chosen)

    assert list(ask("one").manifest.systems) == ["oracle"]
    both = ask("two")
    readers = [made.models["reader"] for made in both.manifest.systems.values()]
    assert [reader.partition("#")[0] for reader in readers] == ["scripted:one.jsonl", "scripted:two.jsonl"]
    assert list(both.manifest.systems) == [f"oracle [{reader}]" for reader in readers]
    texts = {(entry.by, entry.value.text) for entry in both.answers}
    assert texts == {(f"oracle [{reader}]", said) for reader, said in zip(readers, ("one", "two"), strict=True)}
    assert {entry.of for entry in both.scores} == set(both.manifest.systems)
    assert load_run(tmp_path / "run").rows == both.rows


def test_a_metric_that_cannot_be_made_again_keeps_its_scores(settings: Settings, tmp_path: Path) -> None:
    class Local(Metric):
        """Lives in a function, so nobody can import it."""

        def score(self, question: Question, answer: Answer, kit: Kit) -> Score | None:
            return Score(value=0.5)

    evaluate(four_questions(), [Counting()], [Local()], out=tmp_path / "run", settings=settings)
    run = rescore(tmp_path / "run", ["exact_match"], settings=settings)
    assert [(row.metric, row.value) for row in run.rows] == [("local", 0.5), ("exact_match", 1.0)]


def test_a_score_beyond_0_and_1_names_the_metric(settings: Settings) -> None:
    class Percent(Metric):
        """Thinks in per cent."""

        def score(self, question: Question, answer: Answer, kit: Kit) -> Score | None:
            return Score(value=50.0)

    with pytest.raises(ConfigError, match="percent gave a wrong score, value: input should be less than or equal to 1"):
        evaluate(four_questions(), [Counting()], [Percent()], settings=settings)


def test_declining_without_a_word_does_not_raise_the_score(settings: Settings) -> None:
    class Shy(Moody):
        """Answers one question and declines the rest."""

        def open(self, documents: Sequence[Document], kit: Kit) -> Answerer:
            return lambda query: Answer(text="gold") if query.text == "1?" else Answer(declined=True)

    [row] = evaluate(four_questions(), [Shy()], ["exact_match"], settings=settings).rows
    assert (row.value, row.n, row.declined) == (0.25, 4, 3)


def test_an_answer_that_cannot_be_written_is_a_failure(settings: Settings, tmp_path: Path) -> None:
    class Broken(Moody):
        """Speaks half characters."""

        def open(self, documents: Sequence[Document], kit: Kit) -> Answerer:
            return lambda query: Answer(text="half \ud800" if query.text == "1?" else "gold")

    run = evaluate(four_questions(), [Broken()], ["exact_match"], out=tmp_path / "run", settings=settings)
    assert (run.rows[0].n, run.rows[0].failed) == (3, 1)
    assert "cannot be written: str is not valid UTF-8" in run.failures[0].value.error


class Killed(BaseException):
    """As abrupt as a kill."""


@pytest.mark.parametrize("step", range(16))
def test_a_kill_while_a_growing_run_is_saved_loses_no_answer(
    step: int, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every rename is a moment to die: in the stage, between the stage and its place, in the journal."""
    Counting.calls.clear()
    out = tmp_path / "run"

    def ask(label: str) -> Run:
        return evaluate(four_questions(), [Counting(label=label)], ["exact_match"], out=out, settings=settings)

    ask("a")
    left = [step]

    def dying(source: str | Path, target: str | Path) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Killed
        real_replace(source, target)

    real_replace = os.replace
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", dying)
        with contextlib.suppress(Killed):
            ask("b")
    run = ask("b")
    assert {(entry.by, entry.question_id) for entry in run.answers} == {
        (f"counting(label={label})", f"q{n}") for label in "ab" for n in range(1, 5)
    }
    assert len(Counting.calls) == 8
    assert load_run(out).rows == run.rows
    assert not list(out.glob("journal-*"))


def test_half_of_a_system_survives_a_command_that_leaves_it_out(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Counting.calls.clear()
    chosen = settings.model_copy(update={"concurrency": 1})

    def ask(*labels: str) -> Run:
        systems = [Counting(label=label) for label in labels]
        return evaluate(four_questions(), systems, ["exact_match"], out=tmp_path / "run", settings=chosen)

    real_add = Journal.add

    def dying(journal: Journal, item_id: str, value: Mapping[str, object]) -> None:
        if len(Counting.calls) == 7:
            raise Killed
        real_add(journal, item_id, value)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "add", dying)
        with pytest.raises(Killed):
            ask("a", "b")
    ask("a")
    before = len(Counting.calls)
    assert len(ask("a", "b").answers) == 8
    assert len(Counting.calls) - before == 2  # two of b's four were in the journal


# ── what a second look found ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_metric_that_gives_no_score_is_named_and_harms_nothing(settings: Settings, tmp_path: Path) -> None:
    class Bare(Metric):
        """Gives a number."""

        def score(self, question: Question, answer: Answer, kit: Kit) -> Score | None:
            return 0.5  # type: ignore[return-value]

    run = evaluate(four_questions(), [Counting()], ["exact_match"], out=tmp_path / "run", settings=settings)
    with pytest.raises(ConfigError, match=r"bare gave 0\.5 and not a Score"):
        rescore(tmp_path / "run", [Bare()], settings=settings)
    assert load_run(tmp_path / "run").rows == run.rows


@pytest.mark.parametrize(
    ("said", "problem"),
    [(lambda: "text", "returned 'text' and not an Answer"), (lambda: Answer(confidence=float("nan")), "wrong answer")],
)
def test_a_system_that_gives_no_answer_is_named(said: Callable[[], Answer], problem: str, settings: Settings) -> None:
    class Odd(System):
        """Says something else."""

        def open(self, documents: Sequence[Document], kit: Kit) -> Answerer:
            return lambda query: said()

    with pytest.raises(ConfigError, match=problem):
        evaluate(four_questions(), [Odd()], ["exact_match"], settings=settings)


def test_a_failed_reader_is_wrong_in_no_metric_of_texts(rivers: Benchmark, settings: Settings, tmp_path: Path) -> None:
    class Careless(Metric):
        """Takes no text for an empty one."""

        def score(self, question: Question, answer: Answer, kit: Kit) -> Score | None:
            return Score(value=float((answer.text or "") == "x"))

    (tmp_path / "none.jsonl").write_text("", "utf-8")
    chosen = settings.model_copy(update={"models": {"reader": f"scripted:{tmp_path / 'none.jsonl'}"}})
    [row] = evaluate(rivers, ["bm25"], [Careless()], settings=chosen).rows
    assert (row.value, row.n, row.failed) == (None, 0, 3)


def test_what_a_metric_failed_on_can_be_scored_again(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(four_questions(), [Counting()], [Broken()], out=tmp_path / "run", settings=settings)
    monkeypatch.setattr(Broken, "score", lambda *_: Score(value=1.0))
    assert rescore(tmp_path / "run", ["exact_match"], settings=settings).rows[0].n == 3
    assert rescore(tmp_path / "run", [Broken()], settings=settings).rows[0].n == 4


def test_a_growing_run_checks_how_deep_its_metrics_look(rivers: Benchmark, settings: Settings, tmp_path: Path) -> None:
    evaluate(rivers, ["bm25"], ["recall@5"], out=tmp_path / "run", settings=settings)
    with pytest.raises(ConfigError, match=r"recall@5 looks at 5 passages and bm25\(k=2\) retrieves 2"):
        evaluate(rivers, ["bm25(k=2)"], ["mrr@2"], out=tmp_path / "run", settings=settings)
    with pytest.raises(ConfigError, match="recall@50 looks at 50 passages and bm25 retrieves 10"):
        rescore(tmp_path / "run", ["recall@50"], settings=settings)


def test_a_component_gets_no_model_that_it_does_not_name(rivers: Benchmark, settings: Settings, tmp_path: Path) -> None:
    class Sneaky(System):
        """Uses the reader and does not say so."""

        def open(self, documents: Sequence[Document], kit: Kit) -> Answerer:
            return lambda query: Answer(text=str(kit.reader), raw="")

    (tmp_path / "none.jsonl").write_text("", "utf-8")
    chosen = settings.model_copy(update={"models": {"reader": f"scripted:{tmp_path / 'none.jsonl'}"}})
    assert {entry.value.text for entry in evaluate(rivers, [Sneaky()], ["covered"], settings=chosen).answers} == {
        "None"
    }


def test_settings_that_look_alike_are_still_two_systems(settings: Settings) -> None:
    class Two(System):
        """Has two fields."""

        a: str = identity("", "one")
        c: str = identity("", "another")

        def open(self, documents: Sequence[Document], kit: Kit) -> Answerer:
            return lambda query: Answer(text="x")

    with pytest.raises(ConfigError, match="results of another two"):
        evaluate(four_questions(), [Two(a="1, c=2"), Two(a="1", c="2")], ["exact_match"], settings=settings)


def test_a_run_can_be_read_while_it_is_replaced(settings: Settings, tmp_path: Path) -> None:
    out = tmp_path / "run"
    evaluate(four_questions(), [Counting(label="0")], ["exact_match"], out=out, settings=settings)
    done = threading.Event()
    seen: list[int] = []

    def read() -> None:
        while not done.is_set():
            run = load_run(out)
            assert len(run.answers) == 4 * len(run.manifest.systems)
            seen.append(len(run.rows))

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        for label in range(1, 15):
            evaluate(four_questions(), [Counting(label=str(label))], ["exact_match"], out=out, settings=settings)
        done.set()
        reading.result()
    assert len(set(seen)) > 1


def test_files_are_the_same_whatever_the_concurrency(rivers: Benchmark, settings: Settings, tmp_path: Path) -> None:
    for concurrency in (1, 8):
        chosen = settings.model_copy(update={"concurrency": concurrency})
        evaluate(rivers, ["bm25", "dense", "hybrid"], out=tmp_path / str(concurrency), settings=chosen)
    for name in ("answers.jsonl", "scores.jsonl", "failures.jsonl", "questions.jsonl", "run.json"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "8" / name).read_bytes()
