"""Every error that Ragstone raises on purpose.

    RagstoneError           something a person can understand; never shown as a traceback
    ├── ConfigError         the set-up is wrong and every item would fail alike: stops the run
    ├── DataError           a record, file or folder is wrong
    └── ModelError          a model did not give a usable reply

While items are worked on, a `DataError` or `ModelError` becomes a `Failure` of that item. A `ConfigError` stops the
run, and anything else is a bug and stops it too.
"""

from typing import Any


class RagstoneError(Exception):
    """Says what is wrong, which thing is meant, and what to do about it."""


class ConfigError(RagstoneError):
    """A wrong flag, setting or environment."""


class DataError(RagstoneError):
    """A wrong record, file or folder."""


class ModelError(RagstoneError):
    """A model that failed or gave a reply that cannot be used; `so_far` is the answer as it was before that."""

    so_far: Any = None
