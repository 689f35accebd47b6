"""Templates of small benchmarks, worked out by hand: what becomes a slot and what stays."""

from collections.abc import Mapping

import pytest

from ragstone.recipes.reseed.policy import Policy
from ragstone.recipes.reseed.templating import templated
from ragstone.slots import MARK, bind, bind_all, bound, filling, originals, resolve
from ragstone.types import Benchmark, Document, Entity, Evidence, Question, ReasoningGraph, Slot, Template

POLICY = Policy()


def benchmark(*texts: str, titles: tuple[str, ...] = (), questions: tuple[Question, ...] = ()) -> Benchmark:
    titled = (*titles, *[""] * (len(texts) - len(titles)))
    documents = tuple(
        Document(id=f"doc{i}", title=title, text=text)
        for i, (title, text) in enumerate(zip(titled, texts, strict=True), 1)
    )
    return Benchmark(documents=documents, questions=questions)


def graph(**types: str) -> ReasoningGraph:
    """Entities by name, with _ for a space."""
    named = [Entity(id=f"e{i}", name=name.replace("_", " "), type=type) for i, (name, type) in enumerate(types.items())]
    return ReasoningGraph(entities=tuple(named))


def new_values(template: Template) -> dict[str, str]:
    """Values that can be told from any original: X and the number of the slot."""
    letters = "abcdefghij"
    coined = {slot.id: f"X{''.join(letters[int(c)] for c in slot.id[1:])}{slot.id[0]}" for slot in template.slots}
    years = {slot.id: str(int(slot.original) - 100) for slot in template.slots if slot.kind == "year"}
    return resolve(template.slots, coined | years, {})


def mapped(made: Benchmark, graphs: Mapping[str, ReasoningGraph] | None = None, policy: Policy = POLICY) -> list[str]:
    """The texts of the documents after a draw."""
    template = templated(made, graphs or {}, policy)
    assert_same_again(made, template)
    return [document.text for document in bind_all(template, new_values(template))[0]]


def assert_same_again(made: Benchmark, template: Template) -> None:
    back = originals(template.slots)
    for source, document in zip(made.documents, template.documents, strict=True):
        assert (bind(document.title, back), bind(document.text, back)) == (source.title, source.text)
    for asked, question in zip(made.questions, template.questions, strict=True):
        assert bind(question.text, back) == asked.text
        assert tuple(tuple(bind(alias, back) for alias in group) for group in question.answers) == asked.answers
        assert tuple(bind(choice, back) for choice in question.choices) == asked.choices


def slots_by_original(template: Template) -> dict[str, Slot]:
    return {slot.original: slot for slot in template.slots}


def test_a_name_word_has_one_slot_wherever_and_however_it_is_written() -> None:
    text = "Tolkien wrote it. J. R. R. Tolkien's son met the Tolkiens. TOLKIEN signed."
    made = benchmark(text, "Edith Tolkien and John Ronald Reuel Tolkien married.")
    graphs = {"doc2": graph(Edith_Tolkien="person", John_Ronald_Reuel_Tolkien="person")}
    template = templated(made, graphs, POLICY)
    assert_same_again(made, template)
    slots = slots_by_original(template)
    tolkien, john = slots["Tolkien"].id, slots["John"].id
    first = template.documents[0].text
    assert first.startswith(f"{{{{{tolkien}}}}} wrote it. {{{{{john}.initial}}}}. ")
    assert f"{{{{{tolkien}}}}}'s son" in first
    assert f"{{{{{tolkien}.upper}}}} signed" in first
    assert slots["Tolkiens"].template == f"{{{{{tolkien}}}}}s"
    assert (slots["Tolkien"].kind, slots["John"].kind) == ("surname", "given")
    assert (slots["John"].traits["gender"], slots["Edith"].traits["gender"]) == ("m", "f")


def test_common_words_change_inside_names_only() -> None:
    text = (
        "City on Fire is a 1987 film. The city was on fire when Rush played. They rush through. "
        "Mark Brown saw the brown mark. Brown left."
    )
    graphs = {"doc1": graph(City_on_Fire="work", Rush="organisation", Mark_Brown="person", Brown="person")}
    (after,) = mapped(benchmark(text, titles=("City on Fire",)), graphs)
    assert "The city was on fire when X" in after
    assert "They rush through." in after
    assert "saw the brown mark. X" in after
    assert "City" not in after
    assert "Rush" not in after
    assert "Brown" not in after


