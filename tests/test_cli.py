"""The command line as a person meets it: help with examples, data on stdout, one-line errors, the right exit codes."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ragstone as ragstone_package
from ragstone.cli import app
from ragstone.report.table import results_table
from ragstone.score import Row
from ragstone.store import save
from ragstone.types import Benchmark

RAGSTONE = Path(sys.executable).parent / "ragstone"
PACKAGED_SAMPLE = Path(ragstone_package.__file__).parent / "sample"
COMMANDS = [command.name or "demo" for command in app.registered_commands]


def ragstone(*words: str | Path, cwd: Path | None = None, limit_file_size: int = 0) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        if limit_file_size:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit_file_size, limit_file_size))

    return subprocess.run([RAGSTONE, *words], capture_output=True, text=True, cwd=cwd, preexec_fn=limit)


def complains(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    """Exit code 2 and one line that says what, which and what to do."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    [line] = [line for line in done.stderr.splitlines() if line.startswith("ragstone: ")]
    for part in parts:
        assert part in line


# ── help ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    done = ragstone(command, "--help")
    assert done.returncode == 0
    assert f"Example: ragstone {command}" in done.stdout


def test_the_commands_are_listed_and_the_version_is_told() -> None:
    helped = ragstone("--help").stdout
    assert all(
        command in helped for command in ("build", "eval", "score", "report", "list", "show", "validate", "demo")
    )
    assert ragstone("--version").stdout.startswith("ragstone 0.")


