"""The metric `memory`: who says the original answer did not read the documents."""

import pytest

from ragstone.kit import Kit, Metric
from ragstone.plugins import create
from ragstone.types import Answer, Question

MEMORY = create(Metric, "memory")


def renamed(*new: str, old: tuple[str, ...] = ("Oshawa", "Oshawa, Ontario"), **more: object) -> Question:
    return Question.model_validate(
        {"id": "q", "text": "Where was Velmark born?", "answers": [new], "remembered": [old], **more}
    )


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("He was born in Oshawa.", 1.0),
        ("OSHAWA, ONTARIO", 1.0),
        ("Ostrey", 0.0),
        ("Ostrey, formerly Oshawa", 0.0),  # the new answer was read, so this is no memory alone
        ("Oshawaville", 0.0),
        ("", 0.0),
    ],
)
def test_saying_the_original_answer_and_not_the_new_one_is_memory(said: str, value: float) -> None:
    score = MEMORY.score(renamed("Ostrey"), Answer(text=said), Kit())
    assert score is not None
    assert score.value == value


def test_the_reason_tells_what_was_remembered() -> None:
    score = MEMORY.score(renamed("Ostrey"), Answer(text="Oshawa"), Kit())
    assert score is not None
    assert score.reason == "says Oshawa = Oshawa, Ontario"


@pytest.mark.parametrize(
    "question",
    [
        renamed("yes", old=("Yes",)),
        renamed("Ostrey", "Oshawa"),  # an alias in common: nobody can tell the two apart
        renamed("Ostrey", old=()).model_copy(update={"remembered": ()}),
        renamed("Ostrey", answerable=False),
    ],
)
def test_where_the_original_answer_passes_for_the_new_one_or_is_not_known_it_does_not_apply(question: Question) -> None:
    assert not MEMORY.applies(question)
    assert MEMORY.score(question, Answer(text="Oshawa"), Kit()) is None


def test_a_part_of_the_original_answer_that_was_kept_is_no_reason_to_leave_a_question_out() -> None:
    both = Question(id="q", text="?", answers=(("1912",), ("Ostrey",)), remembered=(("1912",), ("Oshawa",)))
    assert MEMORY.applies(both)
    said = {text: MEMORY.score(both, Answer(text=text), Kit()) for text in ("1912 in Oshawa", "1912")}
    assert {text: score and score.value for text, score in said.items()} == {"1912 in Oshawa": 1.0, "1912": 0.0}


def test_a_system_that_only_retrieves_is_not_scored_and_one_that_declines_is() -> None:
    assert MEMORY.score(renamed("Ostrey"), Answer(), Kit()) is None
    declined = MEMORY.score(renamed("Ostrey"), Answer(declined=True), Kit())
    assert declined is not None
    assert declined.value == 0
