"""No question twice."""

from functools import lru_cache
from typing import ClassVar
from zlib import crc32

from ragstone.kit import Check, Kit, identity
from ragstone.text import tokens
from ragstone.types import Draft, Verdict

BASE, BUCKETS = 0x100, 0xD000  # plain characters, none of them half of a pair


class Duplicates(Check):
    """Rejects a question whose words are nearly those of one kept before it."""

    across: ClassVar = True

    threshold: float = identity(
        0.95, "similarity of the word sequences from which on two questions are the same", gt=0, le=1
    )

    def check(self, draft: Draft, kit: Kit) -> Verdict:
        from rapidfuzz import process
        from rapidfuzz.distance import Indel

        twin = process.extractOne(
            words(draft.question.text, draft.question.choices),
            [words(question.text, question.choices) for question in kit.kept],
            scorer=Indel.normalized_similarity,
            score_cutoff=self.threshold,
        )
        if twin is None:
            return Verdict(passed=True)
        _, similarity, index = twin
        return Verdict(passed=False, reason=f"{similarity:.0%} the same words as question {kit.kept[index].id}")


@lru_cache(maxsize=100_000)
def words(text: str, choices: tuple[str, ...]) -> str:
    """A character for each word, which compares fast. Questions with other choices differ, so the choices count."""
    return "".join(chr(BASE + crc32(word.encode()) % BUCKETS) for word in tokens(" ".join((text, *choices))))
