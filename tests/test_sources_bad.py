"""What is wrong with data is said in one line with its place, and skipped only on demand."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ragstone import plugins
from ragstone.errors import DataError
from ragstone.kit import Source
from ragstone.load import load

HOTPOT: dict[str, Any] = {
    "_id": "h1",
    "question": "Who?",
    "answer": "Ann",
    "type": "bridge",
    "supporting_facts": [["Ann", 0]],
    "context": [["Ann", ["Ann is.", " She was."]]],
}


def array(path: Path, *elements: str) -> Path:
    path.write_text("[" + ",\n".join(elements) + "]")
    return path


def hotpot(**changes: Any) -> str:
    return json.dumps(HOTPOT | changes)


@pytest.mark.parametrize(
    ("element", "problem"),
    [
        (hotpot(question=None), "question: input should be a valid string"),
        (hotpot(answer="  "), "answer: string should have at least 1 character"),
        (hotpot(context=[["Ann"]]), "context.0.1: field required"),
        (hotpot(context="[[1"), "context: Expecting"),
        (hotpot(supporting_facts=[["Bob", 0]]), "its supporting fact names 'Bob', which is none of its paragraphs"),
        ('"text"', "is not a JSON object"),
        (hotpot(answer="half \ud800 a character"), "has half a character"),
    ],
)
def test_a_bad_record_of_an_array_is_named_with_its_number_and_line(tmp_path: Path, element: str, problem: str) -> None:
    path = array(tmp_path / "h.json", hotpot(), element, hotpot(_id="h3"))
    with pytest.raises(DataError) as caught:
        load(path)
    assert f"h.json, record 2 (line 2): {problem}" in str(caught.value)
    assert "--skip-bad" in str(caught.value)
    benchmark = load(path, skip_bad=True)
    assert [question.id for question in benchmark.questions] == ["h1", "h3"]
    assert benchmark.about.notes[-1].startswith("1 bad record skipped; the first: ")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"[{hotpot()},\n{{broken", r"record 2 \(line 2\): broken JSON .*neither it nor anything after it"),
        (f"[{hotpot()}\n", r"record 1 \(line 1\): no comma or closing bracket follows"),
        (f"[{hotpot()}]\n[]", "after record 1: there is more after the closing bracket"),
        ("[" + hotpot() + "," + "[" * 100_000, r"record 2 \(line 1\): broken JSON"),
    ],
    ids=["broken", "cut off", "two arrays", "too deep"],
)
def test_a_broken_array_is_an_error_that_says_where_reading_stopped(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "h.json"
    path.write_text(text)
    with pytest.raises(DataError, match=problem):
        load(path)
    assert len(load(path, skip_bad=True).questions) == 1


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"id": ', "broken JSON"),
        (b'{"id": 1} {"id": 2}', "broken JSON (extra data at character 11)"),
        (b'{"id": "caf\xe9"}', "not UTF-8"),
        (b'{"id": "q", "fact1": "a"}', "question: field required"),
    ],
)
def test_a_bad_line_is_named_with_its_number(tmp_path: Path, line: bytes, problem: str) -> None:
    choices = [{"text": "ice", "label": "A"}]
    good = {"id": 1, "question": {"stem": "?", "choices": choices}, "answerKey": "A", "fact1": "f", "fact2": "g"}
    path = tmp_path / "qasc.jsonl"
    path.write_bytes(b"\n".join((json.dumps(good).encode(), b"", line)))
    with pytest.raises(DataError) as caught:
        load(path)
    assert f"qasc.jsonl, line 3: {problem}" in str(caught.value)
    assert [question.id for question in load(path, skip_bad=True).questions] == ["1"]


def test_the_test_split_of_qasc_without_answers_is_bad(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    path.write_text(json.dumps({"id": "q", "question": {"stem": "?", "choices": []}}))
    with pytest.raises(DataError, match="line 1: answerKey: field required"):
        load(path)
    with pytest.raises(DataError, match="no usable question"):
        load(path, skip_bad=True)


def test_a_musique_step_without_its_paragraph_is_bad(tmp_path: Path) -> None:
    step = {"question": "a >> b", "answer": "c", "paragraph_support_idx": 4}
    row = {"id": "2hop__1", "question": "?", "answer": "c", "paragraphs": [], "question_decomposition": [step]}
    path = tmp_path / "m.jsonl"
    path.write_text(json.dumps(row))
    with pytest.raises(DataError, match="line 1: step 1 rests on paragraph 4, which does not exist"):
        load(path)


def test_judgements_of_unknown_documents_and_queries_are_bad(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d", "text": "t"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "t"}\n')
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\nq\tx\t1\nx\td\t1\nq\td\n")
    with pytest.raises(DataError, match=r"line 3: document 'x' is not in corpus.jsonl"):
        load(tmp_path)
    benchmark = load(tmp_path, skip_bad=True)
    assert len(benchmark.questions[0].evidence) == 1
    assert benchmark.about.notes[-1].startswith("3 bad records skipped")


def test_a_hawkbench_question_about_a_missing_text_is_bad(tmp_path: Path) -> None:
    (tmp_path / "level_1").mkdir()
    row = {"_id": "k", "input": "?", "answers": ["a"], "context_id": "gone"}
    (tmp_path / "level_1" / "art.jsonl").write_text(json.dumps(row))
    (tmp_path / "all_context.json").write_text('{"t": {"context": "text"}}')
    with pytest.raises(DataError, match=r"art.jsonl, line 1: its context_id 'gone' is not in all_context.json"):
        load(tmp_path)


def test_multihop_rag_without_its_corpus_says_what_is_missing(tmp_path: Path) -> None:
    row = {"query": "?", "answer": "a", "question_type": "inference_query", "evidence_list": []}
    (tmp_path / "MultiHopRAG.json").write_text(json.dumps([row]))
    with pytest.raises(DataError, match=r"put its corpus.json or corpus_chunks.jsonl beside the queries"):
        load(tmp_path)


# ── what holds in every format ───────────────────────────────────────────────────────────────────────────────────────


def test_two_questions_with_one_id_are_an_error_and_the_second_can_be_skipped(tmp_path: Path) -> None:
    path = array(tmp_path / "h.json", hotpot(), hotpot(question="Another?"), hotpot(question="A third?"))
    with pytest.raises(DataError, match=r"question 'h1' appears twice \(and 1 more problems\)"):
        load(path)
    benchmark = load(path, skip_bad=True)
    assert [question.text for question in benchmark.questions] == ["Who?"]
    assert benchmark.about.notes[-1].startswith("2 bad records skipped")


def test_two_different_documents_with_one_id_are_an_error_even_when_skipping(tmp_path: Path) -> None:
    row = {"parent": "p", "dimension": "d", "child": "c", "predicate": "r", "value": "1", "id": "F1"}
    path = tmp_path / "facts.jsonl"
    path.write_text(json.dumps(row) + "\n" + json.dumps(row | {"value": "2"}))
    with pytest.raises(DataError, match="document 'F1' appears twice"):
        load(path)
    with pytest.raises(DataError, match="two different documents have the id 'F1'"):
        load(path, skip_bad=True)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("empty.json", b"", "is empty"),
        ("blank.jsonl", b"\n \n", "is in no format that Ragstone knows; there are benchmark_folder, hotpotqa"),
        ("other.json", b'{"some": "thing"}', "name one with --format"),
        ("noise.bin", bytes(range(256)), "is in no format"),
    ],
)
def test_a_file_in_no_known_format_is_an_error_that_lists_the_formats(
    tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=problem):
        load(tmp_path / name)


def test_a_path_with_nothing_at_it_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        load(tmp_path / "gone")
    with pytest.raises(DataError, match="is an empty folder"):
        load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="neither a file nor a folder"):
        load(tmp_path / "pipe")


def test_an_empty_list_has_no_usable_question(tmp_path: Path) -> None:
    path = array(tmp_path / "h.json")
    with pytest.raises(DataError, match="no usable question"):
        load(path, format="hotpotqa")


def test_the_wrong_format_is_an_error_at_the_first_record(tmp_path: Path) -> None:
    path = array(tmp_path / "h.json", hotpot())
    with pytest.raises(DataError, match=r"record 1 \(line 1\): id: field required"):
        load(path, format="musique")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"[", b"{", b"[1, 2", b"null", b'"' * 99, b"[" * 99_999])
def test_no_format_but_texts_recognises_garbage_or_falls_over_it(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "garbage").write_bytes(content)
    for name in plugins.SOURCES:
        source = plugins.create(Source, name)
        assert not source.recognises(tmp_path / "garbage")
        assert not source.recognises(tmp_path / "gone")
        assert not source.recognises(tmp_path)


def test_a_format_is_recognised_though_its_first_record_is_broken(tmp_path: Path) -> None:
    path = array(tmp_path / "h.json", hotpot()[:-1] + "broken}", hotpot())
    with pytest.raises(DataError, match=r"record 1 \(line 1\): broken JSON"):
        load(path)


def test_every_format_has_the_name_it_is_listed_under() -> None:
    assert [plugins.create(Source, name).name for name in plugins.SOURCES] == list(plugins.SOURCES)
