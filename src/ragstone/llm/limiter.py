"""How many requests a server gets at once: more while it goes well, fewer when it asks to slow down."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class Limiter:
    """Grows quickly until the server first says that it is too much, then halves and grows by one a round."""

    def __init__(self, most: int) -> None:
        self.limit = max(1.0, most / 2)
        self._most = float(most)
        self._under_way = 0
        self._last_cut: float | None = None
        self._room = Condition()

    @contextmanager
    def slot(self) -> Iterator[float]:
        """Waits for room, and holds it; gives the moment at which the request begins."""
        with self._room:
            while self._under_way >= int(self.limit):
                self._room.wait()
            self._under_way += 1
        try:
            yield time.monotonic()
        finally:
            with self._room:
                self._under_way -= 1
                self._room.notify(max(0, int(self.limit) - self._under_way))

    def went_well(self) -> None:
        with self._room:
            step = 1.0 if self._last_cut is None else 1.0 / self.limit
            self.limit = min(self._most, self.limit + step)

    def too_much(self, began: float) -> None:
        """A request that began before the last cut says nothing about the limit since."""
        with self._room:
            if self._last_cut is None or began > self._last_cut:
                self.limit = max(1.0, min(self.limit, self._under_way) / 2)
                self._last_cut = time.monotonic()
