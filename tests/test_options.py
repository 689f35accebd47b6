"""Model specs: what each option means, which are refused, and that a key in the wrong place is never shown."""

from pathlib import Path

import orjson
import pytest

from fault_server import FaultServer
from ragstone.errors import ConfigError
from ragstone.llm.forecast import Foreseen
from ragstone.llm.model import asked
from ragstone.llm.opening import Opener, foreseeing
from ragstone.llm.options import read_spec
from ragstone.retrieval.embedders import open_embedder

KEY = "sk-proj-4711-secret"
NOWHERE = "http://127.0.0.1:9/v1"


def identity(options: str) -> str:
    return read_spec(f"openai:m({options})").options.identity


def test_what_is_set_to_none_is_left_out_of_calls_or_simply_not_set() -> None:
    assert read_spec("openai:m(temperature=none, max_tokens=None)").options.omit == ("temperature", "max_tokens")
    assert identity("temperature=none") == "(temperature=none)"
    for nothing in ("threads=none", "context=none", "thinking=none", "base_url=none", "key=none", "seed=none"):
        assert identity(nothing) == ""


def test_values_that_are_sent_differently_have_different_names() -> None:
    names = [identity(f"x={value}") for value in ("1", '"1"', "true", '"true"', "word", '"none"', "1.0", "none")]
    assert len(set(names)) == len(names)
    assert identity("x=word") == identity('x="word"') == "(x=word)"
    for name in names:  # a name is read as what it names
        assert read_spec(f"openai:m{name}").options.identity == name


@pytest.mark.parametrize(
    "option",
    [
        *("omit=5", "parameters=1", "model=none", "model=other", "messages=1", "stream=true", "n=2", "input=a"),
        *("response_format=json", "temperature=nan", "temperature=inf", "temperature=hot", "max_tokens=0"),
        *("max_tokens=99999999999", "threads=0", "threads=99999999999", "context=99999999999", "thinking=maybe"),
    ],
)
def test_an_option_that_cannot_be_is_one_line(option: str) -> None:
    with pytest.raises(ConfigError, match=option.split("=")[0]) as raised:
        read_spec(f"openai:m({option})")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["", "(", ":m", "openai:m(seed)", "openai:m(seed=1", "openai:m(seed=(1))"])
def test_a_spec_that_cannot_be_read_says_how_to_write_one(text: str) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*; write "):
        read_spec(text)


def test_a_path_may_have_brackets() -> None:
    assert read_spec("gguf:/models/tiny (1).gguf").rest == "/models/tiny (1).gguf"
    assert read_spec("gguf:/models/tiny (1).gguf(threads=2)").options.threads == 2


# ── keys in the wrong place ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "options",
    [
        f"key={KEY}",
        f"api_key={KEY}",
        f"API-Key={KEY}",
        f"authorization=Bearer {KEY}",
        f"password={KEY}",
        f"token={KEY}",
        f"api_key={KEY}, temperature=hot",
        f"temperature=hot, x={KEY}",
        f"{KEY}",
        f"seed, key={KEY}",
    ],
)
@pytest.mark.parametrize("kind", ["openai:m", "batch:m@calls", "embedded", "nothing:m", "wordllama"])
@pytest.mark.parametrize("end", [")", ""])
def test_a_key_among_the_options_is_refused_and_not_shown(options: str, kind: str, end: str) -> None:
    for open_it in (Opener(base_url=NOWHERE).model, open_embedder):
        with pytest.raises(ConfigError) as raised:
            open_it(f"{kind}({options}{end}")
        assert KEY not in str(raised.value)
        assert "\n" not in str(raised.value)


def test_a_spec_of_no_kind_is_shown_without_its_options() -> None:
    with pytest.raises(ConfigError, match=r"no model 'opneai:m\(…\)'; there are embedded") as raised:
        Opener().model("opneai:m(x=hidden-words)")
    assert "hidden" not in str(raised.value)


def test_a_variable_that_is_not_set_is_named_only_if_it_looks_like_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_API_KEY", "another")
    opener = Opener(base_url=NOWHERE)
    with pytest.raises(ConfigError, match=r"set MY_KEY$"):
        opener.model("openai:m(key=MY_KEY)").ask(asked("x"))
    with pytest.raises(ConfigError, match=r"set the variable that `key` names$"):
        opener.model("openai:m(key=AIzaSyD4711secret)").ask(asked("x"))


def test_no_key_is_sent_where_none_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_API_KEY", KEY)
    with FaultServer() as server:
        opener = Opener(base_url=server.url)
        for spec in ("openai:m(key=none)", "openai:m"):
            assert opener.model(spec).name == f"openai:m@{server.url.removeprefix('http://')}"
            opener.model(spec).ask(asked("x"))
    assert [request.key for request in server.requests] == ["", f"Bearer {KEY}"]


