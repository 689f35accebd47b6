"""The recipe `rewire`: the same entities in other places, and documents that say so."""

import json

import pytest

from ragstone.build import build
from ragstone.graphs import answer_of
from ragstone.kit import Kit
from ragstone.llm.model import LanguageModel
from ragstone.recipes.rewire import Rewire, wiring
from ragstone.types import Benchmark, Call, Document, Entity, Evidence, Fact, Question, ReasoningGraph, Reply

DOCUMENT = Document(id="d", title="Films", text="Velmark and Nordal are films.")


def fact(subject: str, relation: str, object: str) -> Fact:
    return Fact(subject=subject, relation=relation, object=object)


ENTITIES = tuple(
    Entity(id=name.lower(), name=name, type=kind)
    for kind, names in {"work": "Velmark Nordal", "person": "Oda Pim", "place": "Sorlat Brenn Karsk Ulm"}.items()
    for name in names.split()
)
PATH = (fact("velmark", "director", "oda"), fact("oda", "place of birth", "sorlat"))
ASIDE = (fact("nordal", "director", "pim"), fact("pim", "place of birth", "brenn"))
QUESTION = Question(
    id="q",
    text="Where was the director of Velmark born?",
    answers=(("Sorlat",),),
    evidence=((Evidence(document_id="d"),),),
    graph=ReasoningGraph(entities=ENTITIES, facts=(*PATH, *ASIDE), operation="bridge"),
    labels={"steps": 2},
)


def rewired(how: str, *, question: Question = QUESTION, k: int = 1) -> Benchmark:
    source = Benchmark(documents=(DOCUMENT,), questions=(question,))
    return build("rewire", source, how=how, facts="question", k=k)


def told(benchmark: Benchmark) -> dict[str, str]:
    return {document.title: document.text for document in benchmark.documents}


def with_facts(*facts: Fact) -> Question:
    graph = ReasoningGraph(entities=ENTITIES, facts=facts, operation="bridge")
    return QUESTION.model_copy(update={"graph": graph})


def test_the_papers_way_moves_every_fact_and_says_that_the_answer_no_longer_follows() -> None:
    built = rewired("paper")
    (question,) = built.questions
    assert told(built) == {
        "Velmark": "Velmark. Director: Pim.",
        "Oda": "Oda. Place of birth: Brenn.",
        "Nordal": "Nordal. Director: Oda.",
        "Pim": "Pim. Place of birth: Sorlat.",
    }
    assert question.labels["moved"] == 4
    assert question.answers == (("Sorlat",),)  # by chance it follows: Pim was born where Oda was
    assert question.labels["answer_follows"] == "yes"
    (other,) = rewired("paper", question=with_facts(*PATH, ASIDE[0], fact("nordal", "place", "karsk"))).questions
    assert other.labels["answer_follows"] == "no"


def test_documents_made_by_rule_are_marked_and_the_old_ones_are_gone() -> None:
    built = rewired("paper")
    assert {document.labels["written"] for document in built.documents} == {"by rule"}
    (question,) = built.questions
    assert question.scope == tuple(document.id for document in built.documents)
    gold = [
        document.title for document in built.documents if ((Evidence(document_id=document.id),) in question.evidence)
    ]
    assert gold == ["Velmark", "Oda"]
    assert question.parent == "q"


def test_off_the_path_only_other_facts_move_and_the_answer_stays() -> None:
    question = with_facts(*PATH, fact("nordal", "setting", "karsk"), fact("pim", "place of birth", "brenn"))
    built = rewired("off_path", question=question)
    assert told(built)["Velmark"] == "Velmark. Director: Oda."
    assert told(built)["Nordal"] == "Nordal. Setting: Brenn."
    (kept,) = built.questions
    assert (kept.answers, kept.labels["answer_follows"]) == ((("Sorlat",),), "yes")
    assert answer_of(kept) == "Sorlat"


def test_recomputed_answers_follow_from_the_facts_and_the_old_one_is_remembered() -> None:
    question = with_facts(*PATH, ASIDE[0], ASIDE[1], fact("nordal", "setting", "karsk"))
    built = rewired("recompute", question=question)
    (kept,) = built.questions
    assert told(built)["Velmark"] == "Velmark. Director: Pim."
    assert told(built)["Pim"] == "Pim. Place of birth: Karsk."
    assert kept.answers == (("Karsk",),)
    assert kept.remembered == (("Sorlat",),)
    assert answer_of(kept) == "Karsk"


@pytest.mark.parametrize(
    ("how", "question", "why"),
    [
        ("recompute", with_facts(PATH[0], ASIDE[0], PATH[1]), "do not decide the answer"),
        ("off_path", with_facts(*PATH), "no two of its facts"),
        ("paper", with_facts(), "no facts to rewire"),
        (
            "off_path",
            with_facts(*PATH, fact("oda", "place of birth", "ulm"), fact("nordal", "setting", "karsk")),
            "no longer lead to its answer",
        ),
    ],
)
def test_what_cannot_be_rewired_fails_with_the_reason(how: str, question: Question, why: str) -> None:
    built = rewired(how, question=question)
    assert not built.questions
    assert why in built.failures[0].error


def test_steps_that_are_questions_are_written_about_their_subject() -> None:
    facts = (fact("velmark", "Velmark >> director", "oda"), fact("oda", "where was #1 born", "sorlat"))
    more = (fact("nordal", "Nordal >> director", "pim"), fact("pim", "where was #1 born", "brenn"))
    built = rewired("paper", question=with_facts(*facts, *more))
    assert told(built)["Velmark"] == "Velmark. Director: Pim."
    assert told(built)["Oda"] == "Oda. Where was Oda born: Brenn."


def test_facts_of_documents_come_after_those_of_the_reasoning_and_give_types() -> None:
    untyped = QUESTION.model_copy(
        update={
            "graph": ReasoningGraph(
                entities=(Entity(id="e1", name="Velmark"), Entity(id="e2", name="Oda")),
                facts=(fact("e1", "director", "e2"),),
                operation="bridge",
            ),
            "labels": {},
            "scope": ("d",),
        }
    )
    found = ReasoningGraph(
        entities=(Entity(id="e1", name="Oda", type="person"), Entity(id="e2", name="Pim", type="person")),
        facts=(fact("e1", "sister", "e2"),),
    )
    job = wiring(untyped, {"d": found, "elsewhere": found})
    assert [(it.subject, it.relation, it.object) for it in job.told.facts] == [
        ("Velmark", "director", "Oda"),
        ("Oda", "sister", "Pim"),
    ]
    assert {it.name: it.type for it in job.told.entities} == {"Velmark": "", "Oda": "person", "Pim": "person"}
    assert len(job.path.facts) == 1


class Writer:
    """Writes what it is told by the facts that it is shown."""

    name = "writer"
    keeps = False

    def complete(self, call: Call) -> Reply:
        shown = call.messages[-1].content.partition("<document 2>\n")[2].partition("\n</document 2>")[0]
        return Reply(text=json.dumps({"text": f"It is told that {shown.replace(' | ', ' has ')} indeed."}))


def test_a_generator_writes_the_documents_from_the_rewired_facts() -> None:
    kit = Kit(generator=LanguageModel(Writer()))
    recipe = Rewire(how="paper", facts="question")
    (draft,) = recipe.make(recipe.plan(Benchmark(questions=(QUESTION,)), kit)["q"], kit, ())
    assert draft.documents[0].text == "It is told that Velmark has director has Pim indeed."
    assert {document.labels["written"] for document in draft.documents} == {"from facts"}
