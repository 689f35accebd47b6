"""The question can be answered from its evidence."""

from collections.abc import Mapping
from math import ceil
from typing import Annotated, ClassVar, Literal

from pydantic import ValidationInfo, field_validator

from ragstone.checks.probing import Probing, of_the_reader
from ragstone.kit import NONE_IS_A_WORD, Kit, identity
from ragstone.matching import chance
from ragstone.retrieval.chunks import titled
from ragstone.types import Document, Draft, Question, Verdict


class Answerable(Probing):
    """Rejects a question that a probe does not answer from the evidence documents alone.

    Of a question whose possible answers are known, the same share of replies must be right, and more than guessing
    explains. Unanswerable questions pass: whether they are is another matter.
    """

    prompts: ClassVar = of_the_reader("read")

    refusal: Annotated[Literal["allowed", "none"], NONE_IS_A_WORD] = identity(
        "allowed", "whether the probe is told that it may decline, or (`none`) gives its best guess"
    )
    needed: int = identity(2, "how many of `samples` replies must be right", ge=1, validate_default=True)

    @field_validator("needed")
    @classmethod
    def possible(cls, needed: int, info: ValidationInfo) -> int:
        if needed > info.data.get("samples", needed):
            raise ValueError("must not be more than samples")
        return needed

    def check(self, draft: Draft, kit: Kit) -> Verdict:
        question = draft.question
        if not question.answerable:
            return Verdict(passed=True, reason="it is meant to be unanswerable")
        if problem := what_is_missing(question, kit.documents):
            return Verdict(passed=False, reason=problem)
        enough, times = self.demand(question)
        tried = self.tried(question, evidence_texts(question, kit.documents), kit, enough, times, self.refusal)
        reason = f"not answered from its evidence: {tried}, and {enough} of {times} are needed"
        return Verdict(passed=tried.shown, reason="" if tried.shown else reason)

    def demand(self, question: Question) -> tuple[int, int]:
        """How many replies must be right, and of how many."""
        if not chance(question):
            return self.needed, self.samples
        share = ceil(self.closed_samples * self.needed / self.samples)
        return max(share, self.beyond_chance(question)), self.closed_samples


def what_is_missing(question: Question, documents: Mapping[str, Document]) -> str:
    """What keeps the question from being asked, if anything."""
    if not question.answers:
        return "it has no gold answer to compare with"
    if not any(question.evidence):
        return "it has no evidence"
    if chance(question) == 1:
        return "every choice is right, so nothing can be shown"
    absent = [
        piece.document_id for group in question.evidence for piece in group[:1] if piece.document_id not in documents
    ]
    return f"its evidence names document {absent[0]}, which does not exist" if absent else ""


def evidence_texts(question: Question, documents: Mapping[str, Document]) -> list[str]:
    """The first document of each group, whole, each once."""
    ids = dict.fromkeys(piece.document_id for group in question.evidence for piece in group[:1])
    return [titled(documents[id].title, documents[id].text) for id in ids]
