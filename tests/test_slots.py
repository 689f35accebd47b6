"""Templates: filled in one pass, with places that follow, and a way back."""

import re
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import DataError
from ragstone.slots import (
    MARK,
    article,
    bind,
    bind_all,
    bound,
    escaped,
    filling,
    originals,
    resolve,
    restored,
    restorer,
    slot_ids,
    template_words,
    values,
)
from ragstone.store import problems
from ragstone.types import (
    Benchmark,
    Document,
    Entity,
    Evidence,
    Fact,
    Question,
    ReasoningGraph,
    Slot,
    Template,
)

BRACES = st.text("{}n1. ", max_size=12)
ANYTHING = st.one_of(BRACES, st.text(max_size=12))
FORM = st.sampled_from(["", ".upper", ".lower", ".capital"])
MARKS = st.builds(lambda number, form: f"{{{{n{number}{form}}}}}", st.integers(0, 3), FORM)
FOUR_VALUES = st.tuples(*[st.one_of(st.text(max_size=8), st.sampled_from(["{{n0}}", "{{{{", "n1}}"]))] * 4)


def names(values: Sequence[str]) -> dict[str, str]:
    return {f"n{number}": value for number, value in enumerate(values)}


# ── binding ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(ANYTHING)
def test_an_escaped_text_binds_to_itself_whatever_braces_it_has(text: str) -> None:
    assert bind(escaped(text), {}) == text
    assert not slot_ids(escaped(text))


@given(st.lists(st.tuples(ANYTHING, MARKS), max_size=5), ANYTHING, FOUR_VALUES)
def test_what_is_filled_in_is_never_looked_at_again(
    pieces: list[tuple[str, str]], end: str, given_values: tuple[str, ...]
) -> None:
    """Literals may end in braces and values may look like slots: each mark is filled once, each literal stays."""
    filled = names(given_values)
    template = "".join(escaped(literal) + mark for literal, mark in pieces) + escaped(end)
    assert bind(template, filled) == "".join(literal + bind(mark, filled) for literal, mark in pieces) + end


def test_names_that_change_places_change_once() -> None:
    assert bind("{{n0}} beat {{n1}}, {{n0.upper}}!", {"n0": "Hardy", "n1": "Stanley"}) == "Hardy beat Stanley, HARDY!"
    assert bind("{{n0}} beat {{n1}}", {"n0": "{{n1}}", "n1": "{{n0}}"}) == "{{n1}} beat {{n0}}"


def test_what_only_resembles_a_mark_is_text() -> None:
    for text in ("{{}}", "{{n}}", "{{1}}", "{{N1}}", "{{ n1 }}", "{n1}", "{{n1"):
        assert bind(text, {"n1": "X"}) == text


@pytest.mark.parametrize(
    ("value", "spoken"),
    [("Oshawa", "an"), ("Velmark", "a"), ("University", "a"), ("Hour", "an"), ("Élan", "an"), ("FBI", "an"), ("", "a")],
)
def test_an_article_is_chosen_by_sound(value: str, spoken: str) -> None:
    assert article(value) == spoken


# ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(st.tuples(ANYTHING, MARKS), min_size=1, max_size=5), FOUR_VALUES)
def test_a_quote_from_one_piece_to_another_stays_verbatim(
    pieces: list[tuple[str, str]], given_values: tuple[str, ...]
) -> None:
    filled = names(given_values)
    flat = [part for literal, mark in pieces for part in (escaped(literal), mark)]
    begins = [sum(map(len, flat[:number])) for number in range(len(flat) + 1)]
    place = bound("".join(flat), filling(filled))
    for first, last in combinations(range(len(begins)), 2):
        quote = place.text[place.place(begins[first]) : place.place(begins[last])]
        assert quote == bind("".join(flat[first:last]), filled)


@given(st.text("abc ", max_size=9), st.text("abc ", max_size=9), st.text(max_size=9))
def test_every_character_between_marks_is_found_again(before: str, after: str, value: str) -> None:
    template = f"{before}{{{{n0}}}}{after}"
    place = bound(template, filling({"n0": value}))
    mark = len(before)
    for offset, character in enumerate(template):
        if not mark <= offset < mark + len("{{n0}}"):
            assert place.text[place.place(offset)] == character
    assert place.place(mark) == place.place(mark + 3) == len(before)  # inside a mark is its begin
    assert place.place(len(template)) == len(place.text)


