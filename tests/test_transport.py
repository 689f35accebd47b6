"""What a server may do to a request, and what becomes of it."""

import gc
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from fault_server import FAULTS, Answer, FaultServer, Request, Script, healthy, mixed, reply_to
from ragstone.errors import ConfigError, ModelError
from ragstone.llm import transport
from ragstone.llm.client import Chat
from ragstone.llm.connection import PassingTrouble
from ragstone.llm.limiter import Limiter
from ragstone.llm.model import LanguageModel, asked
from ragstone.llm.options import Options
from ragstone.llm.transport import Refused, Server, retry_after
from ragstone.parallel import in_threads
from ragstone.run_folder import load_run
from ragstone.store import save
from ragstone.types import Benchmark, Document, Evidence, Question, Reply

KEY = "sk-very-secret-42"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("RAGSTONE_API_KEY", KEY)


@contextmanager
def serving(script: Script = healthy, **settings: Any) -> Iterator[tuple[FaultServer, Server]]:
    with FaultServer(script) as faulty:
        yield faulty, Server(faulty.url, **{"pause": 0.001, **settings})


def ask(server: Server, prompt: str = "hello") -> tuple[str, int]:
    body = {"model": "m", "messages": [{"role": "user", "content": prompt}]}
    return server.post("/chat/completions", body, lambda found: str(found["choices"][0]["message"]["content"]))


def first(fault: Answer | str, times: int = 1) -> Script:
    """A fault that passes."""
    return lambda request: fault if request.attempt < times else None


def always(fault: Answer | str) -> Script:
    return lambda request: fault


# ── 2,000 calls with faults ──────────────────────────────────────────────────────────────────────────────────────────


def outcome(model: LanguageModel, prompt: str) -> Reply | ModelError:
    try:
        return model.ask(asked(prompt))
    except ModelError as error:
        return error


def test_with_faults_in_a_tenth_of_all_requests_every_call_is_answered_or_a_failure_with_its_cause() -> None:
    never = {f"prompt {number}.": FAULTS[number % len(FAULTS)] for number in range(0, 2000, 100)}
    prompts = [f"prompt {number}." for number in range(2000)]
    with FaultServer(mixed(0.1, never=never), latency=0.005) as faulty:
        server = Server(faulty.url, concurrency=64, timeout=0.5, pause=0.01)
        model = LanguageModel(Chat("m", server, Options()))
        with ThreadPoolExecutor(64) as pool:
            found = dict(zip(prompts, pool.map(lambda prompt: outcome(model, prompt), prompts), strict=True))
    for prompt, reply in found.items():
        if prompt in never:
            assert isinstance(reply, ModelError)
            assert "gave no usable answer in 6 tries: " in str(reply)
            assert reply.tries == 6
        else:
            assert isinstance(reply, Reply), reply
            assert reply.text == reply_to(prompt)
    assert len(faulty.counts) == 2000
    assert max(faulty.counts.values()) <= transport.TRIES
    told = {request.prompt: request.attempt + 1 for request in faulty.requests}
    assert {prompt: reply.tries for prompt, reply in found.items()} == told
    assert Counter(told.values())[2] > 100  # there were faults


# ── trouble that passes and trouble that does not ────────────────────────────────────────────────────────────────────

PASSING: dict[str, Answer | str] = {
    **{fault: fault for fault in (*FAULTS, "drop", "drip", "drip head", "cut chunk")},
    "408": Answer(408),
    "409": Answer(409),
    "529": Answer(529),
    "an error in a 200": Answer(200, b'{"error": {"message": "overloaded", "code": 502}}'),
    "no JSON": Answer(200, b"<html>"),
    "nothing": Answer(200, b""),
    "no choices": Answer(200, b'{"choices": []}'),
    "half a character": Answer(200, rb'{"choices": [{"message": {"content": "\ud800"}}]}'),
}


def content(found: Any) -> str:
    if not found["choices"]:
        raise PassingTrouble("no choices")
    return str(found["choices"][0]["message"]["content"])


