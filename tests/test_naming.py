"""Coined names, years, numbers and countries: by key, new, well shaped, and never the same in two draws."""

import re
import sys
from calendar import isleap
from itertools import combinations
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import ConfigError, DataError
from ragstone.gazetteer import BY_CODE
from ragstone.naming import CULTURES, SLICES, Style, coin, guess_culture, slice_of, word_list
from ragstone.naming.known import acronyms, known_words, rude
from ragstone.slots import NAMES
from ragstone.types import Slot

STYLES: tuple[Style, ...] = get_args(Style)
ORIGINALS = "Tolkien Margaret Oshawa Lee Shakespeare York Microsoft Zelda Fire Philadelphia Johansson Ada".split()


def named(kind: str, count: int = 12, **traits: str) -> list[Slot]:
    return [Slot(id=f"n{i}", kind=kind, original=ORIGINALS[i % 12], traits=traits) for i in range(count)]


def corpus(count: int = 60) -> list[Slot]:
    kinds = sorted(NAMES)
    return [Slot(id=f"n{i}", kind=kinds[i % len(kinds)], original=ORIGINALS[i % 12]) for i in range(count)]


def one(slot: Slot, draw: int = 1, **options: str) -> str:
    return coin([slot], draw=draw, **options)[slot.id]  # type: ignore[arg-type]


@st.composite
def some_slots(draw: st.DrawFn) -> list[Slot]:
    kinds = draw(st.lists(st.sampled_from(sorted(NAMES)), min_size=1, max_size=25))
    lengths = st.integers(1, 18)
    traits = st.sampled_from([{}, {"gender": "f"}, {"gender": "m"}, {"culture": "nordic"}])
    return [
        Slot(id=f"n{i}", kind=kind, original="q" * draw(lengths), traits=draw(traits)) for i, kind in enumerate(kinds)
    ]


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(slots=some_slots(), style=st.sampled_from(STYLES), draw=st.integers(0, 10_000))
def test_values_go_by_key_and_each_is_a_new_word_of_the_draw(slots: list[Slot], style: Style, draw: int) -> None:
    values = coin(slots, draw=draw, style=style)
    assert values == coin(slots, draw=draw, style=style)
    assert len({value.casefold() for value in values.values()}) == len(slots)
    for slot in slots:
        value = values[slot.id]
        assert re.fullmatch("[a-z]{4,}" if slot.kind == "concept" else "[A-Z][a-z]{3,}", value)
        assert value.casefold() not in known_words()
        assert not rude().search(value.casefold())
        assert slice_of(value) == draw % SLICES


@pytest.mark.parametrize("style", STYLES)
def test_no_two_draws_share_a_name(style: Style) -> None:
    slots = corpus()
    draws = [set(coin(slots, draw=draw, style=style).values()) for draw in range(SLICES)]
    assert sum(map(len, draws)) == len(set().union(*draws))
    assert sum(map(len, draws)) == SLICES * len(slots)


def test_draws_share_no_name_even_between_styles_and_other_slots() -> None:
    drawn = [{*coin(corpus(40 + draw), draw=draw, style=style).values()} for draw, style in enumerate(STYLES)]
    assert not any(a & b for a, b in combinations(drawn, 2))


def test_a_salt_and_a_draw_beyond_the_slices_give_other_names() -> None:
    slots = named("surname", 30)
    plain = coin(slots, draw=3)
    for other in (coin(slots, draw=3, salt="secret"), coin(slots, draw=3 + SLICES)):
        assert sum(plain[slot.id] == other[slot.id] for slot in slots) <= 1


@given(slots=some_slots(), style=st.sampled_from(STYLES), data=st.data())
def test_the_order_of_slots_and_their_neighbours_change_nothing_but_collisions(
    slots: list[Slot], style: Style, data: st.DataObject
) -> None:
    alone = {slot.id: coin([slot], draw=5, style=style)[slot.id] for slot in slots}
    shuffled = coin(data.draw(st.permutations(slots)), draw=5, style=style)
    if len({value.casefold().rstrip("s") for value in alone.values()}) == len(slots):
        assert shuffled == alone


