"""How drivers tell what they are doing, without knowing who listens."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

Tick = Callable[[Any], None]
"""Called with each finished item."""

Progress = Callable[[str, int], AbstractContextManager[Tick]]
"""Opened with the name of a stage and its number of items."""


@contextmanager
def silent(stage: str, total: int) -> Iterator[Tick]:
    yield lambda item: None
