"""A model as plug-ins see it: asks a backend, through the cache and within the budget."""

from typing import Protocol, TypeVar

from pydantic import BaseModel

from ragstone.errors import ModelError
from ragstone.files import encode, sha256
from ragstone.llm.budget import Budget, Spent
from ragstone.llm.cache import Replies
from ragstone.llm.meter import count
from ragstone.llm.options import Options
from ragstone.llm.prices import FREE, Price
from ragstone.llm.sharing import UnderWay
from ragstone.llm.structured import ask_for
from ragstone.text import count_tokens
from ragstone.types import Call, Message, Reply

T = TypeVar("T", bound=BaseModel)


class Backend(Protocol):
    """Turns a call into a reply or raises: `ModelError` for this call, `ConfigError` for all alike."""

    @property
    def name(self) -> str:
        """The model with its server and every option that changes replies: the identity in runs and in the cache."""
        ...

    @property
    def keeps(self) -> bool:
        """Whether its replies are worth keeping."""
        ...

    def complete(self, call: Call) -> Reply: ...


class LanguageModel:
    """Safe to use from several threads. Of identical calls under way only one is made."""

    def __init__(
        self,
        backend: Backend,
        cache: Replies | None = None,
        budget: Budget | None = None,
        price: Price | None = FREE,
        options: Options | None = None,
        asks_anew: bool = False,
    ) -> None:
        self.name = backend.name
        self.price = price  # None: not known
        self._backend = backend
        self._cache = cache if backend.keeps else None
        self._budget = budget or Budget()
        self.asks_anew = asks_anew  # whether what was of no use before is asked for again
        self._options = options or Options()
        self._under_way = UnderWay[Reply]()

    @property
    def notes(self) -> tuple[str, ...]:
        """What people should know of its replies; a backend need not have any."""
        return tuple(getattr(self._backend, "notes", ()))

    def ask(self, call: Call) -> Reply:
        call = self._options.applied(call)
        key = call_key(self.name, call)
        reply = self._cache.get(key) if self._cache else None
        if reply is None:
            reply = self._under_way.shared(key, lambda: self._made(key, call))
        count(reply.input_tokens, reply.output_tokens, self._cost(reply.input_tokens, reply.output_tokens))
        return reply

    def ask_for(
        self, kind: type[T], prompt: str, *, sample: int = 0, temperature: float = 0.0, max_tokens: int = 1024
    ) -> T:
        """The reply as a value of this type: by a JSON schema, with one turn to repair it, else a `ModelError`."""
        return ask_for(self, kind, asked(prompt, sample=sample, temperature=temperature, max_tokens=max_tokens))

    def _made(self, key: str, call: Call) -> Reply:
        """Asks, and commits the reply before anyone sees it."""
        if self._cache and (found := self._cache.get(key)):
            return found  # another thread was faster
        with self._budget.held(self._most(call)) as bill:
            try:
                reply = self._backend.complete(call)
            except ModelError as error:
                bill.pay(sum(error.tokens), self._cost(*error.tokens))
                if self._cache:
                    self._cache.spend(sum(error.tokens), self._cost(*error.tokens))
                raise
            cost = self._cost(reply.input_tokens, reply.output_tokens)
            bill.pay(reply.input_tokens + reply.output_tokens, cost)
            return self._cache.put(key, self.name, call, reply, cost) if self._cache else reply

    def _most(self, call: Call) -> Spent:
        """What a call may take at most; tokens of the input are counted by our rule, so about that."""
        if not self._budget.is_limited:
            return Spent(1)
        told = sum(count_tokens(message.content) for message in call.messages)
        return Spent(1, told + call.max_tokens, self._cost(told, call.max_tokens) or 0.0)

    def forget(self, call: Call) -> None:
        """A reply that nobody could use is asked for anew when it is tried again."""
        if self._cache:
            self._cache.forget(call_key(self.name, self._options.applied(call)))

    def _cost(self, input_tokens: int, output_tokens: int) -> float | None:
        return self.price.of(input_tokens, output_tokens) if self.price else None


def call_key(model: str, call: Call) -> str:
    """What identifies a call everywhere: in the cache, in a batch, among calls under way."""
    return sha256(model.encode() + b"\n" + encode(call))


def asked(prompt: str, *, sample: int = 0, temperature: float | None = 0.0, max_tokens: int = 1024) -> Call:
    """A call with one message."""
    message = Message(role="user", content=prompt)
    return Call(messages=(message,), sample=sample, temperature=temperature, max_tokens=max_tokens)
