"""How well the retrieved passages cover the evidence: recall, all-recall, precision, MRR, nDCG and MAP at k.

Evidence is *all of (any of)*: each group is one thing to find, and any of its pieces finds it. A rank is worth the
groups that it finds first; finding the same thing again is worth nothing.
"""

from collections.abc import Sequence
from itertools import accumulate
from math import log2
from typing import ClassVar, Literal, NamedTuple

from ragstone.kit import Kit, Metric, identity
from ragstone.types import Answer, Evidence, Passage, Question, Score


class Ranking(NamedTuple):
    """The groups that each rank finds, the best rank first, and how many there are to find."""

    found: list[set[int]]
    groups: int

    def new(self) -> list[int]:
        """How many groups each rank finds that no rank before it did."""
        known: set[int] = set()
        counts = []
        for groups in self.found:
            counts.append(len(groups - known))
            known |= groups
        return counts


class RetrievalMetric(Metric):
    """Applies where the system told what it retrieved and the question is answerable and has evidence."""

    reads: ClassVar[Literal["text", "retrieved"]] = "retrieved"
    at: ClassVar[str] = "k"

    k: int = identity(10, "how many ranks count", ge=1)
    unit: Literal["document", "evidence"] = identity(
        "document", "what is ranked and found: `document`, or `evidence`, where a passage must hold half of the quote"
    )

    def applies(self, question: Question) -> bool:
        return any(question.evidence) and question.answerable

    def score(self, question: Question, answer: Answer, kit: Kit) -> Score | None:
        if not self.applies(question) or answer.retrieved is None:
            return None
        rank = by_document if self.unit == "document" else by_evidence
        return Score(value=self.value(rank(question, answer.retrieved, self.k)))

    def value(self, ranking: Ranking) -> float:
        raise NotImplementedError


# ── what is ranked, and what it finds ────────────────────────────────────────────────────────────────────────────────


def by_document(question: Question, retrieved: Sequence[Passage], k: int) -> Ranking:
    """Each document once, where it first appears; groups that name the same documents are one thing to find."""
    groups = dict.fromkeys(frozenset(piece.document_id for piece in group) for group in question.evidence if group)
    ranked = list(dict.fromkeys(passage.document_id for passage in retrieved))
    return Ranking([{i for i, group in enumerate(groups) if document in group} for document in ranked[:k]], len(groups))


def by_evidence(question: Question, retrieved: Sequence[Passage], k: int) -> Ranking:
    """Each passage once, and each group for itself."""
    groups = [group for group in question.evidence if group]
    ranked = list({(passage.document_id, passage.start, passage.end): passage for passage in retrieved}.values())
    return Ranking(
        [
            {i for i, group in enumerate(groups) if any(holds(passage, piece) for piece in group)}
            for passage in ranked[:k]
        ],
        len(groups),
    )


def holds(passage: Passage, piece: Evidence) -> bool:
    """Whether the passage has at least half of the quote; where either has no offsets, the same document is enough."""
    if passage.document_id != piece.document_id:
        return False
    if passage.start is None or passage.end is None or piece.start is None or piece.end is None:
        return True
    shared = min(passage.end, piece.end) - max(passage.start, piece.start)
    return 2 * max(0, shared) >= piece.end - piece.start


# ── the metrics ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Recall(RetrievalMetric):
    """The share of the groups that the first k ranks find."""

    def value(self, ranking: Ranking) -> float:
        return sum(ranking.new()) / ranking.groups


class AllRecall(RetrievalMetric):
    """1 if the first k ranks find every group: what a multi-hop question needs."""

    def value(self, ranking: Ranking) -> float:
        return float(sum(ranking.new()) == ranking.groups)


class Precision(RetrievalMetric):
    """The share of k ranks that find a group, found before or not. Ranks that were not filled count as misses."""

    def value(self, ranking: Ranking) -> float:
        return sum(map(bool, ranking.found)) / self.k


class Mrr(RetrievalMetric):
    """One over the first rank that finds a group; 0 if none does. Its mean is the mean reciprocal rank."""

    def value(self, ranking: Ranking) -> float:
        return next((1 / rank for rank, groups in enumerate(ranking.found, 1) if groups), 0.0)


class Ndcg(RetrievalMetric):
    """Discounted gain over the ideal. A rank gains the groups that it finds first; the ideal finds one at each rank."""

    def value(self, ranking: Ranking) -> float:
        gain = sum(new / log2(rank + 1) for rank, new in enumerate(ranking.new(), 1))
        ideal = sum(1 / log2(rank + 1) for rank in range(1, min(ranking.groups, self.k) + 1))
        return min(1.0, gain / ideal)


class Map(RetrievalMetric):
    """Average precision: for each group, the groups found by its rank over that rank, at most 1; missed groups, 0."""

    def value(self, ranking: Ranking) -> float:
        new = ranking.new()
        ranks = enumerate(zip(new, accumulate(new), strict=True), 1)
        return sum(first * min(1.0, known / rank) for rank, (first, known) in ranks) / ranking.groups
