"""How near the text of an answer comes to the gold answers: exact match, token F1, coverage and ROUGE-L."""

from collections.abc import Callable, Sequence
from heapq import nlargest
from typing import Literal

from rapidfuzz.distance import LCSseq

from ragstone.kit import Kit, Metric, identity
from ragstone.matching import unsaid
from ragstone.text import normalised_tokens, tokens
from ragstone.types import Answer, Question, Score

MOST_REFERENCES = 64
"""How many ways to join the aliases of several groups are followed at once."""


class TextMetric(Metric):
    """Applies where there is a text and a gold answer. What a system says while it declines is a text like any."""

    def applies(self, question: Question) -> bool:
        return bool(question.answers) and question.answerable

    def score(self, question: Question, answer: Answer, kit: Kit) -> Score | None:
        if not self.applies(question) or (answer.text is None and not answer.declined):
            return None
        text = answer.text or ""
        if not text.strip():
            return Score(value=0.0, reason="the answer is empty")
        return self.compare(text, question)

    def compare(self, text: str, question: Question) -> Score:
        raise NotImplementedError


def references(question: Question, text: str) -> Sequence[str]:
    """Every full gold answer: an alias of each group, joined. Where there are too many, those nearest to the text."""
    joined = list(question.answers[0])
    for group in question.answers[1:]:
        joined = [f"{start} {alias}" for start in joined for alias in group]
        if len(joined) > MOST_REFERENCES:
            said = normalised_tokens(text)
            joined = nlargest(MOST_REFERENCES, joined, key=lambda gold: token_f1(said, normalised_tokens(gold)))
    return joined


# ── SQuAD's two ──────────────────────────────────────────────────────────────────────────────────────────────────────


class ExactMatch(TextMetric):
    """1 if the answer equals a gold answer by SQuAD's rules: case, punctuation, articles and spacing do not count."""

    def compare(self, text: str, question: Question) -> Score:
        said = normalised_tokens(text)
        return Score(value=float(any(said == normalised_tokens(gold) for gold in references(question, text))))


class F1(TextMetric):
    """Harmonic mean of token precision and recall by SQuAD's rules, with HotpotQA's for yes and no; the best alias."""

    def compare(self, text: str, question: Question) -> Score:
        said = normalised_tokens(text)
        golds = references(question, text)
        return Score(value=max((token_f1(said, normalised_tokens(gold)) for gold in golds), default=0.0))


CLOSED = (["yes"], ["no"], ["noanswer"])


def token_f1(said: list[str], gold: list[str]) -> float:
    """F1 of two bags of tokens; a closed answer such as yes is right or wrong, never in part."""
    if (said in CLOSED or gold in CLOSED) and said != gold:
        return 0.0
    left: dict[str, int] = {}
    for token in gold:
        left[token] = left.get(token, 0) + 1
    same = 0
    for token in said:
        if left.get(token):
            left[token] -= 1
            same += 1
    return f_measure(same, len(said), len(gold))


def f_measure(same: int, said: int, gold: int) -> float:
    if not same:
        return 0.0
    precision, recall = same / said, same / gold
    return 2 * precision * recall / (precision + recall)


# ── coverage ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Covered(TextMetric):
    """1 if the text says an alias of every group: whole tokens in a row, however numbers, dates and marks are written.

    - A date also says its parts: "9 November 1786" covers `1786` and `November 1786`, and no other date.
    - `yes` and `no`: the first yes or no in the text must be the gold one.
    - A question with choices: no other choice may be said, unless it is a part of the gold one.
    """

    def compare(self, text: str, question: Question) -> Score:
        problem = unsaid(text, question)
        return Score(value=float(not problem), reason=problem)


# ── ROUGE-L ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class RougeL(TextMetric):
    """F-measure of the longest common subsequence of tokens; the best alias. Two packages mean two things by it."""

    variant: Literal["rouge_score", "rouge"] = identity(
        "rouge_score", "whose values: `rouge_score` (Google's, sentence level) or `rouge` (pltrdy's, summary level)"
    )

    def compare(self, text: str, question: Question) -> Score:
        measure = MEASURES[self.variant]
        return Score(value=max((measure(text, gold) for gold in references(question, text)), default=0.0))


WORDS_ONLY = bytes(ord(chr(code).lower()) if chr(code).isascii() and chr(code).isalnum() else 32 for code in range(256))


def rouge_tokens(text: str) -> list[str]:
    """The tokens of `rouge_score`; it knows ASCII alone, so beyond that Unicode words and unspaced characters."""
    if text.isascii():
        return text.encode().translate(WORDS_ONLY).decode().split()
    return tokens(text.replace("_", " "))


def rouge_l(text: str, gold: str) -> float:
    """As `rouge_score` 0.1.2 without stemming."""
    said, meant = rouge_tokens(text), rouge_tokens(gold)
    return f_measure(LCSseq.similarity(said, meant), len(said), len(meant))


def summary_rouge_l(text: str, gold: str) -> float:
    """As `rouge` 1.0.1: unique words, case and marks as they are, over sentences that end at every full stop."""
    said, meant = stopped_sentences(text), stopped_sentences(gold)
    if not said or not meant:
        return 0.0  # there the package raises an error
    shared = set[str]().union(*(common_words(one, other) for one in meant for other in said))
    precision, recall = len(shared) / len(set().union(*said)), len(shared) / len(set().union(*meant))
    return 2 * precision * recall / (precision + recall + 1e-8)


MEASURES: dict[str, Callable[[str, str], float]] = {"rouge_score": rouge_l, "rouge": summary_rouge_l}


def stopped_sentences(text: str) -> list[list[str]]:
    """Words between full stops; a blank sentence is, as in the package, one empty word."""
    return [part.split() or [""] for part in text.split(".") if part]


def common_words(meant: Sequence[str], said: Sequence[str]) -> set[str]:
    """The words of a longest common subsequence; among several, the one that the package finds.

    A row is a bit for each word of `said`, clear where the subsequence grows: a whole row costs three operations.
    """
    places: dict[str, int] = {}
    for place, word in enumerate(said):
        places[word] = places.get(word, 0) | 1 << place
    rows = [(1 << len(said)) - 1]
    for word in meant:
        hits = rows[-1] & places.get(word, 0)
        rows.append(((rows[-1] + hits) | (rows[-1] - hits)) & rows[0])
    found, one, other = set(), len(meant), len(said)
    while one and other:
        if meant[one - 1] == said[other - 1]:
            one, other = one - 1, other - 1
            found.add(meant[one])
        elif (rows[one] >> (other - 1)) & 1:
            other -= 1
        else:
            one -= 1
    return found
