"""A server of models: JSON there and back, tried again while that may help, but not for ever."""

import email.utils
import os
import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from datetime import UTC, datetime
from http.client import HTTPMessage
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import SplitResult, urlsplit

import orjson

from ragstone.errors import ConfigError, ModelError, RagstoneError
from ragstone.llm.connection import Answer, Connections, PassingTrouble, Stale, Unreachable
from ragstone.llm.limiter import Limiter
from ragstone.llm.options import NO_KEY
from ragstone.parallel import interruption

T = TypeVar("T")

OPENAI = "https://api.openai.com/v1"
TRIES = 6  # requests for one call
TRIES_TO_REACH = 2  # of a server that has never answered
LONGEST_PAUSE = 60.0
BUSY = 5  # times the pause where a server asks to slow down but not for how long: six tries take more than a minute
KEYS = ("RAGSTONE_API_KEY", "OPENAI_API_KEY")
SHORTEST_KEY = 8  # local servers take any word for a key, and hiding that word would garble what they say


class Refused(ModelError):
    """The server takes calls, but not this one."""


class TooMany(PassingTrouble):
    """The server asks to slow down."""


class Server:
    """Safe to use from several threads, whose requests share its connections and its limit. It keeps no key."""

    def __init__(
        self,
        base_url: str = "",
        *,
        key: str = "",
        key_file: Path | None = None,
        concurrency: int = 8,
        timeout: float = 120.0,
        patience: float = 600.0,
        pause: float = 0.5,
    ) -> None:
        self.url = checked(base_url or OPENAI)
        self.is_openai = self.url.geturl() == OPENAI
        self.place = "" if self.is_openai else f"{self.url.netloc}{self.url.path}"
        self.limiter = Limiter(concurrency)
        self._key, self._key_file = key, key_file  # the names of places where a key is
        self._timeout = timeout  # of one try
        self._patience = patience  # for all tries of a call with the pauses between them
        self._pause = pause  # before the second try, in seconds; doubled before each further one
        self._connections = Connections(self.url)
        self._has_answered = self._has_replied = False

    def named(self, model: str) -> str:
        """A model with its server, unless it is OpenAI's: two servers may mean different models by one name."""
        return f"openai:{model}" + (f"@{self.place}" if self.place else "")

    def post(self, path: str, body: Mapping[str, Any], accept: Callable[[Any], T]) -> tuple[T, int]:
        """What `accept` makes of the answer, and the number of requests that it took.

        `accept` raises `PassingTrouble` for an answer that is malformed, which is tried again like any other trouble.
        After Ctrl-C no request is begun, and one that had trouble is cancelled, which is no failure of its call.
        """
        sent = Sent(str(body["model"]), path, orjson.dumps(body), self.api_key())
        left, troubles = self._patience, list[PassingTrouble]()
        while True:
            try:
                with self.limiter.slot() as began:
                    stop_if_interrupted()
                    answer = self._once(sent, began, min(self._timeout, left), fresh=was_stale(troubles))
                return accept(self._read(answer, sent)), len(troubles) + 1
            except PassingTrouble as trouble:
                troubles.append(trouble)
            except ModelError as error:
                error.tries = len(troubles) + 1
                raise
            stop_if_interrupted()
            pause = self._pause_after(troubles)
            left -= time.monotonic() - began + pause
            if left <= 0 or len(troubles) >= self._bound(troubles):
                raise self._given_up(sent, troubles) from troubles[-1]
            if interrupted_in(pause):
                raise CancelledError

    def _once(self, sent: "Sent", began: float, seconds: float, fresh: bool) -> Answer:
        headers = {"Content-Type": "application/json", "User-Agent": "ragstone"}
        headers |= {"Authorization": f"Bearer {sent.key}"} if sent.key else {}
        answer = self._connections.post(sent.path, sent.data, headers, seconds, fresh)
        self._has_answered = True
        if answer.status == 429:
            self.limiter.too_much(began)
        elif answer.status == 200:
            self._has_replied = True
            self.limiter.went_well()
        return answer

    def _read(self, answer: Answer, sent: "Sent") -> Any:
        """The JSON of an answer; if it is none, what kind of trouble that is."""
        if answer.status != 200:
            raise self._trouble(answer, sent)
        try:
            found = orjson.loads(answer.body)
        except orjson.JSONDecodeError as error:
            raise PassingTrouble("the answer is malformed") from error
        if isinstance(found, dict) and found.get("error"):
            raise PassingTrouble(f"the answer is an error: {told(answer.body, sent.key)}")
        return found

    def _trouble(self, answer: Answer, sent: "Sent") -> Exception:
        """Sorts what is not an answer into what may pass, what the set-up must change, and what this call brought."""
        who, status = self.named(sent.model), answer.status
        said = f"HTTP {status}: {told(answer.body, sent.key)}"
        if status == 402 or b"insufficient_quota" in answer.body:
            return ConfigError(f"{who} has no credit left ({said}); pay or use another model, and run this again")
        if status in (408, 409, 425, 429) or status >= 500:
            return (TooMany if status == 429 else PassingTrouble)(said, wanted_pause(answer.headers))
        if status == 401 or (status == 403 and not self._has_replied):  # later, it is what this call says
            return ConfigError(f"{who} refuses the key ({said}); set {self._key_places}")
        if status in (404, 405) or status < 400 or b"model_not_found" in answer.body:
            place, remedy = self.url.geturl(), "check the model's name and --base-url (most end in /v1)"
            return ConfigError(f"no model {sent.model!r} at {place} ({said}); {remedy}")
        return Refused(f"{who} refuses this call ({said}); shorten it or check the model's options")

    def _pause_after(self, troubles: Sequence[PassingTrouble]) -> float:
        if was_stale(troubles):
            return 0.0
        first = self._pause * (BUSY if isinstance(troubles[-1], TooMany) else 1)
        own = first * 2 ** (len(troubles) - 1) * random.uniform(0.8, 1.5)
        asked = troubles[-1].pause
        return min(LONGEST_PAUSE, own if asked is None else asked)

    def _bound(self, troubles: Sequence[PassingTrouble]) -> int:
        """A server that has never been there is given up soon: most likely its address is wrong."""
        return TRIES if self._has_answered or not is_gone(troubles) else TRIES_TO_REACH

    def _given_up(self, sent: "Sent", troubles: Sequence[PassingTrouble]) -> RagstoneError:
        last, tries = masked(str(troubles[-1]), sent.key), len(troubles)
        if is_gone(troubles):
            remedy = "start the server or check --base-url; the same command goes on from here"
            return ConfigError(f"cannot reach {self.url.geturl()} ({last}); {remedy}")
        often = "1 try" if tries == 1 else f"{tries} tries"
        error = ModelError(f"{self.named(sent.model)} gave no usable answer in {often}: {last}; try later")
        error.tries = tries
        return error

    def api_key(self) -> str:
        """Looked up each time, so that it is kept nowhere. A key that was named is the only one that is sent."""
        if self._key == NO_KEY:
            return ""
        found = [os.environ.get(name) for name in ((self._key,) if self._key else KEYS)]
        key = next((key for key in found if key), "") or ("" if self._key else from_file(self._key_file))
        key = key.strip()
        if not (key.isascii() and key.isprintable()):
            raise ConfigError(f"the API key has characters that cannot be sent; set {self._key_places} anew")
        if not key and (self._key or self.is_openai):
            raise ConfigError(f"no API key for {self.url.geturl()}; set {self._key_places}")
        return key

    @property
    def _key_places(self) -> str:
        """Where a key is looked for. What may be a key in the place of a name is not shown."""
        names = (self._key,) if self._key and self._key != NO_KEY else KEYS
        return " or ".join(
            name if re.fullmatch("[A-Z0-9_]+", name) else "the variable that `key` names" for name in names
        )


