"""Finds the names in a text and gives each word of them its mark."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ragstone.recipes.reseed.book import Book, mark
from ragstone.recipes.reseed.closed import countries, country_of
from ragstone.recipes.reseed.concepts import Concepts
from ragstone.recipes.reseed.deciding import Decision
from ragstone.recipes.reseed.numbers import NUMBER
from ragstone.recipes.reseed.registry import Registry
from ragstone.recipes.reseed.roles import kept
from ragstone.recipes.reseed.words import Word, words
from ragstone.recipes.reseed.years import range_end, years
from ragstone.slots import article

LEAP = re.compile(r"29(?:th)? (?:of )?February,? $|February 29(?:th)?,? $")


class Mark(NamedTuple):
    """A place of the original text and what stands there in the template."""

    start: int
    end: int
    text: str


class Marker:
    """Marks texts, one after the other, with the slots of one book."""

    def __init__(
        self, registry: Registry, book: Book, concepts: Concepts, allowed: frozenset[str] | None = None
    ) -> None:
        self.registry = registry
        self.book = book
        self.concepts = concepts
        self.allowed = allowed  # the only words and acronyms that may change; None: all

    def marks(
        self,
        text: str,
        local: frozenset[str] = frozenset(),
        titled: bool = False,
        numbers: frozenset[str] = frozenset(),
        asked: bool = False,
    ) -> list[Mark]:
        """All marks of a text, in order.

        `local` are the common words that are names here, `numbers` the numbers that change; `titled`: it is a name;
        `asked`: it is a question.
        """
        found = words(text)
        changed = Decision(self.registry, text, found, local, titled, asked).decide()
        if self.concepts:
            changed = [
                change and not self.concepts.stem(word.text.lower())
                for change, word in zip(changed, found, strict=True)
            ]
        if self.allowed is not None:
            changed = [change and word.key in self.allowed for change, word in zip(changed, found, strict=True)]
        marks = [self.word_mark(found[i], text) for i in range(len(found)) if changed[i]]
        marks += self.acronyms(text, found, changed)
        marks += self.initials(text, found, changed)
        marks += self.year_marks(text)
        marks += self.number_marks(text, numbers)
        marks += self.closed_marks(text)
        marks += self.concept_marks(found)
        return with_articles(text, apart(marks), self.book)

    def mark_of(self, word: Word, text: str) -> Mark:
        """The mark of a word that is known to change."""
        if self.is_titled_acronym(word):
            return Mark(word.start, word.end, self.book.titled_acronym(word.text))
        if word.shape == "upper" and self.registry.roles.is_acronym(word.text, word.key):
            return Mark(word.start, word.end, self.book.acronym(word.text))
        return self.word_mark(word, text)

    def word_mark(self, word: Word, text: str) -> Mark:
        if (
            word.text.endswith("s")
            and text[word.end : word.end + 1] in ("'", "’")
            and not text[word.end + 1 :][:1].isalpha()
        ):
            self.book.bare.add(word.key)
        return Mark(word.start, word.end, self.book.word(word.key, word.text))

    def year_marks(self, text: str) -> list[Mark]:
        marks = []
        for match in years(text) if self.registry.policy.treatment("date") == "shift" else ():
            id = self.book.year(match["year"], bool(LEAP.search(text[: match.start()][-16:])))
            marks.append(Mark(match.start("year"), match.end("year"), mark(id)))
            if end := range_end(match):
                marks.append(Mark(match.end("end") - 2, match.end("end"), mark(self.book.year(end, False), "short")))
        return marks

    def number_marks(self, text: str, numbers: frozenset[str]) -> list[Mark]:
        found = NUMBER.finditer(text) if numbers else ()
        return [Mark(one.start(), one.end(), mark(self.book.number(one[0]))) for one in found if one[0] in numbers]

    def closed_marks(self, text: str) -> list[Mark]:
        found = countries().finditer(text) if self.registry.policy.closed == "swap" else ()
        return [Mark(one.start(), one.end(), mark(self.book.country(one[0], *country_of(one[0])))) for one in found]

    def concept_marks(self, found: Sequence[Word]) -> list[Mark]:
        marks = []
        for word in found if self.concepts else ():
            if stem := self.concepts.stem(word.text.lower()):
                marks.append(Mark(word.start, word.start + len(stem), self.book.concept(stem, word.text[: len(stem)])))
        return marks

    # ── acronyms and initials ────────────────────────────────────────────────────────────────────────────────────────

    def acronyms(self, text: str, found: Sequence[Word], changed: Sequence[bool]) -> list[Mark]:
        marks = []
        for i, word in enumerate(found):
            if self.allowed is not None and word.text not in self.allowed:
                continue
            if not changed[i] and word.shape == "upper" and self.registry.roles.is_acronym(word.text, word.key):
                marks.append(Mark(word.start, word.end, self.book.acronym(word.text)))
                self.expand(text, found, changed, i)
            elif not changed[i] and self.is_titled_acronym(word):
                marks.append(Mark(word.start, word.end, self.book.titled_acronym(word.text)))
        return marks

    def is_titled_acronym(self, word: Word) -> bool:
        """`Nato` in a name that other texts write with `NATO`; alone it would have changed as a word."""
        roles = self.registry.roles
        if word.shape != "capital" or roles(word.key) != "name" or not roles.is_acronym(word.text.upper(), word.key):
            return False
        counts = roles.counts
        return counts.upper[word.key] > counts.inside[word.key] + counts.initial[word.key]  # Tom is none

    def expand(self, text: str, found: Sequence[Word], changed: Sequence[bool], i: int) -> None:
        """Learns what an acronym stands for from `Full Name (FN)`."""
        acronym = found[i].text
        if "{" in self.book.expansions.get(acronym, "") or text[found[i].start - 1 : found[i].start] != "(":
            return
        letters: list[str] = []
        for j in range(i - 1, max(-1, i - 12), -1):
            if len(letters) == len(acronym):
                break
            word = found[j]
            if word.shape == "lower" and word.text[0].upper() != acronym[-len(letters) - 1]:
                continue
            if word.text[0].upper() != acronym[-len(letters) - 1]:
                return
            id = self.book.word(word.key, word.text)[2:-2].split(".")[0] if changed[j] else ""
            letters.append(mark(id, "initial") if id else word.text[0].upper())
        if len(letters) == len(acronym) and any("{" in letter for letter in letters):
            self.book.expansions[acronym] = "".join(reversed(letters))

    def initials(self, text: str, found: Sequence[Word], changed: Sequence[bool]) -> list[Mark]:
        """`J. R. R.` before or inside a name."""
        marks = []
        for i, word in enumerate(found):
            if word.shape != "letter" or text[word.end : word.end + 1] != "." or is_abbreviation(text, word):
                continue
            if self.names_follow(found, changed, i):
                marks.append(Mark(word.start, word.end, self.initial(found, i)))
        return marks

    def names_follow(self, found: Sequence[Word], changed: Sequence[bool], i: int) -> bool:
        for j in range(i + 1, min(i + 5, len(found))):
            if found[j].start - found[j - 1].end > 3:
                return False
            if found[j].shape != "letter":
                return changed[j] and found[j].shape in ("capital", "upper")
        return False

    def initial(self, found: Sequence[Word], i: int) -> str:
        """From the given name where one person fits, else a letter of its own."""
        end = next(j for j in range(i + 1, len(found)) if found[j].shape != "letter")
        givens = self.registry.given.get(found[end].key, ())
        start = i
        while start and found[start].start - found[start - 1].end <= 2:
            before = found[start - 1]
            if before.shape != "letter" and not any(given[0] == before.key for given in givens):
                break
            start -= 1
        known = {given[i - start] for given in givens if fits(given, found[start:end], i - start)}
        if len(known) == 1:
            key = known.pop()
            return mark(self.book.by_key.get(key) or self.book.add_word(key), "initial")
        return self.book.letter(found[i].text)


def apart(marks: list[Mark]) -> list[Mark]:
    """The marks in order; where two want one place, the first found has it."""
    result: list[Mark] = []
    for one in sorted(marks, key=lambda one: one.start):  # stable: names before numbers, countries and concepts
        if not result or one.start >= result[-1].end:
            result.append(one)
    return result


DOTTED = re.compile(r"(?:\w\.)+$")


def is_abbreviation(text: str, word: Word) -> bool:
    """Whether the letter is part of one like `U.S.`"""
    begin = DOTTED.search(text, max(0, word.start - 8), word.start)
    end = re.compile(r"(?:\w\.)+").match(text, word.start)
    whole = text[begin.start() if begin else word.start : end.end() if end else word.end]
    return whole.replace(".", "") in kept()["capitals"]


def fits(given: Sequence[str], written: Sequence[Word], wanted: int) -> bool:
    """Whether names could be written so: `John R.` for John Ronald."""
    if len(given) < len(written) or len(given[wanted]) < 2:
        return False
    return all(
        key[0].upper() == word.text if word.shape == "letter" else key == word.key
        for key, word in zip(given, written, strict=False)
    )


def with_articles(text: str, marks: list[Mark], book: Book) -> list[Mark]:
    """`a` and `an` before a mark follow its value."""
    result: list[Mark] = []
    for one in marks:
        before = text[max(0, one.start - 4) : one.start]
        found = re.search(r"(?<!\w)(an?|An?) $", before)
        id, _, form = one.text[2:-2].partition(".")
        if found and form in ("", "upper"):
            written = found[1]
            if article(book.slots[id].original) == written.lower():
                start = one.start - len(written) - 1
                kind = "article" if written[0] == "a" else "capitalarticle"
                result.append(Mark(start, start + len(written), mark(id, kind)))
        result.append(one)
    return result
