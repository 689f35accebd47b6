"""The only concurrency: threads for waiting. Results come in the order of the items, failures are data, and what the
journal holds already is not done again.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from ragstone.errors import DataError, ModelError
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
    tick: Callable[[Done[R]], None] = lambda done: None,
) -> dict[str, Done[R]]:
    """Works on every item; a result is in the journal before anyone sees it.

    `prepare` gives the work to do on an item; it is called once, and only if anything is left to do. A `DataError` or
    `ModelError` is a `Failure` of its item. Any other error stops the run, because it would meet the other items too:
    those under way are finished and kept, the rest are not begun. `failed` tells of a value that holds a failure.
    """
    done = {id: recall(journal.get(id), kind) for id in items if id in journal}
    if retry_failed:
        done = {id: item for id, item in done.items() if not (isinstance(item.value, Failure) or failed(item.value))}
    for item in done.values():
        tick(item)

    left = [id for id in items if id not in done]
    if left:
        work = prepare()

        def one(id: str) -> Done[R]:
            item = attempt(id, items[id], work, stage)
            journal.add(id, record(item))
            return item

        for id, item in in_threads(left, one, concurrency):
            done[id] = item
            tick(item)
    return {id: done[id] for id in items}


def in_threads(ids: Sequence[str], one: Callable[[str], Done[R]], concurrency: int) -> Iterator[tuple[str, Done[R]]]:
    """Each id with what `one` makes of it, as they are ready; after an error none is begun any more."""
    from threadpoolctl import threadpool_limits

    stop = Event()

    def guarded(id: str) -> tuple[str, Done[R]] | None:
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