class Sent(NamedTuple):
    """A call as it is sent."""

    model: str
    path: str
    data: bytes
    key: str


def stop_if_interrupted() -> None:
    if interruption().is_set():
        raise CancelledError


def interrupted_in(seconds: float) -> bool:
    """Waits, but not longer than people want to: Ctrl-C ends it."""
    return interruption().wait(seconds)


def was_stale(troubles: Sequence[PassingTrouble]) -> bool:
    return bool(troubles) and isinstance(troubles[-1], Stale)


def is_gone(troubles: Sequence[PassingTrouble]) -> bool:
    """Whether nobody was there lately, which every call would meet; a single time may be chance."""
    return all(isinstance(trouble, Unreachable) for trouble in troubles[-2:])


def from_file(path: Path | None) -> str:
    try:
        return path.read_text("utf-8") if path else ""
    except (OSError, UnicodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "it is not text"
        raise ConfigError(f"cannot read the file that key_file names: {reason.lower()}; check the path") from error


def told(body: bytes, key: str) -> str:
    """What a server says of an error, in the forms that are common; bounded, and without the key."""
    text = body.decode(errors="replace")
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        found = None
    inner = found.get("error") or found if isinstance(found, dict) else found
    message = inner.get("message") if isinstance(inner, dict) else inner
    return masked(message if isinstance(message, str) else text, key)[:300]


def masked(text: str, key: str) -> str:
    """One line without the key, also as JSON may write it; what is shorter than a key is none."""
    written = (key, key.replace("/", "\\/")) if len(key) >= SHORTEST_KEY else ()
    for form in written:
        text = text.replace(form, "***")
    return " ".join(text.split())


def environment_key() -> str:
    """The key that the environment holds, if any."""
    return next((key for name in KEYS if (key := os.environ.get(name, "").strip())), "")


def checked(base_url: str) -> SplitResult:
    """The URL in its parts. One that carries a password is refused, and not shown."""
    try:
        url = urlsplit(base_url.strip().rstrip("/"))
        usable = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
        usable = usable and re.fullmatch("[!-~]+", url.geturl()) is not None
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError("the base URL is not one; write for instance --base-url http://localhost:8000/v1")
    if "@" in url.netloc or url.query or url.fragment or ";" in url.path:
        raise ConfigError("the base URL holds a password or a query; give it without, and the key in RAGSTONE_API_KEY")
    return url


def wanted_pause(headers: HTTPMessage) -> float | None:
    """The seconds that the server asks to wait."""
    exact = retry_after(headers.get("retry-after-ms"))
    return retry_after(headers.get("Retry-After")) if exact is None else exact / 1000


def retry_after(header: str | None) -> float | None:
    """It may name a number or a date."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        date = email.utils.parsedate_to_datetime(header)
        return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None
