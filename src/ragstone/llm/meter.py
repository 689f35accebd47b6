"""What work takes, counted where the calls are made, so that nothing has to carry it along."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from ragstone.types import Usage


@dataclass
class Tally:
    """Calls and what they took, whether they were made now or recalled from the cache."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0  # in US dollars; None: a price is not known

    def add(self, input_tokens: int, output_tokens: int, cost: float | None) -> None:
        self.calls += 1
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        self.cost = None if cost is None or self.cost is None else self.cost + cost

    def on_top_of(self, usage: Usage) -> Usage:
        """The usage with these calls added."""
        known = usage.cost is not None and self.cost is not None
        return usage.model_copy(
            update={
                "calls": usage.calls + self.calls,
                "input_tokens": usage.input_tokens + self.input_tokens,
                "output_tokens": usage.output_tokens + self.output_tokens,
                "cost": round((usage.cost or 0.0) + (self.cost or 0.0), 9) if known else None,
            }
        )


_open: ContextVar[tuple[Tally, ...]] = ContextVar("open tallies", default=())


@contextmanager
def tallied() -> Iterator[Tally]:
    """Counts the calls that are made inside, in this thread."""
    tally = Tally()
    token = _open.set((*_open.get(), tally))
    try:
        yield tally
    finally:
        _open.reset(token)


def count(input_tokens: int, output_tokens: int, cost: float | None) -> None:
    for tally in _open.get():
        tally.add(input_tokens, output_tokens, cost)
