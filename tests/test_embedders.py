"""Embedders: the one inside, those of other packages, and an endpoint that misbehaves."""

import json
import logging
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ragstone.errors import ConfigError, ModelError
from ragstone.kit import Embedder
from ragstone.llm import transport
from ragstone.llm.cache import ReplyCache
from ragstone.llm.opening import Opener
from ragstone.llm.options import read_spec
from ragstone.llm.transport import Server
from ragstone.retrieval.embedders import open_embedder
from ragstone.retrieval.endpoint import Endpoint

KEY = "sk-very-secret-42"
TEXTS = ("The red fox hunts mice.", "A violin has four strings.", "", "Ünïcödé – 狐狸", "x " * 3000)


# ── specs ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("spec", "name", "languages"),
    [
        ("wordllama", "wordllama:l2_supercat_256", ("en",)),
        ("wordllama:l2_supercat_256", "wordllama:l2_supercat_256", ("en",)),
        ("fastembed:BAAI/bge-small-en-v1.5", "fastembed:BAAI/bge-small-en-v1.5", ()),
        ("sentence-transformers:all-MiniLM-L6-v2", "sentence-transformers:all-MiniLM-L6-v2", ()),
    ],
)
def test_an_embedder_is_named_without_loading_anything(spec: str, name: str, languages: tuple[str, ...]) -> None:
    embedder = open_embedder(spec)
    assert (embedder.name, embedder.languages) == (name, languages)


@pytest.mark.parametrize("spec", ["bert", "openai", "fastembed:", "wordllama:other"])
def test_an_unknown_embedder_is_an_error_that_lists_what_there_is(spec: str) -> None:
    with pytest.raises(ConfigError, match="there are wordllama, sentence-transformers:MODEL, fastembed:MODEL, openai:"):
        open_embedder(spec)


# ── wordllama ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_wordllama_gives_the_vectors_of_its_package(tmp_path: Path) -> None:
    imported = "wordllama" in sys.modules
    found = open_embedder("wordllama").embed(TEXTS, "passage")
    assert found.shape == (len(TEXTS), 256)
    assert found.dtype == np.float32
    assert ("wordllama" in sys.modules) == imported  # only its files are read
    level = logging.getLogger().level
    try:
        import wordllama
    finally:  # the package sets up logging when it is imported
        logging.getLogger().setLevel(level)
    tokenizers = tmp_path / "tokenizers"
    tokenizers.mkdir()
    inside = Path(wordllama.__file__).parent / "tokenizers" / "l2_supercat_tokenizer_config.json"
    (tokenizers / inside.name).write_bytes(inside.read_bytes())
    packaged = wordllama.WordLlama.load(cache_dir=tmp_path, disable_download=True).embed(list(TEXTS))
    lengths = np.linalg.norm(packaged.astype(np.float64), axis=1, keepdims=True).astype(np.float32)
    np.testing.assert_array_equal(found, packaged / np.where(lengths > 0, lengths, 1))


def test_wordllama_vectors_do_not_depend_on_what_else_is_embedded() -> None:
    embedder = open_embedder("wordllama")
    many = [f"Text {number} about foxes, {'and wolves ' * (number % 7)}" for number in range(600)]
    together = embedder.embed(many, "passage")
    np.testing.assert_array_equal(together[555], embedder.embed([many[555]], "query")[0])
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)