def test_words_of_grammar_and_closed_classes_and_months_stay() -> None:
    text = "The French actor was born on 1 May 1950. It was in Germany, in March. He is Catholic. Will he come?"
    (after,) = mapped(benchmark(text), {"doc1": graph(French="nationality", Germany="country", The="person")})
    assert after == text.replace("1950", "1850")


def test_a_person_may_have_the_name_of_a_month_or_country() -> None:
    text = "Theresa May spoke in May. Then May left. Kathy Ireland moved to Ireland."
    graphs = {"doc1": graph(Theresa_May="person", May="person", Kathy_Ireland="person")}
    (after,) = mapped(benchmark(text), graphs)
    assert "spoke in May. Then X" in after
    assert "moved to Ireland" in after or "moved to X" in after
    assert "Kathy Ireland" not in after
    assert "Theresa" not in after


def test_type_words_stay_and_nested_names_stay_nested() -> None:
    text = "She taught at the University of Central Florida in Florida, near the Oshawa River."
    graphs = {"doc1": graph(University_of_Central_Florida="organisation", Florida="place", Oshawa_River="place")}
    (after,) = mapped(benchmark(text), graphs)
    before_in = after.split("University of Central ")[1].split(" in ")
    assert before_in[1].startswith(before_in[0])
    assert " River." in after
    assert "Oshawa" not in after


def test_a_name_of_type_words_alone_changes_one_of_them() -> None:
    text = "The National Basketball Association (NBA) grew. The NBA and the National Hockey League met."
    graphs = {"doc1": graph(National_Basketball_Association="organisation", National_Hockey_League="organisation")}
    template = templated(benchmark(text), graphs, POLICY)
    slots = slots_by_original(template)
    national = slots["National"].id
    assert slots["NBA"].template == f"{{{{{national}.initial}}}}BA"
    assert template.documents[0].text.count(f"{{{{{national}}}}}") == 2
    assert bind(template.documents[0].text, originals(template.slots)) == text


def test_a_title_in_other_case_is_the_same_name() -> None:
    asked = Question(
        id="q1",
        text="Which film is older, Heinz In The Moon or heinz in the moon?",
        answers=(("Heinz In The Moon",),),
        evidence=((Evidence(document_id="doc1"),),),
    )
    made = benchmark("Heinz in the Moon is a 1934 film.", titles=("Heinz in the Moon",), questions=(asked,))
    template = templated(made, {"doc1": graph(Heinz_in_the_Moon="work")}, POLICY)
    assert_same_again(made, template)
    documents, (question,) = bind_all(template, new_values(template))
    assert "moon" not in (documents[0].text + question.text).lower()
    assert question.answers[0][0].lower() in documents[0].text.lower()
    assert question.answers[0][0] in question.text


def test_accents_and_capitals_inside_a_word_have_an_image_of_their_own() -> None:
    text = "Søren Sørensen signed as Sorensen. McQuade met Mcquade in Cafe\u0301ville."
    made = benchmark(text)
    template = templated(made, {"doc1": graph(Søren_Sørensen="person")}, POLICY)
    assert_same_again(made, template)
    values = new_values(template)
    plain, accented = (values[slots_by_original(template)[name].id] for name in ("Sorensen", "Sørensen"))
    assert plain != accented
    assert len(plain) == len(accented)
    assert "Café" not in bind(template.documents[0].text, values)


def test_years_move_together_and_other_numbers_of_four_digits_stay() -> None:
    text = (
        "In 1994–95 and 1999/00, in the 1990s and mid-1980s, 2000 people ran 1500 metres for $1200 on 29 February 1996 "
        "(1606–1695). Version 1.1990, flight AB1994, 2023-11-24."
    )
    template = templated(benchmark(text), {}, POLICY)
    years = {slot.original: slot for slot in template.slots}
    assert set(years) == {"1994", "1995", "1999", "2000", "1990", "1980", "1996", "1606", "1695", "2023"}
    assert years["1996"].traits == {"leap": "yes"}
    assert {slot.group for slot in template.slots} == {"years"}
    after = bind(template.documents[0].text, {slot.id: str(int(slot.original) - 30) for slot in template.slots})
    assert after.startswith("In 1964–65 and 1969/70, in the 1960s and mid-1950s, 2000 people ran 1500 metres for $1200")
    assert after.endswith("1966 (1576–1665). Version 1.1990, flight AB1994, 1993-11-24.")