@pytest.mark.parametrize("style", STYLES)
def test_each_try_gives_another_name_although_neighbours_are_tried_again_too(style: Style) -> None:
    slots = [
        *corpus(80),
        Slot(id="a1", kind="acronym", original="IBM"),
        Slot(id="l1", kind="letter", original="J"),
        Slot(id="v1", kind="number", original="45"),
    ]
    seen: dict[str, set[str]] = {slot.id: set() for slot in slots}
    for tried in range(6):
        for id, value in coin(
            [slot.model_copy(update={"tried": tried}) for slot in slots], draw=2, style=style
        ).items():
            assert value not in seen[id]
            seen[id].add(value)


def test_avoided_words_originals_and_what_the_caller_knows_are_not_coined() -> None:
    slots = named("place")
    first = coin(slots, draw=1)
    again = coin(slots, draw=1, avoid=[value.upper() for value in first.values()])
    assert not {*first.values()} & {*again.values()}
    original = Slot(id="n99", kind="place", original=first["n0"])
    assert coin([slots[0], original], draw=1)["n0"] != first["n0"]
    assert coin(slots, draw=1, known=lambda word: word == first["n1"].casefold())["n1"] != first["n1"]


def test_accents_do_not_make_an_avoided_word_new() -> None:
    slot = Slot(id="n1", kind="given", original="Anna")
    value = one(slot)
    accented = value.replace("a", "á").replace("e", "é").replace("i", "í").replace("o", "ö").replace("u", "ü")
    assert accented != value
    assert coin([slot], draw=1, avoid=[accented])["n1"] != value


def test_no_name_is_the_plural_of_another() -> None:
    values = {value.casefold() for value in coin(named("surname", 4000), draw=1).values()}
    assert not {f"{value}s" for value in values} & values


def test_a_draw_without_free_names_says_so() -> None:
    with pytest.raises(ConfigError, match="no free name left for slot n0"):
        coin(named("given"), draw=1, known=lambda word: True)
    with pytest.raises(ConfigError, match="no free name left for slot a1"):
        coin([Slot(id="a1", kind="acronym", original="IBM")], draw=1, known=lambda word: True)


@pytest.mark.parametrize("kind", ["given", "surname", "place", "organisation", "other"])
def test_names_are_about_as_long_as_the_originals(kind: str) -> None:
    slots = named(kind, 24)
    for slot in slots:
        letters = len(one(slot))
        assert max(4, min(0.7 * len(slot.original), 8)) <= letters <= max(6, 1.3 * len(slot.original))


def test_a_crowded_corpus_gets_longer_names_and_not_the_same_twice() -> None:
    slots = [Slot(id=f"n{i}", kind="surname", original="Lee") for i in range(3000)]
    lengths = [len(value) for value in coin(slots, draw=1).values()]
    assert min(lengths) <= 5
    assert 6 < max(lengths) <= 12


def test_given_names_follow_gender() -> None:
    women = coin(named("given", 100, gender="f"), draw=4).values()
    men = coin(named("given", 100, gender="m"), draw=4).values()
    assert sum(name.endswith(("a", "e", "ie", "eth", "lyn", "wen")) for name in women) == 100
    assert not any(name.endswith(("a", "e")) for name in men)


def test_words_of_titles_are_compounds_in_every_style() -> None:
    slot = Slot(id="n7", kind="word", original="Fire")
    assert {one(slot, style=style) for style in STYLES} == {one(slot)}
    assert one(slot) == one(slot).capitalize()
    assert len(one(slot)) >= 6


def test_a_concept_is_no_word_with_an_ending_either() -> None:
    for value in coin(named("concept", 200), draw=1).values():
        assert value[-1] not in "aeiousxyz"
        assert not any(value + ending in known_words() for ending in ("s", "ed", "ing"))


def test_cultures_are_exchanged_by_each_draw_and_all_words_of_one_go_together() -> None:
    endings = ("o", "i", "e", "a")
    italian = [coin(named("surname", 20, culture="italian"), draw=draw, style="cultural") for draw in range(40)]
    vowels = [sum(value.endswith(endings) for value in values.values()) for values in italian]
    assert max(vowels) == 20
    assert min(vowels) <= 2


@pytest.mark.parametrize(
    ("word", "culture"),
    [
        ("Dostoevsky", "slavic"),
        ("Mikhail", "slavic"),
        ("Sørensen", "nordic"),
        ("Botticelli", "italian"),
        ("Rodríguez", "iberian"),
        ("Schumann", "germanic"),
        ("McDonnell", "celtic"),
        ("Erdoğan", "turkic"),
        ("Chandragupta", "indian"),
        ("Takahashi", "eastern"),
        ("Chukwuemeka", "african"),
        ("Smith", ""),
    ],
)
def test_the_culture_of_a_name_is_guessed_from_its_spelling(word: str, culture: str) -> None:
    assert guess_culture(word) == culture
    assert culture in (*CULTURES, "")


