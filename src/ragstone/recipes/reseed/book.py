"""The slots of a template: one for each name word, year, acronym and initial, and each other way to write a word."""

from collections import Counter
from collections.abc import Mapping

from ragstone.gazetteer import is_common
from ragstone.recipes.reseed.registry import Registry
from ragstone.slots import ACCENTS, FORMS
from ragstone.types import Slot

NOTHING: Mapping[str, str] = {}
CASES = ("", "upper", "lower", "capital")


def mark(id: str, form: str = "") -> str:
    return f"{{{{{id}.{form}}}}}" if form else f"{{{{{id}}}}}"


class Book:
    """Hands out slots in the order of first use."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.slots: dict[str, Slot] = {}
        self.by_key: dict[str, str] = {}
        self.variants: dict[str, list[str]] = {}
        self.by_text: dict[tuple[str, str], str] = {}
        self.marks: dict[tuple[str, str], str] = {}
        self.used: Counter[str] = Counter()
        self.bare: set[str] = set()  # words with a possessive of the apostrophe alone
        self.expansions: dict[str, str] = {}  # what an acronym is made from

    def next_id(self, letter: str) -> str:
        self.used[letter] += 1
        return f"{letter}{self.used[letter]}"

    def word(self, key: str, surface: str) -> str:
        """The mark that stands for this word as it is written here."""
        known = self.marks.get((key, surface))
        if known is None:
            known = self.marks[key, surface] = self.new_mark(key, surface)
        return known

    def new_mark(self, key: str, surface: str) -> str:
        main = self.by_key.get(key) or self.add_word(key)
        for id in (main, *self.variants[main]):
            for form in CASES:
                if FORMS[form](self.slots[id].original) == surface:
                    return mark(id, form)
        return self.variant(main, key, surface)

    def add_word(self, key: str) -> str:
        registry = self.registry
        original = registry.roles.surface(key)
        if original.isupper() or original[0].islower():
            original = original[:1].upper() + (original[1:].lower() if original.isupper() else original[1:])
        kind = registry.kind(key)
        traits, template = self.traits(key, kind), self.family(key)
        slot = Slot(id=self.next_id("n"), kind=kind, original=original, template=template, traits=traits)
        self.slots[slot.id] = slot
        self.by_key[key] = slot.id
        self.variants[slot.id] = []
        return slot.id

    def family(self, key: str) -> str:
        """For `Kennedys` the template that makes it from Kennedy."""
        registry, single = self.registry, key.removesuffix("s")
        if single == key or key in registry.votes or registry.kind(single) != "surname" or single not in registry.votes:
            return ""
        return mark(self.by_key.get(single) or self.add_word(single)) + "s"

    def traits(self, key: str, kind: str) -> dict[str, str]:
        if kind == "given" and (gender := self.registry.gender(key)):
            return {"gender": gender}
        if kind == "word" and key.endswith("s") and not key.endswith("ss") and is_common(key[:-1]):
            return {"number": "plural"}
        return {}

    def variant(self, main: str, key: str, surface: str) -> str:
        """Another way to write a word gets another way to write its image, so that the way back stays open."""
        original = surface if not surface.isupper() and surface[0].isupper() else surface.capitalize()
        slot, taken = self.slots[main], self.variants[main]
        accents = [form for form in ACCENTS if mark(main, form) not in {self.slots[id].template for id in taken}]
        if original.lower() == slot.original.lower():
            template = mark(main)  # McDonald and Mcdonald
        else:
            template = mark(main, accents[0]) if accents else ""
        id = self.next_id("w")
        cased = next((case for case in CASES if FORMS[case](original) == surface), None)
        original, cased = (surface, "") if cased is None else (original, cased)
        self.slots[id] = Slot(id=id, kind=slot.kind, original=original, template=template, traits=slot.traits)
        taken.append(id)
        return mark(id, cased)

    def year(self, year: str, leap: bool) -> str:
        id = f"y{year}"
        traits: Mapping[str, str] = {"leap": "yes"} if leap else {}
        if id not in self.slots or (traits and not self.slots[id].traits):
            self.slots[id] = Slot(id=id, kind="year", original=year, group="years", traits=traits)
        return id

    def acronym(self, text: str) -> str:
        return mark(self.once("a", "acronym", text))

    def titled_acronym(self, text: str) -> str:
        """An acronym written like a word, as titles in question have it: `Nato`."""
        main = self.acronym(text.upper())[2:-2]
        id = self.once("a", "acronym", text)
        self.slots[id] = self.slots[id].model_copy(update={"template": mark(main, "title")})
        return mark(id)

    def letter(self, text: str) -> str:
        id = f"l{ord(text)}"
        self.slots.setdefault(id, Slot(id=id, kind="letter", original=text))
        return mark(id)

    def number(self, text: str) -> str:
        return self.once("v", "number", text)

    def country(self, text: str, kind: str, code: str) -> str:
        return self.once("k", kind, text, {"country": code})

    def concept(self, stem: str, surface: str) -> str:
        id = self.once("c", "concept", stem)
        return next(mark(id, form) for form in CASES if FORMS[form](stem) == surface)

    def once(self, letter: str, kind: str, original: str, traits: Mapping[str, str] = NOTHING) -> str:
        """The slot for this text, made when it is first asked for."""
        id = self.by_text.get((kind, original))
        if id is None:
            id = self.by_text[kind, original] = self.next_id(letter)
            self.slots[id] = Slot(id=id, kind=kind, original=original, traits=traits)
        return id

    def all(self) -> tuple[Slot, ...]:
        """Every slot: acronyms made from what they stand for, names that must end with an s from a name before it."""
        for key in sorted(self.bare & self.by_key.keys()):
            slot = self.slots[self.by_key[key]]
            if not slot.template:
                base = self.next_id("b")
                self.slots[base] = slot.model_copy(update={"id": base})
                self.slots[slot.id] = slot.model_copy(update={"template": mark(base) + "s"})

        def whole(slot: Slot) -> Slot:
            if slot.kind == "acronym" and slot.original in self.expansions:
                return slot.model_copy(update={"template": self.expansions[slot.original]})
            return slot

        return tuple(map(whole, self.slots.values()))