def test_dates_can_be_kept() -> None:
    assert templated(benchmark("It began in 1994."), {}, Policy(dates="keep")).slots == ()


def test_the_article_before_a_name_follows_it() -> None:
    template = templated(benchmark("He drove an Oshawa car and a Quux car."), {}, POLICY)
    text = template.documents[0].text
    assert text.count(".article}}") == 2
    values = {slot.id: "Velmark" if slot.original == "Oshawa" else "Umbria" for slot in template.slots}
    assert bind(text, values) == "He drove a Velmark car and an Umbria car."


def test_an_answer_is_taken_from_the_documents_that_prove_it() -> None:
    text = "The trio Rush came from Toronto. They had 4,145 fans and 3 members."
    questions = (
        Question(id="q1", text="Which trio?", answers=(("Rush",),), evidence=((Evidence(document_id="doc1"),),)),
        Question(id="q2", text="How many fans?", answers=(("4,145",),), evidence=((Evidence(document_id="doc1"),),)),
        Question(id="q3", text="How many members?", answers=(("3",),), evidence=((Evidence(document_id="doc1"),),)),
    )
    made = benchmark(text, questions=questions)
    template = templated(made, {"doc1": graph(Rush="organisation")}, POLICY)
    assert_same_again(made, template)
    assert [slot.kind for slot in template.slots if slot.original == "4,145"] == ["number"]
    documents, drawn = bind_all(template, new_values(template))
    assert all(question.answers[0][0] in documents[0].text for question in drawn)
    assert drawn[0].answers[0][0] != "Rush"
    assert drawn[2].answers[0][0] == "3"
    assert templated(made, {}, Policy(numbers="keep")).questions[1].answers == (("4,145",),)


def test_evidence_counts_in_the_template_and_quotes_it() -> None:
    text = "Oshawa {{sic}} lies far. An Oshawa man met Tolkien in 1954. The end."
    start = text.index("An Oshawa")
    quote = Evidence(document_id="doc1", quote=text[start : start + 35], start=start, end=start + 35)
    whole = Question(id="q1", text="Who?", answers=(("Tolkien",),), evidence=((quote,),))
    template = templated(benchmark(text, questions=(whole,)), {}, POLICY)
    (piece,) = template.questions[0].evidence[0]
    assert piece.quote == template.documents[0].text[piece.start : piece.end]
    back = bound(template.documents[0].text, filling(originals(template.slots)))
    assert back.text == text
    assert (back.place(piece.start or 0), back.place(piece.end or 0)) == (start, start + 35)


def test_ids_tell_no_name_and_the_old_answers_are_remembered() -> None:
    made = Benchmark(
        documents=(Document(id="the-tolkien-page", text="Tolkien wrote."),),
        questions=(
            Question(id="q-tolkien", text="Who wrote?", answers=(("Tolkien",),), scope=("the-tolkien-page",)),
            Question(id="5a7f6fd7", text="Who wrote?", answers=(("Tolkien",),)),
        ),
    )
    template = templated(made, {}, POLICY)
    assert template.documents[0].id.startswith("d-")
    assert "tolkien" not in template.documents[0].id
    assert template.questions[0].id.startswith("q-")
    assert "tolkien" not in template.questions[0].id
    assert template.questions[0].scope == (template.documents[0].id,)
    assert (template.questions[0].parent, template.questions[1].id) == ("q-tolkien", "5a7f6fd7")
    assert template.questions[0].remembered == (("Tolkien",),)


def test_all_choices_of_a_question_without_names_change_alike() -> None:
    asked = Question(
        id="q1",
        text="What do moving plants need?",
        answers=(("light and warmth",),),
        choices=("light and warmth", "things that move", "a strong wind", "rocks"),
        evidence=((Evidence(document_id="doc1"),),),
    )
    made = benchmark("Plants move towards light and warmth. Moving is slow.", questions=(asked,))
    template = templated(made, {}, POLICY)
    assert_same_again(made, template)
    assert {slot.kind for slot in template.slots} == {"concept"}
    assert all(MARK.search(choice) for choice in template.questions[0].choices)
    moved = slots_by_original(template)["mov"].id
    assert f"{{{{{moved}}}}}ing plants" in template.questions[0].text
    assert f"{{{{{moved}.capital}}}}ing is slow" in template.documents[0].text
    assert templated(made, {}, Policy(concepts="none")).slots == ()


