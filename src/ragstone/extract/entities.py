"""Mentions that name the same thing become one entity: `Jeffrey Thomas Porcaro`, `Jeff Porcaro`, `Porcaro`."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from ragstone.extract.kinds import name_type
from ragstone.extract.mentions import Mention, is_acronym_of
from ragstone.extract.people import gender
from ragstone.gazetteer import HONORIFICS, closed_class
from ragstone.types import Entity

WORD = re.compile(r"[^\W_]+(?:[.'’-][^\W_]+)*")
SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv", "phd", "md"})
ABBREVIATED = 3  # letters that a short given name shares with the long one: Jeff, Jeffrey
AFTER_NAME = 3  # characters to the acronym in brackets
MAYBE_SURNAME = frozenset({"PERSON", "ORG", "RUN", "PRODUCT", "WORK_OF_ART", "GPE", "LOC", "FAC"})


@dataclass
class Thing:
    """An entity in the making."""

    name: str
    type: str = ""  # where something better than a vote says it
    votes: Counter[str] = field(default_factory=Counter)
    forms: dict[str, None] = field(default_factory=dict)
    spans: list[tuple[int, int]] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return self.type or max(self.votes, key=lambda type: (self.votes[type], type), default="other")

    def add(self, mention: Mention) -> None:
        self.forms[mention.text] = None
        self.spans.append((mention.start, mention.end))
        words = len(mention.text.split())
        kind = name_type(mention.text, mention.label)
        if mention.label != "TITLE":
            self.votes["work" if mention.label == "QUOTED" and kind != "person" else kind] += words


def words_of(name: str) -> list[str]:
    """The words that tell names apart, in lower case: no titles before them and no `Jr.` after."""
    words = [word.lower() for word in WORD.findall(name)]
    while len(words) > 1 and words[0] in HONORIFICS:
        words.pop(0)
    while len(words) > 1 and words[-1] in SUFFIXES:
        words.pop()
    return words


def same_given(one: str, other: str) -> bool:
    """`jeff` and `jeffrey`, `j` and `john`."""
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and (len(short) >= ABBREVIATED or len(short) == 1)


def same_person(short: Sequence[str], long: Sequence[str]) -> bool:
    """Whether the shorter name may be short for the longer one."""
    if len(short) == 1:
        return short[0] in (long[0], long[-1])
    middle = set(long)
    given = same_given(short[0], long[0]) or short[0] in middle
    return short[-1] == long[-1] and given and all(word in middle or len(word) == 1 for word in short[1:])


class Grouping:
    """Puts mentions into things, in the order of the text; longer names of persons come before shorter ones."""

    def __init__(self, title: str, title_type: str) -> None:
        self.things: list[Thing] = [Thing(title, title_type)] if title else []
        self.exact: dict[str, int] = {key(title): 0} if title else {}
        self.persons: defaultdict[str, list[int]] = defaultdict(list)  # by every word of the name
        if title and title_type == "person":
            self.note_person(0, words_of(title))

    def note_person(self, number: int, words: Sequence[str]) -> None:
        for word in {words[0], words[-1]}:
            self.persons[word].append(number)

    def number_of(self, mention: Mention, before: tuple[Mention, int] | None) -> int:
        """The thing that is meant, a new one if need be."""
        known = self.exact.get(key(mention.text))
        if known is None:
            known = self.acronym(mention, before)
        if known is None and mention.label in MAYBE_SURNAME:
            known = self.person(mention)
        if known is None:
            known = self.new(mention)
        self.exact.setdefault(key(mention.text), known)
        return known

    def acronym(self, mention: Mention, before: tuple[Mention, int] | None) -> int | None:
        near = before is not None and 0 < mention.start - before[0].end <= AFTER_NAME
        return before[1] if near and before and is_acronym_of(mention.text, before[0].text) else None

    def person(self, mention: Mention) -> int | None:
        """The person of whom this is a shorter or longer name; the one that the text is about comes first."""
        words = words_of(mention.text)
        if len(words) == 1 and (mention.text.isupper() or closed_class(mention.text)):
            return None
        candidates: list[int] = [*self.persons.get(words[-1], ()), *self.persons.get(words[0], ())]
        for number in sorted(set(candidates), key=lambda it: (it != 0, -it)):  # then the one named last
            known = words_of(self.things[number].name)
            short, long = sorted((words, known), key=len)
            if same_person(short, long) and (mention.label == "PERSON" or len(words) == 1):
                return number
        return None

    def new(self, mention: Mention) -> int:
        self.things.append(Thing(mention.text))
        number = len(self.things) - 1
        if mention.label == "PERSON" or name_type(mention.text, mention.label) == "person":
            self.note_person(number, words_of(mention.text))
        return number


def key(name: str) -> str:
    return name.casefold().removeprefix("the ")


def grouped(mentions: Sequence[Mention], title: str, title_type: str) -> tuple[list[Thing], list[int]]:
    """The things, and which of them each mention means."""
    grouping = Grouping(title, title_type)
    numbers: dict[Mention, int] = {}
    full = [mention for mention in mentions if mention.label == "PERSON" and len(mention.text.split()) > 1]
    for mention in full:  # surnames alone may stand before the full name
        numbers[mention] = grouping.number_of(mention, None)
    before: tuple[Mention, int] | None = None
    for mention in mentions:
        if mention not in numbers:
            numbers[mention] = grouping.number_of(mention, before)
        before = (mention, numbers[mention])
    for mention in mentions:
        grouping.things[numbers[mention]].add(mention)
    return grouping.things, [numbers[mention] for mention in mentions]


def entity(number: int, thing: Thing, text: str, is_title: bool) -> Entity:
    name = thing.name if is_title or not thing.forms else max(thing.forms, key=len)
    forms = tuple(form for form in thing.forms if form != name)
    kind = thing.kind
    told = gender(text, (name, *forms), thing.spans, is_title) if kind == "person" else ""
    return Entity(id=f"e{number + 1}", name=name, type=kind, forms=forms, gender=told)
