"""Whole commands with models: columns, repeats, time, budgets, batches, kills, secrets, and errors of one line."""

import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from fault_server import Answer, FaultServer, Request, Script, completion, mixed, reply_to
from ragstone.config import Settings
from ragstone.errors import BudgetReached, ConfigError
from ragstone.evaluate import evaluate, foresee, rescore
from ragstone.llm.cache import FILE
from ragstone.report.show import shown_item
from ragstone.run_folder import load_run
from ragstone.stats import wilson
from ragstone.store import save
from ragstone.types import Benchmark, Document, Evidence, Question

RAGSTONE = Path(sys.executable).parent / "ragstone"
KEY = "sk-never-to-be-written-4711"
VERDICT = '{"reason": "it says so", "verdict": "correct"}'
DATA_FILES = ("answers.jsonl", "failures.jsonl", "scores.jsonl", "questions.jsonl", "run.json")


def many_questions(count: int) -> Benchmark:
    document = Document(id="d", text="Nothing to see.")
    questions = tuple(
        Question(
            id=f"q{n}", text=f"What is number {n}?", answers=((f"x{n}",),), evidence=((Evidence(document_id="d"),),)
        )
        for n in range(count)
    )
    return Benchmark(documents=(document,), questions=questions)


def chosen(tmp_path: Path, server: FaultServer, **more: object) -> Settings:
    return Settings(**{"cache": tmp_path / "cache", "base_url": server.url, "concurrency": 8, **more})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    monkeypatch.setenv("RAGSTONE_API_KEY", KEY)
    with FaultServer() as running:
        yield running


