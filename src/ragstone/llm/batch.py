"""Batch mode: calls are written down, answered elsewhere, and read from the cache when the command is run again.

A folder holds `requests.jsonl`, in the format of OpenAI's Batch API, for whoever answers it: a batch service, another
tool, a person. What they put beside it as `responses.jsonl` (or any `responses*.jsonl`, so that the file of errors can
lie there too) is committed to the reply cache by the next command that opens the folder.
"""

import codecs
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import orjson

from ragstone.errors import ConfigError, DataError, ModelError, Waiting
from ragstone.files import about_the_disk, encode, read_bytes, write_bytes
from ragstone.llm.budget import Budget, paid
from ragstone.llm.cache import Kept, ReplyCache
from ragstone.llm.client import chat_body, reply_from
from ragstone.llm.connection import PassingTrouble
from ragstone.llm.model import call_key
from ragstone.llm.options import Options
from ragstone.llm.prices import Price
from ragstone.llm.transport import Server, environment_key, masked, told
from ragstone.text import count_tokens
from ragstone.types import Call, Reply

REQUESTS = "requests.jsonl"
RESPONSES = "responses*.jsonl"
FAILED = "failed.jsonl"
KEY = re.compile("[0-9a-f]{64}")
UNNAMED = "batch"


class Batched:
    """A model that is asked by batch. Its name is that of the same model online, so both share replies and runs."""

    keeps = True

    def __init__(self, model: str, folder: "BatchFolder | None", options: Options, base_url: str = "") -> None:
        server = Server(options.base_url or base_url)
        self.name = (server.named(model) if model else UNNAMED) + options.identity
        self._model, self._as_openai = model or UNNAMED, bool(model) and server.is_openai
        self._folder, self._options = folder, options  # without a folder it has a name, for a forecast, and no more

    @property
    def notes(self) -> list[str]:
        return self._folder.notes if self._folder else []

    def complete(self, call: Call) -> Reply:
        """Never replies: what has been answered is in the cache, and what failed or is not asked yet is an error."""
        if self._folder is None:
            raise ConfigError(f"{self.name} has no folder for its calls; write batch:MODEL@DIR")
        key = call_key(self.name, call)
        if failed := self._folder.failures.get(key):
            raise ModelError(f"{self.name}: the batch has no reply to this call: {failed}; --retry-failed asks again")
        body = chat_body(self._model, self._options.applied(call), self._options, self._as_openai)
        self._folder.defer(key, body)
        raise CallsWait(self._folder)


class Known(NamedTuple):
    """What is known of a model that was asked by batch."""

    name: str
    price: Price | None


class Asked(NamedTuple):
    """A call that was written down."""

    model: str
    words: str


class CallsWait(Waiting):
    """Counts the calls when it is shown, not when it is raised: others are written down meanwhile."""

    def __str__(self) -> str:
        return str(self.args[0].instruction())


