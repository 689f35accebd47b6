"""Work under way, shared: who wants what another thread is making already waits for that."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

from ragstone.errors import RagstoneError

T = TypeVar("T")


class UnderWay(Generic[T]):
    """What is being made, by key."""

    def __init__(self) -> None:
        self._made: dict[str, Future[T]] = {}
        self._lock = Lock()

    def shared(self, key: str, make: Callable[[], T]) -> T:
        """What `make` gives, or what it gives to the thread that came first."""
        mine: Future[T] = Future()
        with self._lock:
            under_way = self._made.setdefault(key, mine)
        if under_way is not mine:
            return received(under_way)
        try:
            made = make()
            mine.set_result(made)
            return made
        except BaseException as error:
            mine.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._made[key]
            del mine, under_way  # an error would hold them, and they the error: a ring that only the collector breaks


def received(made: Future[T]) -> T:
    """What another thread got. An error is told to each in its own words: it goes on to carry what they did."""
    error = made.exception()
    if isinstance(error, RagstoneError):
        raise type(error)(*error.args)
    return made.result()
