"""Asks a probe a draft's question several times and tells what it knows from luck."""

from collections.abc import Iterator, Sequence
from math import ceil, comb, log
from typing import ClassVar, NamedTuple

from ragstone.errors import ConfigError
from ragstone.kit import Check, Kit, Refusal, identity
from ragstone.llm import reader
from ragstone.llm.samples import sampled
from ragstone.matching import chance, says_answer
from ragstone.prompts import Prompt, prompt
from ragstone.text import language
from ragstone.types import Answer, Query, Question

LONGEST_QUOTE = 120


class Tried(NamedTuple):
    """How often a question was asked and what came of it."""

    right: Sequence[Answer]
    asked: int
    enough: int  # right replies that decide

    @property
    def shown(self) -> bool:
        """Whether the probe has shown that it can answer."""
        return len(self.right) >= self.enough

    def __str__(self) -> str:
        quoted = [f", for instance {' '.join(reply.raw.split())[:LONGEST_QUOTE]!r}" for reply in self.right[:1]]
        return "".join([f"{len(self.right)} of {self.asked} replies are right", *quoted])


class Probing(Check):
    """What the checks that ask a probe have in common: one family of prompts, and one rule for luck."""

    needs: ClassVar = ("probe",)

    samples: int = identity(3, "how often an open question is asked", ge=1)
    closed_samples: int = identity(8, "how often a question is asked whose possible answers are known", ge=1)
    significance: float = identity(0.05, "how often blind guessing may pass for knowing", gt=0, lt=1)

    def prompt(self, name: str) -> Prompt:
        """The prompts are the reader's: what a probe is asked is what a system would be asked."""
        return prompt(reader.PROMPTS, name)

    def tried(
        self, question: Question, passages: Sequence[str], kit: Kit, enough: int, times: int, refusal: Refusal
    ) -> Tried:
        """Asks so often, or until enough replies are right."""
        right: list[Answer] = []
        asked = 0
        for reply in self.replies(question, passages, kit, times, refusal):
            asked += 1
            right += [reply] if not reply.declined and says_answer(reply.text or "", question) else []
            if len(right) == enough:
                break
        return Tried(right, asked, enough)

    def replies(
        self, question: Question, passages: Sequence[str], kit: Kit, times: int, refusal: Refusal
    ) -> Iterator[Answer]:
        """What the probe says each time, to choices in another order; the first is its best guess, the others vary."""
        if kit.probe is None:
            raise ConfigError(f"{self!r} needs a model as probe; set one with --model probe=SPEC")
        asking = reader.ModelReader(kit.probe, kit.language or language(question.text))

        def ask(number: int, temperature: float) -> Answer:
            shuffled = kit.rng(question.id, self.name, str(number)).sample(question.choices, len(question.choices))
            query = Query(id=question.id, text=question.text, choices=tuple(shuffled), scope=(), repeat=number)
            return asking.read(query, passages, refusal, temperature=temperature)

        return sampled(ask, times)

    def beyond_chance(self, question: Question, tests: int = 1) -> int:
        """How many of `closed_samples` replies must be right to be no luck, if luck has so many tries (`tests`)."""
        guess, significance = chance(question), self.significance / tests
        fewest = fewest_beyond_chance(self.closed_samples, guess, significance)
        if fewest > self.closed_samples:
            least = ceil(log(significance) / log(guess))
            raise ConfigError(
                f"{self!r}: {self.closed_samples} replies are too few to tell knowing from guessing, which is right "
                f"{guess:.0%} of the time (question {question.id}); set closed_samples to {least} or more"
            )
        return fewest


def of_the_reader(*names: str) -> tuple[str, ...]:
    """The reader's prompts of these names, and those that say how to answer, in every language that it has."""
    manners = ("brief", "choose", "may_decline")
    return (*(f"{spoken}/{name}" for spoken in ("en", "zh") for name in (*names, *manners)), "en/same_language")


def fewest_beyond_chance(n: int, chance: float, significance: float) -> int:
    """The smallest k such that k or more of n guesses are right with at most this probability; else n + 1."""
    tail = 0.0
    for k in range(n, -1, -1):
        tail += comb(n, k) * chance**k * (1 - chance) ** (n - k)
        if tail > significance:
            return k + 1
    return 0