def test_all_that_a_template_holds_is_filled_and_its_evidence_follows() -> None:
    text = "{{n0}} {{n1}} was born in {{n2}}. {{n0}}'s son lived in {{n2}}."
    start = text.index("{{n0}}'s")
    quote = Evidence(document_id="d", start=start, end=len(text))
    graph = ReasoningGraph(
        entities=(Entity(id="{{n2}}", name="{{n2}}", forms=("{{n2.upper}}",)),),
        facts=(Fact(subject="{{n0}} {{n1}}", relation="born in", object="{{n2}}", evidence=(quote,)),),
    )
    question = Question(
        id="q",
        text="Where was {{n0}} {{n1}} born?",
        answers=(("{{n2}}",),),
        choices=("{{n2}}", "{{n1}}"),
        evidence=((quote, Evidence(document_id="d", quote="{{n2}}")),),
        graph=graph,
        labels={"place": "{{n2}}", "hops": 1},
        remembered=(("Oshawa",),),
        parent="{{n0}}",
    )
    template = Template(
        documents=(Document(id="d", title="{{n0}} {{n1}}", text=text, labels={"of": "{{n1}}"}),), questions=(question,)
    )
    documents, questions = bind_all(template, names(["Ada", "Velmark", "Torrin"]))
    assert documents[0].text == "Ada Velmark was born in Torrin. Ada's son lived in Torrin."
    assert (documents[0].title, documents[0].labels) == ("Ada Velmark", {"of": "Velmark"})
    [asked] = questions
    assert (asked.text, asked.answers, asked.choices) == (
        "Where was Ada Velmark born?",
        (("Torrin",),),
        ("Torrin", "Velmark"),
    )
    assert [piece.quote for piece in asked.evidence[0]] == ["Ada's son lived in Torrin.", "Torrin"]
    assert asked.graph
    assert asked.graph.entities[0].forms == ("TORRIN",)
    assert asked.graph.facts[0].evidence[0] == asked.evidence[0][0]
    assert asked.labels == {"place": "Torrin", "hops": 1}
    assert (asked.remembered, asked.parent) == ((("Oshawa",),), "{{n0}}")  # of the original, so never filled
    assert not list(problems(Benchmark(documents=documents, questions=questions)))


# ── values that follow from others ───────────────────────────────────────────────────────────────────────────────────


def test_a_value_may_follow_from_others_or_be_one_of_several() -> None:
    slots = [
        Slot(id="a1", kind="acronym", template="{{n1.initial}}{{n2.initial}}A"),
        Slot(id="n1", kind="place"),
        Slot(id="n2", kind="word"),
        Slot(id="v1", kind="number", choices=("{{n1}}", "{{a1}} of {{n2}}"), group="g"),
        Slot(id="v2", kind="word", choices=("older", "younger"), group="g"),
        Slot(id="v3", kind="word", choices=("yes", "no"), group="h"),
    ]
    found = resolve(slots, {"n1": "Torrin", "n2": "élan"}, {"g": 1, "h": 0})
    assert found == {"a1": "TÉA", "n1": "Torrin", "n2": "élan", "v1": "TÉA of élan", "v2": "younger", "v3": "yes"}


def test_a_slot_that_follows_from_itself_is_named() -> None:
    slots = [Slot(id="a1", kind="word", template="{{a2}}"), Slot(id="a2", kind="word", template="{{a1}}")]
    with pytest.raises(DataError, match="slot a1 of the template follows from itself, by a1 and a2; mend"):
        resolve(slots, {}, {})


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.data())
def test_slots_that_follow_need_not_come_in_order(links: list[int], data: st.DataObject) -> None:
    """Each slot adds a letter to an earlier one; however they are listed, the values are the same."""
    slots = [Slot(id="n0", kind="place")]
    for number, link in enumerate(links, 1):
        slots.append(Slot(id=f"n{number}", kind="word", template=f"{{{{n{min(link, number - 1)}}}}}x"))
    listed = data.draw(st.permutations(slots))
    assert resolve(listed, {"n0": "Y"}, {}) == resolve(slots, {"n0": "Y"}, {})
    assert all(set(value) <= set("Yx") for value in resolve(listed, {"n0": "Y"}, {}).values())


# ── the way back ─────────────────────────────────────────────────────────────────────────────────────────────────────

ORIGINALS = st.lists(
    st.text(st.characters(categories=["Lu", "Ll", "Lo", "Mn"]), min_size=1, max_size=9).map(lambda name: f"K{name}"),
    min_size=4,
    max_size=4,
    unique_by=str.casefold,
)
GLUE = st.sampled_from(
    [" ", " met ", "'s ", "’s ", "-", ", ", " (", ")", "s ", "es ", "ian ", "\n", "/", "_", "7", " {{{{"]
)


def coined(original: str, number: int, kind: str = "surname") -> Slot:
    value = f"Zqo{'abcd'[number]}rin"
    if kind == "concept":
        original, value = original.lower(), value.lower()
    return Slot(id=f"n{number}", kind=kind, original=original, value=value)