# ── data on stdout ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_eval_prints_json_in_the_promised_form(tmp_path: Path) -> None:
    done = ragstone("eval", "sample", "--system", "bm25", "--metric", "recall@5", "--out", tmp_path / "run", "--json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)["systems"]["bm25"]["recall@5"]
    assert set(figures) == {"value", "low", "high", "n", "failed", "declined"}
    assert figures["low"] < figures["value"] < figures["high"]
    assert (figures["n"], figures["failed"]) == (24, 0)


def test_a_scripted_reader_lets_every_system_answer(tmp_path: Path) -> None:
    (tmp_path / "replies.jsonl").write_text('{"when": "", "reply": "Copenhagen"}\n', "utf-8")
    systems = [word for name in ("closed_book", "oracle", "long_context", "bm25") for word in ("--system", name)]
    done = ragstone(
        "eval",
        "sample",
        *systems,
        "--metric",
        "exact_match",
        "--model",
        "scripted:replies.jsonl",
        "--json",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)["systems"]
    assert {name: round(by["exact_match"]["value"] * 24) for name, by in results.items()} == dict.fromkeys(results, 1)
    assert len(results) == 4


def test_show_tells_a_question_with_its_evidence_and_an_answer_with_its_scores(tmp_path: Path) -> None:
    asked = ragstone("show", "sample", "q01").stdout
    assert "architect of the Sydney Opera House" in asked
    assert "answer: Copenhagen" in asked
    assert "evidence 2: jorn-utzon (Jørn Utzon): He was born in Copenhagen" in asked
    ragstone("eval", "sample", "--system", "bm25", "--metric", "recall@5", "--out", tmp_path / "run")
    answered = ragstone("show", tmp_path / "run", "q01").stdout
    assert "recall@5 0.500" in answered
    assert "* 1. sydney-opera-house" in answered
    assert "* 9. jorn-utzon (" in answered
    assert "Jørn Utzon was a Danish architect known for" in answered


def test_a_run_is_shown_whole_and_for_machines_too(tmp_path: Path) -> None:
    ragstone("eval", "sample", "--system", "bm25", "--metric", "recall@5", "--out", tmp_path / "run")
    record = json.loads(ragstone("show", tmp_path / "run", "--json").stdout)
    assert record["systems"]["bm25"]["recall@5"]["n"] == 24
    assert any("95 % intervals" in note for note in record["notes"])


def test_a_table_that_is_too_wide_for_the_terminal_gets_a_line_for_each_metric() -> None:
    metrics = ("f1", "recall@5", "mrr@10")
    rows = [Row(system, metric, 0.5, 0.4, 0.6, 24, 0, 0) for system in ("bm25", "dense") for metric in metrics]
    assert results_table(rows, []).columns == ("system", "f1", "recall@5", "mrr@10", "n", "failed", "declined")
    narrow = results_table(rows, [], width=80)
    assert narrow.columns == ("system", "metric", "mean", "n", "failed", "declined")
    assert narrow.width <= 80
    assert len(narrow.rows) == 6


def test_show_without_a_question_is_an_overview() -> None:
    overview = ragstone("show", "sample").stdout
    assert "24 questions, 64 documents" in overview
    assert "type: bridge 18, comparison 6" in overview


def test_validate_counts_and_finds_nothing_wrong_in_the_sample() -> None:
    done = ragstone("validate", "sample")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "sample: 64 documents, 24 questions, 0 problems"


def test_list_names_every_kind_with_its_fields() -> None:
    listed = ragstone("list").stdout
    assert all(kind in listed for kind in ("SOURCES", "RECIPES", "CHECKS", "SYSTEMS", "METRICS"))
    assert "k1=1.5  how fast repeated words stop counting" in listed
    assert set(json.loads(ragstone("list", "metrics", "--json").stdout)) == {"metrics"}


def test_build_then_eval_then_score_then_report(tmp_path: Path) -> None:
    steps = [
        ("build", "sample(by=type)", "sample", "--set", "n=12", "--out", "bench"),
        (
            "eval",
            "bench",
            "--system",
            "bm25",
            "--set",
            "k=20",
            "--metric",
            "recall@20",
            "--corpus",
            "pooled",
            "--out",
            "run",
        ),
        ("score", "run", "--metric", "ndcg@10"),
        ("report", "run", "--out", "page.html"),
        ("report", "run", "--out", "page.md"),
    ]
    for step in steps:
        done = ragstone(*step, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text("utf-8")
    assert '<th scope="row">bm25(k=20)</th>' in page
    assert "http" not in page
    assert "| bm25(k=20) |" in (tmp_path / "page.md").read_text("utf-8")


def test_an_out_folder_is_named_when_none_is_given(tmp_path: Path) -> None:
    done = ragstone("eval", "sample", "--system", "bm25", cwd=tmp_path)
    [run] = (tmp_path / "runs").iterdir()
    assert f"runs/{run.name}" in done.stderr
    assert (run / "run.json").exists()


# ── one line, what, which, what to do ────────────────────────────────────────────────────────────────────────────────


def test_an_unknown_name_is_answered_with_the_names_there_are(tmp_path: Path) -> None:
    evaluate = ("eval", "sample", "--out", tmp_path / "run")
    complains(ragstone(*evaluate, "--system", "bm26"), "no system named 'bm26'; there are closed_book, oracle")
    complains(
        ragstone(*evaluate, "--system", "bm25", "--metric", "recal@5"), "no metric named 'recal'; there are exact_match"
    )
    complains(
        ragstone("build", "samples", "sample", "--out", tmp_path / "b"), "no recipe named 'samples'; there are sample"
    )
    complains(ragstone("list", "things"), "nothing is listed under 'things'; there are sources")
    complains(ragstone(*evaluate, "--system", "bm25", "--set", "kk=3"), "--set kk=3 fits none of bm25")
    complains(ragstone(*evaluate, "--system", "bm25", "--set", "k=many"), "bm25.k: input should be a valid integer")
    complains(ragstone(*evaluate, "--system", "bm25", "--model", "gpt"), "no model 'gpt'; there are embedded")
    complains(ragstone(*evaluate, "--system", "bm25", "--model", "jury=gpt"), "no model role named 'jury'")
    complains(ragstone(*evaluate, "--system", "bm25", "--metric", "judged"), "judged needs a model as judge")
    complains(ragstone(*evaluate, "--system", "nowhere:Thing"), "cannot import system 'nowhere:Thing'")
    complains(ragstone("eval", "x" * 300, "--system", "bm25"), "file name too long")
    complains(ragstone("show", "x" * 300), "file name too long")
    complains(
        ragstone(*evaluate, "--system", "bm25", "--set", "bm25.kind=3"), "bm25.kind: extra inputs are not permitted"
    )
    complains(ragstone(*evaluate, "--system", "bm25(k1=inf)"), "bm25.k1: input should be a finite number")
    complains(ragstone(*evaluate, "--system", "..:x"), "cannot import system '..:x'")
    complains(ragstone("score", PACKAGED_SAMPLE, "--metric", "f1"), "is a benchmark, not a run")
    assert not (tmp_path / "run").exists()


def test_bad_input_is_one_line_and_nothing_is_half_written(tmp_path: Path) -> None:
    files = {
        "empty.json": "",
        "wrong.json": '{"some": "thing"}',
        "broken.json": '[{"_id": "1", "question": "?", "answer": "a",'
        ' "supporting_facts": [["T", 0]], "context": [["T", ["t"]]]},\n{"_id": "2"]',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    for name, part in {
        "empty.json": "is empty",
        "wrong.json": "in no format that Ragstone knows",
        "broken.json": "record 2 (line 2)",
        "missing.json": "does not exist",
    }.items():
        complains(ragstone("eval", tmp_path / name, "--system", "bm25", "--out", tmp_path / "run"), name, part)
    assert not (tmp_path / "run").exists()


def test_a_file_in_the_way_of_the_output_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    complains(ragstone("eval", "sample", "--system", "bm25", "--out", tmp_path / "file"), "is a file; choose a folder")
    complains(
        ragstone("eval", "sample", "--system", "bm25", "--out", tmp_path / "file" / "run"),
        "cannot write",
        "not a directory",
    )
    assert (tmp_path / "file").read_text() == "x"


def test_a_full_disk_is_said_plainly_and_the_run_goes_on_when_there_is_room(tmp_path: Path) -> None:
    command = ("eval", "sample", "--system", "bm25", "--metric", "recall@5", "--out", tmp_path / "run")
    ragstone("eval", "sample", "--system", "bm25", "--out", tmp_path / "warm")  # so that the index is in its cache
    complains(ragstone(*command, limit_file_size=9000), "cannot write", "file too large", "make room")
    assert not (tmp_path / "run" / "run.json").exists()
    assert ragstone(*command).returncode == 0
    plain = ragstone("eval", "sample", "--system", "bm25", "--metric", "recall@5", "--out", tmp_path / "plain")
    assert plain.returncode == 0
    assert (tmp_path / "run" / "answers.jsonl").read_bytes() == (tmp_path / "plain" / "answers.jsonl").read_bytes()


def test_a_damaged_index_cache_is_named(tmp_path: Path) -> None:
    cache = Path(os.environ["RAGSTONE_CACHE"])
    ragstone("eval", "sample", "--system", "bm25", "--out", tmp_path / "one")
    [weights] = cache.rglob("weights.*")
    weights.write_bytes(weights.read_bytes()[:-7])
    complains(
        ragstone("eval", "sample", "--system", "bm25", "--out", tmp_path / "two"), "damaged", "delete it and run again"
    )
    assert not (tmp_path / "two" / "run.json").exists()


def test_a_place_where_nobody_can_write_is_said_plainly() -> None:
    complains(ragstone("eval", "sample", "--system", "bm25", "--out", "/sys/ragstone"), "cannot write /sys/ragstone")


def test_a_full_disk_does_not_harm_a_finished_run(tmp_path: Path) -> None:
    ragstone("eval", "sample", "--system", "bm25", "--metric", "recall@5", "--out", tmp_path / "run")
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").glob("*.json*")}
    complains(ragstone("score", tmp_path / "run", "--metric", "mrr@10", limit_file_size=9000), "file too large")
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").glob("*.json*")} == before
    assert ragstone("score", tmp_path / "run", "--metric", "mrr@10").returncode == 0


MINE = """
import ragstone as rs

class Rag(rs.System):
    def open(self, documents, kit):
        return lambda query: rs.Answer(text="Copenhagen")

class Long(rs.Metric):
    most: int = rs.identity(10, "letters")

    def score(self, question, answer, kit):
        return rs.Score(value=min(1.0, len(answer.text) / self.most))
"""


def test_components_of_the_users_own_are_found_in_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE, "utf-8")
    metrics = ("--metric", "mine:Long", "--metric", "covered", "--set", "long.most=20")
    done = ragstone("eval", "sample", "--system", "mine:Rag", *metrics, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)["systems"]["rag"]
    assert figures["long(most=20)"]["value"] == 0.5
    assert round(figures["covered"]["value"] * 24) == 1


def test_ctrl_c_says_that_nothing_is_lost(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW, "utf-8")
    command = [str(RAGSTONE), "eval", "sample", "--system", "slow:Slow", "--metric", "covered", "--out", "run"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not any(path.stat().st_size for path in (tmp_path / "run").glob("journal-*")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert "ragstone: interrupted; the same command goes on from here" in errors
    assert "Traceback" not in errors
    complains(ragstone("show", tmp_path / "run"), "is not finished; run the command that began it again")


SLOW = """
import time
import ragstone as rs

class Slow(rs.System):
    def open(self, documents, kit):
        def answer(query):
            time.sleep(0.2)
            return rs.Answer(text="x")
        return answer
"""


def test_a_full_stdout_is_said_plainly() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([RAGSTONE, "list"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("ragstone: cannot write the result: no space left on device")


def test_text_cannot_command_the_terminal(rivers: Benchmark, tmp_path: Path) -> None:
    loud = rivers.questions[0].model_copy(update={"text": "red \x1b[31m bell \x07 ?"})
    save(rivers.model_copy(update={"questions": (loud,)}), tmp_path / "bench")
    shown = ragstone("show", tmp_path / "bench", "q-nile").stdout
    assert "red [31m bell  ?" in shown
    assert "\x1b" not in shown


def test_a_file_in_another_format_is_not_valid(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1]", "utf-8")
    done = ragstone("validate", tmp_path / "a.json", "--format", "folder")
    assert done.returncode == 2
    assert "1 problem\n" in done.stdout


def test_validate_lists_what_is_wrong_and_exits_with_2(rivers: Benchmark, tmp_path: Path) -> None:
    lost = rivers.questions[0].model_copy(update={"scope": ("thames",)})
    save(rivers.model_copy(update={"questions": (lost, *rivers.questions[:1])}), tmp_path / "bench")
    done = ragstone("validate", tmp_path / "bench")
    assert done.returncode == 2
    assert "2 problems" in done.stdout
    assert "its scope names document 'thames', which does not exist" in done.stdout
    assert "question 'q-nile' appears twice" in done.stdout


def test_a_wrong_flag_exits_with_2() -> None:
    done = ragstone("eval", "sample", "--sistem", "bm25")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_settings_come_from_flags_before_environment_before_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ragstone.toml").write_text('[models]\nreader = "scripted:absent.jsonl"\n', "utf-8")
    complains(ragstone("eval", "sample", "--system", "oracle", cwd=tmp_path), "absent.jsonl")
    (tmp_path / "ragstone.toml").write_text("concurrancy = 3\n", "utf-8")
    complains(ragstone("eval", "sample", "--system", "bm25", cwd=tmp_path), "concurrancy", "there are models, base_url")
    (tmp_path / "ragstone.toml").write_text('models = "gpt"\n', "utf-8")
    complains(ragstone("eval", "sample", "--system", "bm25", cwd=tmp_path), "models must be a table")
    (tmp_path / "ragstone.toml").write_text("not toml", "utf-8")
    complains(ragstone("eval", "sample", "--system", "bm25", cwd=tmp_path), "cannot read ragstone.toml")
