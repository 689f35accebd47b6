"""The only concurrency: threads for waiting. Results come in the order of the items, failures are data, and what the
journal holds already is not done again.
"""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from ragstone.errors import DataError, ModelError
from ragstone.journal import Journal
from ragstone.types import Failure

T = TypeVar("T")
R = TypeVar("R", bound=BaseModel)


class Done(NamedTuple, Generic[R]):
    """One finished item. The time is kept apart from the value, which must not depend on it."""

    value: R | Failure
    seconds: float


def each(
    items: Mapping[str, T],
    prepare: Callable[[], Callable[[T], R]],
    kind: type[R],
    *,
    stage: str,
    journal: Journal,
    concurrency: int = 8,
    retry_failed: bool = False,
    tick: Callable[[Done[R]], None] = lambda done: None,
) -> dict[str, Done[R]]:
    """Works on every item; a result is in the journal before anyone sees it.

    `prepare` gives the work to do on an item; it is called once, and only if anything is left to do. A `DataError` or
    `ModelError` is a `Failure` of its item. Any other error stops the run, because it would meet the other items too:
    those under way are finished and kept, the rest are not begun.
    """
    done = {id: recall(journal.get(id), kind) for id in items if id in journal}
    if retry_failed:
        done = {id: item for id, item in done.items() if not isinstance(item.value, Failure)}
    for item in done.values():
        tick(item)

    left = [id for id in items if id not in done]
    if not left:
        return {id: done[id] for id in items}
    from threadpoolctl import threadpool_limits

    work = prepare()

    def one(id: str) -> tuple[str, Done[R]]:
        item = attempt(id, items[id], work, stage)
        journal.add(id, record(item))
        return id, item

    pool = ThreadPoolExecutor(max(1, concurrency), thread_name_prefix=stage)
    try:
        with threadpool_limits(1, user_api="blas"):  # our threads use the cores; the library's own would fight them
            for future in as_completed([pool.submit(one, id) for id in left]):
                id, item = future.result()
                done[id] = item
                tick(item)
    finally:
        pool.shutdown(cancel_futures=True)
    return {id: done[id] for id in items}


def attempt(id: str, item: T, work: Callable[[T], R], stage: str) -> Done[R]:
    start = time.perf_counter()
    value: R | Failure
    try:
        value = work(item)
    except (DataError, ModelError) as error:
        value = Failure(item_id=id, stage=stage, error=str(error))
    return Done(value, time.perf_counter() - start)


def record(item: Done[R]) -> dict[str, Any]:
    """An item as a line of the journal."""
    outcome = "failure" if isinstance(item.value, Failure) else "value"
    return {outcome: item.value.model_dump(mode="json", exclude_defaults=True), "seconds": round(item.seconds, 6)}


def recall(row: Mapping[str, Any], kind: type[R]) -> Done[R]:
    """The item that a line of the journal tells of."""
    value = Failure.model_validate(row["failure"]) if "failure" in row else kind.model_validate(row["value"])
    return Done(value, row["seconds"])