@given(ORIGINALS, st.lists(st.tuples(MARKS, GLUE), max_size=8), st.sampled_from(["surname", "concept"]))
def test_changing_names_back_gives_the_original(
    originally: list[str], pieces: list[tuple[str, str]], kind: str
) -> None:
    """Upper and lower case, accents, possessives, plurals, hyphens, marks beside names, and names in a row."""
    slots = [coined(original, number, kind) for number, original in enumerate(originally)]
    template = " ".join(mark + glue for mark, glue in pieces)
    if kind == "surname":  # a name that stands capitalised needs no form for it
        template = template.replace(".capital", "")
    assert restored(bind(template, values(slots)), slots) == bind(template, originals(slots))


@given(st.permutations(["Hardy", "Stanley", "Thomas", "Oshawa"]), st.lists(st.tuples(MARKS, GLUE), max_size=8))
def test_a_coined_name_that_is_another_original_is_never_replaced_again(
    swapped: list[str], pieces: list[tuple[str, str]]
) -> None:
    pairs = zip(["Hardy", "Stanley", "Thomas", "Oshawa"], swapped, strict=True)
    slots = [Slot(id=f"n{n}", kind="surname", original=old, value=new) for n, (old, new) in enumerate(pairs)]
    template = " ".join(mark + glue for mark, glue in pieces)
    changed = bind(template, values(slots))
    assert restored(changed, slots) == bind(template, originals(slots))
    expected = dict(zip(originals(slots).values(), swapped, strict=True))
    spelled = bind(re.sub(r"\.\w+\}\}", "}}", template), originals(slots))
    once = re.sub(r"Hardy|Stanley|Thomas|Oshawa", lambda match: expected[match[0]], spelled)
    assert bind(re.sub(r"\.\w+\}\}", "}}", template), values(slots)) == once


def test_names_that_share_a_word_still_share_one() -> None:
    slots = [
        Slot(id="n1", kind="given", original="Thomas", value="Bennic"),
        Slot(id="n2", kind="surname", original="Stanley", value="Torrowe"),
        Slot(id="n3", kind="surname", original="Müller-O’Neil", value="Velmark"),
        Slot(id="n4", kind="concept", original="DNA", value="brulm"),
    ]
    template = (
        "{{n1}} {{n2}}, son of {{n1}} {{n2}}, was an {{n2}}. The {{n2}}s met {{n3}}’s {{n3.upper}}IANS; {{n4}}s {{n4}}."
    )
    changed = bind(template, values(slots))
    assert changed == (
        "Bennic Torrowe, son of Bennic Torrowe, was an Torrowe. The Torrowes met Velmark’s VELMARKIANS; brulms brulm."
    )
    assert restored(changed, slots) == bind(template, originals(slots))


@pytest.mark.parametrize("ending", ["e", "y", "d", "ies", "ied", "ing", "S"])
def test_a_stem_goes_back_whatever_ending_it_has(ending: str) -> None:
    slots = [Slot(id="c1", kind="concept", original="countr", value="mazelk")]
    assert restored(f"a mazelk{ending}", slots) == f"a countr{ending}"


@given(
    st.sampled_from(["{{n0.article}} {{n0}}", "{{n0.capitalarticle}} “{{n0}}", "{{n0.article}}\n{{n0}}ian"]), st.data()
)
def test_an_article_goes_back_with_its_name(template: str, data: st.DataObject) -> None:
    original, value = data.draw(st.permutations(["Oshawa", "Torrin", "Élan", "University"]))[:2]
    slots = [Slot(id="n0", kind="place", original=original, value=value)]
    assert restored(bind(template, values(slots)), slots) == bind(template, originals(slots))


def test_an_article_that_does_not_go_by_sound_is_left_alone() -> None:
    slots = [Slot(id="n0", kind="word", original="Historic", value="Velmark")]
    assert restored("an Velmark and a Velmark", slots) == "an Historic and a Historic"


def test_words_that_only_begin_like_a_name_are_left_alone() -> None:
    back = restorer([Slot(id="n0", kind="place", original="Oshawa", value="Tor")])
    assert (
        back("Tor, Tors, torrent, Tortoise, Torrential, aTor") == "Oshawa, Oshawas, torrent, Tortoise, Torrential, aTor"
    )


@given(st.lists(st.tuples(ANYTHING, MARKS), max_size=4), ANYTHING)
def test_the_words_of_a_template_are_those_of_its_text_and_of_its_originals(
    pieces: list[tuple[str, str]], end: str
) -> None:
    template = "".join(escaped(literal) + mark for literal, mark in pieces) + escaped(end)
    slots = (
        Slot(id="n0", kind="place", original="O'Brien-Rødt"),
        Slot(id="v1", kind="word", choices=("older", "{{n0}}")),
    )
    found = set(template_words(Template(documents=(Document(id="d", text=template),), slots=slots)))
    assert {"O", "Brien", "Rødt", "older"} <= found
    spoken: Any = re.findall(r"[^\W\d_]+", MARK.sub(" ", template))
    assert found == {"O", "Brien", "Rødt", "older", *spoken}
