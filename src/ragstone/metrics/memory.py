"""Whether an answer comes from memory: it says what was true before names and values were changed."""

from ragstone.kit import Kit, Metric
from ragstone.matching import says_answer, spelled_out
from ragstone.text import canonical_tokens
from ragstone.types import Answer, Question, Score


class Memory(Metric):
    """1 if the answer says the original answer and not the new one.

    Applies where the question was made from another one whose answer was different; by the rules of `covered`.
    """

    def applies(self, question: Question) -> bool:
        return question.answerable and bool(question.answers) and differs(question)

    def score(self, question: Question, answer: Answer, kit: Kit) -> Score | None:
        if not self.applies(question) or (answer.text is None and not answer.declined):
            return None
        text = answer.text or ""
        original = Question(id=question.id, text=question.text, answers=question.remembered)
        remembers = says_answer(text, original) and not says_answer(text, question)
        return Score(value=float(remembers), reason=f"says {spelled_out(question.remembered)}" if remembers else "")


def differs(question: Question) -> bool:
    """Whether there is an original answer that would not pass for the new one."""
    told = [{tuple(canonical_tokens(alias)) for alias in group} for group in question.remembered]
    wanted = [{tuple(canonical_tokens(alias)) for alias in group} for group in question.answers]
    return bool(told) and not (len(told) == len(wanted) and all(a & b for a, b in zip(told, wanted, strict=True)))
