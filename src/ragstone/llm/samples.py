"""The same question asked several times: first for the likeliest reply, then for how it varies."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeVar

from ragstone.errors import ModelError, Waiting

R = TypeVar("R")

WARM = 0.7


def sampled(ask: Callable[[int, float], R], n: int) -> Iterator[R]:
    """What `ask(number, temperature)` gives, one after the other; who has seen enough asks no more.

    Where replies must be waited for, nobody can say how many will be enough, so the others are asked for as well. An
    error of one of them is not told yet: that would end the item, and leave out those after it.
    """
    for number in range(n):
        try:
            reply = ask(number, WARM if number else 0.0)
        except Waiting:
            for other in range(number + 1, n):
                with suppress(Waiting, ModelError):
                    ask(other, WARM)
            raise
        yield reply
