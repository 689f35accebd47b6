"""Batch mode: each call is written down once, and what comes back, in whatever state, loses nothing."""

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ragstone.errors import BudgetReached, ConfigError, DataError, ModelError, Waiting
from ragstone.llm.batch import Batched, BatchFolder
from ragstone.llm.budget import Limits, Spent
from ragstone.llm.cache import ReplyCache
from ragstone.llm.client import Chat
from ragstone.llm.model import LanguageModel, asked, call_key
from ragstone.llm.opening import Opener
from ragstone.llm.options import Options
from ragstone.llm.transport import Server

PROMPTS = [f"In which sea does river {n} end?" for n in range(5)]


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[ReplyCache]:
    opened = ReplyCache(tmp_path / "cache")
    yield opened
    opened.close()


class Command:
    """One run of a command: opens the folder, asks, and says what it got for each prompt."""

    def __init__(
        self, folder: Path, cache: ReplyCache, *, model: str = "gpt-4o-mini", options: Options | None = None
    ) -> None:
        self.folder = BatchFolder(folder, cache)
        self.model = LanguageModel(Batched(model, self.folder, options or Options()), cache)

    def ask(self, *prompts: str) -> list[str]:
        """The text of each reply, or the kind of its error."""
        said = []
        for prompt in prompts:
            try:
                said.append(self.model.ask(asked(prompt)).text)
            except (ModelError, Waiting) as error:
                said.append(type(error).__bases__[0].__name__ + ": " + str(error))
        return said


def waits(said: str) -> bool:
    return said.startswith("Waiting: ")


def requests(folder: Path) -> list[Any]:
    path = folder / "requests.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def completion(text: str) -> dict[str, Any]:
    return {
        "model": "gpt-4o-mini-2024-07-18",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3},
    }


def answered(request: Any, text: str) -> dict[str, Any]:
    """A line as OpenAI's batches give it back."""
    response = {"status_code": 200, "request_id": "r", "body": completion(text)}
    return {"id": "batch_req_1", "custom_id": request["custom_id"], "response": response, "error": None}


def respond(folder: Path, *lines: Any, name: str = "responses.jsonl") -> None:
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


# ── there ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_call_is_written_in_the_format_of_openai_and_the_message_says_what_to_do(
    tmp_path: Path, cache: ReplyCache
) -> None:
    command = Command(tmp_path / "b", cache)
    with pytest.raises(Waiting) as first:
        command.model.ask(asked(PROMPTS[0]))
    file = tmp_path / "b" / "requests.jsonl"
    assert str(first.value) == (
        f"1 call waits in {file}: have it answered, put responses.jsonl beside it and run the same command again"
    )
    command.ask(PROMPTS[1])
    assert str(first.value).startswith(f"2 calls wait in {file}: have them answered")
    assert requests(tmp_path / "b")[0] == {
        "custom_id": call_key("openai:gpt-4o-mini", asked(PROMPTS[0])),
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {
            "model": "gpt-4o-mini",
            "messages": [{"role": "user", "content": PROMPTS[0]}],
            "temperature": 0.0,
            "max_completion_tokens": 1024,
        },
    }


@pytest.mark.parametrize("base_url", ["", "http://127.0.0.1:9/v1"])
@pytest.mark.parametrize("options", [Options(), Options(temperature=0.7, omit=("max_tokens",), parameters={"seed": 1})])
def test_a_model_by_batch_is_the_same_model_as_online(
    tmp_path: Path, cache: ReplyCache, base_url: str, options: Options
) -> None:
    online = Chat("qwen", Server(base_url), options)
    assert Batched("qwen", BatchFolder(tmp_path, cache), options, base_url).name == online.name


