"""How drivers tell what they are doing, without knowing who listens."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

Tick = Callable[[Any, bool], None]
"""Called with each finished item, and whether it failed."""


class Progress(Protocol):
    """Opened with the name of a stage, its number of items, and what tells how much has been spent."""

    def __call__(self, stage: str, total: int, spent: Callable[[], str] = ...) -> AbstractContextManager[Tick]: ...


def nothing() -> str:
    return ""


@contextmanager
def silent(stage: str, total: int, spent: Callable[[], str] = nothing) -> Iterator[Tick]:
    yield lambda item, failed: None