class BatchFolder:
    """Takes in the responses that it finds when it is opened, and writes down the calls that have none yet.

    What failed stays failed until no call waits any more: then the command has come to its end, and whoever asks again
    means it.
    """

    def __init__(
        self,
        path: Path,
        cache: ReplyCache | None,
        budget: Budget | None = None,
        known: Callable[[str], Known] = lambda model: Known(f"{UNNAMED}:{model}", None),
    ) -> None:
        if cache is None:
            raise ConfigError(
                "a batch needs the reply cache, where its replies go; set `cache` to a folder, and no --timed"
            )
        self.path = path
        self.failures: dict[str, str] = {}  # what went wrong, by the key of the call
        self.notes: list[str] = []  # what people should know of the responses
        self._cache, self._budget, self._known = cache, budget or Budget(), known
        self._deferred: set[str] = set()
        self._is_nameless = False  # whether a call names no model
        self._lock = Lock()
        with about_the_disk(path):
            path.mkdir(parents=True, exist_ok=True)
        asked = self._asked()
        self.failures |= self._failed() if asked else {}
        self._take_in(asked)
        self._remove_if_answered(asked)

    # ── calls ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def defer(self, key: str, body: Mapping[str, Any]) -> None:
        """Writes the call down, once. The first call begins the file anew."""
        path = self.path / REQUESTS
        line = {"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body}
        with self._lock:
            if key not in self._deferred:
                with about_the_disk(path), path.open("ab" if self._deferred else "wb") as file:
                    file.write(orjson.dumps(line) + b"\n")
                self._deferred.add(key)
                self._is_nameless |= body["model"] == UNNAMED

    def instruction(self) -> str:
        """What people should do now."""
        number, place = len(self._deferred), self.path / REQUESTS
        calls, them = ("1 call waits", "it") if number == 1 else (f"{number} calls wait", "them")
        todo = f"have {them} answered, put responses.jsonl beside it and run the same command again"
        nameless = ["for a batch service name the model too: batch:MODEL@DIR"] if self._is_nameless else []
        return "; ".join([f"{calls} in {place}: {todo}", *nameless, *self.notes])

    def _asked(self) -> dict[str, Asked]:
        """The calls that were written down before, by key."""
        return {line["custom_id"]: asked_in(line.get("body")) for line in self._records(REQUESTS)}

    def _failed(self) -> dict[str, str]:
        """The errors of calls that were written down before, by key."""
        return {line["custom_id"]: str(line.get("error")) for line in self._records(FAILED)}

    def _records(self, name: str) -> list[dict[str, Any]]:
        path = self.path / name
        return [line.found for line in lines(path) if line.found] if path.exists() else []

    def _remove_if_answered(self, asked: Collection[str]) -> None:
        """A file of calls that are all answered would only be answered, and paid for, again."""
        if all(self._is_answered(key) for key in asked):
            for name in (REQUESTS, FAILED):
                (self.path / name).unlink(missing_ok=True)

    def _is_answered(self, key: str) -> bool:
        return key in self.failures or (KEY.fullmatch(key) is not None and self._cache.recall(key) is not None)

    # ── responses ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _take_in(self, asked: Mapping[str, Asked]) -> None:
        """Every usable line of every file is committed before any file is renamed or an error is raised."""
        bad, whole, ignored = list[str](), list[Path](), 0
        for path in sorted(self.path.glob(RESPONSES)):
            whole.append(path)
            for line in lines(path):
                if line.is_cut:
                    whole.remove(path)
                    self.notes.append(f"{path}, line {line.number} is cut off: copy the file again")
                elif line.found is None:
                    bad.append(f"{path}, line {line.number}")
                elif KEY.fullmatch(line.found["custom_id"]):
                    self._keep(line.found, asked)
                else:
                    ignored += 1
        if ignored:
            self.notes.append(f"{ignored} responses have a custom_id that no call here has, and were left out")
        if bad:
            raise DataError(f"{bad[0]} is not a response; mend or remove the line, all others are safe in the cache")
        if self.failures:
            failed = [orjson.dumps({"custom_id": key, "error": said}) + b"\n" for key, said in self.failures.items()]
            write_bytes(self.path / FAILED, b"".join(failed))
        for path in whole:
            self._put_aside(path)

    def _keep(self, found: Mapping[str, Any], asked: Mapping[str, Asked]) -> None:
        """Commits a reply, or remembers why there is none. Of several replies to a call the first counts."""
        key, called_itself = found["custom_id"], model_of(found)
        try:
            reply = reply_from(body_of(found), called_itself)
        except (ModelError, PassingTrouble) as error:
            if key not in self.failures:
                self.failures[key] = masked(str(error), environment_key())
                self._pay(asked.get(key), *getattr(error, "tokens", (0, 0)))
            return
        told = asked.get(key)  # None: the file that it was written to is gone
        words = told.words if told else ""
        if not reply.input_tokens:  # whoever answered did not count
            reply = reply.model_copy(update={"input_tokens": count_tokens(words)})
        if self._cache.recall(key) is None:
            name, price = self._known(told.model) if told else Known(called_itself, None)
            tokens = reply.input_tokens + reply.output_tokens
            cost = price.of(reply.input_tokens, reply.output_tokens) if price else None
            self._budget.add(paid(tokens, cost))
            self._cache.commit(key, encode(reply), Kept(model=name, about=words[-200:], tokens=tokens, cost=cost))

    def _pay(self, told: Asked | None, input_tokens: int, output_tokens: int) -> None:
        """Notes what a reply of no use has cost."""
        price = self._known(told.model).price if told else None
        cost = price.of(input_tokens, output_tokens) if price else None
        self._budget.add(paid(input_tokens + output_tokens, cost))
        self._cache.spend(input_tokens + output_tokens, cost)

    def _put_aside(self, path: Path) -> None:
        """Kept under a name that is not read again."""
        free = next(name for n in count(1) if not (name := self.path / f"ingested-{n:03}.jsonl").exists())
        with about_the_disk(path), suppress(FileNotFoundError):  # another process was faster
            os.replace(path, free)


class Line(NamedTuple):
    number: int
    found: dict[str, Any] | None  # None: it is not a record with a custom_id
    is_cut: bool = False  # by a copy that was not finished


def lines(path: Path) -> Iterator[Line]:
    """The lines of a file that say something."""
    rows = read_bytes(path).removeprefix(codecs.BOM_UTF8).split(b"\n")
    for number, row in enumerate(rows, 1):
        if row.strip():
            found = record(row)
            yield Line(number, found, is_cut=found is None and number == len(rows))


def record(row: bytes) -> dict[str, Any] | None:
    try:
        found = orjson.loads(row)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) and isinstance(found.get("custom_id"), str) else None


def asked_in(body: Any) -> Asked:
    """What a request asks, and of whom."""
    try:
        return Asked(str(body["model"]), "\n".join(str(message["content"]) for message in body["messages"]))
    except (KeyError, TypeError):
        return Asked(UNNAMED, "")


def body_of(found: Mapping[str, Any]) -> Any:
    """The chat completion in a line of a batch's output, or in one that was made by hand or by another tool."""
    response = found.get("response") or {}
    if found.get("error") or not isinstance(response, dict):
        raise ModelError(told(orjson.dumps(found.get("error") or response), ""))
    body, status = response.get("body", found.get("body")), response.get("status_code", 200)
    if str(status) != "200" or (isinstance(body, dict) and body.get("error")):
        raise ModelError(f"HTTP {status}: {told(orjson.dumps(body), '')}")
    text = found.get("text", found.get("content"))
    if body is None and text is not None:
        return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    return body


def model_of(found: Mapping[str, Any]) -> str:
    """What the one who answered calls itself."""
    response = found.get("response")
    body = (response.get("body") if isinstance(response, dict) else None) or found.get("body")
    model = body.get("model") if isinstance(body, dict) else None
    return f"{UNNAMED}:{model}" if isinstance(model, str) else UNNAMED
