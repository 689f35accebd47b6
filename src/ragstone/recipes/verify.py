"""The same questions, checked again."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from ragstone.kit import Kit, Recipe
from ragstone.types import Benchmark, Draft, Question, Rejection


class Verify(Recipe):
    """Runs checks on the questions as they are: those that pass stay, the others are kept apart with the reason."""

    checks: ClassVar = ("grounding", "duplicates")
    attempts: ClassVar = 1

    def plan(self, benchmark: Benchmark, kit: Kit) -> Mapping[str, Question]:
        return {question.id: question for question in benchmark.questions}

    def make(self, job: Question, kit: Kit, rejections: Sequence[Rejection]) -> Iterable[Draft]:
        return [] if rejections else [Draft(question=job)]