def test_options_are_applied_to_what_is_written_but_the_key_is_that_of_the_call(
    tmp_path: Path, cache: ReplyCache
) -> None:
    options = Options(temperature=0.7, max_tokens=9, parameters={"seed": 1})
    folder = BatchFolder(tmp_path, cache)
    with pytest.raises(Waiting):
        Batched("", folder, options).complete(asked("Who?"))
    [line] = requests(tmp_path)
    assert line["custom_id"] == call_key("batch(max_tokens=9, seed=1, temperature=0.7)", asked("Who?"))
    assert line["body"] == {
        "model": "batch",
        "messages": [{"role": "user", "content": "Who?"}],
        "temperature": 0.7,
        "max_tokens": 9,
        "seed": 1,
    }


def test_of_2000_calls_from_64_threads_each_is_written_once_and_whole(tmp_path: Path, cache: ReplyCache) -> None:
    command = Command(tmp_path / "b", cache)
    prompts = [f"What is {n % 2000}? " + "x" * (n % 300) for n in range(2000)] * 2
    with ThreadPoolExecutor(64) as pool:
        said = list(pool.map(lambda prompt: command.ask(prompt)[0], prompts))
    assert all(waits(text) for text in said)
    written = requests(tmp_path / "b")
    assert len(written) == 2000
    assert {line["body"]["messages"][0]["content"] for line in written} == set(prompts)
    assert command.folder.instruction().startswith("2000 calls wait in ")


def test_the_first_call_of_a_command_begins_the_file_anew(tmp_path: Path, cache: ReplyCache) -> None:
    Command(tmp_path, cache).ask(*PROMPTS)
    Command(tmp_path, cache).ask(PROMPTS[4], "A new one?")
    assert [line["body"]["messages"][0]["content"] for line in requests(tmp_path)] == [PROMPTS[4], "A new one?"]