def ragstone(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command as a user runs it."""
    command = [str(RAGSTONE), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})


def said(done: subprocess.CompletedProcess[str]) -> str:
    """The one line in which a command that stopped says why."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("ragstone: ")]
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    return lines[0]


# ── columns, repeats, time ───────────────────────────────────────────────────────────────────────────────────────────


def test_several_readers_are_several_columns(tmp_path: Path, server: FaultServer) -> None:
    models = {"reader": ("openai:small", "openai:large")}
    run = evaluate(many_questions(3), ["closed_book"], ["f1"], settings=chosen(tmp_path, server, models=models))
    place = server.url.removeprefix("http://")
    assert list(run.manifest.systems) == [f"closed_book [openai:{name}@{place}]" for name in ("small", "large")]
    assert {row.n for row in run.rows} == {3}
    assert {request.body["model"] for request in server.requests} == {"small", "large"}


def test_a_second_reader_joins_a_run_and_the_first_is_not_asked_again(tmp_path: Path, server: FaultServer) -> None:
    settings = chosen(tmp_path, server)
    source, out = many_questions(3), tmp_path / "run"
    evaluate(source, ["closed_book"], ["f1"], model="openai:small", out=out, settings=settings)
    run = evaluate(source, ["closed_book"], ["f1"], model=["openai:small", "openai:large"], out=out, settings=settings)
    assert [name.partition("@")[0] for name in run.manifest.systems] == [
        "closed_book [openai:small",
        "closed_book [openai:large",
    ]
    assert sum(request.body["model"] == "small" for request in server.requests) == 3


def test_repeats_are_calls_of_their_own_and_n_counts_questions(tmp_path: Path, server: FaultServer) -> None:
    settings = chosen(tmp_path, server)
    run = evaluate(many_questions(4), ["closed_book"], ["f1"], repeats=3, model="openai:m", settings=settings)
    assert set(server.counts.values()) == {3}
    assert [row.n for row in run.rows] == [4]
    assert sorted({(entry.question_id, entry.repeat) for entry in run.answers}) == [
        (f"q{n}", repeat) for n in range(4) for repeat in range(3)
    ]
    assert "asked 3 times" in " ".join(run.notes)


def test_repeats_that_disagree_count_for_more_than_one_and_less_than_all(tmp_path: Path, server: FaultServer) -> None:
    """Right in one of two repeats, in both or in none, in turn: worth more than 24 scores and less than 48."""
    patterns = ("xy", "xx", "yy", "yx")

    def reply(request: Request) -> Answer:
        number = int(re.findall(r"Number (\d+)", request.prompt)[0])
        return Answer(200, completion(patterns[number % 4][request.attempt]))

    server.script = reply
    source = Benchmark(
        questions=tuple(Question(id=f"q{n}", text=f"Number {n}?", answers=(("x",),)) for n in range(24)),
        documents=(Document(id="d", text="t"),),
    )
    settings = chosen(tmp_path, server, models={"reader": "openai:m"})
    [row] = evaluate(source, ["closed_book"], ["exact_match"], repeats=2, settings=settings).rows
    assert (row.value, row.n) == (0.5, 24)
    once, all_apart = wilson([0.0, 1.0] * 12), wilson([0.0, 1.0] * 24)
    assert once is not None
    assert all_apart is not None
    assert once.low < (row.low or 0) < all_apart.low


def test_a_run_keeps_usage_and_what_it_cost(tmp_path: Path, server: FaultServer) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('["m"]\ninput = 1.0\noutput = 10.0\n', "utf-8")
    settings = chosen(tmp_path, server, prices=prices)
    run = evaluate(many_questions(2), ["closed_book"], ["f1"], model="openai:m", settings=settings)
    [cost] = run.costs
    assert (cost.calls, cost.input_tokens, cost.output_tokens) == (2, 40, 10)
    assert cost.money == pytest.approx((40 * 1.0 + 10 * 10.0) / 1e6)
    again = evaluate(many_questions(2), ["closed_book"], ["f1"], model="openai:m", settings=settings)
    assert again.answers == run.answers  # from the cache, and yet the same usage
    assert len(server.requests) == 2


def test_only_a_timed_run_shows_seconds_and_it_makes_one_call_at_a_time(tmp_path: Path, server: FaultServer) -> None:
    server.latency = 0.02
    settings = chosen(tmp_path, server)
    evaluate(many_questions(4), ["closed_book"], ["f1"], model="openai:m", settings=settings)
    server.peak = 0
    out = tmp_path / "timed"
    run = evaluate(many_questions(4), ["closed_book"], ["f1"], model="openai:m", timed=True, out=out, settings=settings)
    assert len(server.requests) == 4 + 1 + 4  # nothing came from the cache, and one call went ahead to warm up
    assert server.peak == 1
    [cost] = run.costs
    assert 0.02 <= (cost.median_seconds or 0) <= (cost.slow_seconds or 0) < 1
    assert run.manifest.hardware
    assert "95th percentile" in str(load_run(out).cost_table())


def test_a_timed_run_recalls_nothing_for_systems_and_pays_no_verdict_twice(tmp_path: Path, server: FaultServer) -> None:
    server.script = judging({"number": VERDICT})
    models, settings = ["openai:m", "judge=openai:judge"], chosen(tmp_path, server)
    for name in ("first", "second"):
        out = tmp_path / name
        evaluate(many_questions(3), ["closed_book"], ["judged"], model=models, timed=True, out=out, settings=settings)
    asked = [request.body["model"] for request in server.requests]
    assert asked.count("m") == 2 * (1 + 3)
    assert asked.count("judge") == 3


def test_a_repeated_answer_is_shown_with_its_own_scores_and_failures(tmp_path: Path, server: FaultServer) -> None:
    server.script = lambda request: Answer(400) if request.attempt == 1 else None
    settings = chosen(tmp_path, server, concurrency=1)
    evaluate(
        many_questions(1), ["closed_book"], ["f1"], model="openai:m", repeats=3, out=tmp_path / "run", settings=settings
    )
    lines = shown_item(str(tmp_path / "run"), "q0")[1].splitlines()
    said = [line for line in lines if line.startswith("closed_book")]
    assert [line.partition(":")[0] for line in said] == ["closed_book", "closed_book, time 2", "closed_book, time 3"]
    assert ["failed" in line for line in said] == [False, True, False]
    assert sum(line.startswith("  f1 ") for line in lines) == 2


def test_an_answer_stays_an_answer_when_a_column_made_alike_had_failed(tmp_path: Path, server: FaultServer) -> None:
    server.script = lambda request: Answer(400) if "number 1?" in request.prompt else None
    settings, out = chosen(tmp_path, server), tmp_path / "run"
    source, both = many_questions(3), ["openai:a", "openai:b"]
    evaluate(source, ["closed_book"], ["f1"], model="openai:a", out=out, settings=settings)
    server.script = lambda request: None
    evaluate(source, ["closed_book"], ["f1"], model=both, out=out, settings=settings, retry_failed=True)
    run = evaluate(source, ["closed_book"], ["f1"], model=both, out=out, settings=settings)
    assert {row.system: (row.n, row.failed) for row in run.rows if "[" in row.system} == {
        name: (3, 0) for name in run.manifest.systems if "[" in name
    }


def test_a_run_that_was_judged_needs_its_judge_before_a_new_system_is_asked(
    tmp_path: Path, server: FaultServer
) -> None:
    server.script = judging({"number": VERDICT})
    settings, out, source = chosen(tmp_path, server), tmp_path / "run", many_questions(3)
    models = ["openai:m", "judge=openai:judge"]
    evaluate(source, ["closed_book"], ["judged"], model=models, out=out, settings=settings)
    asked = len(server.requests)
    with pytest.raises(ConfigError, match="judged needs a model as judge"):
        evaluate(source, ["oracle"], ["f1"], model="openai:m", out=out, settings=settings)
    assert len(server.requests) == asked


def test_a_role_that_does_not_exist_is_an_error_from_python_too(rivers: Benchmark) -> None:
    with pytest.raises(ConfigError, match="no model role named 'jugde'"):
        evaluate(rivers, ["bm25"], model="jugde=openai:x")


# ── budget and forecast ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_budget_stops_with_exit_code_4_and_a_higher_one_goes_on(tmp_path: Path, server: FaultServer) -> None:
    save(many_questions(20), tmp_path / "bench")
    asked = ["eval", tmp_path / "bench", "--system", "closed_book", "--model", "openai:m", "--base-url", server.url]
    asked += ["--out", tmp_path / "run", "--metric", "f1", "--concurrency", 4]
    stopped = ragstone(*asked, "--budget", "7calls")
    assert stopped.returncode == 4
    assert "7" in said(stopped)
    assert len(server.requests) == 7
    again = ragstone(*asked, "--budget", "7calls")
    assert again.returncode == 4
    assert len(server.requests) == 7  # what was spent before counts
    done = ragstone(*asked, "--budget", "20calls")
    assert done.returncode == 0, done.stderr
    assert len(server.requests) == 20
    assert set(server.counts.values()) == {1}


def test_a_budget_of_money_needs_a_price(tmp_path: Path, server: FaultServer) -> None:
    settings = chosen(tmp_path, server, budget="1")
    with pytest.raises(ConfigError, match="price"):
        evaluate(many_questions(2), ["closed_book"], model="openai:m", settings=settings)
    assert not server.requests


def test_money_is_never_overspent(tmp_path: Path, server: FaultServer) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('["m"]\ninput = 1000.0\noutput = 0.0\n', "utf-8")  # 2 cents a call
    settings = chosen(tmp_path, server, prices=prices, budget="0.2")
    with pytest.raises(BudgetReached):
        evaluate(many_questions(100), ["closed_book"], ["f1"], model="openai:m", settings=settings)
    assert 8 <= len(server.requests) <= 10


def test_a_dry_run_asks_nothing_and_foresees_every_call(tmp_path: Path, server: FaultServer) -> None:
    settings = chosen(tmp_path, server)
    [before] = foresee(many_questions(5), ["closed_book"], ["f1"], model="openai:m", settings=settings)
    assert not server.requests
    assert (before.stage, before.calls, before.recalled) == ("closed_book", 5, 0)
    assert before.input_tokens > 0
    evaluate(many_questions(3), ["closed_book"], ["f1"], model="openai:m", settings=settings)
    [after] = foresee(many_questions(5), ["closed_book"], ["f1"], model="openai:m", settings=settings)
    assert (after.calls, after.recalled) == (5, 3)
    assert len(server.requests) == 3


def test_a_dry_run_of_a_timed_run_counts_nothing_as_recalled(tmp_path: Path, server: FaultServer) -> None:
    settings = chosen(tmp_path, server)
    evaluate(many_questions(3), ["closed_book"], ["f1"], model="openai:m", settings=settings)
    [row] = foresee(many_questions(3), ["closed_book"], ["f1"], model="openai:m", timed=True, settings=settings)
    assert (row.calls, row.recalled) == (3, 0)


def test_a_dry_run_foresees_the_judge_too(tmp_path: Path, server: FaultServer) -> None:
    settings = chosen(tmp_path, server)
    models = ["openai:m", "judge=openai:judge"]
    foreseen = foresee(many_questions(5), ["closed_book"], ["judged"], model=models, settings=settings)
    assert [(row.stage, row.calls) for row in foreseen] == [("closed_book", 5), ("judged", 5)]
    assert not server.requests


# ── batches ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def answer_batch(folder: Path, skip: int = 0, fail: Sequence[str] = ()) -> None:
    """Answers the requests as a batch service would, all but the first few."""
    lines = []
    for line in (folder / "requests.jsonl").read_bytes().splitlines()[skip:]:
        request = orjson.loads(line)
        prompt = request["body"]["messages"][-1]["content"]
        body = orjson.loads(completion(reply_to(prompt)))
        response = {"custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}, "error": None}
        if any(words in prompt for words in fail):
            response |= {"response": None, "error": {"code": "batch_expired", "message": "too late"}}
        lines.append(orjson.dumps(response) + b"\n")
    (folder / "responses.jsonl").write_bytes(b"".join(lines))


def test_a_batch_gives_the_same_answers_as_a_server(tmp_path: Path, server: FaultServer) -> None:
    save(many_questions(6), tmp_path / "bench")
    asked = ["eval", tmp_path / "bench", "--system", "closed_book", "--metric", "f1", "--base-url", server.url]
    batch = [*asked, "--model", f"batch:m@{tmp_path / 'calls'}", "--out", tmp_path / "batched"]
    waiting = ragstone(*batch)
    assert waiting.returncode == 3
    assert "6 calls wait" in said(waiting)
    answer_batch(tmp_path / "calls", skip=2)
    partly = ragstone(*batch)
    assert partly.returncode == 3
    assert "2 calls wait" in said(partly)
    answer_batch(tmp_path / "calls")
    done = ragstone(*batch)
    assert done.returncode == 0, done.stderr
    assert not server.requests
    plain = ragstone(
        *asked, "--model", "openai:m", "--out", tmp_path / "plain", RAGSTONE_CACHE=str(tmp_path / "another cache")
    )
    assert plain.returncode == 0, plain.stderr
    for name in DATA_FILES[:3]:
        assert (tmp_path / "batched" / name).read_bytes() == (tmp_path / "plain" / name).read_bytes(), name


def test_an_error_in_a_batch_is_a_failure_that_can_be_tried_again(tmp_path: Path, server: FaultServer) -> None:
    save(many_questions(4), tmp_path / "bench")
    asked = ["eval", tmp_path / "bench", "--system", "closed_book", "--metric", "f1", "--out", tmp_path / "run"]
    asked += ["--model", f"batch:m@{tmp_path / 'calls'}"]
    assert ragstone(*asked).returncode == 3
    answer_batch(tmp_path / "calls", fail=["number 2"])
    assert ragstone(*asked).returncode == 0
    [failure] = load_run(tmp_path / "run").failures
    assert failure.question_id == "q2"
    assert "too late" in failure.value.error
    assert ragstone(*asked, "--retry-failed").returncode == 3
    answer_batch(tmp_path / "calls")
    assert ragstone(*asked, "--retry-failed").returncode == 0
    assert not load_run(tmp_path / "run").failures


def test_a_batch_judge_waits_after_the_answers_are_safe(tmp_path: Path, server: FaultServer) -> None:
    save(many_questions(3), tmp_path / "bench")
    asked = ["eval", tmp_path / "bench", "--system", "closed_book", "--metric", "judged", "--base-url", server.url]
    asked += ["--model", "openai:m", "--model", f"judge=batch:j@{tmp_path / 'calls'}", "--out", tmp_path / "run"]
    assert ragstone(*asked).returncode == 3
    assert len(server.requests) == 3
    assert ragstone(*asked).returncode == 3
    assert len(server.requests) == 3  # the readers' answers are in the journal


# ── judges ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def judging(verdicts: Mapping[str, str]) -> Script:
    """A server whose judge says what the script wants, by words of the question."""

    def script(request: Request) -> Answer | None:
        if request.body["model"] != "judge":
            return None
        found = [reply for words, reply in verdicts.items() if words in json.dumps(request.body["messages"])]
        return Answer(200, completion(found[0])) if found else None

    return script


def test_an_unusable_verdict_is_a_failure_and_never_a_wrong_answer(tmp_path: Path, server: FaultServer) -> None:
    server.script = judging({"number": "I would rather not say."})
    settings = chosen(tmp_path, server)
    models = ["openai:m", "judge=openai:judge"]
    run = evaluate(many_questions(4), ["closed_book"], ["judged"], model=models, settings=settings)
    [row] = run.rows
    assert (row.n, row.failed, row.value) == (0, 4, None)
    assert "judged of closed_book 4" in " ".join(run.notes)


def test_another_judge_may_score_what_the_first_failed_on_altogether(tmp_path: Path, server: FaultServer) -> None:
    server.script = judging({"number": "I would rather not say."})
    settings, out, source = chosen(tmp_path, server), tmp_path / "run", many_questions(2)
    evaluate(source, ["closed_book"], ["judged"], model=["openai:m", "judge=openai:judge"], out=out, settings=settings)
    server.script = lambda request: Answer(200, completion(VERDICT)) if request.body["model"] == "wise" else None
    run = evaluate(
        source, ["closed_book"], ["judged"], model=["openai:m", "judge=openai:wise"], out=out, settings=settings
    )
    assert [(row.n, row.failed, row.value) for row in run.rows] == [(2, 0, 1.0)]


def test_an_unusable_verdict_is_asked_for_anew_when_it_is_tried_again(tmp_path: Path, server: FaultServer) -> None:
    server.script = judging({"number": "I would rather not say."})
    settings, out, source = chosen(tmp_path, server), tmp_path / "run", many_questions(2)
    models = ["openai:m", "judge=openai:judge"]
    evaluate(source, ["closed_book"], ["judged"], model=models, out=out, settings=settings)
    server.script = judging({"number": VERDICT})
    run = evaluate(source, ["closed_book"], ["judged"], model=models, out=out, settings=settings, retry_failed=True)
    assert [(row.n, row.failed, row.value) for row in run.rows] == [(2, 0, 1.0)]


def test_a_judge_that_is_also_the_reader_is_flagged(tmp_path: Path, server: FaultServer) -> None:
    server.script = judging({})
    settings = chosen(tmp_path, server)
    run = evaluate(
        many_questions(2),
        ["closed_book"],
        ["judged"],
        model=["openai:m", "judge=openai:m(temperature=0.5)"],
        settings=settings,
    )
    assert any("also a reader" in note for note in run.notes)


# ── kill -9 ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_ten_kills_change_no_byte_and_repeat_no_committed_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults are a pure function of the request; every call whose reply was committed is made once."""
    monkeypatch.setenv("RAGSTONE_API_KEY", KEY)
    questions, concurrency = 600, 16
    save(many_questions(questions), tmp_path / "bench")

    def command(server: FaultServer, name: str) -> list[str]:
        asked = ["eval", tmp_path / "bench", "--system", "closed_book", "--model", "openai:m", "--metric", "f1"]
        asked += ["--base-url", server.url, "--concurrency", concurrency, "--out", tmp_path / name]
        return [str(RAGSTONE), *map(str, asked)]

    def environment(name: str) -> dict[str, str]:
        return {**os.environ, "RAGSTONE_CACHE": str(tmp_path / f"{name}-cache")}

    quick = mixed(0.1, kinds=("429", "500", "reset", "truncated", "malformed"))
    with FaultServer(quick, latency=0.02) as server:
        port = int(server.url.rsplit(":", 1)[1].split("/")[0])
        subprocess.run(command(server, "plain"), check=True, capture_output=True, env=environment("plain"))
    with FaultServer(quick, latency=0.02, port=port) as server:  # the same address: it is part of the model's name
        repeated = kills(command(server, "killed"), environment("killed"), server, tmp_path, questions)
        subprocess.run(command(server, "killed"), check=True, capture_output=True, env=environment("killed"))
        answered = {id(request): request for request in server.requests if quick(request) is None}
        twice = len(answered) - questions
    assert sum(repeated) >= 8, f"too few kills met the run at work: {repeated}"
    assert 0 <= twice <= concurrency * sum(repeated)
    for name in DATA_FILES:
        assert (tmp_path / "plain" / name).read_bytes() == (tmp_path / "killed" / name).read_bytes(), name


def kills(
    command: list[str], environment: Mapping[str, str], server: FaultServer, tmp_path: Path, questions: int
) -> list[bool]:
    """Kills the command at ten moments; before each next start, asks the cache what was committed."""
    met = []
    for moment in sorted(random.Random(4).uniform(0, 0.95) for _ in range(10)):
        known = prompts_committed(tmp_path / "killed-cache") if (tmp_path / "killed-cache" / FILE).exists() else set()
        begun = len(server.requests)
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and committed(tmp_path / "killed-cache") < moment * questions:
            time.sleep(0.005)
        met.append(process.poll() is None)
        process.kill()
        process.wait()
        again = known & {request.prompt for request in server.requests[begun:]}
        assert not again, "a call whose reply was committed was made again"
    return met


def prompts_committed(folder: Path) -> set[str]:
    """The cache keeps the end of each prompt, and these prompts are short."""
    with closing(sqlite3.connect(f"file:{folder / FILE}?mode=ro", uri=True)) as database:
        try:
            return {str(about) for (about,) in database.execute("SELECT about FROM replies")}
        except sqlite3.OperationalError:
            return set()


def committed(folder: Path) -> int:
    if not (folder / FILE).exists():
        return 0
    with closing(sqlite3.connect(f"file:{folder / FILE}?mode=ro", uri=True)) as database:
        try:
            return int(database.execute("SELECT count(*) FROM replies").fetchone()[0])
        except sqlite3.OperationalError:  # killed before the table was made
            return 0


# ── secrets ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_key_is_written_nowhere(tmp_path: Path, server: FaultServer) -> None:
    """Not even if the server sends it back in an error."""

    def echo(request: Request) -> Answer | None:
        assert request.key == f"Bearer {KEY}"
        if "number 1?" in request.prompt:
            return Answer(400, orjson.dumps({"error": {"message": f"the key {KEY} may not ask this"}}))
        return None

    server.script = echo
    save(many_questions(3), tmp_path / "bench")
    asked = ["eval", tmp_path / "bench", "--system", "closed_book", "--metric", "f1"]
    online = ["--model", "openai:m", "--base-url", server.url, "--out", tmp_path / "run"]
    done = ragstone(*asked, *online)
    assert done.returncode == 0, done.stderr
    batch = ragstone(*asked, "--model", f"batch:m@{tmp_path / 'calls'}", "--out", tmp_path / "batched")
    assert batch.returncode == 3
    page = ragstone("report", tmp_path / "run", "--out", tmp_path / "report.html")
    assert page.returncode == 0, page.stderr
    told = [done.stdout, done.stderr, batch.stdout, batch.stderr, page.stdout, page.stderr]
    assert len(load_run(tmp_path / "run").failures) == 1
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"run.json", FILE, "requests.jsonl", "report.html"} <= {path.name for path in files}
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    assert not [text for text in told if KEY in text]


# ── one line each ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_missing_key_is_one_line(tmp_path: Path) -> None:
    done = ragstone("eval", "sample", "--system", "closed_book", "--model", "openai:m", "--out", tmp_path / "run",
                    RAGSTONE_API_KEY="", OPENAI_API_KEY="")  # fmt: skip
    assert done.returncode == 2
    assert "RAGSTONE_API_KEY" in said(done)
    assert not (tmp_path / "run").exists()


def test_an_unknown_model_is_one_line(tmp_path: Path, server: FaultServer) -> None:
    server.script = lambda request: Answer(404, b'{"error": {"message": "no such model", "code": "model_not_found"}}')
    asked = ["--model", "openai:nonesuch", "--base-url", server.url, "--out", tmp_path / "run"]
    done = ragstone("eval", "sample", "--system", "closed_book", *asked)
    assert done.returncode == 2
    assert "nonesuch" in said(done)


def test_an_unreachable_server_is_one_line_and_soon(tmp_path: Path) -> None:
    began = time.monotonic()
    asked = ["--model", "openai:m", "--base-url", "http://127.0.0.1:9/v1", "--out", tmp_path / "run"]
    done = ragstone("eval", "sample", "--system", "closed_book", *asked)
    assert done.returncode == 2
    assert "127.0.0.1:9" in said(done)
    assert time.monotonic() - began < 15


def test_a_run_in_which_nothing_was_answered_is_not_called_done(tmp_path: Path, server: FaultServer) -> None:
    server.script = lambda request: Answer(400, b'{"error": {"message": "too long"}}')
    asked = ["--model", "openai:m", "--base-url", server.url, "--out", tmp_path / "run", "--limit", 2]
    done = ragstone("eval", "sample", "--system", "closed_book", *asked)
    assert done.returncode == 2
    assert "no question was answered" in said(done)
    assert len(load_run(tmp_path / "run").failures) == 2


def test_a_build_whose_jobs_all_failed_says_so_everywhere(tmp_path: Path, server: FaultServer) -> None:
    server.script = lambda request: Answer(200, completion("I would rather not say."))
    asked = ["--check", "grounding", "--model", "judge=openai:judge", "--base-url", server.url]
    done = ragstone("build", "sample", "sample", "--set", "n=3", *asked, "--out", tmp_path / "bench")
    assert done.returncode == 2
    [progress] = [line for line in done.stderr.splitlines() if line.startswith("build: 3 of 3")]
    assert "3 failed" in progress
    assert "no question could be made" in said(done)


def test_a_check_that_was_asked_for_needs_its_model(tmp_path: Path) -> None:
    done = ragstone("build", "sample", "sample", "--set", "n=3", "--check", "leakage", "--out", tmp_path / "bench")
    assert done.returncode == 2
    assert "leakage needs a model as probe" in said(done)


def test_a_damaged_cache_is_one_line_and_is_left_as_it_is(tmp_path: Path, server: FaultServer) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / FILE).write_bytes(b"this is no database " * 100)
    asked = ["--model", "openai:m", "--base-url", server.url, "--out", tmp_path / "run"]
    done = ragstone("eval", "sample", "--system", "closed_book", *asked, RAGSTONE_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 2
    assert FILE in said(done)
    assert (tmp_path / "cache" / FILE).read_bytes().startswith(b"this is no database")
    assert not server.requests


def test_of_two_commands_that_ask_the_same_at_once_the_first_reply_counts_for_both(
    tmp_path: Path, server: FaultServer
) -> None:
    server.latency = 0.01
    server.script = lambda request: Answer(200, completion(f"reply {request.attempt}"))
    save(many_questions(200), tmp_path / "bench")
    asked = [RAGSTONE, "eval", tmp_path / "bench", "--system", "closed_book", "--model", "openai:m", "--metric", "f1"]
    asked += ["--base-url", server.url, "--out"]
    both = [subprocess.Popen([*map(str, asked), str(tmp_path / name)], stderr=subprocess.PIPE) for name in ("a", "b")]
    for process in both:
        _, error = process.communicate()
        assert process.returncode == 0, error.decode()
    first, second = (load_run(tmp_path / name) for name in ("a", "b"))
    assert first.answers == second.answers
    assert len(first.answers) == 200
    assert len(server.requests) > 200, "they never asked the same at once"


def test_a_run_with_faults_that_never_heal_ends_and_says_what_is_missing(tmp_path: Path, server: FaultServer) -> None:
    server.script = lambda request: "malformed" if re.search(r"number \d*7\?", request.prompt) else None
    settings = chosen(tmp_path, server, patience=1.0)
    run = evaluate(many_questions(20), ["closed_book"], ["f1"], model="openai:m", settings=settings)
    [row] = run.rows
    assert (row.n, row.failed) == (18, 2)
    assert {failure.question_id for failure in run.failures} == {"q7", "q17"}
    assert "malformed" in run.failures[0].value.error


def test_a_run_is_judged_afterwards(tmp_path: Path, server: FaultServer) -> None:
    server.script = judging({"number": VERDICT})
    settings = chosen(tmp_path, server)
    evaluate(many_questions(3), ["closed_book"], ["f1"], model="openai:m", out=tmp_path / "run", settings=settings)
    run = rescore(tmp_path / "run", ["judged"], model="judge=openai:judge", settings=settings)
    assert {row.metric: row.value for row in run.rows}["judged"] == 1.0
    assert sum(request.body["model"] == "m" for request in server.requests) == 3
