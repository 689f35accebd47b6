"""A real server on loopback that speaks chat completions and embeddings, with faults where a script wants them.

What it answers is a pure function of the request, and a fault one of the request and of how often it came before. In
tests, `with FaultServer(mixed(0.1)) as server:` and `server.url`; for benchmarks `python tests/fault_server.py`, which
prints its URL and answers `GET /counts`.
"""

import argparse
import asyncio
import hashlib
import json
import re
import socket
import ssl
import struct
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

import orjson

FAULTS = ("429", "500", "reset", "hang", "truncated", "malformed")
"""`429` has a Retry-After, `hang` never answers, `truncated` ends early, `malformed` is JSON without its end. There are
also `drop` (closed without an answer), `drip` (a body in small pieces, for ever), `drip head` and `cut chunk`.
"""
RETRY_AFTER = 0.02
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
KEY = re.compile(rb"\r\nauthorization: *([^\r\n]*)", re.IGNORECASE)


class Request(NamedTuple):
    path: str
    body: dict[str, Any]
    attempt: int  # how often the same body came before
    turn: int  # how many requests came before on its connection
    key: str  # the Authorization header

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][-1]["content"])


class Answer(NamedTuple):
    """What is sent instead of the healthy answer."""

    status: int
    body: bytes = b"{}"
    headers: Mapping[str, str] = {}


Script = Callable[[Request], Answer | str | None]
"""The answer to a request, or the name of a fault, or None where all is well."""


