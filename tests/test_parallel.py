"""Many items at once: in order, each answered or failed, none done twice."""

import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.errors import ConfigError, ModelError
from ragstone.journal import Journal
from ragstone.parallel import Done, each
from ragstone.types import Failure, Timing


def timed(value: float) -> Timing:
    return Timing(seconds=value)


def test_results_come_in_the_order_of_the_items() -> None:
    def slow_first(value: float) -> Timing:
        time.sleep((3 - value) / 200)
        return timed(value)

    items = {str(n): float(n) for n in range(4)}
    done = each(items, lambda: slow_first, Timing, stage="test", journal=Journal(), concurrency=4)
    assert [item.value for item in done.values()] == [timed(n) for n in range(4)]
    assert list(done) == list(items)


def test_a_failed_item_is_data_and_the_others_go_on() -> None:
    def work(value: float) -> Timing:
        if value == 1:
            raise ModelError("no reply")
        return timed(value)

    done = each({"a": 0.0, "b": 1.0, "c": 2.0}, lambda: work, Timing, stage="ask", journal=Journal())
    assert done["b"].value == Failure(item_id="b", stage="ask", error="no reply")
    assert [done["a"].value, done["c"].value] == [timed(0), timed(2)]


@pytest.mark.parametrize("error", [ConfigError("wrong key"), ZeroDivisionError("a bug")])
def test_an_error_that_would_meet_every_item_stops_the_run(error: Exception) -> None:
    begun = []

    def work(value: float) -> Timing:
        begun.append(value)
        raise error

    with pytest.raises(type(error)):
        each({str(n): float(n) for n in range(1000)}, lambda: work, Timing, stage="s", journal=Journal(), concurrency=2)
    assert len(begun) <= 2


def test_what_the_journal_holds_is_not_done_again(tmp_path: Path) -> None:
    calls = []

    def work(value: float) -> Timing:
        calls.append(value)
        return timed(value)

    with closing(Journal(tmp_path / "j")) as journal:
        each({"a": 1.0}, lambda: work, Timing, stage="s", journal=journal)
    with closing(Journal(tmp_path / "j")) as journal:
        done = each({"a": 1.0, "b": 2.0}, lambda: work, Timing, stage="s", journal=journal)
    assert calls == [1.0, 2.0]
    assert [item.value for item in done.values()] == [timed(1), timed(2)]


def test_nothing_is_prepared_when_nothing_is_left_to_do() -> None:
    journal = Journal()
    each({"a": 1.0}, lambda: timed, Timing, stage="s", journal=journal)

    def expensive() -> None:
        raise AssertionError("prepared for nothing")

    assert each({"a": 1.0}, expensive, Timing, stage="s", journal=journal)["a"].value == timed(1)  # type: ignore[arg-type]


def test_failures_are_tried_again_only_when_asked() -> None:
    journal = Journal()
    working = threading.Event()

    def work(value: float) -> Timing:
        if not working.is_set():
            raise ModelError("down")
        return timed(value)

    def ask(retry_failed: bool) -> Done[Timing]:
        return each({"a": 1.0}, lambda: work, Timing, stage="s", journal=journal, retry_failed=retry_failed)["a"]

    assert isinstance(ask(False).value, Failure)
    working.set()
    assert isinstance(ask(False).value, Failure)
    assert ask(True).value == timed(1)


@given(st.dictionaries(st.text(min_size=1), st.floats(0, 1), max_size=20), st.integers(1, 8))
@settings(max_examples=25, deadline=None)
def test_the_concurrency_never_changes_the_result(items: dict[str, float], concurrency: int) -> None:
    done = each(items, lambda: timed, Timing, stage="s", journal=Journal(), concurrency=concurrency)
    assert [(id, item.value) for id, item in done.items()] == [(id, timed(value)) for id, value in items.items()]
