"""Common words that answer: where questions have choices and no names, the words of the choices are changed."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from ragstone.gazetteer import FUNCTION_WORDS, is_common
from ragstone.recipes.reseed.policy import Policy
from ragstone.recipes.reseed.roles import is_fixed, kept
from ragstone.recipes.reseed.words import words
from ragstone.types import Benchmark

ENDINGS = (
    ("ies", "y"),
    ("ied", "y"),
    ("es", ""),
    ("s", ""),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
    ("ly", ""),
)
SHORTEST = 3
PARTS = re.compile(r"[,;/]|\b(?:and|or|of|by|in|to|for|from|with|on|at|into|that|than|is|are)\b")


class Concepts:
    """Finds the part of a word that changes; its ending stays."""

    def __init__(self, asked: Iterable[str] = (), vocabulary: Iterable[str] = ()) -> None:
        self.stems: dict[str, str] = {}
        known = frozenset(vocabulary)
        told = frozenset(asked)
        wanted = {base(word, known) for word in told}
        forms: defaultdict[str, list[str]] = defaultdict(list)
        for word in sorted(known):
            if (is_content(word) or word in told) and base(word, known) in wanted:
                forms[base(word, known)].append(word)
        for alike in forms.values():
            stem = shared(alike[0], alike[-1])
            self.stems.update(dict.fromkeys(alike, stem) if len(stem) >= SHORTEST else {word: word for word in alike})

    def __bool__(self) -> bool:
        return bool(self.stems)

    def stem(self, word: str) -> str:
        """What changes of this word; empty for nothing."""
        return self.stems.get(word, "")


def shared(first: str, last: str) -> str:
    """What words begin with that lie between two in the alphabet."""
    same = (i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return first[: next(same, min(len(first), len(last)))]


def is_content(word: str) -> bool:
    return len(word) >= SHORTEST and word.isalpha() and not is_fixed(word)


def base(word: str, known: frozenset[str]) -> str:
    """The word without its ending, if that is a word of the corpus or of the language."""
    for ending, more in ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= SHORTEST:
            for one in (stem + more, stem[:-1] if stem[-1] == stem[-2] else ""):
                if one in known or is_common(one):
                    return one
    return word


def concepts_of(benchmark: Benchmark, policy: Policy) -> Concepts:
    """The concepts of a benchmark, if it has any by this policy."""
    if policy.concepts == "none" or (policy.concepts == "auto" and not asks_for_concepts(benchmark)):
        return Concepts()
    choices = [choice for question in benchmark.questions for choice in question.choices]
    asked = {head for choice in choices for head in list(heads(choice)) or contents(choice)}
    return Concepts(asked, {word.text.lower() for text in all_texts(benchmark) for word in words(text)})


def heads(choice: str) -> Iterator[str]:
    """The last word of each part of a choice: what it is about. `Sheets of ice and rock` has three."""
    for part in PARTS.split(choice.lower()):
        content = [word.text for word in words(part) if is_content(word.text)]
        telling = [word for word in content if word not in kept()["vague"]]
        yield from telling[-1:]


def contents(choice: str) -> list[str]:
    """The words of a choice that is vague throughout, so that it changes as the others do: `many uses`, `days`."""
    found = [word.text for word in words(choice.lower()) if word.text.isalpha() and len(word.text) >= SHORTEST]
    return [word for word in found if word not in FUNCTION_WORDS]


def all_texts(benchmark: Benchmark) -> Iterator[str]:
    for document in benchmark.documents:
        yield from (document.title, document.text)
    for question in benchmark.questions:
        yield from (question.text, *question.choices, *(alias for group in question.answers for alias in group))


def asks_for_concepts(benchmark: Benchmark) -> bool:
    """Whether most questions have choices, and most choices no name."""
    choices = [words(choice) for question in benchmark.questions for choice in question.choices]
    plain = sum(all(word.shape in ("lower", "other") or word.initial for word in choice) for choice in choices)
    with_choices = sum(bool(question.choices) for question in benchmark.questions)
    return 2 * with_choices > len(benchmark.questions) and 10 * plain > 9 * len(choices)
