"""What retrievers share: hits, the rows that a scope allows, and an order that never varies."""

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ragstone.retrieval.chunks import Chunk

Indices = NDArray[np.intp]
Floats = NDArray[np.float32] | NDArray[np.float64]


class Hit(NamedTuple):
    """A chunk that was found. `row` is its place among the indexed chunks and breaks ties."""

    row: int
    chunk: Chunk
    score: float


class Retriever(Protocol):
    """Finds chunks. Safe to use from several threads."""

    def search(self, query: str, k: int, scope: Collection[str] | None = None) -> list[Hit]:
        """At most `k` hits, best first, from the documents whose ids are in `scope`; None: from all of them.

        Word statistics are always those of all the chunks, so a score does not depend on the scope.
        """
        ...


class Rows:
    """The indexed chunks by row, and the rows of each document."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self.chunks = chunks

    @cached_property
    def _of_document(self) -> dict[str, list[int]]:
        rows: dict[str, list[int]] = {}
        for row, chunk in enumerate(self.chunks):
            rows.setdefault(chunk.document_id, []).append(row)
        return rows

    def within(self, scope: Collection[str] | None) -> Indices | None:
        """The rows of these documents in ascending order; None where all are meant. Unknown ids have no rows."""
        if scope is None:
            return None
        return np.unique(np.array([row for id in scope for row in self._of_document.get(id, ())], dtype=np.intp))

    def few(self, rows: Indices | None) -> bool:
        """Whether to score these rows alone is cheaper than to score all and pick."""
        return rows is not None and 10 * len(rows) < len(self.chunks)

    def hits(self, rows: Indices, scores: Floats, k: int) -> list[Hit]:
        """The best `k` of these rows; equal scores in the order of the rows, which must ascend."""
        order = np.argsort(-scores, kind="stable")[:k]
        found = zip(rows[order].tolist(), scores[order].tolist(), strict=True)
        return [Hit(row, self.chunks[row], round(score, 6)) for row, score in found]


def leaders(scores: Floats, k: int, least: float = -np.inf, margin: float = 0.0) -> Indices:
    """Where the best `k` scores are, with all that equal the last of them to within `margin`, in ascending order."""
    if k < 1:
        return np.empty(0, dtype=np.intp)
    last = np.partition(scores, -k)[-k] - margin if k < len(scores) else -np.inf
    return np.flatnonzero(scores >= max(last, least))
