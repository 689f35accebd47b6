"""Outcomes that differ between draws: the text, the facts and the answer change together, and nothing else does."""

from collections.abc import Mapping

import pytest

from ragstone.graphs import answer_of
from ragstone.recipes.reseed.outcomes import fixed_outcome, with_outcomes
from ragstone.slots import bind_all, originals, resolve
from ragstone.types import Document, Entity, Evidence, Fact, Question, ReasoningGraph, Slot, Template

NAMES = {"n1": "Oda", "n2": "Trisk", "n3": "Pim", "n4": "Sorn", "n5": "Velmark", "n6": "Nordal"}
YEARS = ("1931", "1940", "1897", "1910", "1950")
SLOTS = (
    *(Slot(id=id, kind="other", original=name) for id, name in NAMES.items()),
    *(Slot(id=f"y{year}", kind="year", original=year, group="all") for year in YEARS),
)
ODA, PIM = "{{n1}} {{n2}}", "{{n3}} {{n4}}"
ON_ODA = "{{n1}} {{n2}} (born 2 May {{y1897}}) is an American director. She was active in the {{y1910}}s."
ON_PIM = "{{n3}} {{n4}} (born {{y1910}}) is a French actor."


def person(id: str, title: str, text: str) -> Document:
    return Document(id=id, title=title, text=text)


def asked(text: str, answer: str, facts: tuple[Fact, ...], **more: object) -> Question:
    entities = (Entity(id="e1", name=ODA), Entity(id="e2", name=PIM), Entity(id="e3", name="American"))
    return Question(
        id="q",
        text=text,
        answers=((answer,),),
        evidence=((Evidence(document_id="a", quote=ON_ODA[:16], start=0, end=16),), (Evidence(document_id="b"),)),
        graph=ReasoningGraph(entities=entities, facts=facts, operation="compare"),
        labels={"answer_kind": "yes_no" if answer in ("yes", "no") else "option"},
    ).model_copy(update=more)


BORN = (
    Fact(subject="e1", relation="date of birth", object="2 May {{y1897}}"),
    Fact(subject="e2", relation="date of birth", object="{{y1910}}"),
)
OLDER = asked(f"Who is older, {ODA} or {PIM}?", ODA, BORN)


def template(question: Question, *more: Document, a: str = ON_ODA, b: str = ON_PIM) -> Template:
    return Template(documents=(person("a", ODA, a), person("b", PIM, b), *more), questions=(question,), slots=SLOTS)


def drawn(made: Template, pick: int) -> tuple[Mapping[str, str], Question]:
    picks = {slot.group: pick for slot in made.slots if slot.choices}
    documents, (question,) = bind_all(made, resolve(made.slots, originals(made.slots), picks))
    return {document.id: document.text for document in documents}, question


def test_years_of_one_document_move_past_the_other_and_the_answer_with_them() -> None:
    made = with_outcomes(template(OLDER))
    texts, question = drawn(made, 1)
    assert question.answers == (("Pim Sorn",),)
    assert answer_of(question) == "Pim Sorn"
    assert texts == {
        "a": "Oda Trisk (born 2 May 1917) is an American director. She was active in the 1930s.",
        "b": "Pim Sorn (born 1910) is a French actor.",
    }


def test_the_first_choice_is_the_original() -> None:
    before = template(OLDER)
    texts, question = drawn(with_outcomes(before), 0)
    documents, (was,) = bind_all(before, originals(SLOTS))
    assert texts == {document.id: document.text for document in documents}
    assert question == was


def test_evidence_stays_where_it_was() -> None:
    text = "Since the {{y1910}}s {{n1}} {{n2}} (born 2 May {{y1897}}) is a director."
    start = text.index("{{n1}}")
    piece = Evidence(document_id="a", quote=text[start:], start=start, end=len(text))
    question = OLDER.model_copy(update={"evidence": ((piece,), (Evidence(document_id="b"),))})
    texts, drawn_question = drawn(with_outcomes(template(question, a=text)), 1)
    ((found,), _) = drawn_question.evidence
    assert found.quote == texts["a"][found.start : found.end] == "Oda Trisk (born 2 May 1917) is a director."


