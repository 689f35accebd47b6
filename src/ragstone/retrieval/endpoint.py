"""Embeddings over HTTP, from any server that answers `POST BASE_URL/embeddings` as OpenAI does."""

import email.utils
import http.client
import os
import random
import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Literal, NoReturn
from urllib.parse import SplitResult, urlsplit

import numpy as np
import orjson
from numpy.typing import NDArray

from ragstone.errors import ConfigError, ModelError
from ragstone.retrieval.dense import unit

OPENAI = "https://api.openai.com/v1"
BATCH = 64
TRIES = 6
LONGEST_PAUSE = 60.0
CONNECT_SECONDS, READ_SECONDS, ANSWER_SECONDS = 10.0, 60.0, 120.0


class PassingTrouble(Exception):
    """Something that may be gone at the next try; `pause` is what the server asks for."""

    def __init__(self, what: str, pause: float | None = None) -> None:
        super().__init__(what)
        self.pause = pause


class Endpoint:
    """Safe to use from several threads: it keeps no connection and no key."""

    languages: tuple[str, ...] = ()  # only its users know

    def __init__(self, model: str, base_url: str = "", pause: float = 0.5) -> None:
        self.model = model
        self._url = checked(base_url or OPENAI)
        self._pause = pause  # before the second try, in seconds; doubled before each further one

    @property
    def name(self) -> str:
        """With the server, unless it is OpenAI's: two servers may mean different models by one name."""
        place = f"{self._url.netloc}{self._url.path}"
        return f"openai:{self.model}" + ("" if self._url.geturl() == OPENAI else f"@{place}")

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> NDArray[np.float32]:
        batches = [self._embed(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
        if len({batch.shape[1] for batch in batches}) > 1:
            raise ModelError(f"{self.name} gave vectors of different lengths; check the server")
        return np.concatenate(batches)

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Tries until the trouble is over, but not for ever."""
        for attempt in range(TRIES):
            try:
                return unit(vectors(self._post({"model": self.model, "input": list(texts)}), len(texts)))
            except PassingTrouble as trouble:
                last = trouble
            if attempt < TRIES - 1:
                pause = self._pause * 2**attempt * random.uniform(0.5, 1.5)
                time.sleep(min(LONGEST_PAUSE, pause if last.pause is None else last.pause))
        raise ModelError(f"{self.name} gave no embeddings in {TRIES} tries: {last}; check the server or try later")

    def _post(self, body: object) -> bytes:
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._url.hostname or "", self._url.port, timeout=CONNECT_SECONDS)
        key = api_key()
        headers = {"Content-Type": "application/json", "User-Agent": "ragstone"}
        headers |= {"Authorization": f"Bearer {key}"} if key else {}
        try:
            connection.connect()
            connection.sock.settimeout(READ_SECONDS)
            connection.request("POST", f"{self._url.path}/embeddings", orjson.dumps(body), headers)
            with connection.getresponse() as response:
                answer = read(response)
        except (OSError, http.client.HTTPException) as error:
            raise PassingTrouble(str(error) or type(error).__name__) from error
        finally:
            connection.close()
        if response.status != HTTPStatus.OK:
            said = f"HTTP {response.status} {response.reason} {answer.decode(errors='replace')}"
            self._refuse(response, " ".join((said.replace(key, "***") if key else said).split())[:300])
        return answer

    def _refuse(self, response: http.client.HTTPResponse, problem: str) -> NoReturn:
        """Sorts what is not an answer into what may pass, what the set-up must change, and what this text brought."""
        if response.status in (408, 409, 425, 429) or response.status >= 500:
            raise PassingTrouble(problem, retry_after(response.headers.get("Retry-After")))
        if response.status in (401, 403):
            raise ConfigError(f"{self.name} refuses the key ({problem}); set RAGSTONE_API_KEY or OPENAI_API_KEY")
        if response.status == 404 or response.status < 400:
            raise ConfigError(f"{self.name} is not at {self._url.geturl()} ({problem}); check --base-url and the model")
        raise ModelError(f"{self.name} cannot embed this ({problem}); shorten the text or check the model")


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
    if "@" in url.netloc or url.query:
        raise ConfigError("the base URL holds a password or a query; give it without, and the key in RAGSTONE_API_KEY")
    return url


def api_key() -> str:
    """Read from the environment each time, so that it is kept nowhere."""
    key = (os.environ.get("RAGSTONE_API_KEY") or os.environ.get("OPENAI_API_KEY") or "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigError("the API key has characters that cannot be sent; set RAGSTONE_API_KEY anew")
    return key


def read(response: http.client.HTTPResponse) -> bytes:
    """The whole body, but not for longer than an answer may take."""
    end = time.monotonic() + ANSWER_SECONDS
    parts = []
    while part := response.read1(1 << 16):
        parts.append(part)
        if time.monotonic() > end:
            raise TimeoutError(f"the answer took longer than {ANSWER_SECONDS:.0f} s")
    return b"".join(parts)


def vectors(answer: bytes, count: int) -> NDArray[np.float32]:
    """The embeddings in the order of the texts; anything but one finite vector for each is malformed."""
    try:
        items = sorted(orjson.loads(answer)["data"], key=lambda item: item["index"])
        with np.errstate(over="ignore"):  # what is too great becomes infinite
            found = np.array([item["embedding"] for item in items], dtype=np.float32)
        in_order = [item["index"] for item in items] == list(range(count))
    except (ValueError, TypeError, KeyError) as error:
        raise PassingTrouble("the answer is malformed") from error
    if not in_order or found.ndim != 2 or not np.isfinite(found).all():
        raise PassingTrouble(f"the answer does not hold {count} vectors")
    return found


def retry_after(header: str | None) -> float | None:
    """The seconds that the server asks to wait: it may name a number or a date."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        date = email.utils.parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