def test_a_key_is_never_written(tmp_path: Path, cache: ReplyCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("MY_KEY", "sk-also-secret")
    Command(tmp_path / "b", cache, options=Options(key="MY_KEY")).ask(*PROMPTS)
    assert b"secret" not in b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_batch_without_a_cache_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a batch needs the reply cache"):
        BatchFolder(tmp_path, None)


# ── and back ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_command_goes_on_with_the_responses_that_it_finds(tmp_path: Path, cache: ReplyCache) -> None:
    assert all(waits(said) for said in Command(tmp_path, cache).ask(*PROMPTS))
    first, second, *_ = requests(tmp_path)
    respond(tmp_path, answered(second, "the North Sea"), answered(first, "the Caspian Sea"))

    again = Command(tmp_path, cache).ask(*PROMPTS)
    assert again[:2] == ["the Caspian Sea", "the North Sea"]
    assert all(waits(said) for said in again[2:])
    assert len(requests(tmp_path)) == 3
    assert sorted(path.name for path in tmp_path.glob("*.jsonl")) == ["ingested-001.jsonl", "requests.jsonl"]

    respond(tmp_path, *(answered(request, "a lake") for request in requests(tmp_path)))
    assert Command(tmp_path, cache).ask(*PROMPTS) == ["the Caspian Sea", "the North Sea", *["a lake"] * 3]
    assert sorted(path.name for path in tmp_path.glob("*.jsonl")) == ["ingested-001.jsonl", "ingested-002.jsonl"]


def test_tokens_and_what_was_asked_are_kept_with_a_reply(tmp_path: Path, cache: ReplyCache) -> None:
    Command(tmp_path, cache).ask(PROMPTS[0])
    respond(tmp_path, answered(requests(tmp_path)[0], "a lake"))
    reply = Command(tmp_path, cache).model.ask(asked(PROMPTS[0]))
    assert (reply.input_tokens, reply.output_tokens) == (12, 3)
    [holding] = cache.summary().models
    assert (holding.model, holding.tokens, holding.cost) == ("batch:gpt-4o-mini", 15, None)


def test_replies_are_kept_under_the_name_of_their_model_with_what_they_cost(tmp_path: Path) -> None:
    def opened() -> Opener:
        return Opener(cache=tmp_path / "cache", purpose="run", limits=Limits(calls=3))

    spec, other = f"batch:gpt-4o-mini@{tmp_path / 'b'}(temperature=0.5)", f"batch:gpt-4o@{tmp_path / 'b'}"
    opener = opened()
    for model in (opener.model(spec), opener.model(other)):
        for prompt in PROMPTS[:2]:
            with pytest.raises(Waiting):
                model.ask(asked(prompt))
    assert opener.budget.spent == Spent()
    respond(tmp_path / "b", *(answered(request, "a lake") for request in requests(tmp_path / "b")))

    for _ in range(2):  # and what is taken in counts once
        opener = opened()
        assert [opener.model(one).ask(asked(PROMPTS[0])).text for one in (spec, other)] == ["a lake"] * 2
        small, large = (2 * (12 * input + 3 * output) / 1e6 for input, output in ((0.15, 0.6), (2.5, 10)))
        assert opener.cache
        for spent in (opener.budget.spent, opener.cache.spent("run")):
            assert spent[:2] == (4, 60)
            assert spent.money == pytest.approx(small + large)
        kept = {holding.model: holding.cost for holding in opener.cache.summary().models}
        assert kept == {
            "openai:gpt-4o": pytest.approx(large),
            "openai:gpt-4o-mini(temperature=0.5)": pytest.approx(small),
        }
    with pytest.raises(BudgetReached, match="4 of 3 calls"):
        opener.model(spec).ask(asked(PROMPTS[4]))


@pytest.mark.parametrize(
    "form",
    [
        {"body": completion("a lake")},
        {"text": "a lake"},
        {"content": "a lake"},
        {"response": {"status_code": 200, "body": completion("a lake")}},
    ],
    ids=["body", "text", "content", "response"],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_responses_by_hand_and_by_other_tools_are_understood(
    tmp_path: Path, cache: ReplyCache, form: dict[str, Any], end: str
) -> None:
    Command(tmp_path, cache).ask(PROMPTS[0])
    [request] = requests(tmp_path)
    line = json.dumps({"custom_id": request["custom_id"], **form})
    (tmp_path / "responses.jsonl").write_bytes(f"\ufeff{line}{end}".encode())
    assert Command(tmp_path, cache).ask(PROMPTS[0]) == ["a lake"]


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"response": None, "error": {"code": "batch_expired", "message": "it took too long"}}, "it took too long"),
        ({"response": {"status_code": 400, "body": {"error": {"message": "too many tokens"}}}}, "HTTP 400: too many"),
        ({"response": {"status_code": 200, "body": {"error": {"message": "overloaded"}}}}, "overloaded"),
        ({"response": {"status_code": 200, "body": {"choices": []}}}, "the answer holds no message"),
        ({"response": {"status_code": 200, "body": "what?"}}, "the answer holds no message"),
        ({"response": "what?"}, "what\\?"),
        ({"error": "nothing"}, "nothing"),
        ({}, "the answer holds no message"),
        ({"text": 5}, "the answer's content is not a text"),
        ({"text": "<think>Hm, so"}, "cut off its thought"),
    ],
)
def test_an_error_in_the_responses_is_the_failure_of_its_call_until_it_is_asked_again(
    tmp_path: Path, cache: ReplyCache, form: dict[str, Any], said: str
) -> None:
    Command(tmp_path, cache).ask(*PROMPTS[:2])
    first, second = requests(tmp_path)
    respond(tmp_path, {"custom_id": first["custom_id"], **form}, name="responses-errors.jsonl")
    respond(tmp_path, answered(second, "a lake"))
    command = Command(tmp_path, cache)
    with pytest.raises(ModelError, match=f"openai:gpt-4o-mini: the batch has no reply to this call: .*{said}"):
        command.model.ask(asked(PROMPTS[0]))
    assert command.ask(PROMPTS[1]) == ["a lake"]
    assert requests(tmp_path) == []  # all are answered, if not well

    assert waits(Command(tmp_path, cache).ask(PROMPTS[0])[0])
    assert requests(tmp_path) == [first]