def test_many_threads_may_use_wordllama_at_once() -> None:
    embedder = open_embedder("wordllama")
    expected = open_embedder("wordllama").embed(TEXTS, "query")
    found: list[NDArray[np.float32]] = []
    threads = [threading.Thread(target=lambda: found.append(embedder.embed(TEXTS, "query"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(np.array_equal(each, expected) for each in found)


def test_without_the_package_wordllama_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"needs the package wordllama.*pip install 'ragstone\[embedded\]'"):
        open_embedder("wordllama").embed(["fox"], "query")


def test_another_wordllama_without_the_files_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "wordllama").mkdir()
    (tmp_path / "wordllama" / "__init__.py").touch()
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=r"has no l2_supercat_256; install its version 0\.4"):
        open_embedder("wordllama").embed(["fox"], "query")


# ── other packages ───────────────────────────────────────────────────────────────────────────────────────────────────


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **members: Any) -> None:
    """A module of the real one's shape: the real ones bring hundreds of megabytes."""
    module = ModuleType(name)
    vars(module).update(members)
    monkeypatch.setitem(sys.modules, name, module)


class SentenceTransformer:
    """The part of the real class that is used; a text's vector tells its length and prompt."""

    def __init__(self, model: str) -> None:
        if model == "missing":
            raise OSError("missing is not a local folder\nand there is no network")
        self.prompts = {"query": "ask for ", "document": ""} if model == "prompted" else {}

    def encode(
        self, texts: list[str], *, prompt_name: str | None, show_progress_bar: bool, convert_to_numpy: bool
    ) -> NDArray[np.float32]:
        assert not show_progress_bar
        assert convert_to_numpy
        prompt = self.prompts[prompt_name] if prompt_name else ""
        return np.array([[len(text), len(prompt)] for text in texts], dtype=np.float32)


def test_sentence_transformers_uses_the_prompts_that_a_model_has(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, "sentence_transformers", SentenceTransformer=SentenceTransformer)
    plain, prompted = open_embedder("sentence-transformers:plain"), open_embedder("sentence-transformers:prompted")
    np.testing.assert_array_equal(plain.embed(["abc", "a"], "query"), [[1, 0], [1, 0]])
    np.testing.assert_array_equal(prompted.embed(["abc"], "passage"), [[1, 0]])
    np.testing.assert_allclose(prompted.embed(["abcdef"], "query"), [[0.6, 0.8]], rtol=1e-6)
    assert plain.embed(["abc"], "query").dtype == np.float32


class TextEmbedding:
    """The part of the real class that is used."""

    def __init__(self, model_name: str) -> None:
        if model_name == "missing":
            raise ValueError("Model missing is not supported in TextEmbedding.")

    def query_embed(self, texts: Iterable[str]) -> Iterator[NDArray[np.float32]]:
        return (np.array([3, 4], dtype=np.float32) for _ in texts)

    def passage_embed(self, texts: Iterable[str]) -> Iterator[NDArray[np.float32]]:
        return (np.array([0, len(text)], dtype=np.float32) for text in texts)


def test_fastembed_tells_queries_from_passages(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, "fastembed", TextEmbedding=TextEmbedding)
    embedder = open_embedder("fastembed:any")
    np.testing.assert_allclose(embedder.embed(["a"], "query"), [[0.6, 0.8]], rtol=1e-6)
    np.testing.assert_array_equal(embedder.embed(["a", "bcd"], "passage"), [[0, 1], [0, 1]])


def test_a_model_that_cannot_be_loaded_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, "fastembed", TextEmbedding=TextEmbedding)
    stand_in(monkeypatch, "sentence_transformers", SentenceTransformer=SentenceTransformer)
    with pytest.raises(ConfigError, match=r"cannot load the embedder fastembed:missing: Model missing is not.*; check"):
        open_embedder("fastembed:missing").embed(["a"], "query")
    with pytest.raises(ConfigError, match=r"sentence-transformers:missing: missing is not a local folder; check"):
        open_embedder("sentence-transformers:missing").embed(["a"], "query")


@pytest.mark.parametrize("package", ["fastembed", "sentence-transformers"])
def test_a_missing_package_is_an_error_with_the_line_that_installs_it(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package.replace("-", "_"), None)
    with pytest.raises(ConfigError, match=rf"pip install 'ragstone\[{package}\]'"):
        open_embedder(f"{package}:any").embed(["a"], "query")


