"""The question cannot be answered from memory."""

from typing import ClassVar

from ragstone.checks.probing import Probing, of_the_reader
from ragstone.kit import Kit
from ragstone.matching import chance
from ragstone.types import Draft, Verdict


class Leakage(Probing):
    """Rejects a question that a probe answers without any document.

    An open question is rejected at the first right reply. A question whose possible answers are known (choices, yes or
    no, this or that) is rejected only if more replies are right than guessing explains.
    """

    prompts: ClassVar = of_the_reader("recall")

    def check(self, draft: Draft, kit: Kit) -> Verdict:
        question = draft.question
        if not question.answers:
            return Verdict(passed=True, reason="it has no answer that could be known")
        guess = chance(question)
        if guess == 1:
            return Verdict(passed=False, reason="every choice is right, so nothing need be known")
        if not guess:
            tried = self.tried(question, (), kit, enough=1, times=self.samples)
            reason = f"known without any document: {tried}"
        else:
            tried = self.tried(question, (), kit, enough=self.beyond_chance(question), times=self.closed_samples)
            reason = f"known without any document: {tried}, and guessing is right {guess:.0%} of the time"
        return Verdict(passed=not tried.shown, reason=reason if tried.shown else "")
