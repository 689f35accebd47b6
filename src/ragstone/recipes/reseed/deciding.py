"""Decides which words of a text are changed."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from ragstone.gazetteer import closed_class
from ragstone.recipes.reseed.mentions import QUOTED, is_titled
from ragstone.recipes.reseed.registry import ARTICLES, Phrase, Registry
from ragstone.recipes.reseed.roles import ROMAN, kept
from ragstone.recipes.reseed.words import Word, is_foreign

JOIN = re.compile(r"[\s\-‐‑–]{1,2}|\.\s?|['’]|\s?&\s?|\s(?:of|and)\s")
LOOSE = re.compile(r"[\s\-‐‑–.,'’\"“”&:!()]{1,4}|\s[\d/½⅓⅔¼¾.]{1,7}\s")
DATE_BEFORE = re.compile(
    r"(?:\d|\b(?:in|on|of|since|until|by|early|late|mid|from|to|every|last|next|between|and|through|for))[\s-]*$", re.I
)
END = re.compile(r"[.!?]")
DATE_AFTER = re.compile(r"[\s,]*\d")


class Decision:
    """Which words of one text change."""

    def __init__(
        self,
        registry: Registry,
        text: str,
        found: Sequence[Word],
        local: frozenset[str],
        titled: bool,
        asked: bool = False,
    ) -> None:
        self.asked = asked  # a question, in which people write names in small letters too
        self.registry = registry
        self.text = text
        self.found = found
        self.local = local
        self.titled = titled
        self.small = Counter(word.key for word in found if word.shape == "lower")
        self.large = Counter(word.key for word in found if word.shape != "lower" and not word.initial)
        self.settled: list[bool | None] = [None] * len(found)
        other = 0 if text.isascii() else sum(is_foreign(word.text) for word in found)
        self.foreign = 0 < other < len(found) / 2  # words of another script in an English text

    def decide(self) -> list[bool]:
        self.by_phrase()
        self.by_quotation()
        open = [i for i, change in enumerate(self.settled) if change is None]
        for i in open:
            self.settled[i] = self.by_word(i, self.found[i])
        self.by_neighbour(open)
        return [bool(change) for change in self.settled]

    def by_phrase(self) -> None:
        keys = [word.key for word in self.found]
        i = 0
        while i + 1 < len(keys):
            phrase = self.phrase_at(keys, i)
            if phrase is None:
                i += 1
                continue
            for j, change in enumerate(phrase.changes):
                self.settled[i + j] = change
            i += len(phrase.keys)

    def phrase_at(self, keys: Sequence[str], i: int) -> Phrase | None:
        best: Phrase | None = None
        for phrase in self.registry.phrases.get((keys[i], keys[i + 1]), ()):
            size = len(phrase.keys)
            if (
                (best is None or size > len(best.keys))
                and tuple(keys[i : i + size]) == phrase.keys
                and self.stands(phrase, i)
            ):
                best = phrase
        return best

    def stands(self, phrase: Phrase, i: int) -> bool:
        """Whether the words stand together, and with capitals where a small word would be an ordinary one."""
        run = self.found[i : i + len(phrase.keys)]
        if not all(self.adjoin(first, second) for first, second in pairwise(run)):
            return False
        if phrase.sure:
            return self.is_named(phrase, run)
        if phrase.exact:
            return phrase.exact == tuple(word.text for word in run)
        if all(word.shape == "lower" for word in run):  # `arun date` in a question typed in haste
            return any(self.registry.roles(key) == "name" for key in phrase.keys)
        return (
            all(word.shape != "lower" for word, change in zip(run, phrase.changes, strict=True) if change)
            and run[0].shape != "lower"
        )

    def is_named(self, phrase: Phrase, run: Sequence[Word]) -> bool:
        """Whether it is the name that stands there: `a love story` is none, `the film Love story` is."""
        written = phrase.written or ("",) * len(run)
        small = [
            word
            for word, change, told in zip(run, phrase.changes, written, strict=True)
            if change and word.shape == "lower" and word.text != told and self.registry.roles(word.key) != "name"
        ]
        if self.titled or self.asked or not small:
            return True
        return run[0].shape != "lower" and not run[0].initial and len(run) > 1

    def adjoin(self, first: Word, second: Word) -> bool:
        gap = self.text[first.end : second.start]
        return bool(LOOSE.fullmatch(gap)) and not (second.initial and END.search(gap))

    def by_quotation(self) -> None:
        starts = [word.start for word in self.found]
        for match in QUOTED.finditer(self.text):
            inside = range(bisect_left(starts, match.start()), bisect_left(starts, match.end()))
            if inside and len(inside) <= 9 and all(self.settled[i] is None for i in inside):
                run = [self.found[i] for i in inside]
                if is_titled(run) and run[0].shape != "lower":
                    for i, change in zip(inside, self.registry.changes(run, "work", sure=True), strict=True):
                        self.settled[i] = change

    def by_word(self, i: int, word: Word) -> bool:
        role = self.registry.roles(word.key)
        if self.foreign and is_foreign(word.text):
            return True
        if word.shape == "lower" and self.asked and role == "name":
            return self.registry.counts.inside[word.key] > 0 and not self.registry.counts.lower[word.key]
        if word.shape in ("other", "lower", "letter") or ROMAN.match(word.text):
            return False
        if role == "fixed":
            return word.key in self.local and not word.initial and not self.is_date(word)
        if word.shape == "upper" and (
            self.registry.roles.is_acronym(word.text, word.key) or word.text in kept()["capitals"]
        ):
            return False
        if word.key in kept()["prefixes"] and self.text[word.end : word.end + 1] in ("-", "–"):
            return False
        if word.shape == "mixed":
            return word.text not in kept()["mixed"]
        if word.key in kept()["labels"]:
            return False
        if role == "name":
            return True
        if word.key in self.local:
            return self.is_local(i, word, role)
        if role == "common" and i and self.found[i - 1].text == "The" and not self.found[i - 1].initial:
            return word.shape == "capital"  # `in The Pianist`
        return (
            role == "common"
            and not word.initial
            and word.shape == "capital"
            and self.registry.roles.mostly_capital(word.key)
        )

    def is_local(self, i: int, word: Word, role: str) -> bool:
        if role == "closed":
            return not closed_class(word.text) or (not self.is_date(word) and not word.initial)
        if role == "generic":
            before = self.found[i - 1].text if i else ""
            titled = before == "The" and not self.small[word.key]
            if self.titled or (i == 0 and not self.small[word.key]):
                return True
            return not word.initial and (titled or before.lower() not in ARTICLES)
        small = self.small[word.key]
        return self.titled or small <= self.large[word.key] * (1 if word.initial else 2)

    def is_date(self, word: Word) -> bool:
        before = self.text[max(0, word.start - 12) : word.start]
        return bool(DATE_BEFORE.search(before) or DATE_AFTER.match(self.text[word.end : word.end + 3]))

    def by_neighbour(self, open: Sequence[int]) -> None:
        """A capitalised common word beside a name is part of it."""
        for order in (open, open[::-1]):
            for i in order:
                if not self.settled[i] and self.could_join(self.found[i]) and self.beside(i):
                    self.settled[i] = True

    def could_join(self, word: Word) -> bool:
        role = self.registry.roles(word.key)
        if word.key in kept()["labels"]:
            return False
        if word.shape == "lower":  # `Chung-ling`
            return role == "name" and self.text[max(0, word.start - 1) : word.start] in ("-", "‑")
        return role == "common" and word.shape == "capital" and not word.initial

    def joined(self, i: int, other: int) -> bool:
        if not 0 <= other < len(self.found) or not self.settled[other]:
            return False
        first, second = sorted((self.found[i], self.found[other]))
        return bool(JOIN.fullmatch(self.text[first.end : second.start]))

    def beside(self, i: int) -> bool:
        """Whether the word before or after, or beyond an `of` or `and`, changes."""
        near = (i - 1, i + 1, *(i + 2 * step for step in (-1, 1) if self.links(i + step)))
        return any(self.joined(i, other) for other in near)

    def links(self, i: int) -> bool:
        return 0 <= i < len(self.found) and self.found[i].text in ("of", "and")