@pytest.mark.parametrize("name", PASSING)
def test_trouble_that_passes_is_waited_out_and_trouble_that_stays_ends(name: str) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
    with serving(first(PASSING[name], 2), timeout=0.1) as (faulty, server):
        assert server.post("/chat/completions", body, content) == (reply_to("hello"), 3)
        faulty.counts.clear()
        faulty.script = always(PASSING[name])
        with pytest.raises(ModelError, match=r"gave no usable answer in 6 tries: .+; try later") as raised:
            server.post("/chat/completions", body, content)
    assert raised.value.tries == faulty.counts.total() == 6
    assert str(raised.value).startswith(f"openai:m@{server.place} ")
    assert "\n" not in str(raised.value)


STOPS = {
    "401": (Answer(401), "refuses the key"),
    "403": (Answer(403), "refuses the key"),
    "402": (Answer(402), "no credit left"),
    "no quota": (Answer(429, b'{"error": {"message": "pay", "code": "insufficient_quota"}}'), "no credit left"),
    "404": (Answer(404, b'{"detail": "Not Found"}'), "no model 'm' at http"),
    "405": (Answer(405), "no model 'm' at http"),
    "unknown model": (Answer(400, b'{"error": {"message": "?", "code": "model_not_found"}}'), "no model 'm' at http"),
    "moved": (Answer(308, b"", {"Location": "http://127.0.0.1/"}), "check the model's name and --base-url"),
}


@pytest.mark.parametrize("name", STOPS)
def test_what_every_call_would_meet_stops_the_run_at_once(name: str) -> None:
    answer, says = STOPS[name]
    with serving(always(answer)) as (faulty, server), pytest.raises(ConfigError, match=says):
        ask(server)
    assert faulty.counts.total() == 1


def test_a_call_that_the_server_does_not_take_is_a_failure_of_that_call_alone() -> None:
    def too_long(request: Request) -> Answer | str | None:
        if request.attempt == 0:
            return "500"
        return Answer(400, b'{"error": {"message": "too long"}}') if "long" in request.prompt else None

    with serving(too_long) as (_, server):
        with pytest.raises(Refused, match=r"refuses this call \(HTTP 400: too long\)") as raised:
            ask(server, "long")
        assert raised.value.tries == 2
        assert ask(server, "short") == (reply_to("short"), 2)


def test_a_call_that_is_forbidden_after_others_were_answered_is_a_failure_of_that_call_alone() -> None:
    says = Answer(403, b'{"error": {"message": "flagged by moderation"}}')
    with serving(lambda request: says if request.prompt == "bad" else None) as (_, server):
        with pytest.raises(ConfigError, match="refuses the key"):
            ask(server, "bad")
        ask(server, "good")
        with pytest.raises(Refused, match=r"refuses this call \(HTTP 403: flagged by moderation\)"):
            ask(server, "bad")


def test_a_server_that_was_never_there_is_given_up_soon_and_one_that_went_away_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    with serving() as (faulty, server):
        ask(server)
    monkeypatch.setattr(transport, "interrupted_in", pauses.append)
    remedy = r"cannot reach http://127\.0\.0\.1:\d+/v1 \(.*refused\); start the server or check --base-url; the same"
    with pytest.raises(ConfigError, match=remedy):
        ask(server)  # first on the kept connection, then on new ones
    assert len(pauses) == transport.TRIES - 1
    pauses.clear()
    with pytest.raises(ConfigError, match=remedy):
        ask(Server(faulty.url))
    assert len(pauses) == 1


def test_a_name_that_nobody_knows_stops_the_run() -> None:
    for host in ("no-such-host.invalid", f"{'a' * 70}.invalid"):
        with pytest.raises(ConfigError, match="cannot reach"):
            ask(Server(f"http://{host}/v1", pause=0.001))


