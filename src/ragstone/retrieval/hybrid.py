"""Fusion of several rankings by their ranks, which need no common scale of scores."""

from collections.abc import Collection, Sequence

from ragstone.retrieval.ranking import Hit, Retriever

RANK_OFFSET = 60
"""How much the first ranks are alike: the constant of reciprocal rank fusion."""


class HybridIndex:
    """Ranks chunks by Σ 1 / (60 + rank) over retrievers, each asked for its best `depth`.

    The retrievers must be over the same chunks.
    """

    def __init__(self, retrievers: Sequence[Retriever], depth: int = 100) -> None:
        self._retrievers = retrievers
        self._depth = depth

    def search(self, query: str, k: int, scope: Collection[str] | None = None) -> list[Hit]:
        fused: dict[int, Hit] = {}
        for retriever in self._retrievers:
            for rank, hit in enumerate(retriever.search(query, max(k, self._depth), scope), 1):
                before = fused[hit.row].score if hit.row in fused else 0.0
                fused[hit.row] = hit._replace(score=before + 1 / (RANK_OFFSET + rank))
        hits = [hit._replace(score=round(hit.score, 6)) for hit in fused.values()]
        return sorted(hits, key=lambda hit: (-hit.score, hit.row))[: max(k, 0)]
