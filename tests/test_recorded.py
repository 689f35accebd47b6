"""What a large model does with our prompts, replayed: the whole way from prompt to verdict, without a model.

`tests/recordings/README.md` tells what the recordings are and how to make them anew when a prompt changes.
"""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from ragstone.build import build
from ragstone.config import Settings
from ragstone.evaluate import evaluate
from ragstone.kit import Kit, Recipe
from ragstone.llm.batch import Batched, BatchFolder
from ragstone.llm.cache import ReplyCache
from ragstone.llm.model import LanguageModel
from ragstone.llm.options import Options
from ragstone.load import first_questions, load
from ragstone.metrics.judge import Judged
from ragstone.plugins import create
from ragstone.types import Answer, Benchmark, Question

RECORDINGS = Path(__file__).parent / "recordings"
CASES = [json.loads(line) for line in (Path(__file__).parent / "judge_cases.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A batch folder with the recorded responses; or, to record, the one that RAGSTONE_RECORD names."""
    if place := os.environ.get("RAGSTONE_RECORD"):
        return Path(place)
    calls = tmp_path / "calls"
    calls.mkdir()
    for path in RECORDINGS.glob("responses*.jsonl"):
        shutil.copy(path, calls)
    return calls


@pytest.fixture
def settings(tmp_path: Path, folder: Path) -> Settings:
    models = dict.fromkeys(("reader", "generator", "probe", "judge"), f"batch:{folder}")
    return Settings(cache=tmp_path / "cache", models={"embedder": "wordllama", **models})


@pytest.mark.parametrize(
    ("system", "least"), [("closed_book", 20), ("closed_book(refusal=required)", 20), ("oracle", 22)]
)
def test_a_large_model_knows_the_sample_by_heart_and_reads_it(system: str, least: int, settings: Settings) -> None:
    run = evaluate("sample", [system], ["covered", "f1"], settings=settings)
    covered = sum(entry.value.value for entry in run.scores if entry.by == "covered")
    assert covered >= least
    assert not run.failures
    assert all(len((entry.value.text or "").split()) <= 8 for entry in run.answers)


def test_every_verdict_of_the_judge_is_usable_and_nearly_all_are_right(tmp_path: Path, folder: Path) -> None:
    cache = ReplyCache(tmp_path / "cache")
    kit = Kit(judge=LanguageModel(Batched("", BatchFolder(folder, cache), Options()), cache))
    wrong = []
    for case in CASES:
        asked = Question(id="q", text=case["question"], answers=case["answers"], choices=case.get("choices", ()))
        score = Judged().score(asked, Answer(text=case["answer"]), kit)
        assert score is not None
        assert score.reason
        if (score.value == 1) != (case["verdict"] == "correct"):
            wrong.append(case["name"])
    assert len(wrong) <= 1, wrong


def test_the_sample_leaks_and_every_reply_that_shows_it_is_quoted(settings: Settings) -> None:
    built = build("sample", eight_of_the_sample(), checks=["leakage"], attempts=1, n=8, settings=settings)
    assert len(built.rejected) >= 6
    assert all("“" in entry.value.reason or "'" in entry.value.reason for entry in built.rejected)


def test_the_sample_can_be_answered_from_its_evidence(settings: Settings) -> None:
    built = build("sample", eight_of_the_sample(), checks=["answerable"], attempts=1, n=8, settings=settings)
    assert len(built.questions) >= 7


def eight_of_the_sample() -> Benchmark:
    source = load("sample")
    plan = create(Recipe, "sample", n=8).plan(source, Kit())
    return source.model_copy(update={"questions": tuple(q for q in source.questions if q.id in plan)})


def test_the_judge_finds_the_evidence_of_the_sample_enough(settings: Settings) -> None:
    built = build("sample", "sample", checks=["grounding"], attempts=1, n=24, settings=settings)
    assert len(built.questions) >= 22


def test_the_judge_finds_out_planted_answers(settings: Settings) -> None:
    """Each question of the sample gets another name from its evidence as its answer: verbatim there, and wrong."""
    source = load("sample")
    planted = [wrong for question in source.questions if (wrong := with_wrong_answer(question))]
    assert len(planted) >= 12
    changed = source.model_copy(update={"questions": tuple(planted)})
    built = build("sample", changed, checks=["grounding"], attempts=1, n=len(planted), settings=settings)
    assert len(built.rejected) >= len(planted) - 1


def with_wrong_answer(question: Question) -> Question | None:
    """The question with a name for an answer that stands in its quotes and is neither asked for nor right."""
    told = f"{question.text} {question.answers}".lower()
    quotes = " ".join(piece.quote for group in question.evidence for piece in group)
    names = [name for name in re.findall(r"(?<=[a-z,] )[A-Z][a-zà-ÿ]{3,}", quotes) if name.lower() not in told]
    if not names or question.labels["answer_kind"] != "open":
        return None
    return question.model_copy(update={"answers": ((names[-1],),)})


# ── on real data ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_large_model_knows_some_of_musique_by_heart_and_may_decline(data: Path, settings: Settings) -> None:
    source = first_questions(load(data / "musique" / "musique_ans_v1.0_dev_sample.jsonl"), 25)
    run = evaluate(source, ["closed_book(refusal=allowed)"], ["covered"], settings=settings)
    declined = sum(entry.value.declined for entry in run.answers)
    right = sum(entry.value.value for entry in run.scores)
    assert (len(run.answers), right, declined) == (25, 16, 1)


def test_a_large_model_that_must_declines_where_a_hop_is_missing(data: Path, settings: Settings) -> None:
    """MuSiQue questions with the documents of their first hop alone."""
    source = first_questions(load(data / "musique" / "musique_ans_v1.0_dev_sample.jsonl"), 25)
    cut = tuple(question.model_copy(update={"evidence": question.evidence[:1]}) for question in source.questions)
    run = evaluate(
        source.model_copy(update={"questions": cut}), ["oracle(refusal=required)"], ["covered"], settings=settings
    )
    declined = sum(entry.value.declined for entry in run.answers)
    right = sum(entry.value.value for entry in run.scores)
    assert (right, declined) == (1, 20)


def test_a_large_model_annotates_what_the_texts_say(settings: Settings) -> None:
    sample = first_questions(load("sample"), 6)
    built = build("annotate", sample, settings=settings)
    assert len(built.questions) == 6
    texts = {document.id: f"{document.title}\n{document.text}" for document in sample.documents}
    for question in built.questions:
        assert question.graph
        assert question.graph.operation in ("bridge", "compare", "intersect", "boolean", "count")
        told = question.text + "".join(texts[piece.document_id] for group in question.evidence for piece in group)
        for entity in question.graph.entities:
            assert all(form in told for form in (entity.name, *entity.forms))


def test_a_reseeded_benchmark_rests_on_the_annotations(settings: Settings) -> None:
    built = build("reseed", first_questions(load("sample"), 6), checks=("residual", "structure"), settings=settings)
    assert [step.recipe for step in built.steps] == ["annotate", "reseed"]
    assert len(built.questions) == 6
    assert all(question.graph and question.graph.facts for question in built.questions)


def test_a_large_model_writes_new_items_with_other_names(data: Path, settings: Settings) -> None:
    seeds = first_questions(load(data / "hotpotqa" / "hotpot_dev_distractor_sample.json"), 6)
    built = build("direct", seeds, settings=settings)
    assert len(built.questions) == 6
    asked = {question.id: question.text for question in seeds.questions}
    assert all(question.text != asked[question.parent] for question in built.questions)
