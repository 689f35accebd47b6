"""Embeddings over HTTP, from any server that answers `POST BASE_URL/embeddings` as OpenAI does."""

import hashlib
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import orjson
from numpy.typing import NDArray

from ragstone.errors import ModelError
from ragstone.files import sha256
from ragstone.llm.budget import Budget, Spent
from ragstone.llm.cache import Kept, Replies
from ragstone.llm.connection import PassingTrouble
from ragstone.llm.forecast import Foreseen
from ragstone.llm.meter import count
from ragstone.llm.options import Options
from ragstone.llm.prices import FREE, Price
from ragstone.llm.sharing import UnderWay
from ragstone.llm.transport import Server
from ragstone.retrieval.dense import unit
from ragstone.text import count_tokens

BATCH = 64

Vectors = NDArray[np.float32]


class Endpoint:
    """Safe to use from several threads. Of identical batches under way one is asked for, and with a cache only once."""

    languages: tuple[str, ...] = ()  # only its users know

    def __init__(
        self,
        model: str,
        server: Server,
        cache: Replies | None = None,
        budget: Budget | None = None,
        price: Price | None = FREE,
        options: Options | None = None,
    ) -> None:
        options = options or Options()
        self.model = model
        self.name = server.named(model) + options.identity
        self._parameters = options.parameters
        self._server, self._cache, self._budget, self._price = server, cache, budget or Budget(), price
        self._under_way = UnderWay[Vectors]()

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> Vectors:
        batches = [self._embed(list(texts[start : start + BATCH])) for start in range(0, len(texts), BATCH)]
        if len({batch.shape[1] for batch in batches}) > 1:
            raise ModelError(f"{self.name} gave vectors of different lengths; check the server")
        return np.concatenate(batches)

    def _embed(self, texts: list[str]) -> Vectors:
        tokens = sum(map(count_tokens, texts))
        cost = self._price.of(tokens, 0) if self._price else None
        count(tokens, 0, cost)
        key = batch_key(self.name, texts)
        return self._under_way.shared(key, lambda: self._made(key, texts, tokens, cost))

    def _made(self, key: str, texts: list[str], tokens: int, cost: float | None) -> Vectors:
        """From the cache, or asked for and committed before anyone sees it."""
        data = self._cache.recall(key) if self._cache else None
        if data is None:
            found = self._asked(texts, tokens, cost)
            if self._cache is None:
                return found
            about = f"{len(texts)} texts for vectors, the last of them: {texts[-1][-100:]}"
            data = self._cache.commit(
                key, found.tobytes(), Kept(model=self.name, about=about, tokens=tokens, cost=cost)
            )
        return np.frombuffer(data, dtype=np.float32).reshape(len(texts), -1)

    def _asked(self, texts: list[str], tokens: int, cost: float | None) -> Vectors:
        body = {"model": self.model, "input": texts, **self._parameters}
        with self._budget.held(Spent(1, tokens, cost or 0.0)) as bill:
            found, _ = self._server.post("/embeddings", body, lambda answer: unit(vectors(answer, len(texts))))
            bill.pay(tokens, cost)
        return found


class ForecastEndpoint:
    """Stands for an endpoint and never asks it. Its vectors are made up, so what it finds is found at random."""

    languages: tuple[str, ...] = ()

    def __init__(self, name: str, cache: Replies | None, price: Price | None) -> None:
        self.name = name
        self._cache, self._price = cache, price
        self._seen: dict[str, int] = {}  # tokens of each batch, by key; 0 if it is in the cache
        self._recalled: set[str] = set()

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> NDArray[np.float32]:
        for start in range(0, len(texts), BATCH):
            batch = list(texts[start : start + BATCH])
            key = batch_key(self.name, batch)
            if self._cache and self._cache.recall(key) is not None:
                self._recalled.add(key)
            self._seen[key] = 0 if key in self._recalled else sum(map(count_tokens, batch))
        made_up = [np.frombuffer(hashlib.sha512(text.encode()).digest(), dtype=np.int8) for text in texts]
        return unit(np.array(made_up, dtype=np.float32))

    def foreseen(self, stage: str) -> Foreseen:
        tokens = sum(self._seen.values())
        return Foreseen(
            stage=stage,
            model=self.name,
            calls=len(self._seen),
            recalled=len(self._recalled),
            input_tokens=tokens,
            output_tokens=0,
            cost=self._price.of(tokens, 0) if self._price else None,
        )


def batch_key(name: str, texts: list[str]) -> str:
    return sha256(orjson.dumps(["embeddings", name, texts]))


def vectors(answer: Any, number: int) -> NDArray[np.float32]:
    """The embeddings in the order of the texts; anything but one finite vector for each is malformed."""
    try:
        items = sorted(answer["data"], key=lambda item: item["index"])
        with np.errstate(over="ignore"):  # what is too great becomes infinite
            found = np.array([item["embedding"] for item in items], dtype=np.float32)
        in_order = [item["index"] for item in items] == list(range(number))
    except (ValueError, TypeError, KeyError) as error:
        raise PassingTrouble("the answer is malformed") from error
    if not in_order or found.ndim != 2 or not np.isfinite(found).all():
        raise PassingTrouble(f"the answer does not hold {number} vectors")
    return found
