"""No two things under one name, and no answer in its own question."""

from collections.abc import Mapping
from functools import lru_cache
from typing import ClassVar

from ragstone.checks.open_names import has_name, replaced
from ragstone.kit import Check, Kit
from ragstone.matching import chance
from ragstone.slots import unaccented
from ragstone.text import canonical_tokens, contains_run
from ragstone.types import Draft, Question, Verdict

Answers = tuple[tuple[str, ...], ...]


class Collisions(Check):
    """Rejects a renamed question that names its own answer, or whose answer is the new name of something else as well.

    Only open answers are looked at: a question with options names them all, and other draws may choose another one.
    """

    across: ClassVar = True

    def check(self, draft: Draft, kit: Kit) -> Verdict:
        question = draft.question
        if not question.remembered or chance(question):
            return Verdict(passed=True)
        if given := given_away(question):
            return Verdict(passed=False, reason=f"its answer {given!r} is in the question")
        mine = originals_of(question.remembered, question.answers)
        for other in kit.kept:
            theirs = originals_of(other.remembered, other.answers)
            for name in mine.keys() & theirs.keys():
                if mine[name] != theirs[name] and not chance(other):
                    reason = (
                        f"{name!r} is the new name of {mine[name]!r}, and of {theirs[name]!r} in question {other.id}"
                    )
                    return Verdict(passed=False, reason=reason)
        return Verdict(passed=True)


def given_away(question: Question) -> str:
    """The answer that the question says itself; other aliases may be but a part of it, or a code."""
    said = canonical_tokens(question.text)
    answers = [group[0] for group in question.answers if group and has_name(group[0])]
    return next((answer for answer in answers if contains_run(said, canonical_tokens(answer))), "")


@lru_cache(maxsize=100_000)
def originals_of(remembered: Answers, answers: Answers) -> Mapping[str, str]:
    """What each new name stood for, where aliases can be told apart; spelling does not count."""
    pairs = [
        (new, old)
        for before, after in zip(remembered, answers, strict=False)
        if len(before) == len(after)
        for new, old in zip(after, before, strict=True)
        if old in replaced(before, after)
    ]
    return {plain(new): plain(old) for new, old in pairs}


def plain(name: str) -> str:
    return " ".join(canonical_tokens(unaccented(name)))