def test_the_moved_years_still_move_with_all_others_in_every_draw() -> None:
    made = with_outcomes(template(OLDER))
    later = {id: str(int(value) + 30) if value.isdigit() else value for id, value in originals(made.slots).items()}
    _, (question,) = bind_all(made, resolve(made.slots, later, {"outcome-q": 1}))
    assert question.graph
    assert [fact.object for fact in question.graph.facts] == ["2 May 1947", "1940"]


@pytest.mark.parametrize(
    ("facts", "answer", "other", "a"),
    [
        (
            ("American", "French"),
            "no",
            "yes",
            "Oda Trisk (born 2 May 1897) is a French director. She was active in the 1910s.",
        ),
        (("French", "American"), "no", "yes", ""),
    ],
)
def test_countries_become_equal_with_their_articles(facts: tuple[str, str], answer: str, other: str, a: str) -> None:
    told = tuple(Fact(subject=f"e{i}", relation="country", object=it) for i, it in enumerate(facts, 1))
    question = asked(f"Are {ODA} and {PIM} from the same country?", answer, told)
    made = with_outcomes(template(question))
    if not a:  # the text says otherwise than the facts: nothing is safe
        assert fixed_outcome(made) == 1
        return
    texts, turned = drawn(made, 1)
    assert turned.answers == ((other,),)
    assert answer_of(turned) == other
    assert texts["a"] == a


def test_equal_countries_become_different_and_the_country_is_one_of_which_nothing_was_said() -> None:
    told = (Fact(subject="e1", relation="country", object="e3"), Fact(subject="e2", relation="country", object="e3"))
    question = asked(f"Are {ODA} and {PIM} from the same country?", "yes", told)
    texts, turned = drawn(with_outcomes(template(question, b="{{n3}} {{n4}} is an American actor.")), 1)
    assert turned.answers == (("no",),)
    assert answer_of(turned) == "no"
    assert ("American" in texts["a"]) != ("American" in texts["b"])


UNSAFE = {
    "another document tells the year": template(
        OLDER, person("c", "", "In {{y1897}} {{n1}} {{n2}} was born. {{n3}} {{n4}} in {{y1910}}.")
    ),
    "an event has its place in time": template(
        OLDER, a=ON_ODA + " She fought in World War II.", b=ON_PIM + " He was born before the 20th century."
    ),
    "the question names the years": template(
        OLDER.model_copy(update={"text": f"Who is older, {ODA} (from {{{{y1897}}}}) or {PIM} (from {{{{y1910}}}})?"})
    ),
    "the text does not tell the date": template(
        OLDER, a="{{n1}} {{n2}} is a director.", b="{{n3}} {{n4}} is an actor."
    ),
    "the gold answer is wrong": template(OLDER.model_copy(update={"answers": ((PIM,),)})),
    "the graph is missing": template(OLDER.model_copy(update={"graph": None})),
    "a document has another title": Template(
        documents=(person("a", "{{n5}}", ON_ODA), person("b", "{{n6}}", ON_PIM)), questions=(OLDER,), slots=SLOTS
    ),
    "the question writes a name by other slots": template(
        OLDER.model_copy(update={"text": f"Who is older, {ODA} or Pim Sorn?"})
    ),
}


@pytest.mark.parametrize("made", UNSAFE.values(), ids=UNSAFE.keys())
def test_nothing_varies_where_it_would_contradict(made: Template) -> None:
    assert with_outcomes(made) == made
    assert fixed_outcome(made) == 1


def test_a_document_that_another_question_rests_on_stays() -> None:
    also = OLDER.model_copy(update={"id": "r", "evidence": ((Evidence(document_id="a"),),), "graph": None})
    before = template(OLDER)
    made = with_outcomes(before.model_copy(update={"questions": (OLDER, also)}))
    texts = dict(zip("ab", (document.text for document in made.documents), strict=True))
    assert texts["a"] == ON_ODA
    assert texts["b"] != ON_PIM


def test_fixed_outcomes_are_closed_questions_that_always_end_alike() -> None:
    open_ended = OLDER.model_copy(update={"id": "r", "labels": {"answer_kind": "open"}})
    before = template(OLDER).model_copy(update={"questions": (OLDER, open_ended)})
    assert fixed_outcome(before) == 1
    assert fixed_outcome(with_outcomes(template(OLDER))) == 0
