"""Which words of a corpus are names, and in which runs of words common words are part of a name."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ragstone.gazetteer import CLASSES, HONORIFICS, KNOWN_EVENTS, closed_class, given_gender
from ragstone.recipes.reseed.mentions import ASIDE, Mention, is_titled, mentions
from ragstone.recipes.reseed.policy import Policy
from ragstone.recipes.reseed.roles import ROMAN, Roles, is_office, kept
from ragstone.recipes.reseed.words import Counts, Word, counted, words
from ragstone.types import Benchmark, Entity, ReasoningGraph

OPEN_TYPES = frozenset({"person", "organisation", "place", "work", "event", "product", "award", "other", ""})
LONGEST = 12
LANDS = ("country", "continent")
ARTICLES = frozenset({"the", "a", "an"})


class Phrase(NamedTuple):
    """A name of several words, and which of them change."""

    keys: tuple[str, ...]
    changes: tuple[bool, ...]
    sure: bool  # it is a name in whatever case it is written
    exact: tuple[str, ...] = ()  # the only way to write it that makes it a name
    written: tuple[str, ...] = ()  # as it is written where it is named


@dataclass
class Name:
    """What the corpus says of one run of words."""

    words: tuple[Word, ...]
    types: Counter[str] = field(default_factory=Counter)
    sure: bool = False

    @property
    def type(self) -> str:
        return max(self.types, key=lambda type: (self.types[type], type)) if self.types else ""


def is_also_name(word: Word) -> bool:
    """Will and May: words of grammar that people are called."""
    return word.shape == "capital" and bool(given_gender(word.text) or closed_class(word.text) == "month")


class Registry:
    """All that templating must know of the corpus."""

    def __init__(self, counts: Counts, policy: Policy) -> None:
        self.counts = counts
        self.policy = policy
        self.roles = Roles(counts, policy)
        self.trims: dict[tuple[object, ...], tuple[Word, ...]] = {}  # by the text of a mention, and whether it is sure
        self.names: dict[tuple[str, ...], Name] = {}
        self.phrases: dict[tuple[str, ...], list[Phrase]] = {}  # by their first two words
        self.local: defaultdict[str, set[str]] = defaultdict(set)  # common words that are names in one place
        self.votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.genders: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.unchanged: set[tuple[str, ...]] = set()
        self.common: dict[tuple[str, ...], Phrase] = {}
        self.given: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)  # by surname

    # ── what is a name ───────────────────────────────────────────────────────────────────────────────────────────────

    def add(self, mention: Mention) -> None:
        found = self.trimmed(mention)
        if not found:
            return
        name = self.names.setdefault(tuple(word.key for word in found), Name(found))
        name.types[mention.type] += 3 if mention.sure and mention.type else 1
        name.sure |= mention.sure
        self.place(mention, name)

    def keep(self, mentions: Sequence[Mention]) -> None:
        """Names of a type that is kept: their words are then changed in no name."""
        for mention in mentions:
            found = self.trimmed(mention)
            self.roles.known.update((word.key, "closed") for word in found if self.roles(word.key) == "name")
            self.unchanged.add(tuple(word.key for word in found))

    def keep_common(self, title: str) -> None:
        """`Pit bull`: a title in small letters names a kind of thing, and changes nowhere but for names in it."""
        found = words(ASIDE.sub("", title))
        keys = tuple(word.key for word in found)
        small = all(word.shape == "lower" or self.roles(word.key) == "closed" for word in found[1:])
        if len(found) < 2 or re.search(r"\d", title) or keys in self.names or not small or is_titled(found[1:]):
            return
        changes = tuple(word.shape == "capital" and self.roles(word.key) == "name" for word in found)
        self.common[keys] = Phrase(keys, changes, True)

    def place(self, mention: Mention, name: Name) -> None:
        changes = self.changes(name.words, mention.type, mention.sure)
        doubtful = len(name.words) == 1 and not mention.sure and not self.counts.inside[name.words[0].key]
        for word, change in zip(name.words, changes, strict=True):
            role = self.roles(word.key)
            told = mention.sure or len(name.words) > 1 or role != "generic"
            if change and told and role != "name" and word.shape != "lower" and not doubtful:
                self.local[mention.place].add(word.key)

    def trimmed(self, mention: Mention) -> tuple[Word, ...]:
        """The words of the name without articles around it; none if it is no name after all."""
        known = self.trims.get(mention[::2])
        if known is None:
            known = self.trims[mention[::2]] = self.trim(mention)
        return known

    def trim(self, mention: Mention) -> tuple[Word, ...]:
        found = words(mention.text)
        small = any(word.shape == "lower" and self.roles(word.key) in ("common", "generic") for word in found)
        while found and (found[0].key in ARTICLES or (not mention.sure and self.is_beside(found[0]))):
            found.pop(0)
        while found and not mention.sure and self.is_beside(found[-1]):
            found.pop()
        if not found or len(found) > LONGEST or (small and not mention.sure):
            return ()
        return tuple(found)

    def is_beside(self, word: Word) -> bool:
        """Whether the word only stands beside a name."""
        return word.shape == "lower" or (self.roles(word.key) == "fixed" and not is_also_name(word))

    def changes(self, found: Sequence[Word], type: str, sure: bool) -> tuple[bool, ...]:
        """Which words of a name change."""
        roles = [self.role(word) for word in found]
        if found[0].key == "best" and any(word.key in kept()["awarded"] for word in found):
            return (False,) * len(found)
        if type == "person" and len(found) > 1 and any(changes := self.person_changes(found, roles)):
            return changes
        wanted = {"name", "common", "generic"} if type == "work" else {"name", "common"}
        changes = tuple(role in wanted for role in roles)
        if any(changes) or len(found) < 2 or "acronym" in roles:
            return changes
        only = self.last_resort(found, roles, type, sure)
        return tuple(i == only for i in range(len(found)))

    def role(self, word: Word) -> str:
        if ROMAN.match(word.text):
            return "fixed"
        return "acronym" if self.roles.is_acronym(word.text, word.key) else self.roles(word.key)

    def last_resort(self, found: Sequence[Word], roles: Sequence[str], type: str, sure: bool) -> int:
        """The word to change in a name of type words, countries or grammar only; -1 for none."""
        generic = [i for i, role in enumerate(roles) if role == "generic"]
        closed = [i for i, role in enumerate(roles) if role == "closed"]
        if type == "work":
            long = [i for i, word in enumerate(found) if len(word.text) > 2 and word.shape == "capital"]
            other = [i for i in long if found[i].key not in ARTICLES]
            return (closed or other or [-1])[0] if sure else -1
        if type == "place":
            return self.last_resort_of_place(found, roles, generic)
        head = next((i for i, word in enumerate(found[1:]) if word.key == "of"), len(found) - 1)
        free = [i for i in generic if i != head and not is_office(found[i].key)]
        if free and (closed or not is_office(found[head].key)):
            return free[0]
        return generic[0] if len(generic) > 1 and not closed and not is_office(found[head].key) else -1

    def last_resort_of_place(self, found: Sequence[Word], roles: Sequence[str], generic: Sequence[int]) -> int:
        if found[0].key == "new" and "closed" in roles:
            return roles.index("closed")
        if roles == ["closed", "generic"] and closed_class(found[0].text) in LANDS:
            return 0  # `Mexico City`
        return generic[0] if len(generic) > 1 and not is_office(found[-1].key) else -1

    def person_changes(self, found: Sequence[Word], roles: Sequence[str]) -> tuple[bool, ...]:
        last = len(found) - 1
        ranks = self.leading_ranks(found)
        personal = 0 < ranks <= last or any(word.shape == "letter" or given_gender(word.text) for word in found[:last])

        def change(i: int) -> bool:
            if roles[i] in ("name", "common"):
                return True
            if (roles[i] == "fixed" and not is_also_name(found[i])) or i < ranks or found[i].shape == "lower":
                return False
            return bool(given_gender(found[i].text)) or (i == last and personal)

        return tuple(map(change, range(len(found))))

    def leading_ranks(self, found: Sequence[Word]) -> int:
        count = 0
        while count < len(found) and (found[count].key in HONORIFICS or is_office(found[count].key)):
            count += 1
        return count

    # ── what kind of name ────────────────────────────────────────────────────────────────────────────────────────────

    def vote(self, name: Name) -> None:
        changes = self.changes(name.words, name.type, name.sure)
        parts = [word for word, change in zip(name.words, changes, strict=True) if change]
        weight = sum(name.types.values())
        for i, word in enumerate(parts):
            self.votes[word.key][self.kind_in(name.type, word, i, len(parts))] += weight
        if name.type == "person" and len(parts) > 1:
            self.given[parts[-1].key].add(tuple(word.key for word in parts[:-1]))

    def kind_in(self, type: str, word: Word, i: int, length: int) -> str:
        if type == "person":
            return "surname" if 0 < i == length - 1 else "given" if i else self.first_kind(word, length)
        if self.roles(word.key) != "name":
            return "word"
        return type if type in ("place", "organisation") else "other"

    def first_kind(self, word: Word, length: int) -> str:
        return "given" if length > 1 or given_gender(word.text) else "surname"

    def kind(self, key: str) -> str:
        votes = self.votes.get(key)
        if not votes:
            return "other" if self.roles(key) == "name" else "word"
        return max(votes, key=lambda kind: (votes[kind], kind))

    def gender(self, key: str) -> str:
        told = self.genders.get(key)
        return max(told, key=lambda one: (told[one], one)) if told else given_gender(self.roles.surface(key))

    # ── runs of words ────────────────────────────────────────────────────────────────────────────────────────────────

    def settle(self) -> None:
        """Decides for each run of words which of them change; longer names agree with those inside them."""
        closed = {tuple(word.key for word in words(phrase)) for phrase in self.kept_phrases()} | self.unchanged
        for keys in sorted(closed):
            if len(keys) > 1:
                self.learn(Phrase(keys, (False,) * len(keys), True))
        for keys in sorted(self.names.keys() - closed, key=lambda keys: (len(keys), keys)):
            name = self.names[keys]
            self.vote(name)
            if len(keys) > 1:
                self.learn(self.phrase(keys, name))
            elif name.sure and self.roles(keys[0]) != "name" and any(self.changes(name.words, name.type, True)):
                self.learn(Phrase(("the", *keys), (False, True), False, ("The", name.words[0].text)))
        for phrase in self.common.values():
            self.learn(phrase)
        for phrases in self.phrases.values():
            phrases.sort(key=lambda phrase: -len(phrase.keys))

    def kept_phrases(self) -> Iterator[str]:
        yield from (phrase for phrase, kind in CLASSES.items() if self.policy.treatment(kind) != "coin")
        yield from KNOWN_EVENTS

    def phrase(self, keys: tuple[str, ...], name: Name) -> Phrase:
        changes = list(self.changes(name.words, name.type, name.sure))
        for i in range(len(keys)):
            inner = self.match(keys, i, len(keys) - 1)
            if inner:
                for j, change in enumerate(inner.changes):
                    changes[i + j] = change
        changed = [self.roles(key) for key, change in zip(keys, changes, strict=True) if change]
        weak = sum(role != "name" for role in changed)
        if all(role == "fixed" for role in changed) and any(word.shape == "lower" for word in name.words):
            changes = [False] * len(keys)  # `What is`
        if changed and all(role in ("fixed", "generic", "closed") for role in changed):
            return Phrase(keys, tuple(changes), False, tuple(word.text for word in name.words))
        written = tuple(word.text for word in name.words)
        return Phrase(keys, tuple(changes), weak != 1 or (name.sure and len(keys) > 2), written=written)

    def learn(self, phrase: Phrase) -> None:
        self.phrases.setdefault(phrase.keys[:2], []).append(phrase)

    def match(self, keys: Sequence[str], i: int, longest: int = LONGEST) -> Phrase | None:
        """The longest phrase that begins with word `i`."""
        best: Phrase | None = None
        for phrase in self.phrases.get(tuple(keys[i : i + 2]), ()):
            size = len(phrase.keys)
            if size <= longest and (best is None or size > len(best.keys)) and tuple(keys[i : i + size]) == phrase.keys:
                best = phrase
        return best


# ── the whole corpus ─────────────────────────────────────────────────────────────────────────────────────────────────


def registered(benchmark: Benchmark, graphs: Mapping[str, ReasoningGraph], policy: Policy) -> Registry:
    """Reads the whole corpus."""
    registry = Registry(counted(map(words, texts_of(benchmark))), policy)
    found = [mention for mention in mentions(benchmark, graphs) if mention.type in OPEN_TYPES]
    registry.keep([mention for mention in found if policy.treatment(mention.type) == "keep"])
    for mention in found:
        if policy.treatment(mention.type) == "coin":
            registry.add(mention)
    for document in benchmark.documents:
        registry.keep_common(document.title)
    for graph in graphs.values():
        for entity in graph.entities:
            vote_gender(registry, entity)
    registry.settle()
    return registry


def vote_gender(registry: Registry, entity: Entity) -> None:
    found = [word for word in words(entity.name) if word.key not in HONORIFICS] if entity.gender else []
    if len(found) > 1 and found[0].shape == "capital":
        registry.genders[found[0].key][entity.gender] += 1


def texts_of(benchmark: Benchmark) -> Iterator[str]:
    for document in benchmark.documents:
        yield document.text
    for question in benchmark.questions:
        yield question.text