# ── time ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({"Retry-After": "7"}, 7),
        ({"Retry-After": "99999"}, transport.LONGEST_PAUSE),
        ({"Retry-After": "inf"}, transport.LONGEST_PAUSE),
        ({"Retry-After": formatdate(4e9, usegmt=True)}, transport.LONGEST_PAUSE),
        ({"Retry-After": formatdate(0, usegmt=True)}, 0),
        ({"Retry-After": "30", "retry-after-ms": "1500"}, 1.5),
        ({"Retry-After": "-3"}, 0),
    ],
)
def test_the_server_says_how_long_to_wait(
    headers: dict[str, str], pause: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    with serving(first(Answer(429, b"", headers))) as (_, server):
        monkeypatch.setattr(transport, "interrupted_in", pauses.append)
        ask(server)
    assert pauses == [pause]


def test_without_a_word_from_the_server_pauses_double_and_vary(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    with serving(always("500"), pause=1.0) as (_, server):
        monkeypatch.setattr(transport, "interrupted_in", pauses.append)
        with pytest.raises(ModelError):
            ask(server)
    assert len(pauses) == 5
    assert all(0.5 * 2**n <= pause <= 1.5 * 2**n for n, pause in enumerate(pauses))
    assert len({pause / 2**n for n, pause in enumerate(pauses)}) == 5


def test_a_server_that_asks_to_slow_down_without_saying_how_long_is_given_more_than_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    with FaultServer(always(Answer(429))) as faulty:
        monkeypatch.setattr(transport, "interrupted_in", pauses.append)
        with pytest.raises(ModelError, match="in 6 tries: HTTP 429"):
            ask(Server(faulty.url))
        assert len(pauses) == 5
        assert 2 <= pauses[0] <= 4
        assert sum(pauses) > 60
        pauses.clear()
        with pytest.raises(ModelError, match="HTTP 429"):
            ask(Server(faulty.url, patience=20))
    assert sum(pauses) < 20


@given(
    some.text() | some.dates().map(str) | some.from_regex(r"Mon, \d+ Jan \d+ \d\d:\d\d:\d\d [+-]\d+", fullmatch=True)
)
def test_whatever_the_server_says_of_waiting_is_a_pause_or_ignored(header: str) -> None:
    found = retry_after(header)
    assert found is None or found >= 0


@pytest.mark.parametrize("fault", ["hang", "drip", "drip head"])
def test_a_try_ends_at_its_timeout_and_all_tries_at_the_patience(fault: str) -> None:
    with serving(always(fault), timeout=0.2, patience=0.5) as (faulty, server):
        start = time.monotonic()
        with pytest.raises(ModelError, match=r"in 3 tries: no whole answer in 0\.\d+ s") as raised:
            ask(server)
    assert 0.4 < time.monotonic() - start < 1.0
    assert raised.value.tries == faulty.counts.total() == 3


def test_patience_ends_a_try_before_its_timeout() -> None:
    with serving(always("hang"), timeout=60, patience=0.2) as (_, server):
        start = time.monotonic()
        with pytest.raises(ModelError, match=r"in 1 try: no whole answer in 0\.2 s"):
            ask(server)
    assert time.monotonic() - start < 10


def test_a_pause_that_patience_does_not_allow_is_not_begun() -> None:
    with serving(always(Answer(429, b"", {"Retry-After": "50"})), patience=20) as (faulty, server):
        start = time.monotonic()
        with pytest.raises(ModelError, match="in 1 try: HTTP 429"):
            ask(server)
    assert time.monotonic() - start < 5
    assert faulty.counts.total() == 1


# ── Ctrl-C ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def interrupted(server: Server, prompts: list[str], when: Callable[[], object]) -> dict[str, str]:
    """What became of each prompt, asked by threads that are interrupted at a moment."""
    said: dict[str, str] = {}
    begun: set[str] = set()

    def one(prompt: str) -> None:
        begun.add(prompt)
        try:
            said[prompt] = ask(server, prompt)[0]
        except (CancelledError, ModelError) as error:
            said[prompt] = type(error).__name__
            raise

    def first(prompt: str) -> None:
        if prompt:
            return one(prompt)
        until(lambda: len(begun) == len(prompts) and when())
        raise KeyboardInterrupt  # reaches the thread that waits for the others, as Ctrl-C does

    with pytest.raises(KeyboardInterrupt):
        list(in_threads(["", *prompts], first, len(prompts) + 1))
    return said


@pytest.mark.parametrize("fault", ["pause", "hang"])
def test_a_call_that_is_interrupted_is_no_failure(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragstone.llm.connection.GRACE_SECONDS", 0.2)
    script = always(Answer(429, b"", {"Retry-After": "30"}) if fault == "pause" else "hang")
    with serving(script, timeout=30) as (faulty, server):
        start = time.monotonic()
        said = interrupted(server, ["a", "b"], lambda: len(faulty.requests) == 2)
    assert said == {"a": "CancelledError", "b": "CancelledError"}
    assert time.monotonic() - start < 10


def test_after_an_interruption_no_request_is_begun_and_what_is_under_way_is_kept() -> None:
    with FaultServer(latency=1.0) as faulty:
        server = Server(faulty.url, concurrency=4)  # begins with two at once
        said = interrupted(server, [f"{n}" for n in range(8)], lambda: len(faulty.requests) == 2)
    assert len(faulty.requests) == 2
    assert sorted(said.values()) == ["CancelledError"] * 6 + sorted(reply_to(one.prompt) for one in faulty.requests)


def until(done: Callable[[], object]) -> None:
    end = time.monotonic() + 30
    while not done() and time.monotonic() < end:
        time.sleep(0.005)


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_journals_no_failure_and_the_same_command_answers_what_is_left(tmp_path: Path) -> None:
    evidence = ((Evidence(document_id="d"),),)
    questions = [Question(id=f"q{n}", text=f"Number {n}?", answers=(("x",),), evidence=evidence) for n in range(24)]
    save(Benchmark(documents=(Document(id="d", text="Nothing."),), questions=tuple(questions)), tmp_path / "bench")
    slow = {"Number 3?", "Number 5?"}

    def script(request: Request) -> Answer | str | None:
        if not any(words in request.prompt for words in slow):
            return None
        return "hang" if "Number 3?" in request.prompt else Answer(429, b"", {"Retry-After": "50"})

    with FaultServer(script, latency=0.02) as faulty:
        command = [sys.executable, "-m", "ragstone", "eval", str(tmp_path / "bench"), "--system", "closed_book"]
        command += ["--metric", "f1", "--model", "openai:m", "--base-url", faulty.url, "--out", str(tmp_path / "run")]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            until(lambda: len(faulty.requests) >= 24)
            time.sleep(0.5)  # all but two are answered and committed
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
            process.wait()
        assert process.returncode == 130, said
        journals = [path.read_text("utf-8") for path in (tmp_path / "run").glob("journal-*")]
        assert journals
        assert not any('"failure"' in text for text in journals)
        begun = len(faulty.requests)
        slow.clear()
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    again = [request.prompt for request in faulty.requests[begun:]]
    assert len(again) == 2
    assert all("Number 3?" in prompt or "Number 5?" in prompt for prompt in again)
    run = load_run(tmp_path / "run")
    assert not run.failures
    assert {entry.question_id: entry.value.raw for entry in run.answers} == {
        question.id: next(reply_to(one.prompt) for one in faulty.requests if question.text in one.prompt)
        for question in questions
    }


# ── connections ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_connections_are_kept_and_the_one_used_last_is_used_first() -> None:
    with serving() as (faulty, server):
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda n: ask(server, f"{n}"), range(200)))
        opened = faulty.opened
        for _ in range(20):
            ask(server)
        assert faulty.opened == opened <= 4
    turns = [request.turn for request in faulty.requests[-20:]]
    assert turns == list(range(turns[0], turns[0] + 20))


def test_a_connection_that_the_server_ends_is_not_used_again() -> None:
    body = b'{"choices": [{"message": {"content": "bye"}}]}'
    with serving(always(Answer(200, body, {"Connection": "close"}))) as (faulty, server):
        assert [ask(server) for _ in range(3)] == [("bye", 1)] * 3
    assert faulty.opened == 3


def test_a_stale_connection_is_replaced_without_a_pause() -> None:
    with serving(pause=60.0) as (faulty, server):
        with ThreadPoolExecutor(8) as pool:  # leaves several connections behind
            list(pool.map(lambda n: ask(server, f"{n}"), range(64)))
        faulty.close_idle()
        start = time.monotonic()
        assert ask(server) == (reply_to("hello"), 2)
        assert time.monotonic() - start < 5


def test_a_server_that_drops_the_second_request_of_each_connection_is_asked_on_a_new_one() -> None:
    with serving(lambda request: "drop" if request.turn else None, pause=60.0) as (faulty, server):
        assert [ask(server, f"{n}")[1] for n in range(4)] == [1, 2, 2, 2]
    assert faulty.opened == 4


def test_connections_are_closed_when_the_server_is_forgotten() -> None:
    with serving() as (faulty, server):
        ask(server)
        assert len(faulty.connections) == 1
        del server
        gc.collect()
        end = time.monotonic() + 5
        while faulty.connections and time.monotonic() < end:
            time.sleep(0.01)
        assert not faulty.connections


def test_a_server_with_a_certificate_is_asked_and_one_that_cannot_be_trusted_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not shutil.which("openssl"):
        pytest.skip("needs openssl to make a certificate")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    about = ["-subj", "/CN=here", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(["openssl", "req", "-x509", "-nodes", *curve, *about, *files], check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    with FaultServer(tls=tls) as faulty:
        with pytest.raises(ConfigError, match=r"cannot reach https.*certificate"):
            ask(Server(faulty.url, pause=0.001))
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        server = Server(faulty.url, timeout=0.3, pause=0.001)
        assert [ask(server)[1] for _ in range(3)] == [1, 1, 1]
        assert faulty.requests[-1].turn == 2
        for fault in ("reset", "hang", "drip", "truncated"):
            faulty.counts.clear()
            faulty.script = first(fault)
            assert ask(server) == (reply_to("hello"), 2)


def test_the_environment_may_name_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultServer() as faulty, tunnel(faulty.url) as (proxy, asked_for):
        monkeypatch.setenv("http_proxy", f"http://me:p%40ss@{proxy}")
        monkeypatch.setenv("no_proxy", "other.test")
        assert ask(Server("http://models.test:81/v1"))[0] == reply_to("hello")
        assert ask(Server(faulty.url))[0] == reply_to("hello")  # this machine, so not by the proxy
        with pytest.raises(ConfigError, match="cannot reach"):
            ask(Server("http://other.test/v1", pause=0.001))
    assert len(asked_for) == 1
    assert asked_for[0].startswith("CONNECT models.test:81 ")
    assert "Proxy-Authorization: Basic bWU6cEBzcw==" in asked_for[0]


@pytest.mark.parametrize("proxy", [f"http://me:{KEY}@proxy:notaport", "http://", f"{KEY}:x", "http://proxy:0"])
def test_a_proxy_that_is_none_is_one_line_and_not_shown(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", proxy)
    with pytest.raises(
        ConfigError, match=r"HTTPS_PROXY is not the address of a proxy; write http://HOST:PORT"
    ) as raised:
        ask(Server("https://models.test/v1"))
    assert KEY not in str(raised.value)


@contextmanager
def tunnel(url: str) -> Iterator[tuple[str, list[str]]]:
    """A proxy that leads to one server, whatever is asked for; it takes one connection."""
    asked_for: list[str] = []
    listener = socket.create_server(("127.0.0.1", 0))
    target = ("127.0.0.1", int(url.split(":")[2].split("/")[0]))

    def carry(source: socket.socket, sink: socket.socket) -> None:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)

    def run() -> None:
        client, _ = listener.accept()
        with client, socket.create_connection(target) as server:
            asked_for.append(client.recv(65536).decode())
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            back = threading.Thread(target=carry, args=(server, client))
            back.start()
            carry(client, server)
            back.join()

    thread = threading.Thread(target=run)
    thread.start()
    yield f"127.0.0.1:{listener.getsockname()[1]}", asked_for
    gc.collect()  # closes the client's connection
    thread.join()
    listener.close()


# ── how many at once ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_limit_doubles_each_round_until_it_is_reached() -> None:
    limiter = Limiter(64)
    seen = []
    for _ in range(4):
        seen.append(int(limiter.limit))
        for _ in range(int(limiter.limit)):
            with limiter.slot():
                limiter.went_well()
    assert seen == [32, 64, 64, 64]


def test_a_wave_of_complaints_halves_the_limit_once_and_success_raises_it_by_one_a_round() -> None:
    limiter = Limiter(64)
    limiter.limit = 64.0
    with held(limiter, 64) as begun:
        for began in begun:
            limiter.too_much(began)
    assert limiter.limit == 32
    with held(limiter, 32) as later:
        limiter.too_much(begun[0])
        limiter.too_much(later[0])
    assert limiter.limit == 16
    for _ in range(16):
        limiter.went_well()
    assert 16.9 < limiter.limit <= 17
    for _ in range(9):
        with held(limiter, 1) as begun:
            limiter.too_much(begun[0])
    assert limiter.limit == 1


def test_only_what_was_under_way_was_too_much() -> None:
    limiter = Limiter(64)
    with held(limiter, 8) as begun:
        limiter.too_much(begun[0])
    assert limiter.limit == 4


def test_as_many_go_on_as_there_is_room_for() -> None:
    limiter, together = Limiter(4), threading.Barrier(3)

    def wait(_: int) -> int:
        with limiter.slot():
            return together.wait(timeout=10)

    with ThreadPoolExecutor(3) as pool:
        with held(limiter, 1):
            waiting = pool.map(wait, range(3))
            time.sleep(0.1)
            limiter.went_well()
            limiter.went_well()
        assert sorted(waiting) == [0, 1, 2]


@contextmanager
def held(limiter: Limiter, count: int) -> Iterator[list[float]]:
    """That many requests under way."""
    slots = [limiter.slot() for _ in range(count)]
    yield [slot.__enter__() for slot in slots]
    for slot in slots:
        slot.__exit__(None, None, None)


def test_a_server_that_bears_eight_requests_is_asked_about_eight_at_once_and_more_when_it_recovers() -> None:
    """Beyond eight under way it complains."""
    busy = 8

    def script(request: Request) -> Answer | None:
        return Answer(429, b"", {"retry-after-ms": "20"}) if faulty.under_way >= busy else None

    with FaultServer(script, latency=0.01) as faulty:
        server = Server(faulty.url, concurrency=64, pause=0.01)
        with ThreadPoolExecutor(64) as pool:

            def run(start: int) -> list[str]:
                return [text for text, _ in pool.map(lambda n: ask(server, f"{n}"), range(start, start + 600))]

            assert run(0) == [reply_to(f"{n}") for n in range(600)]
            assert server.limiter.limit < 20
            refused = faulty.counts.total() - 600
            busy = 1000
            run(600)
            run(1200)
            assert server.limiter.limit > 25
    assert refused < 200
    assert faulty.counts.total() == 1800 + refused


# ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_key_is_looked_up_in_order_and_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "key"
    file.write_text("from-file\n")
    monkeypatch.setenv("OPENAI_API_KEY", "openai")
    monkeypatch.setenv("MINE", "mine ")
    with serving(key_file=file) as (faulty, server):
        ask(Server(faulty.url, key="MINE", key_file=file))
        for name in ("RAGSTONE_API_KEY", "OPENAI_API_KEY", "MINE"):
            ask(server)
            monkeypatch.delenv(name)
        with pytest.raises(ConfigError, match="set MINE"):  # no other key goes to this server
            ask(Server(faulty.url, key="MINE", key_file=file))
        file.unlink()
        with pytest.raises(ConfigError, match="cannot read the file that key_file names"):
            ask(server)
        ask(Server(faulty.url))
    keys = [request.key for request in faulty.requests]
    assert keys == ["Bearer mine", f"Bearer {KEY}", "Bearer openai", "Bearer from-file", ""]


def test_openai_without_a_key_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAGSTONE_API_KEY")
    monkeypatch.setattr(socket, "create_connection", lambda *_: pytest.fail("it was asked"))
    with pytest.raises(ConfigError, match=r"no API key for https://api\.openai\.com/v1; set RAGSTONE_API_KEY or"):
        ask(Server())


@pytest.mark.parametrize("status", [200, 302, 400, 401, 404, 429, 500])
def test_a_server_that_repeats_the_key_does_not_put_it_into_errors(status: int) -> None:
    escaped = KEY.replace("s", "\\u0073")
    for said in (KEY, escaped, "x" * 290 + KEY, f'"}}{KEY}'):
        answer = Answer(status, f'{{"error": {{"message": "your key {said} is bad"}}}}'.encode())
        with serving(always(answer)) as (_, server), pytest.raises((ConfigError, ModelError)) as raised:
            ask(server)
        assert "sk-very" not in str(raised.value)
        assert len(str(raised.value)) < 500


def test_no_key_is_kept_in_the_server() -> None:
    with serving() as (_, server):
        ask(server)
        assert KEY not in repr([vars(thing) for thing in (server, server._connections, server.limiter)])


def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "RAGSTONE_API_KEY", f"{KEY}\nHost: evil")
    with serving() as (faulty, server), pytest.raises(ConfigError, match="cannot be sent") as raised:
        ask(server)
    assert KEY not in str(raised.value)
    assert not faulty.requests


def test_the_place_tells_servers_apart() -> None:
    assert Server().place == Server("https://api.openai.com/v1/").place == ""
    assert Server("http://localhost:8000/v1").place == "localhost:8000/v1"
    assert Server("http://localhost:8000/v1").named("m") == "openai:m@localhost:8000/v1"