# ── an endpoint ──────────────────────────────────────────────────────────────────────────────────────────────────────


def vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, 0.0]


def healthy(texts: Sequence[str]) -> bytes:
    """As OpenAI answers, but in another order than asked, which is allowed."""
    items = [{"object": "embedding", "index": index, "embedding": vector(text)} for index, text in enumerate(texts)]
    return json.dumps({"object": "list", "data": items[::-1], "model": "m"}).encode()


def reply(
    handler: BaseHTTPRequestHandler, status: int = 200, body: bytes = b"", headers: Sequence[tuple[str, str]] = ()
) -> None:
    handler.send_response(status)
    for name, value in (("Content-Length", str(len(body))), *headers):
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def reset(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    handler.connection.close()
    handler.rfile.close()


def cut(handler: BaseHTTPRequestHandler) -> None:
    """Promises more than it sends."""
    reply(handler, 200, b'{"data": [', [("Content-Length", "999")])
    handler.close_connection = True


Fault = Callable[[BaseHTTPRequestHandler], None]
FAULTS: dict[str, Fault] = {
    "429 with seconds": lambda handler: reply(handler, 429, b"slow down", [("Retry-After", "0.05")]),
    "429 with a date": lambda handler: reply(handler, 429, b"", [("Retry-After", formatdate(0, usegmt=True))]),
    "429 with nonsense": lambda handler: reply(handler, 429, b"", [("Retry-After", "soon")]),
    "500": lambda handler: reply(handler, 500, b"<html>oops</html>"),
    "503": lambda handler: reply(handler, 503),
    "reset": reset,
    "cut": cut,
    "not JSON": lambda handler: reply(handler, 200, b"<html>"),
    "no data": lambda handler: reply(handler, 200, b'{"error": null}'),
    "too few": lambda handler: reply(handler, 200, b'{"data": []}'),
    "not a number": lambda handler: reply(handler, 200, b'{"data": [{"index": 0, "embedding": [null, 1]}]}'),
    "too great": lambda handler: reply(
        handler, 200, b'{"data": [{"index": 0, "embedding": [1e39, 1]}, {"index": 1, "embedding": [1, 2]}]}'
    ),
    "ragged": lambda handler: reply(
        handler, 200, b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}'
    ),
    "one twice": lambda handler: reply(
        handler, 200, b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}'
    ),
}


