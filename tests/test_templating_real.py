"""Templates of the real samples: exact, and with their names gone. Nothing here uses the recipe's own matching."""

import re
from pathlib import Path

import pytest

from ragstone.extract import extract
from ragstone.gazetteer import CLASSES, KNOWN_EVENTS
from ragstone.load import load
from ragstone.recipes.reseed.policy import Policy
from ragstone.recipes.reseed.templating import templated
from ragstone.slots import bind, bind_all, bound, filling, originals, resolve
from ragstone.types import Benchmark, Document, Evidence, Question, Template

SETS = {
    "hotpotqa": "hotpotqa/hotpot_dev_distractor_sample.json",
    "2wiki": "2wikimultihopqa/dev_sample.json",
    "musique": "musique/musique_ans_v1.0_dev_sample.jsonl",
    "qasc": "qasc/dev_sample.jsonl",
    "multihoprag": "multihoprag/MultiHopRAG_sample.json",
}
FEW = 12


def few(benchmark: Benchmark) -> Benchmark:
    """The first questions with just their documents."""
    questions = benchmark.questions[:FEW]
    wanted = {id for question in questions for id in (*question.scope, *gold(question))}
    documents = tuple(document for document in benchmark.documents if document.id in wanted)
    return benchmark.model_copy(update={"questions": questions, "documents": documents})


def gold(question: Question) -> list[str]:
    return [piece.document_id for group in question.evidence for piece in group]


def strings(question: Question) -> list[str]:
    graph = question.graph
    told = [part for fact in graph.facts for part in (fact.subject, fact.relation, fact.object)] if graph else []
    names = [entity.name for entity in graph.entities] if graph else []
    return [question.text, *question.choices, *(alias for group in question.answers for alias in group), *told, *names]


def pieces(question: Question) -> list[Evidence]:
    facts = question.graph.facts if question.graph else ()
    return [*(it for group in question.evidence for it in group), *(it for fact in facts for it in fact.evidence)]


@pytest.mark.parametrize("name", SETS)
def test_binding_what_stood_there_gives_back_every_string_and_place(name: str, data: Path) -> None:
    benchmark = load(data / SETS[name])
    template = templated(benchmark, {}, Policy())
    back = originals(template.slots)
    fill = filling(back)
    for source, document in zip(benchmark.documents, template.documents, strict=True):
        assert (bind(document.title, back), bind(document.text, back)) == (source.title, source.text)
    texts = {document.id: document.text for document in template.documents}
    for asked, question in zip(benchmark.questions, template.questions, strict=True):
        assert [bind(text, back) for text in strings(question)] == strings(asked)
        for before, after in zip(pieces(asked), pieces(question), strict=True):
            assert bind(after.quote, back) == before.quote
            if after.start is not None and after.end is not None:
                there = bound(texts[after.document_id], fill)
                assert (there.place(after.start), there.place(after.end)) == (before.start, before.end)


def draw(template: Template) -> tuple[tuple[Document, ...], tuple[Question, ...]]:
    """Names that cannot be in any text: a letter of another alphabet in each."""
    coined = {slot.id: f"Ж{slot.id}" for slot in template.slots}
    years = {slot.id: str(int(slot.original) - 200) for slot in template.slots if slot.kind == "year"}
    return bind_all(template, resolve(template.slots, coined | years, {}))


def has(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


@pytest.mark.parametrize("name", ["hotpotqa", "2wiki", "musique"])
def test_names_are_gone_and_answers_are_found(name: str, data: Path, tmp_path: Path) -> None:
    benchmark = few(load(data / SETS[name]))
    graphs = extract(benchmark.documents, tmp_path)
    template = templated(benchmark, graphs, Policy())
    documents, questions = draw(template)
    texts = {source.id: drawn.text for source, drawn in zip(benchmark.documents, documents, strict=True)}
    sources = {source.id: source.text for source in benchmark.documents}
    for asked, question in zip(benchmark.questions, questions, strict=True):
        for before, after in zip(asked.answers, question.answers, strict=True):
            if any(has(before[0], sources[id]) for id in gold(asked)):
                assert any(has(after[0], texts[id]) for id in gold(asked)), asked.id
    people = [
        (entity.name, has(entity.name, texts[id]))
        for id, graph in graphs.items()
        for entity in graph.entities
        if entity.type == "person" and " " in entity.name and has(entity.name, sources[id])
    ]
    left = [name for name, is_left in people if is_left]
    assert len(people) > 100
    assert len(left) < 0.03 * len(people), left


@pytest.mark.parametrize("name", ["hotpotqa", "2wiki", "musique"])
def test_closed_classes_and_ordinary_words_stay(name: str, data: Path, tmp_path: Path) -> None:
    benchmark = few(load(data / SETS[name]))
    documents, _ = draw(templated(benchmark, extract(benchmark.documents, tmp_path), Policy()))
    for source, drawn in zip(benchmark.documents, documents, strict=True):
        for word in (
            "the",
            "and",
            "American",
            "British",
            "Canadian",
            "January",
            "December",
            "World War II",
            "The",
            "It",
        ):
            assert len(re.findall(rf"(?<!\w){word}(?!\w)", drawn.text)) == len(
                re.findall(rf"(?<!\w){word}(?!\w)", source.text)
            ), (word, source.text)
    assert "American" in CLASSES
    assert "World War II" in KNOWN_EVENTS
