"""Renaming has not lost the answer."""

from ragstone.checks.grounding import answer_verdict
from ragstone.kit import Check, Kit
from ragstone.types import Draft, Verdict


class AnswerFound(Check):
    """Rejects a renamed question whose new answer is not in its evidence documents, where it was not just kept.

    Numbers and dates are found in any form. Unlike `grounding`, it asks nothing of an answer that stayed as it was:
    if that is not in the documents, renaming is not to blame.
    """

    def check(self, draft: Draft, kit: Kit) -> Verdict:
        question = draft.question
        if question.remembered in ((), question.answers):
            return Verdict(passed=True)
        for piece in (piece for group in question.evidence for piece in group):
            if piece.document_id not in kit.documents:
                return Verdict(
                    passed=False, reason=f"its evidence names document {piece.document_id}, which does not exist"
                )
        return answer_verdict(question, kit)
