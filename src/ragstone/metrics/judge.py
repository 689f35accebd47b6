"""Answers as a judge sees them: a model is asked for a typed verdict on what was said."""

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import field_validator

from ragstone.errors import ConfigError
from ragstone.kit import Kit, Metric, identity
from ragstone.llm.samples import sampled
from ragstone.matching import spelled_out, with_choices
from ragstone.prompts import quoted
from ragstone.types import Answer, Question, Record, Score


class Correctness(Record):
    """The judge's verdict; the reason comes first, so that the verdict follows from it."""

    reason: str
    verdict: Literal["correct", "incorrect"]


class Judged(Metric):
    """1 if a judge finds that the answer says the same as the gold answer, in whatever words or language."""

    needs: ClassVar = ("judge",)
    prompts: ClassVar = ("judged",)

    samples: int = identity(1, "how many verdicts are asked for; the majority counts, so an odd number", ge=1)

    @field_validator("samples")
    @classmethod
    def no_draw(cls, samples: int) -> int:
        if samples % 2 == 0:
            raise ValueError("must be odd, so that there is a majority")
        return samples

    def applies(self, question: Question) -> bool:
        return bool(question.answers) and question.answerable

    def score(self, question: Question, answer: Answer, kit: Kit) -> Score | None:
        if not self.applies(question) or (answer.text is None and not answer.declined):
            return None
        if answer.declined:
            return Score(value=0.0, reason="it declined")
        if not (answer.text or "").strip():
            return Score(value=0.0, reason="the answer is empty")
        return by_majority(self.verdicts(question, answer.text or "", kit))

    def verdicts(self, question: Question, text: str, kit: Kit) -> Sequence[Correctness]:
        if kit.judge is None:
            raise ConfigError(f"{self!r} needs a model as judge; set one with --model judge=SPEC")
        judge, prompt = kit.judge, self.asked(question, text)

        def verdict(sample: int, temperature: float) -> Correctness:
            return judge.ask_for(Correctness, prompt, sample=sample, temperature=temperature)

        return list(sampled(verdict, self.samples))

    def asked(self, question: Question, text: str) -> str:
        """What the judge is shown: nothing of who answered or how."""
        documents = quoted([with_choices(question), spelled_out(question.answers), text])
        return self.prompt("judged").fill(documents=documents)


def by_majority(verdicts: Sequence[Correctness]) -> Score:
    """The verdict of most with the first reason for it; where not all agree, what the others say too."""
    counts = Counter(verdict.verdict for verdict in verdicts)
    (winner, ayes), *losers = counts.most_common()
    reasons = {verdict.verdict: verdict.reason for verdict in reversed(verdicts)}
    told = reasons[winner]
    if losers:
        told = f"{ayes} of {len(verdicts)} verdicts: {told} The others: {reasons[losers[0][0]]}"
    return Score(value=float(winner == "correct"), reason=told)