def test_what_failed_is_not_asked_again_while_other_calls_wait(tmp_path: Path, cache: ReplyCache) -> None:
    Command(tmp_path, cache).ask(*PROMPTS[:3])
    first, second, third = requests(tmp_path)
    respond(tmp_path, {"custom_id": first["custom_id"], "error": {"message": "filtered"}}, answered(second, "a lake"))
    for _ in range(3):
        failed, found, waiting = Command(tmp_path, cache).ask(*PROMPTS[:3])
        assert "the batch has no reply to this call: filtered" in failed
        assert found == "a lake"
        assert waits(waiting)
        assert requests(tmp_path) == [third]
    respond(tmp_path, answered(third, "a sea"))
    assert [said.endswith("asks again") for said in Command(tmp_path, cache).ask(*PROMPTS[:3])] == [True, False, False]
    assert sorted(path.name for path in tmp_path.glob("*.jsonl")) == ["ingested-001.jsonl", "ingested-002.jsonl"]
    assert waits(Command(tmp_path, cache).ask(PROMPTS[0])[0])  # nothing waited, so it was meant


def test_of_several_responses_to_a_call_the_first_reply_counts(tmp_path: Path, cache: ReplyCache) -> None:
    Command(tmp_path, cache).ask(PROMPTS[0])
    [request] = requests(tmp_path)
    failed = {"custom_id": request["custom_id"], "error": {"message": "expired"}}
    respond(tmp_path, failed, answered(request, "first"), answered(request, "second"), failed)
    assert Command(tmp_path, cache).ask(PROMPTS[0]) == ["first"]
    respond(tmp_path, answered(request, "third"))
    assert Command(tmp_path, cache).ask(PROMPTS[0]) == ["first"]


def test_responses_to_calls_of_others_are_counted_and_left_out(tmp_path: Path, cache: ReplyCache) -> None:
    Command(tmp_path, cache).ask(*PROMPTS[:2])
    respond(
        tmp_path, *({"custom_id": f"request-{n}", "text": "?"} for n in range(3)), answered(requests(tmp_path)[0], "a")
    )
    said = Command(tmp_path, cache).ask(*PROMPTS[:2])
    assert said[0] == "a"
    assert said[1].endswith("; 3 responses have a custom_id that no call here has, and were left out")


def test_what_people_should_know_of_the_responses_is_told_by_the_model(tmp_path: Path, cache: ReplyCache) -> None:
    assert Command(tmp_path, cache).model.notes == ()
    respond(tmp_path, {"custom_id": "request-1", "text": "?"})
    assert Command(tmp_path, cache).model.notes == (
        "1 responses have a custom_id that no call here has, and were left out",
    )


def test_a_reply_to_an_earlier_file_of_requests_is_not_lost(tmp_path: Path, cache: ReplyCache) -> None:
    Command(tmp_path, cache).ask(PROMPTS[0])
    [paid_for] = requests(tmp_path)
    Command(tmp_path, cache).ask(PROMPTS[1])  # another command writes the file anew
    respond(tmp_path, answered(paid_for, "a lake"))
    assert Command(tmp_path, cache).ask(PROMPTS[0]) == ["a lake"]


def test_two_models_share_a_folder(tmp_path: Path, cache: ReplyCache) -> None:
    def both() -> tuple[BatchFolder, list[LanguageModel]]:
        folder = BatchFolder(tmp_path, cache)
        return folder, [LanguageModel(Batched(name, folder, Options()), cache) for name in ("small", "large")]

    folder, models = both()
    for model in models:
        with pytest.raises(Waiting):
            model.ask(asked(PROMPTS[0]))
    assert folder.instruction().startswith("2 calls wait")
    respond(tmp_path, *(answered(request, f"says {request['body']['model']}") for request in requests(tmp_path)))
    assert [model.ask(asked(PROMPTS[0])).text for model in both()[1]] == ["says small", "says large"]


