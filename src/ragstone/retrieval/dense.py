"""Exact search by meaning: every chunk's vector is compared with the query's."""

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import ConfigError, DataError
from ragstone.kit import Embedder
from ragstone.retrieval.chunks import Chunk
from ragstone.retrieval.index_cache import kept
from ragstone.retrieval.ranking import Hit, Indices, Rows, leaders
from ragstone.text import SCRIPTS, language

MARGIN = 1e-5
"""More than float32 products of unit vectors can be wrong by."""


class DenseIndex:
    """Chunks by the cosine of their vectors with the query's. Every chunk in scope is a hit, near or far."""

    def __init__(self, chunks: Sequence[Chunk], embedder: Embedder, cache: Path | None = None) -> None:
        if found := unknown_language(embedder, sample(chunks)):
            raise ConfigError(f"the corpus looks like {found}, {remedy(embedder)}")
        self._rows = Rows(chunks)
        self._embedder = embedder
        settings = {"embedder": embedder.name}
        arrays = kept(cache, "dense", settings, chunks, lambda: {"vectors": embed(chunks, embedder)})
        self._vectors: NDArray[np.float32] = arrays["vectors"]

    def search(self, query: str, k: int, scope: Collection[str] | None = None) -> list[Hit]:
        """A query that has no vector, such as an empty one, finds nothing."""
        if (found := unknown_language(self._embedder, query)) in SCRIPTS:  # too short to tell by its words
            raise DataError(f"the query looks like {found}, {remedy(self._embedder)}")
        rows = self._rows.within(scope)
        if not query.strip() or not self._rows.chunks:
            return []
        vector = self._embedder.embed([query], "query")[0]
        if len(vector) != self._vectors.shape[1]:
            raise DataError(
                f"{self._embedder.name} gives vectors of {len(vector)} numbers, and the index has vectors of "
                f"{self._vectors.shape[1]}; clear the index cache and run again"
            )
        return self._nearest(vector, rows, k) if vector.any() else []

    def _nearest(self, vector: NDArray[np.float32], rows: Indices | None, k: int) -> list[Hit]:
        """Found in float32 and ranked in float64, so that the order does not depend on the machine."""
        near = leaders(self._cosines(vector, rows), k, margin=MARGIN)
        found = near if rows is None else rows[near]
        exact = self._vectors[found].astype(np.float64) @ vector.astype(np.float64)
        return self._rows.hits(found, np.round(exact, 6) + 0.0, k)  # + 0.0: no negative zero

    def _cosines(self, vector: NDArray[np.float32], rows: Indices | None) -> NDArray[np.float32]:
        if rows is None:
            return self._vectors @ vector
        return self._vectors[rows] @ vector if self._rows.few(rows) else (self._vectors @ vector)[rows]


def embed(chunks: Sequence[Chunk], embedder: Embedder) -> NDArray[np.float32]:
    return embedder.embed([chunk.text for chunk in chunks], "passage") if chunks else np.zeros((0, 0), np.float32)


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows at length 1; a row of zeros stays so. Lengths are taken in float64, to be the same on every machine."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    return vectors / np.where(lengths > 0, lengths, 1.0).astype(np.float32)[:, None]


def sample(chunks: Sequence[Chunk], pieces: int = 50, length: int = 400) -> str:
    """Some text from all over the corpus."""
    step = max(1, len(chunks) // pieces)
    return "\n".join(chunk.text[:length] for chunk in chunks[::step])


def unknown_language(embedder: Embedder, text: str) -> str:
    """The language of the text if the embedder plainly does not know it, so that its vectors would mean nothing."""
    found = language(text) if embedder.languages else ""
    return "" if found in embedder.languages else found


def remedy(embedder: Embedder) -> str:
    known = ", ".join(embedder.languages)
    return f"and the embedder {embedder.name} knows {known}; set --model embedder=… to one that knows it, or use bm25"