class Faulty(ThreadingHTTPServer):
    """Shows its faults in turn, then is healthy; a fault that is `for_ever` never ends."""

    block_on_close = False

    def __init__(self, faults: Sequence[Fault], for_ever: bool) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults, self.for_ever = list(faults), for_ever
        self.requests: list[tuple[str, str | None, dict[str, Any]]] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reset is meant, and not worth a traceback."""


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Faulty)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, self.headers["Authorization"], body))
        faults = self.server.faults
        if faults:
            (faults[0] if self.server.for_ever else faults.pop(0))(self)
        else:
            reply(self, 200, healthy(body["input"]))

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serve(*faults: Fault, for_ever: bool = False, timeout: float = 60.0) -> Iterator[tuple[Faulty, Endpoint]]:
    server = Faulty(faults, for_ever)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/v1/"
        yield server, Endpoint("m", Server(url, pause=0.001, timeout=timeout))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("RAGSTONE_API_KEY", KEY)


def test_an_endpoint_is_asked_in_batches_and_answers_in_the_order_of_the_texts() -> None:
    texts = ["x" * number for number in range(150)]
    with serve() as (server, embedder):
        found = embedder.embed(texts, "passage")
    expected = np.array([vector(text) for text in texts])
    np.testing.assert_allclose(found, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)
    assert [len(body["input"]) for _, _, body in server.requests] == [64, 64, 22]
    assert {(path, key, body["model"]) for path, key, body in server.requests} == {
        ("/v1/embeddings", f"Bearer {KEY}", "m")
    }


def test_the_key_may_be_openais_or_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve() as (server, embedder):
        monkeypatch.delenv("RAGSTONE_API_KEY")
        embedder.embed(["a"], "query")
        monkeypatch.setenv("OPENAI_API_KEY", "other\n")
        embedder.embed(["a"], "query")
    assert [key for _, key, _ in server.requests] == [None, "Bearer other"]


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_that_passes_is_waited_out(name: str) -> None:
    with serve(FAULTS[name], FAULTS[name]) as (server, embedder):
        assert embedder.embed(["abc", "de"], "query").shape == (2, 3)
    assert len(server.requests) == 3


def test_every_kind_of_fault_in_one_batch_is_waited_out() -> None:
    faults = [FAULTS[name] for name in ("429 with seconds", "500", "reset", "not JSON", "cut")]
    with serve(*faults) as (server, embedder):
        assert embedder.embed(["abc"], "query").shape == (1, 3)
    assert len(server.requests) == 6


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_that_does_not_pass_is_a_model_error_after_a_bounded_number_of_tries(name: str) -> None:
    with serve(FAULTS[name], for_ever=True) as (server, embedder), pytest.raises(ModelError) as raised:
        embedder.embed(["abc", "de"], "query")
    assert len(server.requests) == transport.TRIES
    message = str(raised.value)
    assert message.startswith(f"openai:m@127.0.0.1:{server.server_port}/v1 gave no usable answer in 6 tries: ")
    assert "\n" not in message
    assert KEY not in message


def test_the_server_says_how_long_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(transport, "interrupted_in", pauses.append)
    asks: list[Fault] = [
        lambda handler: reply(handler, 429, b"", [("Retry-After", "7")]),
        lambda handler: reply(handler, 503, b"", [("Retry-After", "99999")]),
        lambda handler: reply(handler, 429, b"", [("Retry-After", formatdate(4e9, usegmt=True))]),
        lambda handler: reply(handler, 500),
    ]
    with serve(*asks) as (_, embedder):
        embedder.embed(["abc"], "query")
    assert pauses[:3] == [7, transport.LONGEST_PAUSE, transport.LONGEST_PAUSE]
    assert 0.5 * 0.008 <= pauses[3] <= 1.5 * 0.008


@pytest.mark.parametrize(
    ("status", "error", "says"),
    [
        (401, ConfigError, "refuses the key"),
        (403, ConfigError, "refuses the key"),
        (404, ConfigError, "check the model's name and --base-url"),
        (307, ConfigError, "check the model's name and --base-url"),
        (400, ModelError, "refuses this call"),
    ],
)
def test_what_no_waiting_can_change_is_an_error_at_once_and_never_shows_the_key(
    status: int, error: type[Exception], says: str
) -> None:
    body = f"Incorrect API key provided:\n{KEY}. {'and so on ' * 99}".encode()
    with serve(lambda handler: reply(handler, status, body)) as (server, embedder), pytest.raises(error) as raised:
        embedder.embed(["abc"], "query")
    assert len(server.requests) == 1
    assert says in str(raised.value)
    assert "Incorrect API key provided: ***." in str(raised.value)
    assert KEY not in str(raised.value)
    assert len(str(raised.value)) < 500


def test_a_body_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "TRIES", 2)
    over = threading.Event()

    def trickle(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not over.wait(0.01):
            handler.wfile.write(b" ")

    with (
        serve(trickle, for_ever=True, timeout=0.05) as (_, embedder),
        pytest.raises(ModelError, match="no whole answer in"),
    ):
        embedder.embed(["abc"], "query")
    over.set()


def test_a_server_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "TRIES", 2)
    over = threading.Event()

    def silence(handler: BaseHTTPRequestHandler) -> None:
        over.wait()

    with (
        serve(silence, for_ever=True, timeout=0.05) as (_, embedder),
        pytest.raises(ModelError, match="no whole answer in"),
    ):
        embedder.embed(["abc"], "query")
    over.set()


def test_nobody_at_the_address_stops_the_run() -> None:
    with serve() as (_, embedder):
        pass
    with pytest.raises(ConfigError, match=r"cannot reach http://127.*refused.*start the server or check --base-url"):
        embedder.embed(["abc"], "query")


def test_batches_of_different_length_are_an_error() -> None:
    longer = json.dumps({"data": [{"index": index, "embedding": [1, 2, 3, 4]} for index in range(64)]}).encode()
    with (
        serve(lambda handler: reply(handler, 200, longer)) as (_, embedder),
        pytest.raises(ModelError, match="different lengths"),
    ):
        embedder.embed(["abc"] * 65, "passage")


def at(base_url: str = "", model: str = "m") -> Embedder:
    return Opener(base_url=base_url).endpoint(read_spec(f"openai:{model}"))


@pytest.mark.parametrize(
    "base_url", ["localhost:8000", "ftp://host/v1", "http://", "http://host:x/", "http://hö st/v1"]
)
def test_a_base_url_that_is_none_is_an_error(base_url: str) -> None:
    with pytest.raises(ConfigError, match="write for instance --base-url"):
        at(base_url)


def test_a_password_in_the_base_url_is_refused_and_not_shown() -> None:
    for base_url in (f"https://me:{KEY}@host/v1", f"https://host/v1?key={KEY}"):
        with pytest.raises(ConfigError) as raised:
            at(base_url)
        assert KEY not in str(raised.value)


def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_API_KEY", f"{KEY}\nHost: evil")
    with serve() as (server, embedder), pytest.raises(ConfigError, match="cannot be sent") as raised:
        embedder.embed(["abc"], "query")
    assert KEY not in str(raised.value)
    assert not server.requests


def test_the_name_tells_servers_apart_but_not_keys() -> None:
    assert at().name == at("https://api.openai.com/v1/").name == "openai:m"
    assert at("http://localhost:8000/v1").name == "openai:m@localhost:8000/v1"
    assert at().languages == ()


def test_what_was_embedded_before_an_interruption_is_not_asked_for_again(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(150)]
    with serve() as (server, embedder):
        expected = embedder.embed(texts, "passage")
        server.requests.clear()
        cache, place = ReplyCache(tmp_path), Server(f"http://127.0.0.1:{server.server_port}/v1")
        Endpoint("m", place, cache).embed(texts[:64], "passage")
        cache.close()  # as if the command had been killed here
        cache = ReplyCache(tmp_path)
        found = Endpoint("m", place, cache).embed(texts, "passage")
        other = Endpoint("other", place, cache).embed(texts[:64], "passage")
        cache.close()
    assert [len(body["input"]) for _, _, body in server.requests] == [64, 64, 22, 64]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(other, expected[:64])


@pytest.mark.parametrize("cached", [True, False])
def test_threads_that_embed_the_same_make_one_request(tmp_path: Path, cached: bool) -> None:
    arrived, asked = threading.Barrier(16), threading.Event()
    found: list[NDArray[np.float32]] = []

    def slow(handler: BaseHTTPRequestHandler) -> None:
        asked.wait(timeout=10)
        reply(handler, 200, healthy(["same"]))

    with serve(slow) as (server, _):
        cache = ReplyCache(tmp_path) if cached else None
        embedder = Endpoint("m", Server(f"http://127.0.0.1:{server.server_port}/v1", concurrency=16), cache)

        def one() -> None:
            arrived.wait()
            found.append(embedder.embed(["same"], "query"))

        threads = [threading.Thread(target=one) for _ in range(16)]
        for thread in threads:
            thread.start()
        threading.Timer(0.3, asked.set).start()
        for thread in threads:
            thread.join()
        if cache:
            cache.close()
    assert len(server.requests) == 1
    assert len(found) == 16
    assert all(np.array_equal(vectors, found[0]) for vectors in found)
