"""A seeded, stratified subset of a benchmark."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Literal

from ragstone.errors import ConfigError
from ragstone.kit import Kit, Recipe, identity
from ragstone.store import evidence_ids
from ragstone.types import Benchmark, Document, Draft, Question, Rejection

Candidates = tuple[Question, ...]
"""A question and its reserves: if a check rejects one, the next takes its place."""


class Sample(Recipe):
    """Draws `n` questions in the proportions that the labels in `by` have in the whole."""

    checks: ClassVar = ("grounding", "duplicates")

    n: int = identity(100, "how many questions", ge=1)
    by: str = identity("", "labels that keep their proportions, joined by +, for instance type+hops")
    documents: Literal["own", "all"] = identity("own", "which documents stay: those of the sampled questions, or all")

    def plan(self, benchmark: Benchmark, kit: Kit) -> Mapping[str, Candidates]:
        if self.n > len(benchmark.questions) > 0:
            raise ConfigError(
                f"n={self.n} asks for more than the {len(benchmark.questions)} questions there are; set n lower"
            )
        strata = self.strata(benchmark.questions)
        picked: dict[str, Candidates] = {}
        for size, stratum in zip(shares([len(s) for s in strata], self.n), strata, strict=True):
            shuffled = sorted(stratum, key=lambda question: kit.rng(question.id, "sample").random())
            picked |= {first.id: (first, *shuffled[size + i :: size]) for i, first in enumerate(shuffled[:size])}
        return {question.id: picked[question.id] for question in benchmark.questions if question.id in picked}

    def make(self, job: Candidates, kit: Kit, rejections: Sequence[Rejection]) -> Iterable[Draft]:
        tried = len(rejections)
        return [Draft(question=job[tried])] if tried < len(job) else []

    def corpus(
        self, benchmark: Benchmark, jobs: Mapping[str, Candidates], kept: Sequence[Question], kit: Kit
    ) -> Iterable[Document]:
        if self.documents == "all" or any(not question.scope for question in kept):
            return benchmark.documents
        used = {id for question in kept for id in (*question.scope, *question.hidden, *evidence_ids(question))}
        return (document for document in benchmark.documents if document.id in used)

    def strata(self, questions: Sequence[Question]) -> list[list[Question]]:
        labels = [label for label in self.by.split("+") if label]
        for label in labels:
            if not any(label in question.labels for question in questions):
                known = sorted({name for question in questions for name in question.labels})
                raise ConfigError(f"no question has a label {label!r}; there are {', '.join(known) or 'none'}")
        found: dict[tuple[str, ...], list[Question]] = {}
        for question in questions:
            found.setdefault(tuple(str(question.labels.get(label, "")) for label in labels), []).append(question)
        return [found[key] for key in sorted(found)]


def shares(sizes: Sequence[int], n: int) -> list[int]:
    """`n` split in proportion to the sizes, the largest remainders rounded up."""
    exact = [size * n / sum(sizes) for size in sizes]
    whole = [int(part) for part in exact]
    by_remainder = sorted(range(len(sizes)), key=lambda i: (whole[i] - exact[i], i))
    for i in by_remainder[: n - sum(whole)]:
        whole[i] += 1
    return whole
