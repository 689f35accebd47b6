"""Retrieve, then read: the plain systems that every other is compared with."""

from collections.abc import Sequence
from typing import ClassVar

from ragstone.errors import ConfigError
from ragstone.kit import Answerer, Embedder, Kit, identity
from ragstone.retrieval.bm25 import Bm25Index
from ragstone.retrieval.chunks import Chunk, chunk
from ragstone.retrieval.dense import DenseIndex
from ragstone.retrieval.hybrid import HybridIndex
from ragstone.retrieval.ranking import Hit, Retriever
from ragstone.systems.context import ReadingSystem, first_that_fit
from ragstone.types import Answer, Document, Passage, Query


class RetrieveRead(ReadingSystem):
    """Finds `k` passages and gives the reader those that fit; without a reader it only retrieves."""

    uses: ClassVar = ("reader",)

    k: int = identity(10, "passages to retrieve", ge=1)
    chunk_size: int | None = identity(512, "tokens in a passage; none: whole documents", ge=16)
    context_budget: int | None = identity(2560, "tokens of context for the reader; none: no limit", ge=1)

    def index(self, chunks: Sequence[Chunk], kit: Kit) -> Retriever:
        raise NotImplementedError

    def open(self, documents: Sequence[Document], kit: Kit) -> Answerer:
        retriever = self.index(chunk(documents, self.chunk_size), kit)

        def answer(query: Query) -> Answer:
            hits = retriever.search(query.text, self.k, query.scope)
            context = first_that_fit([hit.chunk.text for hit in hits], self.context_budget)
            return self.read(query, context, tuple(passage(hit) for hit in hits), kit)

        return answer


class Bm25(RetrieveRead):
    """Retrieves by words (BM25 as in Lucene), then reads."""

    k1: float = identity(1.5, "how fast repeated words stop counting", ge=0)
    b: float = identity(0.75, "how much long passages are held back", ge=0, le=1)

    def index(self, chunks: Sequence[Chunk], kit: Kit) -> Retriever:
        return Bm25Index(chunks, self.k1, self.b, kit.cache)


class Dense(RetrieveRead):
    """Retrieves by meaning (cosine of embeddings, exact), then reads."""

    needs: ClassVar = ("embedder",)

    def index(self, chunks: Sequence[Chunk], kit: Kit) -> Retriever:
        return DenseIndex(chunks, need_embedder(kit, self.name), kit.cache)


class Hybrid(Bm25):
    """Retrieves by words and by meaning, fuses the two rankings by their ranks, then reads."""

    needs: ClassVar = ("embedder",)

    depth: int = identity(100, "passages of each ranking that are fused", ge=1)

    def index(self, chunks: Sequence[Chunk], kit: Kit) -> Retriever:
        dense = DenseIndex(chunks, need_embedder(kit, self.name), kit.cache)
        return HybridIndex([super().index(chunks, kit), dense], self.depth)


def passage(hit: Hit) -> Passage:
    return Passage(document_id=hit.chunk.document_id, start=hit.chunk.start, end=hit.chunk.end, score=hit.score)


def need_embedder(kit: Kit, name: str) -> Embedder:
    if kit.embedder is None:
        raise ConfigError(f"{name} needs an embedding model; set one with --model embedder=wordllama")
    return kit.embedder
