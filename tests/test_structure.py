"""The check `structure`: the answer follows from the facts, and rewritten documents still tell them."""

import json

import pytest

from ragstone.checks.structure import Structure
from ragstone.kit import Kit
from ragstone.llm.model import LanguageModel
from ragstone.types import Call, Document, Draft, Entity, Evidence, Fact, Question, ReasoningGraph, Reply, Verdict

WRITTEN = Document(id="w-1", title="Velmark", text="Oda Trisk directed Velmark.", labels={"written": "from facts"})
ALSO = Document(
    id="w-2", title="Oda Trisk", text="Sorlat is where Oda Trisk was born.", labels={"written": "from facts"}
)
GRAPH = ReasoningGraph(
    entities=(Entity(id="e1", name="Velmark"), Entity(id="e2", name="Oda Trisk"), Entity(id="e3", name="Sorlat")),
    facts=(
        Fact(subject="e1", relation="director", object="e2", evidence=(Evidence(document_id="w-1"),)),
        Fact(subject="e2", relation="place of birth", object="e3", evidence=(Evidence(document_id="w-2"),)),
    ),
    operation="bridge",
)
QUESTION = Question(
    id="q1",
    text="Where was the director of Velmark born?",
    answers=(("Sorlat",),),
    evidence=((Evidence(document_id="w-1"),), (Evidence(document_id="w-2"),)),
    graph=GRAPH,
    parent="q1",
)

BOTH = [("Velmark", "directed by", "Oda Trisk"), ("Oda Trisk", "born in", "Sorlat")]


class Readings:
    """A model that reads the documents each time as it is told to."""

    name = "readings"
    keeps = False

    def __init__(self, *told: list[tuple[str, str, str]]) -> None:
        self.told = list(told)
        self.calls: list[Call] = []

    def complete(self, call: Call) -> Reply:
        self.calls.append(call)
        facts = [dict(zip(("subject", "relation", "object"), fact, strict=True)) for fact in self.told.pop(0)]
        return Reply(text=json.dumps({"facts": facts}))


def judged(check: Structure, *told: list[tuple[str, str, str]], question: Question = QUESTION) -> Verdict:
    kit = Kit(generator=LanguageModel(Readings(*told))) if told else Kit()
    return check.check(Draft(question=question), Kit(**{**vars(kit), "documents": {"w-1": WRITTEN, "w-2": ALSO}}))


def plain(question: Question = QUESTION) -> Verdict:
    documents = {it.id: it.model_copy(update={"labels": {}}) for it in (WRITTEN, ALSO)}
    return Structure().check(Draft(question=question), Kit(documents=documents))


def test_a_renamed_question_passes_by_construction_and_says_so() -> None:
    verdict = plain()
    assert verdict.passed
    assert verdict.reason == "by construction: names were exchanged one to one; the answer follows from the facts"


def test_an_answer_that_does_not_follow_is_rejected_with_what_does() -> None:
    verdict = plain(QUESTION.model_copy(update={"answers": (("Brenn",),)}))
    assert not verdict.passed
    assert verdict.reason == "its facts lead to 'Sorlat', and its answer is 'Brenn'"


@pytest.mark.parametrize(
    "update",
    [
        {"graph": None},
        {"graph": GRAPH.model_copy(update={"operation": ""}), "answers": (("Brenn",),)},
        {"answers": (("Brenn",),), "answerable": False},
        {"answers": (("Sorlat, Brenn", "Sorlat in Brenn"),)},
    ],
)
def test_what_the_facts_do_not_decide_is_not_rejected(update: dict[str, object]) -> None:
    assert plain(QUESTION.model_copy(update=update)).passed


def test_rewritten_documents_without_a_generator_are_not_shown_to_agree() -> None:
    verdict = judged(Structure())
    assert verdict.passed
    assert verdict.reason.startswith("not shown: no generator")


def test_readings_that_agree_with_the_facts_pass() -> None:
    verdict = judged(Structure(), BOTH, BOTH, BOTH)
    assert verdict.passed
    assert verdict.reason == "read again: edge-F1 1.00, and readings agree to 1.00 among themselves"


def test_a_fact_of_the_reasoning_that_most_readings_lack_rejects() -> None:
    verdict = judged(Structure(), BOTH[:1], BOTH, BOTH[:1])
    assert not verdict.passed
    assert verdict.reason == "read again: most readings lack 'Oda Trisk | place of birth | Sorlat'"
    assert judged(Structure(slack=0.2), BOTH[:1], BOTH, BOTH).passed


def test_more_facts_than_were_told_reject_where_readings_agree_on_them() -> None:
    more = [*BOTH, ("Oda Trisk", "liked", "tea"), ("Velmark", "year", "1931")]
    verdict = judged(Structure(), more, more, more)
    assert not verdict.passed
    assert verdict.reason == "read again: edge-F1 0.67, and readings agree to 1.00 among themselves"


def test_the_papers_way_compares_one_reading_by_its_bare_shape() -> None:
    chain = [("A", "x", "B"), ("B", "y", "C")]
    fork = [("A", "x", "B"), ("A", "y", "C")]
    assert judged(Structure(how="paper"), chain).passed
    assert not judged(Structure(how="paper"), fork).passed


def test_other_readings_are_other_calls_at_another_temperature() -> None:
    model = Readings(BOTH, BOTH)
    kit = Kit(generator=LanguageModel(model), documents={"w-1": WRITTEN, "w-2": ALSO})
    assert Structure(readings=2).check(Draft(question=QUESTION), kit).passed
    assert [(call.sample, call.temperature) for call in model.calls] == [(0, 0.0), (1, 0.7)]
    assert "Oda Trisk directed Velmark." in model.calls[0].messages[-1].content
