"""The real samples, with the figures that their README states."""

import time
from collections import Counter
from pathlib import Path

import pytest

from ragstone.load import load
from ragstone.store import problems


@pytest.mark.parametrize(
    ("place", "name", "questions", "documents", "note"),
    [
        ("hotpotqa/hotpot_dev_distractor_sample.json", "HotpotQA", 239, 2375, "2,382 passages pooled to 2,375"),
        ("2wikimultihopqa/dev_sample.json", "2WikiMultihopQA", 399, 2728, "3,990 passages pooled to 2,728"),
        ("musique/musique_ans_v1.0_dev_sample.jsonl", "MuSiQue", 242, 3822, "4,840 passages pooled to 3,822"),
        ("qasc/dev_sample.jsonl", "QASC", 553, 586, "1,106 passages pooled to 586"),
        (
            "multihoprag/MultiHopRAG_sample.json",
            "MultiHop-RAG",
            307,
            3004,
            "601 of 711 evidence facts found in the corpus; 179 of 267 answerable queries fully covered",
        ),
        ("facts/triplets.jsonl", "triplets", 0, 6507, ""),
        ("corpora", "corpora", 0, 60, "files that are no texts ignored: 1 .jsonl"),
    ],
)
def test_a_real_sample_loads_whole_and_quickly(
    data: Path, place: str, name: str, questions: int, documents: int, note: str
) -> None:
    begin = time.process_time()
    benchmark = load(data / place)
    assert time.process_time() - begin < 5
    assert benchmark.about.name == name
    assert (len(benchmark.questions), len(benchmark.documents)) == (questions, documents)
    assert "".join(benchmark.about.notes).startswith(note)
    assert not list(problems(benchmark))
    assert benchmark.about.licences


def test_every_supporting_sentence_of_the_real_samples_is_quoted(data: Path) -> None:
    for place in ("hotpotqa/hotpot_dev_distractor_sample.json", "2wikimultihopqa/dev_sample.json"):
        benchmark = load(data / place)
        pieces = [piece for question in benchmark.questions for group in question.evidence for piece in group]
        assert pieces
        assert all(piece.quote == piece.quote.strip() != "" for piece in pieces)


def test_the_real_multihop_rag_labels_say_how_much_evidence_the_corpus_has(data: Path) -> None:
    questions = load(data / "multihoprag").questions
    assert Counter(question.labels.get("evidence") for question in questions) == {
        "full": 179,
        "partial": 70,
        "none": 18,
        None: 40,
    }
    assert sum(not question.answerable for question in questions) == 40


def test_the_real_corpora_have_their_domains_and_licences(data: Path) -> None:
    benchmark = load(data / "corpora")
    assert len({document.labels["domain"] for document in benchmark.documents}) == 8
    assert len(benchmark.about.licences) == 10
    assert benchmark.about.language == "en"
