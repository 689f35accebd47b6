"""The question cannot be answered from memory."""

from typing import Annotated, ClassVar, Literal, NamedTuple

from ragstone.checks.hop_probes import hop_probes
from ragstone.checks.probing import Probing, Tried, fewest_beyond_chance, of_the_reader
from ragstone.kit import NONE_IS_A_WORD, Kit, Refusal, identity
from ragstone.llm.samples import sampled
from ragstone.matching import chance
from ragstone.types import Draft, Question, Verdict


class Asked(NamedTuple):
    """A question as it is put to the probe, and what would show that it is known."""

    question: Question
    refusal: Refusal
    enough: int
    times: int
    luck: str = ""  # what is said of guessing where it may be right


class Leakage(Probing):
    """Rejects a question that a probe answers without any document.

    An open question is rejected at the first right reply. A question whose possible answers are known (choices, yes or
    no, this or that) is rejected if more replies are right than guessing explains, or if the probe knows a step of its
    reasoning, where that is told.
    """

    prompts: ClassVar = of_the_reader("recall")

    refusal: Annotated[Literal["allowed", "none", "both"], NONE_IS_A_WORD] = identity(
        "allowed", "whether the probe is told that it may decline, gives its best guess (`none`), or is asked both ways"
    )

    def check(self, draft: Draft, kit: Kit) -> Verdict:
        question = draft.question
        if not question.answers:
            return Verdict(passed=True, reason="it has no answer that could be known")
        if chance(question) == 1:
            return Verdict(passed=False, reason="every choice is right, so nothing need be known")
        asked = self.asked(question)

        def tried(number: int, _: float) -> Tried:
            one = asked[number]
            return self.tried(one.question, (), kit, one.enough, one.times, one.refusal)

        for one, outcome in zip(asked, sampled(tried, len(asked)), strict=True):
            if outcome.shown:
                return Verdict(passed=False, reason=known(one, outcome, question))
        return Verdict(passed=True)

    def asked(self, question: Question) -> list[Asked]:
        """The question itself, and the steps of one that could be guessed; in each way of asking."""
        guess = chance(question)
        ways = self.ways
        if not guess:
            return [Asked(question, way, 1, self.samples) for way in ways]
        luck = f", and guessing is right {guess:.0%} of the time"
        enough = self.beyond_chance(question, tests=len(ways))
        whole = [Asked(question, way, enough, self.closed_samples, luck) for way in ways]
        steps = [self.step(hop, odds, way) for hop, odds in hop_probes(question) for way in ways]
        return whole + [step for step in steps if step.enough <= step.times]

    def step(self, hop: Question, odds: float, way: Refusal) -> Asked:
        enough = fewest_beyond_chance(self.samples, odds, self.significance / len(self.ways)) if odds else 1
        return Asked(hop, way, enough, self.samples)

    @property
    def ways(self) -> tuple[Refusal, ...]:
        return ("allowed", "none") if self.refusal == "both" else (self.refusal,)


def known(asked: Asked, tried: Tried, question: Question) -> str:
    """Why the question is rejected."""
    what = "known" if asked.question is question else f"a step, {asked.question.text!r}, is known"
    return f"{what} without any document: {tried}{asked.luck}"