def test_without_the_word_list_the_built_in_one_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    known_words.cache_clear()
    try:
        assert "moonlight" in known_words()
        assert "margaret" in known_words()
        assert slice_of(one(Slot(id="n1", kind="word", original="Fire"))) == 1
    finally:
        known_words.cache_clear()
    assert word_list().startswith("wordfreq 3")


# ── letters ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_acronyms_have_as_many_letters_and_are_not_famous() -> None:
    slots = [Slot(id=f"a{i}", kind="acronym", original="NASA" if i % 2 else "R.E.M.") for i in range(40)]
    values = coin(slots, draw=1)
    assert len({*values.values()}) == 40
    for slot in slots:
        assert re.fullmatch("[A-Z]{4}" if slot.original == "NASA" else r"[A-Z]\.[A-Z]\.[A-Z]\.", values[slot.id])
        assert values[slot.id].replace(".", "").casefold() not in acronyms()
        assert slice_of(values[slot.id].replace(".", "")) == 1


def test_more_short_acronyms_than_there_are_get_a_letter_more() -> None:
    slots = [Slot(id=f"a{i}", kind="acronym", original="CIA") for i in range(400)]
    values = {*coin(slots, draw=1).values()}
    assert len(values) == 400
    assert {len(value) for value in values} == {3, 4}


def test_acronyms_that_follow_from_names_stand_for_one_thing_each_and_are_not_famous() -> None:
    names = [Slot(id=f"n{i}", kind="organisation", original=f"Word{i}") for i in range(8)]
    originals = ("TBC", "UBC", "VBC", "WBC", "XBC", "YBC", "ZBC", "QBC")
    acronyms = [
        Slot(id=f"a{i}", kind="acronym", original=original, template=f"{{{{n{i}.initial}}}}BC")
        for i, original in enumerate(originals)
    ]
    for draw in range(20):
        made = coin([*names, *acronyms], draw=draw, avoid=["kbc"])
        told = [made[slot.id] for slot in acronyms]
        assert told == [f"{made[slot.id][0]}BC" for slot in names]
        assert len(set(told)) == len(told)
        assert not {"ABC", "BBC", "KBC", "NBC", *originals} & set(told)


def test_a_letter_becomes_another_letter() -> None:
    values = coin([Slot(id=f"l{i}", kind="letter", original="J") for i in range(50)], draw=1).values()
    assert all(re.fullmatch("[A-IK-Z]", value) for value in values)
    assert len({*values}) > 8


# ── years and numbers ────────────────────────────────────────────────────────────────────────────────────────────────


def test_years_of_a_group_move_back_by_one_number_of_decades() -> None:
    slots = [Slot(id=f"y{year}", kind="year", original=f"{year}", group="g") for year in (1954, 1961, 2003)]
    for draw in range(12):
        values = coin([*slots, Slot(id="y1", kind="year", original="1990s", group="g")], draw=draw)
        shift = int(values["y1954"]) - 1954
        assert shift in range(-50, 0, 10)
        assert (values["y1961"], values["y2003"], values["y1"]) == (
            f"{1961 + shift}",
            f"{2003 + shift}",
            f"{1990 + shift}s",
        )


def test_five_draws_in_a_row_have_five_shifts_and_groups_differ() -> None:
    slots = [Slot(id=f"y{i}", kind="year", original="1954", group=f"g{i}") for i in range(20)]
    drawn = [coin(slots, draw=draw) for draw in range(5)]
    assert all(len({values[slot.id] for values in drawn}) == 5 for slot in slots)
    assert len({*drawn[0].values()}) > 3


@given(year=st.integers(1600, 2024).filter(isleap), draw=st.integers(0, 50))
def test_a_29th_of_february_still_exists(year: int, draw: int) -> None:
    assert isleap(int(one(Slot(id="y1", kind="year", original=f"{year}", traits={"leap": "1"}), draw)))


def test_old_years_keep_their_digits_where_they_can() -> None:
    values = [one(Slot(id="y1", kind="year", original="1066"), draw) for draw in range(9)]
    assert all(1000 <= int(value) < 1066 for value in values)
    assert one(Slot(id="y1", kind="year", original="1004")) in {f"{1004 + shift}" for shift in range(-50, 0, 10)}
    assert one(Slot(id="y1", kind="year", original="79")) == "79"


