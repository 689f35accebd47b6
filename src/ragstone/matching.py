"""Whether a text says the answer to a question, how often a guess would, and how both are told to a judge."""

from collections.abc import Sequence

from ragstone.text import canonical_tokens, contains_run
from ragstone.types import Question

POLARITY = {"yes": True, "是": True, "no": False, "否": False, "不": False}
POLAR = tuple([word] for word in POLARITY)
CHANCE = {"yes_no": 0.5, "option": 0.5}


def says_answer(text: str, question: Question) -> bool:
    """Whether the text says an alias of every group; never where there is no answer to say."""
    return bool(question.answers) and not unsaid(text, question)


def unsaid(text: str, question: Question) -> str:
    """Why the text does not say an alias of every group, or what it says too much; empty where it just says them."""
    said = canonical_tokens(text)
    gold = [[canonical_tokens(alias) for alias in group] for group in question.answers]
    for group, runs in zip(question.answers, gold, strict=True):
        if not any(says(said, run) for run in runs):
            return f"does not say {' or '.join(map(repr, group))}"
    for choice in question.choices:
        other = canonical_tokens(choice)
        if says(said, other) and not any(contains_run(run, other) for runs in gold for run in runs):
            return f"also says {choice!r}"
    return ""


def says(said: Sequence[str], run: Sequence[str]) -> bool:
    """Whether canonical tokens say a run of them; a lone yes or no must be the first such word."""
    if len(run) == 1 and run[0] in POLARITY:
        return next((POLARITY[token] for token in said if token in POLARITY), None) is POLARITY[run[0]]
    return contains_run(said, run)


def with_choices(question: Question) -> str:
    """The question as a judge reads it."""
    return "\n".join([question.text, *(f"- {choice}" for choice in question.choices)])


def spelled_out(answers: Sequence[Sequence[str]]) -> str:
    """The gold answers in words: each group a line, its aliases side by side."""
    lines = [" = ".join(" ".join(alias.split()) for alias in group) for group in answers]
    return "\n".join(lines if len(lines) < 2 else ["all of:", *(f"- {line}" for line in lines)])


def chance(question: Question) -> float:
    """How often a blind guess among the possible answers is right; 0 where they cannot be listed."""
    if question.choices:
        right = sum(says_answer(choice, question) for choice in question.choices)
        return max(1, right) / len(question.choices)
    kind = "yes_no" if says_polarity(question) else str(question.labels.get("answer_kind", ""))
    return CHANCE.get(kind, 0.0)


def says_polarity(question: Question) -> bool:
    """Whether the answer is yes or no, whatever its label says."""
    return any(canonical_tokens(alias) in POLAR for group in question.answers for alias in group)
