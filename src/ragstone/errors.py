"""Every error that Ragstone raises on purpose.

    RagstoneError           something a person can understand; never shown as a traceback
    ├── ConfigError         the set-up is wrong and every item would fail alike: stops the run
    ├── DataError           a record, file or folder is wrong
    ├── ModelError          a model did not give a usable reply
    ├── Waiting             a batch must be answered before the work can go on
    └── BudgetReached       what may be spent is spent

While items are worked on, a `DataError` or `ModelError` becomes a `Failure` of that item, and an item that is `Waiting`
is put aside. A `ConfigError` or `BudgetReached` stops the run, and anything else is a bug and stops it too. What was
finished before a stop is kept: the same command goes on from there.
"""

from typing import Any


class RagstoneError(Exception):
    """Says what is wrong, which thing is meant, and what to do about it."""

    exit_code = 2


class ConfigError(RagstoneError):
    """A wrong flag, setting or environment."""


class DataError(RagstoneError):
    """A wrong record, file or folder."""


class ModelError(RagstoneError):
    """A model that failed or gave a reply that cannot be used; `so_far` is the answer as it was before that."""

    so_far: Any = None
    tokens: tuple[int, int] = (0, 0)  # paid for all the same, in and out
    tries: int = 1  # requests that it took


class Waiting(RagstoneError):
    """Calls that were written down for a batch; they have no replies yet."""

    exit_code = 3


class BudgetReached(RagstoneError):
    """No further call may be made."""

    exit_code = 4
