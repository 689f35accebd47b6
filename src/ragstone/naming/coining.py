"""`coin`: a value for every slot of a template, for one draw."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import islice
from random import Random
from typing import Literal

from ragstone.errors import ConfigError, DataError
from ragstone.naming.cultures import CULTURES, exchanged
from ragstone.naming.known import COMMON, acronyms, known_words, plain, rude
from ragstone.naming.moulds import AWKWARD, SLICES
from ragstone.naming.shapes import shape
from ragstone.naming.swapping import swapped
from ragstone.naming.values import ROMAN, acronym, dressed, moved, other_letter, other_number, year_shifts
from ragstone.slots import NAMES, bind, resolve, slot_ids
from ragstone.types import Slot

Style = Literal["invented", "word_made", "cultural"]

CLOSED = frozenset({"country", "nationality", "language"})
SUFFIXES = ("s", "ed", "ing", "er", "ly")
ATTEMPTS = 600
REFUSED = 16
"""Names of each earlier try that a later one leaves out: more than collisions ever make it pass over."""
MENDED = 40
"""Rounds in which names give way because their initials made an acronym that stands for something else."""


def coin(
    slots: Sequence[Slot],
    *,
    draw: int,
    style: Style = "invented",
    salt: str = "",
    avoid: Collection[str] = (),
    known: Callable[[str], bool] | None = None,
) -> dict[str, str]:
    """A value for every slot, by id. The years of a group, and all countries, must be given together.

    Coined words are new: not in `avoid`, no word or name of the word lists, and not `known`, which is asked last.
    Two draws below `SLICES` share none, whatever their slots, but for acronyms that are short or follow from names.
    """
    free = [slot for slot in slots if not (slot.template or slot.choices)]
    coiner = Coiner(draw, style, salt, known)
    coiner.unusable.update(map(plain, avoid), (plain(slot.original) for slot in slots))
    coined = coiner.together(free)
    for slot in free:
        if slot.id not in coined:
            coined[slot.id] = coiner.value(slot)
    coiner.mend(slots, coined)
    return resolve(slots, coined, coiner.picks(slots))


@dataclass
class Coiner:
    """Coins for one draw, and knows which words it has used."""

    draw: int
    style: Style
    salt: str
    known: Callable[[str], bool] | None
    unusable: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)

    def rng(self, *key: object) -> Random:
        """Randomness by key, the same in every draw with this salt."""
        digest = sha256("\x1f".join(map(str, (self.salt, *key))).encode()).digest()
        return Random(int.from_bytes(digest[:8], "big"))

    def together(self, slots: Sequence[Slot]) -> dict[str, str]:
        """The values of slots that are found with regard to one another: years and countries."""
        years = [slot for slot in slots if slot.kind == "year"]
        shifts = year_shifts(years, self.draw, self.rng)
        closed = [slot for slot in slots if slot.kind in CLOSED]
        values = swapped(closed, self.rng(self.draw, "countries")) if closed else {}
        return {**values, **{slot.id: moved(slot, shifts[slot.group]) for slot in years}}

    def picks(self, slots: Sequence[Slot]) -> dict[str, int]:
        """Which of its choices each group takes in this draw."""
        counts: dict[str, int] = {}
        for slot in slots:
            if slot.choices:
                counts[slot.group] = min(len(slot.choices), counts.get(slot.group, len(slot.choices)))
        return {group: self.rng(self.draw, "pick", group).randrange(count) for group, count in counts.items()}

    def value(self, slot: Slot) -> str:
        if slot.kind in NAMES or slot.kind == "acronym":
            return self.name(slot)
        if slot.kind == "letter":
            return other_letter(slot, self.rng_of(slot, 0))
        if slot.kind == "number":
            return other_number(slot, self.rng_of(slot, 0))
        raise DataError(f"slot {slot.id}: nothing can be coined for the kind {slot.kind!r}")

    def rng_of(self, slot: Slot, tried: int) -> Random:
        return self.rng(self.draw, slot.id, slot.kind, *sorted(slot.traits.items()), tried)

    # ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def name(self, slot: Slot, unlike: str = "") -> str:
        """A name that is free; one that does not begin with the letter `unlike`."""
        stream = self.acronyms if is_spelled(slot) else self.words
        refused = {word for tried in range(slot.tried) for word in islice(stream(slot, tried, ()), REFUSED)}
        for word in stream(slot, slot.tried, self.used):
            fits = word not in refused and word[0].upper() != unlike and self.is_apart(word)
            if fits and not (self.known and self.known(word)):
                self.used.add(word)
                return written(word, slot)
        raise ConfigError(
            f"draw {self.draw} has no free name left for slot {slot.id} ({slot.kind}, style {self.style}): "
            "use another style, fewer questions, or a `known` that refuses less"
        )

    def words(self, slot: Slot, tried: int, skipped: Collection[str]) -> Iterator[str]:
        """Words for a slot, best first, that no list speaks against."""
        rng = self.rng_of(slot, tried)
        kind = "organisation" if slot.kind == "acronym" else slot.kind
        made = shape(self.style, self.culture(slot), kind, slot.traits.get("gender", ""))
        owner, letters = self.draw % SLICES, len(slot.original)
        for attempt in range(ATTEMPTS):
            for word in made.words(rng, owner, letters, attempt):
                if word not in skipped and word not in self.unusable and is_new(word, slot.kind):
                    yield word

    def acronyms(self, slot: Slot, tried: int, skipped: Collection[str]) -> Iterator[str]:
        """As many letters as the original has, a letter more only where all of that length seem to be used up."""
        rng = self.rng_of(slot, tried)
        count = sum(map(str.isalpha, slot.original))
        for attempt in range(ATTEMPTS):
            letters = acronym(count + attempt // (ATTEMPTS // 3), self.draw % SLICES, rng)
            if letters and letters not in skipped and letters not in self.unusable and is_new_acronym(letters):
                yield letters

    def mend(self, slots: Sequence[Slot], coined: dict[str, str]) -> None:
        """Coins a name anew while its initial makes an acronym that stands for something else."""
        names = {slot.id: slot for slot in slots if slot.kind in NAMES}
        acronyms = [slot for slot in slots if slot.kind == "acronym" and coined.keys() >= parts_of(slot)]
        acronyms.sort(key=lambda slot: bool(slot.template))  # those that follow from names give way
        for _ in range(MENDED):
            parts = [slot_ids(slot.template)[-1:] for slot in self.mistaken(acronyms, coined)]
            wrong = {id: names[id] for last in parts for id in last if id in names}
            if not wrong:
                return
            coined |= {id: self.name(slot, unlike=coined[id][0].upper()) for id, slot in wrong.items()}

    def mistaken(self, acronyms: Sequence[Slot], coined: Mapping[str, str]) -> Iterator[Slot]:
        """Acronyms of names that are also another one's, an original or famous."""
        meanings: dict[str, str] = {}
        for slot in acronyms:
            value = bind(slot.template, coined) or coined[slot.id]
            taken = len(value) > 2 and (plain(value) in self.unusable or not is_new_acronym(plain(value)))
            if slot.template and (taken or meanings.get(value, slot.original) != slot.original):
                yield slot
            meanings.setdefault(value, slot.original)

    def is_apart(self, word: str) -> bool:
        """Not the plural of a used word, nor the other way round."""
        return f"{word}s" not in self.used and not (word[-1] == "s" and word[:-1] in self.used)

    def culture(self, slot: Slot) -> str:
        """The culture that this draw has put in place of the slot's own; by key where it has none."""
        if self.style != "cultural":
            return ""
        given = slot.traits.get("culture", "")
        return self.cultures.get(given) or self.rng(self.draw, "culture", given or slot.id).choice(CULTURES)

    @cached_property
    def cultures(self) -> dict[str, str]:
        return dict(exchanged(self.rng(self.draw, "cultures")))


def parts_of(slot: Slot) -> set[str]:
    """The slots that a value follows from, or the slot itself."""
    return set(slot_ids(slot.template)) or {slot.id}


def is_spelled(slot: Slot) -> bool:
    """Whether a name is read letter by letter; one of five letters or more is spoken as a word, as EXOSAT is."""
    return slot.kind == "acronym" and not (len(slot.original) > 4 and slot.original.isalpha())


def written(word: str, slot: Slot) -> str:
    if slot.kind == "acronym":
        return dressed(word.upper(), slot.original) if is_spelled(slot) else word.upper()
    return word if slot.kind == "concept" else word.capitalize()


def is_new(word: str, kind: str) -> bool:
    """No word of the lists (a concept not with an ending either), nor hard to read, nor rude."""
    known = known_words()
    if word in known or (kind == "concept" and any(word + suffix in known for suffix in SUFFIXES)):
        return False
    return not (AWKWARD.search(word) or rude().search(word))


def is_new_acronym(letters: str) -> bool:
    """Not famous, no common word, no Roman numeral."""
    return not (letters in acronyms() or known_words().get(letters, 0) >= COMMON or ROMAN.fullmatch(letters))