def share(*parts: object) -> float:
    """A number from 0 to 1 that depends on the parts alone."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:8]) / 2**64


def mixed(rate: float, kinds: tuple[str, ...] = FAULTS, never: Mapping[str, str] | None = None) -> Script:
    """That share of all requests meets one of the faults; a prompt that holds a key of `never` always meets its own."""

    def script(request: Request) -> str | None:
        text = json.dumps(request.body, sort_keys=True)
        for words, fault in (never or {}).items():
            if words in text:
                return fault
        if share(text, request.attempt) >= rate:
            return None
        return kinds[int(share("kind", text, request.attempt) * len(kinds))]

    return script


def healthy(request: Request) -> None:
    """No faults."""


def reply_to(prompt: str) -> str:
    """The only right reply to a prompt."""
    return f"reply {hashlib.sha256(prompt.encode()).hexdigest()[:16]}"


def vector_of(text: str) -> list[float]:
    return [byte / 255 + 0.1 for byte in hashlib.sha256(text.encode()).digest()[:8]]


def completion(text: str | None, finish: str = "stop", **message: Any) -> bytes:
    """A chat completion as servers write it; `usage` and `logprobs` are put where they belong."""
    usage = message.pop("usage", {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25})
    logprobs = message.pop("logprobs", None)
    message = {"role": "assistant", "content": text, **message}
    choice = {"index": 0, "message": message, "logprobs": logprobs, "finish_reason": finish}
    body = {"id": "c-1", "object": "chat.completion", "created": 1, "model": "test", "choices": [choice]}
    return orjson.dumps(body | ({"usage": usage} if usage else {}))


def embeddings(texts: list[str]) -> bytes:
    items = [{"object": "embedding", "index": index, "embedding": vector_of(text)} for index, text in enumerate(texts)]
    return orjson.dumps({"object": "list", "data": items, "model": "test", "usage": {"prompt_tokens": len(texts)}})


class FaultServer:
    """Runs in a thread of its own while the context is open."""

    def __init__(
        self, script: Script = healthy, latency: float = 0.0, port: int = 0, tls: ssl.SSLContext | None = None
    ) -> None:
        self.script, self.latency, self._tls = script, latency, tls
        self.counts: Counter[bytes] = Counter()  # requests by the hash of their body
        self.requests: list[Request] = []
        self.keep_requests = True
        self.connections: set[asyncio.Transport] = set()
        self.opened = self.under_way = self.peak = 0
        self.first = self.last = 0.0
        self._socket = socket.create_server(("127.0.0.1", port), backlog=1024)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.run)
        self._over = asyncio.Event()

    def run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        server = await self._loop.create_server(lambda: Connection(self), sock=self._socket, ssl=self._tls)
        await self._over.wait()
        server.close()
        for transport in list(self.connections):
            transport.abort()
        await asyncio.sleep(0)  # lets the transports close

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join()

    def close_idle(self) -> None:
        """Closes every connection, as servers do after a while."""
        closed = threading.Event()

        def close() -> None:
            for transport in list(self.connections):
                transport.close()
            self._loop.call_soon(closed.set)

        self._loop.call_soon_threadsafe(close)
        closed.wait()

    def answer(self, request: Request) -> bytes:
        if request.path.endswith("/embeddings"):
            return embeddings(request.body["input"])
        return completion(reply_to(request.prompt))


class Connection(asyncio.Protocol):
    """Reads one request after the other; what it does not need of HTTP it does not know."""

    transport: asyncio.Transport

    def __init__(self, server: FaultServer) -> None:
        self.server, self.data, self.turn = server, b"", 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server.connections.add(transport)
        self.server.opened += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self.server.connections.discard(self.transport)

    def data_received(self, data: bytes) -> None:
        self.data += data
        head, end, rest = self.data.partition(b"\r\n\r\n")
        if not end:
            return
        length = LENGTH.search(head)
        wanted = int(length[1]) if length else 0
        if len(rest) < wanted:
            return
        self.data = rest[wanted:]
        if head.startswith(b"GET"):
            self.tell_counts()
        else:
            self.ask(head, rest[:wanted])

    def ask(self, head: bytes, body: bytes) -> None:
        server, now = self.server, time.time()
        key = KEY.search(head)
        path = head[: head.index(b"\r")].split(b" ")[1].decode()
        digest = hashlib.blake2b(body, digest_size=16).digest()
        request = Request(path, orjson.loads(body), server.counts[digest], self.turn, key[1].decode() if key else "")
        self.turn += 1
        server.counts[digest] += 1
        if server.keep_requests:
            server.requests.append(request)
        server.first, server.last = server.first or now, now
        server.under_way += 1
        server.peak = max(server.peak, server.under_way)
        if server.latency:
            asyncio.get_running_loop().call_later(server.latency, self.act, request)
        else:
            self.act(request)

    def act(self, request: Request) -> None:
        self.server.under_way -= 1
        found = self.server.script(request)
        if isinstance(found, Answer):
            self.send(found.body, found.status, found.headers)
        elif found is None:
            self.send(self.server.answer(request))
        elif found == "429":
            self.send(b'{"error": {"message": "slow down"}}', 429, {"Retry-After": f"{RETRY_AFTER}"})
        elif found == "500":
            self.send(b"<html>oops</html>", 500)
        elif found == "malformed":
            self.send(self.server.answer(request)[:-20])
        else:
            self.break_off(found, self.server.answer(request))

    def send(self, body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        fields = {"Content-Type": "application/json", "Content-Length": len(body), **(headers or {})}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self.transport.write(f"HTTP/1.1 {status} Said\r\n{head}\r\n".encode() + body)
        if fields.get("Connection") == "close":
            self.transport.close()

    def break_off(self, fault: str, body: bytes) -> None:
        """Every fault but `hang`, which is to do nothing."""
        if fault == "reset":
            self.transport.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
            self.transport.abort()
        elif fault == "drop":
            self.transport.close()
        elif fault == "truncated":
            self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + body)
            self.transport.close()
        elif fault == "cut chunk":
            self.transport.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n" + body)
            self.transport.close()
        elif fault in ("drip", "drip head"):
            self.transport.write(b"HTTP/1.1 200 OK\r\nX: " + (b"\r\n\r\n" if fault == "drip" else b""))
            self.drip()
        else:
            assert fault == "hang", fault

    def drip(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(b" ")
            asyncio.get_running_loop().call_later(0.01, self.drip)

    def tell_counts(self) -> None:
        server = self.server
        said = {"requests": server.counts.total(), "bodies": len(server.counts), "peak": server.peak}
        most = max(server.counts.values(), default=0)
        self.send(orjson.dumps(said | {"most": most, "first": server.first, "last": server.last}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--faults", type=float, default=0.0, help="share of requests that meet one")
    parser.add_argument("--never", action="append", default=[], metavar="WORDS=FAULT", help="prompts that always do")
    parser.add_argument("--port", type=int, default=0)
    told = parser.parse_args()
    never = dict(words.rsplit("=", 1) for words in told.never)
    script = mixed(told.faults, never=never) if told.faults or never else healthy
    server = FaultServer(script, told.latency, told.port)
    server.keep_requests = False
    sys.stdout.write(f"{server.url}\n")
    sys.stdout.flush()
    server.run()


if __name__ == "__main__":
    main()
