"""Chat completions: what is sent, what comes back, and how a server is understood that wants it otherwise."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
import pytest
from pydantic import Field

from fault_server import Answer, FaultServer, Request, Script, completion, healthy, reply_to
from ragstone.errors import ModelError
from ragstone.llm.client import Chat, chat_body, reply_from
from ragstone.llm.connection import PassingTrouble
from ragstone.llm.model import LanguageModel, asked
from ragstone.llm.options import Options, read_spec
from ragstone.llm.structured import reply_schema
from ragstone.llm.transport import Server
from ragstone.types import Call, Message, Record, Reply


class Verdict(Record):
    verdict: str
    sure: bool


SCHEMA = reply_schema(Verdict)


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("RAGSTONE_API_KEY", raising=False)


def chat(url: str, options: str = "") -> Chat:
    return Chat("m", Server(url, pause=0.001), read_spec(f"openai:m({options})").options)


def sent(call: Call, options: str = "", openai: bool = False) -> dict[str, Any]:
    return chat_body("m", call, read_spec(f"openai:m({options})").options, openai)


def reply(text: str | None, finish: str = "stop", **message: Any) -> Reply:
    return reply_from(orjson.loads(completion(text, finish, **message)), "openai:m")


# ── what is sent ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_call_is_sent_as_every_server_knows_it() -> None:
    system = Message(role="system", content="Be short.")
    call = Call(messages=(system, *asked("Who?").messages), max_tokens=50)
    assert sent(call) == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Who?"}],
        "temperature": 0.0,
        "max_tokens": 50,
    }


def test_openai_knows_the_limit_by_another_name() -> None:
    assert sent(asked("Who?", max_tokens=9), openai=True)["max_completion_tokens"] == 9
    assert "max_tokens" not in sent(asked("Who?"), openai=True)


def test_options_add_and_leave_out_parameters() -> None:
    assert sent(asked("Who?"), "thinking=false")["chat_template_kwargs"] == {"enable_thinking": False}
    assert sent(asked("Who?"), "seed=3, reasoning_effort=low").items() >= {"seed": 3, "reasoning_effort": "low"}.items()
    for openai in (False, True):
        assert set(sent(asked("Who?"), "max_tokens=none, temperature=none", openai)) == {"model", "messages"}
    assert "temperature" not in sent(asked("Who?", temperature=None))
    assert sent(asked("Who?").model_copy(update={"logprobs": True}))["logprobs"] is True


def test_a_further_sample_is_asked_for_in_the_same_words() -> None:
    assert sent(asked("Who?", sample=3)) == sent(asked("Who?"))


def test_a_schema_is_sent_as_such_or_in_words() -> None:
    call = asked("Who?").model_copy(update={"reply_schema": SCHEMA})
    assert sent(call)["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True},
    }
    assert sent(call)["messages"][-1]["content"] == "Who?"
    in_words = sent(call, "response_format=none")
    assert "response_format" not in in_words
    assert in_words["messages"][-1]["content"].startswith("Who?\n\nReply with JSON")
    assert orjson.dumps(SCHEMA).decode() in in_words["messages"][-1]["content"]
    assert call.messages[-1].content == "Who?"


def test_the_name_tells_the_server_and_every_option_that_changes_replies() -> None:
    assert Chat("m", Server(), Options()).name == "openai:m"
    name = chat("http://localhost:1/v1", "temperature=0.5, seed=1, thinking=true, key=OTHER").name
    assert name == "openai:m@localhost:1/v1(seed=1, temperature=0.5, thinking=true)"


def test_options_replace_what_the_caller_asks_for() -> None:
    with FaultServer() as faulty:
        chat(faulty.url, "temperature=0.5, max_tokens=7, logprobs=true").complete(asked("Who?", temperature=0.9))
    assert faulty.requests[0].path == "/v1/chat/completions"
    assert faulty.requests[0].body.items() >= {"temperature": 0.5, "max_tokens": 7, "logprobs": True}.items()


# ── what comes back ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_reply_has_its_text_and_its_usage() -> None:
    assert reply("Paris.") == Reply(text="Paris.", input_tokens=20, output_tokens=5)
    assert reply("Paris", "length").cut
    assert reply("").text == ""


def test_tokens_that_the_server_does_not_tell_are_counted() -> None:
    nonsense = {"prompt_tokens": 2**63, "completion_tokens": 2**64 - 1}  # more than the cache can count
    for usage in (None, {"prompt_tokens": None, "completion_tokens": -1}, {"prompt_tokens": "many"}, nonsense):
        body = orjson.loads(completion("It is Paris.", usage=usage))
        found = reply_from(body, "openai:m", call=asked("What is the capital of France?"))
        assert (found.input_tokens, found.output_tokens) == (8, 4)


THOUGHTS = {
    "in the text": ("<think>\nHm.\n</think>\n\nParis", {}),
    "opened by the template": ("\nHm.\n</think>\n\nParis", {}),
    "apart": ("Paris", {"reasoning_content": "Hm."}),
    "apart, by another name": ("Paris", {"reasoning": "Hm."}),
}


@pytest.mark.parametrize("name", THOUGHTS)
def test_a_thought_is_kept_apart_from_the_text(name: str) -> None:
    text, message = THOUGHTS[name]
    found = reply(text, **message)
    assert (found.text, found.thought) == ("Paris", "Hm.")


def test_a_text_that_speaks_of_thoughts_is_left_alone() -> None:
    for text in ("Write <think> first.", "Write <think>so</think> first."):
        assert (reply(text).text, reply(text).thought) == (text, "")


@pytest.mark.parametrize(
    ("text", "finish", "message"),
    [
        ("<think>Hm, let me", "length", {}),
        ("<think>Hm.", "stop", {}),
        ("", "length", {"reasoning_content": "Hm, let me"}),
        (None, "length", {"reasoning": "Hm, let me"}),
        ("", "length", {}),  # the thought is not shown at all
        ("Hm.</think>\n", "length", {}),
    ],
)
def test_a_thought_that_was_cut_off_is_no_reply(text: str | None, finish: str, message: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match=r"openai:m: .*cut off.*; raise max_tokens or set thinking=false"):
        reply(text, finish, **message)


def test_a_filter_is_an_error_and_a_refusal_is_a_reply() -> None:
    with pytest.raises(ModelError, match="content filter"):
        reply("The", "content_filter")
    assert reply(None, refusal="I cannot help with that.").text == "I cannot help with that."


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"choices": []},
        {"choices": None},
        {"choices": [None]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {}}]},
        {"choices": [{"message": {"content": None}}]},
        {"choices": [{"message": {"content": 3}}]},
        {"choices": [{"message": {"content": "a"}}], "usage": [1]},
    ],
)
def test_an_answer_without_a_message_is_malformed(body: Any) -> None:
    with pytest.raises(PassingTrouble):
        reply_from(body, "openai:m")


def test_malformed_answers_and_cut_thoughts_are_told_apart_by_the_tries() -> None:
    def script(request: Request) -> Answer:
        if request.prompt == "think":
            return Answer(200, completion("<think>Hm", "length"))
        return Answer(200, b'{"choices": []}' if request.attempt < 2 else completion("Paris"))

    with FaultServer(script) as faulty:
        assert chat(faulty.url).complete(asked("Who?")) == Reply(
            text="Paris", input_tokens=20, output_tokens=5, tries=3
        )
        with pytest.raises(ModelError, match="cut off") as raised:
            chat(faulty.url).complete(asked("think"))
    assert raised.value.tries == 1
    assert [request.prompt for request in faulty.requests] == ["Who?"] * 3 + ["think"]


def logprobs(*tokens: str) -> dict[str, Any]:
    return {"content": [{"token": token, "logprob": -float(number)} for number, token in enumerate(tokens)]}


def test_logprobs_are_those_of_the_text() -> None:
    assert reply("Paris it is", logprobs=logprobs("Paris", " it", " is")).logprobs == (0, -1, -2)
    assert reply("Paris", logprobs=logprobs("Paris", "<|end|>")).logprobs == (0,)
    thought = logprobs("<think>", "Paris", "?", "</think>", "\n\n", "Par", "is")
    assert reply("<think>Paris?</think>\n\nParis", logprobs=thought).logprobs == (-5, -6)
    assert reply("é", logprobs=logprobs("bytes:\\xc3", "bytes:\\xa9")).logprobs == (0, -1)
    for odd, finite in (("-inf", -9999.0), (-1e308, -9999.0), (1e308, 0.0), ("-1.5", -1.5)):
        assert reply("Paris", logprobs={"content": [{"token": "Paris", "logprob": odd}]}).logprobs == (finite,)
    for missing in (
        None,
        {},
        {"content": None},
        {"content": [{"logprob": None}]},
        {"content": [{"token": "Paris", "logprob": "nan"}]},
    ):
        assert reply("Paris", logprobs=missing).logprobs is None


# ── servers that want it otherwise ───────────────────────────────────────────────────────────────────────────────────


def refusing(name: str, says: str, then: Script = healthy) -> Script:
    """A server that does not take a parameter."""
    error = orjson.dumps({"error": {"message": says}})
    return lambda request: Answer(400, error) if name in request.body else then(request)


def test_a_server_without_schemas_gets_them_in_words_from_then_on() -> None:
    def by_prompt(request: Request) -> Answer:
        fits = orjson.dumps(SCHEMA).decode() in request.prompt
        return Answer(200, completion('Sure: {"verdict": "yes", "sure": true}' if fits else "what?"))

    script = refusing("response_format", "This response_format type is unavailable now", by_prompt)
    with FaultServer(script) as faulty:
        model = LanguageModel(chat(faulty.url))
        for prompt in ("Is it?", "Was it?"):
            assert model.ask_for(Verdict, prompt) == Verdict(verdict="yes", sure=True)
        assert model.ask(asked("Is it?")).text == "what?"
    assert ["response_format" in request.body for request in faulty.requests] == [True, False, False, False]


@pytest.mark.parametrize(
    ("name", "says", "call"),
    [
        ("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", asked("Who?")),
        ("temperature", "Unsupported value: 'temperature' does not support 0.0 with this model.", asked("Who?")),
        ("logprobs", "logprobs are not supported", asked("Who?").model_copy(update={"logprobs": True})),
    ],
)
def test_a_parameter_that_the_server_does_not_take_is_left_out_from_then_on(name: str, says: str, call: Call) -> None:
    with FaultServer(refusing(name, says)) as faulty:
        model = chat(faulty.url)
        assert [model.complete(call).tries for _ in range(2)] == [2, 1]
    assert [name in request.body for request in faulty.requests] == [True, False, False]
    expected = {"max_completion_tokens": 1024} if name == "max_tokens" else {"max_tokens": 1024}
    assert faulty.requests[-1].body.items() >= expected.items()


def test_a_refusal_for_another_reason_stands_and_nothing_is_learnt_from_it() -> None:
    def too_long(request: Request) -> Answer | None:
        says = b'{"error": {"message": "max_tokens and the prompt are too long together, whatever the temperature"}}'
        return Answer(400, says) if request.prompt == "long" else None

    with FaultServer(too_long) as faulty:
        model = chat(faulty.url)
        with pytest.raises(ModelError, match="too long together") as raised:
            model.complete(asked("long"))
        assert raised.value.tries == 3
        assert model.complete(asked("short")).text == reply_to("short")
    assert (
        len(faulty.requests) == 4
    )  # as it was, with the limit by its other name, without the temperature; the short one
    assert faulty.requests[-1].body.items() >= {"max_tokens": 1024, "temperature": 0.0}.items()


def test_a_call_that_began_before_does_not_undo_what_was_learnt() -> None:
    structured = asked("Is it?").model_copy(update={"reply_schema": SCHEMA})
    with FaultServer(refusing("response_format", "no response_format here"), latency=0.5) as faulty:
        model = chat(faulty.url)
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(model.complete, asked("slow"))
            while not faulty.requests:
                time.sleep(0.01)
            faulty.latency = 0.0
            assert model.complete(structured).tries == 2
            assert not slow.done()
            slow.result()
        assert model.complete(structured).tries == 1


def test_two_threads_that_learn_different_things_both_teach() -> None:
    together = threading.Barrier(2)

    def script(request: Request) -> Answer | None:
        for name in ("response_format", "logprobs"):
            if name in request.body:
                return Answer(400, f'{{"error": {{"message": "no {name}"}}}}'.encode())
        return None

    calls = [asked("a").model_copy(update={"reply_schema": SCHEMA}), asked("b").model_copy(update={"logprobs": True})]
    with FaultServer(script, latency=0.05) as faulty:
        model = chat(faulty.url)

        def one(call: Call) -> int:
            together.wait()
            return model.complete(call).tries

        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(one, calls)) == [2, 2]
        assert [model.complete(call).tries for call in calls] == [1, 1]


def test_what_a_server_refuses_is_told_once() -> None:
    def script(request: Request) -> Answer | None:
        for name in ("response_format", "temperature", "max_tokens"):
            if name in request.body:
                return Answer(400, f'{{"error": {{"message": "no {name}"}}}}'.encode())
        return None

    with FaultServer(script) as faulty:
        model = LanguageModel(chat(faulty.url, "logprobs=true"))
        assert not model.notes
        for prompt in ("a", "b"):
            model.ask(asked(prompt).model_copy(update={"reply_schema": SCHEMA}))
    assert model.notes == (
        f"{model.name} refuses response_format: schemas are put into words",
        f"{model.name} refuses temperature: replies are at the server's own",
    )


def test_many_threads_learn_together() -> None:
    script = refusing("temperature", "no temperature here")
    with FaultServer(script, latency=0.01) as faulty:
        model = chat(faulty.url)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda n: model.complete(asked(f"{n}")).text, range(64)))
    assert found == [reply_to(f"{n}") for n in range(64)]
    assert len(faulty.requests) <= 64 + 8


def test_a_schema_that_the_server_takes_comes_back_as_a_value() -> None:
    class Colour(Record):
        name: str = Field(min_length=3)

    def script(request: Request) -> Answer:
        return Answer(200, completion('{"name": "red"}' if "usable" in request.prompt else '{"name": "r"}'))

    with FaultServer(script) as faulty:
        assert LanguageModel(chat(faulty.url)).ask_for(Colour, "Which?") == Colour(name="red")
    first, repair = (request.body for request in faulty.requests)
    assert first["response_format"]["json_schema"]["schema"] == reply_schema(Colour)
    assert [message["role"] for message in repair["messages"]] == ["user", "assistant", "user"]