def test_countries_are_exchanged_with_their_people_where_told_so() -> None:
    text = "The French painter left France for the United States."
    template = templated(benchmark(text), {}, Policy(closed="swap"))
    kinds = {slot.original: (slot.kind, slot.traits["country"]) for slot in template.slots}
    assert kinds == {
        "French": ("nationality", "FR"),
        "France": ("country", "FR"),
        "United States": ("country", "US"),
    }
    assert bind(template.documents[0].text, originals(template.slots)) == text


@pytest.mark.parametrize(("scope", "names"), [("all", 3), ("gold", 2), ("path", 1)])
def test_the_scope_limits_which_names_change(scope: str, names: int) -> None:
    asked = Question(
        id="q1", text="Who wrote it?", answers=(("Tolkien",),), evidence=((Evidence(document_id="doc1"),),)
    )
    made = benchmark("Tolkien wrote it in Oshawa.", "Quux met Tolkien.", questions=(asked,))
    template = templated(made, {}, Policy.model_validate({"scope": scope}))
    assert_same_again(made, template)
    assert len(template.slots) == names


def test_texts_without_capitals_or_words_are_left_alone() -> None:
    texts = ("", "鈴木一朗は野球選手です。", "كتب نجيب محفوظ الرواية", "?? ... 12 {{", "] , {'1': 'Katy'}")
    after = mapped(benchmark(*texts))
    assert after[:4] == list(texts[:4])
    assert "Katy" not in after[4]
    assert after[4].startswith("] , {'1': 'X")


def test_the_same_benchmark_gives_the_same_template() -> None:
    made = benchmark("Rush and Tolkien met Quux in 1954.", "Tolkien (T.) met Rush.")
    graphs = {"doc1": graph(Rush="organisation", Tolkien="person"), "doc2": graph(Rush="organisation")}
    assert templated(made, graphs, POLICY) == templated(made, dict(reversed(graphs.items())), POLICY)


def test_the_policy_decides_by_type_what_is_kept() -> None:
    text = "Tolkien met Quux in Oshawa in 1954. The Hindu poet left."
    graphs = {"doc1": graph(Tolkien="person", Quux="person", Oshawa="place")}
    (all_new,) = mapped(benchmark(text), graphs)
    assert not [name for name in ("Tolkien", "Quux", "Oshawa", "1954") if name in all_new]
    (people_stay,) = mapped(benchmark(text), graphs, Policy(types={"person": "keep", "date": "keep"}))
    assert people_stay.startswith("Tolkien met Quux in X")
    assert "1954. The Hindu" in people_stay
    (religions_go,) = mapped(benchmark(text), graphs, Policy(types={"religion": "coin"}))
    assert "Hindu" not in religions_go


def test_a_number_before_things_counts_them_and_a_year_before_an_event_does_not() -> None:
    text = "It made 1780 observations. The 1998 bestselling book, the 1996 elections and a 1981 comedy-drama film."
    template = templated(benchmark(text), {}, POLICY)
    assert {slot.original for slot in template.slots} == {"1998", "1996", "1981"}


def test_names_in_another_script_are_gone_from_an_english_text() -> None:
    text = "Fujita (藤田 和之) met Rossi (Армянский язык, الرياض) in the old town. Water has a pH of seven."
    (after,) = mapped(benchmark(text))
    assert "has a pH of seven" in after
    assert not [name for name in ("藤田", "和之", "Армянский", "язык", "الرياض") if name in after]


def test_a_name_with_a_bare_apostrophe_has_an_image_that_ends_with_an_s() -> None:
    template = templated(benchmark("Lyons' wife left Lyons."), {}, POLICY)
    lyons = slots_by_original(template)["Lyons"]
    image = new_values(template)[next(slot.id for slot in template.slots if slot.template)]
    assert image.endswith("s")
    assert lyons.original == "Lyons"
