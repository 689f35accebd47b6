"""Many items at once: in order, each answered or failed, none done twice."""

import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.errors import ConfigError, ModelError
from ragstone.journal import Journal
from ragstone.parallel import Done, each
from ragstone.types import Failure, Score


def score(value: float) -> Score:
    return Score(value=value)


def test_results_come_in_the_order_of_the_items() -> None:
    def slow_first(value: float) -> Score:
        time.sleep((3 - value) / 200)
        return score(value)

    items = {str(n): float(n) for n in range(4)}
    done = each(items, lambda: slow_first, Score, stage="test", journal=Journal(), concurrency=4)
    assert [item.value for item in done.values()] == [score(n) for n in range(4)]
    assert list(done) == list(items)


def test_a_failed_item_is_data_and_the_others_go_on() -> None:
    def work(value: float) -> Score:
        if value == 1:
            raise ModelError("no reply")
        return score(value)

    done = each({"a": 0.0, "b": 1.0, "c": 2.0}, lambda: work, Score, stage="ask", journal=Journal())
    assert done["b"].value == Failure(item_id="b", stage="ask", error="no reply")
    assert [done["a"].value, done["c"].value] == [score(0), score(2)]


@pytest.mark.parametrize("error", [ConfigError("wrong key"), ZeroDivisionError("a bug")])
def test_an_error_that_would_meet_every_item_stops_the_run(error: Exception) -> None:
    begun = []

    def work(value: float) -> Score:
        begun.append(value)
        raise error

    with pytest.raises(type(error)):
        each({str(n): float(n) for n in range(1000)}, lambda: work, Score, stage="s", journal=Journal(), concurrency=2)
    assert len(begun) < 1000


def test_what_the_journal_holds_is_not_done_again(tmp_path: Path) -> None:
    calls = []

    def work(value: float) -> Score:
        calls.append(value)
        return score(value)

    with Journal(tmp_path / "j") as journal:
        each({"a": 1.0}, lambda: work, Score, stage="s", journal=journal)
    with Journal(tmp_path / "j") as journal:
        done = each({"a": 1.0, "b": 2.0}, lambda: work, Score, stage="s", journal=journal)
    assert calls == [1.0, 2.0]
    assert [item.value for item in done.values()] == [score(1), score(2)]


def test_nothing_is_prepared_when_nothing_is_left_to_do() -> None:
    journal = Journal()
    each({"a": 1.0}, lambda: score, Score, stage="s", journal=journal)

    def expensive() -> None:
        raise AssertionError("prepared for nothing")

    assert each({"a": 1.0}, expensive, Score, stage="s", journal=journal)["a"].value == score(1)  # type: ignore[arg-type]


def test_failures_are_tried_again_only_when_asked() -> None:
    journal = Journal()
    working = threading.Event()

    def work(value: float) -> Score:
        if not working.is_set():
            raise ModelError("down")
        return score(value)

    def ask(retry_failed: bool) -> Done[Score]:
        return each({"a": 1.0}, lambda: work, Score, stage="s", journal=journal, retry_failed=retry_failed)["a"]

    assert isinstance(ask(False).value, Failure)
    working.set()
    assert isinstance(ask(False).value, Failure)
    assert ask(True).value == score(1)


@given(st.dictionaries(st.text(min_size=1), st.floats(0, 1), max_size=20), st.integers(1, 8))
@settings(max_examples=25, deadline=None)
def test_the_concurrency_never_changes_the_result(items: dict[str, float], concurrency: int) -> None:
    done = each(items, lambda: score, Score, stage="s", journal=Journal(), concurrency=concurrency)
    assert [(id, item.value) for id, item in done.items()] == [(id, score(value)) for id, value in items.items()]