# ── what each kind takes ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("spec", "option"),
    [
        ("openai:m(threads=2)", "threads"),
        ("batch:m@calls(context=99)", "context"),
        ("embedded(base_url=http://127.0.0.1/v1)", "base_url"),
        ("embedded(key=MINE)", "key"),
        ("scripted:replies.jsonl(temperature=1)", "temperature"),
        ("scripted:replies.jsonl(seed=1)", "seed"),
    ],
)
def test_an_option_that_means_nothing_to_a_model_is_refused(spec: str, option: str) -> None:
    with pytest.raises(ConfigError, match=f"has no option {option}; leave it out"):
        Opener().model(spec)


@pytest.mark.parametrize("spec", ["wordllama(dimensions=64)", "fastembed:any(x=1)", "sentence-transformers:any(x=1)"])
def test_an_embedder_in_this_process_takes_no_options(spec: str) -> None:
    with pytest.raises(ConfigError, match="has no option"):
        open_embedder(spec)


def test_an_embedder_behind_a_server_sends_and_names_its_parameters(tmp_path: Path) -> None:
    with FaultServer() as server:
        for forecasting in (True, False):
            opener = Opener(base_url=server.url, cache=tmp_path, forecasting=forecasting)
            embedder = opener.endpoint(read_spec("openai:e(dimensions=4)"))
            assert embedder.name == f"openai:e@{server.url.removeprefix('http://')}(dimensions=4)"
            embedder.embed(["x"], "query")
        opener.endpoint(read_spec("openai:e")).embed(["x"], "query")  # is not found in the cache
    assert [request.body.get("dimensions") for request in server.requests] == [4, None]
    for foreign in ("temperature=1", "max_tokens=none", "threads=2"):
        with pytest.raises(ConfigError, match="has no option"):
            Opener().endpoint(read_spec(f"openai:e({foreign})"))


@pytest.mark.parametrize("spec", ["gguf:~nobody-of-this-name/x.gguf", "batch:m@~nobody-of-this-name/calls"])
def test_a_home_that_does_not_exist_is_one_line(spec: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"is in no home folder; write the whole path"):
        Opener(cache=tmp_path).model(spec)


@pytest.mark.parametrize("forecasting", [True, False])
def test_a_batch_without_a_folder_is_refused_with_the_right_form(tmp_path: Path, forecasting: bool) -> None:
    with pytest.raises(ConfigError, match=r"no model 'batch:gpt-4o@'; there are .*batch:MODEL@DIR"):
        Opener(cache=tmp_path, forecasting=forecasting).model("batch:gpt-4o@")


def test_two_specs_of_one_name_are_foreseen_each_for_itself() -> None:
    opener = Opener(base_url=NOWHERE, forecasting=True)
    reader, judge = opener.model("openai:m"), opener.model("openai:m(key=OTHER)")
    assert reader.name == judge.name
    foreseen: list[Foreseen] = []
    for stage, model, prompts in (("answers", reader, "abcde"), ("scores", judge, "x")):
        with foreseeing(stage, opener, foreseen):
            for prompt in prompts:
                model.ask(asked(prompt))
    assert [(one.stage, one.calls) for one in foreseen] == [("answers", 5), ("scores", 1)]


@pytest.mark.parametrize(
    "options",
    [
        "Key=gsk_SECRETvalue123",
        "KEY=MY_VARIABLE",
        "openai_api_key=SECRET",
        "auth_token=SECRET",
        "client_secret=SECRET",
        "credentials=SECRET",
        "apiToken=SECRET",
        'extra_headers={"Authorization": "Bearer SECRET"}',
        "user=sk-SECRET-1234567890",
    ],
)
def test_a_key_by_any_other_name_is_refused_and_not_shown(options: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_spec(f"openai:m({options})")
    assert "SECRET" not in str(raised.value)


@pytest.mark.parametrize("spec", ["openai:m api_key=SECRET", "openai:m[api_key=SECRET]", "openai:m{api_key=SECRET}"])
def test_a_key_in_a_name_is_refused_and_not_shown(spec: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_spec(spec)
    assert "SECRET" not in str(raised.value)


@pytest.mark.parametrize("options", ["=5", "a=1, a=2", "seed=1, =2"])
def test_an_option_without_a_name_or_twice_is_refused(options: str) -> None:
    with pytest.raises(ConfigError, match="has no name, or stands there twice"):
        read_spec(f"openai:m({options})")


@pytest.mark.parametrize("options", ["min_tokens=5", "skip_special_tokens=false", "stop_token_ids=7", "top_k=40"])
def test_what_only_sounds_like_a_key_is_taken(options: str) -> None:
    name, _, value = options.partition("=")
    assert read_spec(f"openai:m({options})").options.parameters == {name: orjson.loads(value)}


def test_a_model_in_this_process_refuses_what_it_does_not_know() -> None:
    assert Opener().model("embedded(top_k=40)").name.endswith("(top_k=40)")
    with pytest.raises(ConfigError, match="has no option foo"):
        Opener().model("embedded(foo=1)")