# ── files in a bad state ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("bad", ["{not json", "[]", '{"id": 1}', '{"custom_id": 7, "text": "a"}'])
def test_a_bad_line_is_named_and_nothing_else_is_lost(tmp_path: Path, cache: ReplyCache, bad: str) -> None:
    Command(tmp_path, cache).ask(*PROMPTS[:4])
    one, two, three, four = [json.dumps(answered(request, "a lake")) for request in requests(tmp_path)]
    failed = json.dumps({"custom_id": json.loads(four)["custom_id"], "error": {"message": "expired"}})
    (tmp_path / "responses.jsonl").write_text(f"{one}\n\n{bad}\n{two}\n{failed}\n", "utf-8")
    (tmp_path / "responses-2.jsonl").write_text(f"{three}\n", "utf-8")
    with pytest.raises(DataError, match=r"responses.jsonl, line 3 is not a response; mend or remove the line"):
        BatchFolder(tmp_path, cache)
    keys = [request["custom_id"] for request in requests(tmp_path)]
    assert [cache.get(key) is not None for key in keys] == [True, True, True, False]

    (tmp_path / "responses.jsonl").write_text(f"{one}\n{two}\n{failed}\n", "utf-8")
    said = Command(tmp_path, cache).ask(*PROMPTS[:4])
    assert said[:3] == ["a lake"] * 3
    assert "expired" in said[3]


def test_a_file_that_a_copy_cut_off_is_read_as_far_as_it_goes_and_again_when_it_is_whole(
    tmp_path: Path, cache: ReplyCache
) -> None:
    Command(tmp_path, cache).ask(*PROMPTS)
    whole = "".join(json.dumps(answered(request, "a lake")) + "\n" for request in requests(tmp_path)).encode()
    (tmp_path / "responses.jsonl").write_bytes(whole[:-40])
    said = Command(tmp_path, cache).ask(*PROMPTS)
    assert said[:4] == ["a lake"] * 4
    assert waits(said[4])
    assert said[4].endswith(f"; {tmp_path / 'responses.jsonl'}, line 5 is cut off: copy the file again")
    (tmp_path / "responses.jsonl").write_bytes(whole)
    assert Command(tmp_path, cache).ask(*PROMPTS) == ["a lake"] * 5
    assert not (tmp_path / "responses.jsonl").exists()


def test_a_file_of_requests_that_a_kill_tore_is_written_anew(tmp_path: Path, cache: ReplyCache) -> None:
    Command(tmp_path, cache).ask(*PROMPTS)
    path = tmp_path / "requests.jsonl"
    path.write_bytes(path.read_bytes()[:-50])
    assert all(waits(said) for said in Command(tmp_path, cache).ask(*PROMPTS))
    assert len(requests(tmp_path)) == 5


def test_a_kill_between_committing_and_renaming_changes_nothing(tmp_path: Path, cache: ReplyCache) -> None:
    Command(tmp_path / "b", cache).ask(*PROMPTS)
    respond(tmp_path / "b", *(answered(request, "a lake") for request in requests(tmp_path / "b")))
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from ragstone.llm.batch import BatchFolder\n"
        "from ragstone.llm.cache import ReplyCache\n"
        "sys.addaudithook(lambda event, args: event == 'os.rename' and os.kill(os.getpid(), signal.SIGKILL))\n"
        f"BatchFolder(Path({str(tmp_path / 'b')!r}), ReplyCache(Path({str(tmp_path / 'cache')!r})))\n"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9
    assert (tmp_path / "b" / "responses.jsonl").exists()
    assert all(cache.get(request["custom_id"]) for request in requests(tmp_path / "b"))
    assert Command(tmp_path / "b", cache).ask(*PROMPTS) == ["a lake"] * 5
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == ["ingested-001.jsonl"]


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path, cache: ReplyCache) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(ConfigError, match=r"cannot write .*file"):
        BatchFolder(tmp_path / "file", cache)