@pytest.mark.parametrize(
    ("original", "shape", "low", "high"),
    [
        ("1,234", r"\d,\d{3}", 863, 1605),
        ("3.5", r"\d\.\d", 2.4, 4.6),
        ("12", r"\d\d", 10, 15),
        ("7", r"\d", 5, 9),
        ("1", r"\d", 2, 2),
        ("9", r"\d", 7, 8),
        ("99", r"\d\d", 70, 98),
        ("0.05", r"0\.0\d", 0.04, 0.06),
        ("2,000,000", r"\d,\d00,000", 1_400_000, 2_600_000),
        ("10 million", r"1\d million", 11, 13),
        ("$300", r"\$\d\d0", 210, 390),
    ],
)
def test_a_number_becomes_another_of_its_size_and_format(original: str, shape: str, low: float, high: float) -> None:
    values = {one(Slot(id="v1", kind="number", original=original), draw) for draw in range(60)}
    assert original not in values
    for value in values:
        assert re.fullmatch(shape, value)
        assert low <= float(re.sub(r"[^\d.]", "", value)) <= high


def test_a_number_word_becomes_a_number_word() -> None:
    assert {one(Slot(id="v1", kind="number", original="Three"), draw) for draw in range(30)} == {"Two", "Four"}
    with pytest.raises(DataError, match="slot v1: 'several' is no number"):
        one(Slot(id="v1", kind="number", original="several"))
    with pytest.raises(DataError, match="slot v1: nothing can be coined for the kind 'colour'"):
        one(Slot(id="v1", kind="colour", original="red"))


# ── countries ────────────────────────────────────────────────────────────────────────────────────────────────────────


def closed(*told: tuple[str, str, str]) -> list[Slot]:
    return [
        Slot(id=f"v{i}", kind=kind, original=it, traits={"country": code}) for i, (kind, it, code) in enumerate(told)
    ]


def test_a_country_moves_with_its_adjective_its_people_and_its_language() -> None:
    slots = closed(("country", "France", "FR"), ("nationality", "French", "FR"), ("nationality", "Danes", "DK"))
    for draw in range(20):
        values = coin(slots, draw=draw)
        image = next(country for country in BY_CODE.values() if country.names[0] == values["v0"])
        assert image.code != "FR"
        assert values["v1"] == image.adjectives[0]
        assert values["v2"] != "Danes"


def test_countries_with_an_article_are_exchanged_among_themselves() -> None:
    slots = closed(("country", "United States", "US"), ("country", "Norway", "NO"))
    for draw in range(20):
        values = coin(slots, draw=draw)
        assert re.search("United|Netherlands|Philippines|Republic|Emirates", values["v0"])
        assert not re.search("United|Netherlands|Philippines|Republic|Emirates", values["v1"])


def test_two_countries_or_languages_never_become_one() -> None:
    codes = [code for code in BY_CODE if BY_CODE[code].languages]
    spoken = sorted({BY_CODE[code].languages[0]: code for code in codes}.items())
    slots = closed(*[("language", language, code) for language, code in spoken])
    for draw in range(10):
        values = coin(slots, draw=draw)
        assert len({*values.values()}) == len(slots)
        assert not any(values[slot.id] == slot.original for slot in slots)
    with pytest.raises(DataError, match="slot v0: no country 'XX' is known"):
        coin(closed(("country", "Nowhere", "XX")), draw=1)


# ── slots that follow from others ────────────────────────────────────────────────────────────────────────────────────


def test_derived_slots_follow_and_slots_of_a_group_pick_alike() -> None:
    slots = [
        Slot(id="n1", kind="place", original="Boston"),
        Slot(id="a1", kind="acronym", original="BU", template="{{n1.initial}}U"),
        Slot(id="v1", kind="number", original="5", choices=("5", "9"), group="flip"),
        Slot(id="v2", kind="number", original="9", choices=("9", "5"), group="flip"),
    ]
    drawn = [coin(slots, draw=draw) for draw in range(30)]
    assert all(values["a1"] == values["n1"][0] + "U" for values in drawn)
    assert {(values["v1"], values["v2"]) for values in drawn} == {("5", "9"), ("9", "5")}
    assert 5 < sum(values["v1"] == "5" for values in drawn) < 25
