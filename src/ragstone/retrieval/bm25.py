"""BM25 in Lucene's form: exact word matches, rare words counting more. Needs no model and knows every script."""

import re
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone.retrieval.chunks import Chunk
from ragstone.retrieval.index_cache import Arrays, kept
from ragstone.retrieval.ranking import Hit, Indices, Rows, leaders
from ragstone.text import UNSPACED, UNSPACED_CHARACTER, WORD, fold

ENGLISH = (
    "a an and are as at be been but by did do does for from had has have he her his how if in into is it its no not of "
    "on or she such that the their then there these they this to was were what when where which who whom whose why "
    "will with"
)
STOP_WORDS = frozenset(ENGLISH.split())
"""English words that say nothing of a text's subject; not indexed, and not searched for."""

RUN = re.compile(rf"[{UNSPACED}]+|{WORD}")
TINY = float(np.finfo(np.float32).tiny)


def words(text: str) -> list[str]:
    """What is indexed: words in one case, and each two neighbouring characters of an unspaced script."""
    found: list[str] = []
    for run in RUN.findall(fold(text)):
        if run.isascii() or not UNSPACED_CHARACTER.match(run):
            found += () if run in STOP_WORDS else (run,)
        else:
            found += [run[at : at + 2] for at in range(len(run) - 1)] or (run,)
    return found


class Bm25Index:
    """Chunks by the words in them. A chunk without any word of the query is no hit."""

    def __init__(self, chunks: Sequence[Chunk], k1: float = 1.5, b: float = 0.75, cache: Path | None = None) -> None:
        self._rows = Rows(chunks)
        settings = {"k1": k1, "b": b, "words": RUN.pattern, "stop": sorted(STOP_WORDS)}
        arrays = kept(cache, "bm25", settings, chunks, lambda: weigh(chunks, k1, b))
        self._weights, self._postings, self._starts = arrays["weights"], arrays["postings"], arrays["starts"]
        self._numbers = {word: number for number, word in enumerate(arrays["words"].tobytes().decode().split())}

    def search(self, query: str, k: int, scope: Collection[str] | None = None) -> list[Hit]:
        """A word counts once, however often the query says it."""
        numbers = [self._numbers[word] for word in dict.fromkeys(words(query)) if word in self._numbers]
        spans = [slice(self._starts[number], self._starts[number + 1]) for number in numbers]
        rows = self._rows.within(scope)
        if rows is not None and self._rows.few(rows):
            scores = self._score_these(rows, spans)
        else:
            scores = self._score_all(spans) if rows is None else self._score_all(spans)[rows]
        best = leaders(scores, k, least=TINY)
        return self._rows.hits(best if rows is None else rows[best], scores[best], k)

    def _score_all(self, spans: Sequence[slice]) -> NDArray[np.float32]:
        scores = np.zeros(len(self._rows.chunks), dtype=np.float32)
        for span in spans:
            np.add.at(scores, self._postings[span], self._weights[span])
        return scores

    def _score_these(self, rows: Indices, spans: Sequence[slice]) -> NDArray[np.float32]:
        """The same sums in the same order, so the same scores to the last bit."""
        scores = np.zeros(len(rows), dtype=np.float32)
        wanted = rows.astype(self._postings.dtype)  # of one type, or the search would copy the postings
        for span in spans:
            postings = self._postings[span]
            at = np.minimum(np.searchsorted(postings, wanted), len(postings) - 1)
            there = postings[at] == wanted
            scores[there] += self._weights[span][at[there]]
        return scores


def weigh(chunks: Sequence[Chunk], k1: float, b: float) -> Arrays:
    """For each word the rows that have it and its weight there; words are numbered as they first appear."""
    import bm25s  # here, because it is slow to import

    numbers: dict[str, int] = {}
    texts = [[numbers.setdefault(word, len(numbers)) for word in words(chunk.text)] for chunk in chunks]
    index = bm25s.BM25(k1=k1, b=b, method="lucene")
    if numbers:
        index.index((texts, numbers), create_empty_token=False, show_progress=False)
    scores = index.scores if numbers else {"data": [], "indices": [], "indptr": [0]}
    return {
        "weights": np.asarray(scores["data"], dtype=np.float32),
        "postings": np.asarray(scores["indices"], dtype=np.int32),
        "starts": np.asarray(scores["indptr"], dtype=np.int64),
        "words": np.frombuffer(" ".join(numbers).encode(), dtype=np.uint8),
    }
