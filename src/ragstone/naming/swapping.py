"""Countries exchanged for others, with their adjectives, peoples and languages."""

import re
from collections.abc import Collection, Mapping, Sequence
from random import Random

from ragstone.errors import DataError
from ragstone.gazetteer import ALL_COUNTRIES, BY_CODE, Country
from ragstone.types import Slot

WITH_ARTICLE = re.compile(
    r"Bahamas|Congo$|Dominion|Emirates|Empire|Gambia|Islands|Kingdom|Maldives|Netherlands|Philippines|Republic|States|Union"
    r"|U\.?K\.?$|U\.?S\.?(A\.?)?$|UAE|USSR"
)
"""Names of countries that are spoken with `the`; they are exchanged among themselves, so that it stays right."""

WELL_KNOWN = frozenset(
    """
    AE AR AT AU BE BG BR CA CH CL CN CO CU CZ DE DK DO EE EG ES ET FI FR GB GR HR HU ID IE IL IN IR IS IT JP KE KR LT LV
    MA MN MX NG NL NO NP NZ PE PH PK PL PT RO RS RU SE SI SK TH TN TR UA US UY VE VN ZA
    """.split()
)
"""Countries that may come in beside those of the benchmark."""


def swapped(slots: Sequence[Slot], rng: Random) -> Mapping[str, str]:
    """The value of every country, nationality and language slot. Two words of one kind never become one."""
    images = exchange({country_of(slot).code for slot in slots}, rng)
    languages = sorted({language for country in ALL_COUNTRIES for language in country.languages[:1]})
    spare = rng.sample(languages, len(languages))
    taken: dict[tuple[str, str], str] = {}
    values = {}
    for slot in slots:
        words = [*forms(slot, images[country_of(slot).code]), *(spare if slot.kind == "language" else ())]
        free = (
            it for it in words if it != slot.original and taken.get((slot.kind, it), slot.original) == slot.original
        )
        values[slot.id] = next(free, words[0])
        taken[slot.kind, values[slot.id]] = slot.original
    return values


def country_of(slot: Slot) -> Country:
    code = slot.traits.get("country", "")
    if code not in BY_CODE:
        raise DataError(f"slot {slot.id}: no country {code!r} is known; its trait `country` must be a code like FR")
    return BY_CODE[code]


def exchange(present: Collection[str], rng: Random) -> Mapping[str, Country]:
    """Another country for each that is present: the next one of its class, in an order that is the draw's own."""
    pool = [country for country in ALL_COUNTRIES if country.code in present or country.code in WELL_KNOWN]
    classes = [[it for it in pool if bool(WITH_ARTICLE.search(it.names[0])) is article] for article in (False, True)]
    images: dict[str, Country] = {}
    for members in classes:
        order = rng.sample(members, len(members))
        images |= {one.code: other for one, other in zip(order, [*order[1:], *order[:1]], strict=True)}
    return images


def forms(slot: Slot, image: Country) -> Sequence[str]:
    """The words of the image that can stand where the slot's original stood, best first."""
    country = country_of(slot)
    if slot.kind == "language":
        return image.languages
    if slot.kind == "country":
        article = bool(WITH_ARTICLE.search(slot.original))
        return sorted(image.names, key=lambda name: bool(WITH_ARTICLE.search(name)) is not article)
    person = slot.original in country.people and slot.original not in country.adjectives
    people = image.people[::-1] if slot.original.endswith(("s", "men")) else image.people
    return (*people, *image.adjectives) if person else (*image.adjectives, *people, image.names[0])
