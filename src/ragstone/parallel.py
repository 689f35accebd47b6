"""The only concurrency: threads for waiting. Results come in the order of the items, failures are data, and what the
journal holds already is not done again.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import ContextVar
from threading import Event
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from ragstone.errors import DataError, ModelError, Waiting
from ragstone.files import encode
from ragstone.journal import Journal
from ragstone.types import Failure

T = TypeVar("T")
R = TypeVar("R", bound=BaseModel)


class Done(NamedTuple, Generic[R]):
    """One finished item. The time is kept apart from the value, which must not depend on it."""

    value: R | Failure
    seconds: float
    recalled: bool = False  # it was there before


def each(
    items: Mapping[str, T],
    prepare: Callable[[], Callable[[T], R]],
    kind: type[R],
    *,
    stage: str,
    journal: Journal,
    concurrency: int = 8,
    retry_failed: bool = False,
    failed: Callable[[R], bool] = lambda value: False,
    tick: Callable[[Done[R], bool], None] = lambda done, failed: None,
) -> dict[str, Done[R]]:
    """Works on every item; a result is in the journal before anyone sees it.

    `prepare` gives the work to do on an item; it is called once, and only if anything is left to do. A `DataError` or
    `ModelError` is a `Failure` of its item. An item that is `Waiting` for a batch is put aside; that is told when all
    others are done. Any other error stops the run, because it would meet the other items too: those under way are
    finished and kept, the rest are not begun. `failed` tells of a value that holds a failure.
    """

    def has_failed(item: Done[R]) -> bool:
        return isinstance(item.value, Failure) or failed(item.value)

    done = {id: recall(journal.get(id), kind) for id in items if id in journal}
    if retry_failed:
        done = {id: item for id, item in done.items() if not has_failed(item)}
    for item in done.values():
        tick(item, has_failed(item))

    left = [id for id in items if id not in done]
    if left:
        work = prepare()

        def one(id: str) -> Done[R] | Waiting:
            try:
                item = attempt(id, items[id], work, stage)
            except Waiting as waiting:
                return waiting
            journal.add(id, record(item))
            return item

        aside: list[Waiting] = []
        for id, found in in_threads(left, one, concurrency):
            if isinstance(found, Waiting):
                aside.append(found)
            else:
                done[id] = found
                tick(found, has_failed(found))
        if aside:
            raise aside[-1]
    return {id: done[id] for id in items}


_interruption: ContextVar[Event] = ContextVar("interruption", default=Event())  # noqa: B039 (the default is never set)


def interruption() -> Event:
    """Is set when the work that this thread is part of is interrupted: whoever waits long looks at it."""
    return _interruption.get()


def in_threads(ids: Sequence[str], one: Callable[[str], T], concurrency: int) -> Iterator[tuple[str, T]]:
    """Each id with what `one` makes of it, as they are ready; after an error none is begun any more."""
    from threadpoolctl import threadpool_limits

    stop, interrupted = Event(), Event()

    def guarded(id: str) -> tuple[str, T] | None:
        _interruption.set(interrupted)
        try:
            return None if stop.is_set() else (id, one(id))
        except BaseException as error:
            stop.set()
            error.add_note(f"while working on {id}")
            raise

    pool = ThreadPoolExecutor(max(1, concurrency))
    try:
        with threadpool_limits(1, user_api="blas"):  # our threads use the cores; the library's own would fight them
            for future in as_completed([pool.submit(guarded, id) for id in ids]):
                if finished := future.result():
                    yield finished
    except BaseException as error:
        if not isinstance(error, Exception):  # Ctrl-C: nobody wants to wait for what is under way
            interrupted.set()
        raise
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def attempt(id: str, item: T, work: Callable[[T], R], stage: str) -> Done[R]:
    start = time.perf_counter()
    value: R | Failure
    try:
        value = work(item)
        encode(value)  # what cannot be written is a failure now, not a crash later
    except (DataError, ModelError) as error:
        said = str(error).encode("utf-8", "replace").decode()
        value = Failure(item_id=id, stage=stage, error=said, so_far=getattr(error, "so_far", None))
    return Done(value, time.perf_counter() - start)


def record(item: Done[R]) -> dict[str, Any]:
    """An item as a line of the journal."""
    outcome = "failure" if isinstance(item.value, Failure) else "value"
    return {outcome: item.value.model_dump(mode="json", exclude_defaults=True), "seconds": round(item.seconds, 6)}


def recall(row: Mapping[str, Any], kind: type[R]) -> Done[R]:
    """The item that a line of the journal tells of."""
    value = Failure.model_validate(row["failure"]) if "failure" in row else kind.model_validate(row["value"])
    return Done(value, row["seconds"], recalled=True)
