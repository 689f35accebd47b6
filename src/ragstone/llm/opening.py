"""Opens models by their specs: `embedded`, `gguf:PATH`, `openai:MODEL`, `batch:MODEL@DIR`, `scripted:FILE`.

What one command opens shares its servers, its batch folders, the reply cache and the budget.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.errors import ConfigError
from ragstone.files import at_home
from ragstone.kit import Embedder
from ragstone.llm.batch import UNNAMED, Batched, BatchFolder, Known
from ragstone.llm.budget import Budget, Limits, check_priced
from ragstone.llm.cache import KeptOnly, Replies, ReplyCache
from ragstone.llm.client import Chat
from ragstone.llm.embedded import Embedded
from ragstone.llm.forecast import Forecaster, Foreseen
from ragstone.llm.model import Backend, LanguageModel
from ragstone.llm.options import Options, Spec, read_spec, refuse_options, shown_spec
from ragstone.llm.prices import FREE, Price, price_of
from ragstone.llm.scripted import Scripted
from ragstone.llm.transport import Server

if TYPE_CHECKING:
    from ragstone.retrieval.endpoint import ForecastEndpoint

KINDS = {
    "embedded": "SmolLM2-135M inside this process: no key, no network, and it knows little",
    "gguf:PATH": "any GGUF file inside this process",
    "openai:MODEL": "any server that speaks OpenAI's protocol; --base-url names it",
    "batch:MODEL@DIR": "calls are written to DIR/requests.jsonl and answered by a batch",
    "scripted:FILE": "replies from a file, for tests and replays",
}


IN_THIS_PROCESS = ("threads", "context")
SAMPLING = frozenset(
    "seed stop top_k top_p min_p typical_p repeat_penalty repeat_last_n presence_penalty frequency_penalty".split()
)
"""What a model in this process takes besides our own options."""
AT_A_SERVER = ("base_url", "key")
FOR_CHATS = ("temperature", "max_tokens", "thinking", "logprobs", "response_format")


class Opener:
    """Opens each spec once."""

    def __init__(
        self,
        *,
        base_url: str = "",
        key_file: Path | None = None,
        concurrency: int = 8,
        timeout: float = 120.0,
        patience: float = 600.0,
        cache: Path | None = None,
        purpose: str = "",
        limits: Limits | None = None,
        prices: Path | None = None,
        asks_anew: bool = False,
        forecasting: bool = False,
    ) -> None:
        self.models: dict[tuple[str, bool], LanguageModel] = {}  # by spec, and whether it is asked anew
        self.forecasters: list[Forecaster | ForecastEndpoint] = []  # when nothing is asked
        self._base_url, self._prices, self._forecasting = base_url, prices, forecasting
        self._place, self._purpose, self._limits = cache, purpose, limits or Limits()
        self._asks_anew = asks_anew
        if cache is None and purpose and limits and limits != Limits():
            raise ConfigError("a budget needs the cache, which keeps what was spent; set RAGSTONE_CACHE to a folder")
        self._connect = partial(Server, key_file=key_file, concurrency=concurrency, timeout=timeout, patience=patience)
        self._servers: dict[tuple[str, str], Server] = {}
        self._folders: dict[Path, BatchFolder] = {}

    @cached_property
    def cache(self) -> ReplyCache | None:
        """Opened with the first model that may use it."""
        return ReplyCache(self._place, self._purpose) if self._place else None

    @cached_property
    def budget(self) -> Budget:
        """What may still be spent; a forecast spends nothing."""
        if self._forecasting:
            return Budget()
        already = self.cache.spent(self._purpose) if self.cache and self._purpose else None
        return Budget(self._limits, already)

    def model(self, text: str, anew: bool = False) -> LanguageModel:
        """The model, each spec once; with `anew`, one that is asked even if the cache holds its reply."""
        if (text, anew) not in self.models:
            spec = read_spec(text)
            if anew and spec.kind == "batch":
                raise ConfigError(
                    f"{shown_spec(text)} cannot be timed: a batch is answered elsewhere; leave out --timed"
                )
            check_bounded(spec, self._limits)
            backend = self._backend(spec, text)
            price = self._price(spec)
            check_priced(self._limits, {model_of(spec): price})
            if self._forecasting:
                backend = Forecaster(backend, self._replies(anew), price)
                self.forecasters.append(backend)
            self.models[text, anew] = LanguageModel(
                backend, self._replies(anew), self.budget, price, spec.options, self._asks_anew
            )
        return self.models[text, anew]

    def _replies(self, anew: bool) -> Replies | None:
        return KeptOnly(self.cache) if anew and self.cache else self.cache

    def endpoint(self, spec: Spec, anew: bool = False) -> Embedder:
        """An embedder behind a server."""
        from ragstone.retrieval.endpoint import Endpoint, ForecastEndpoint

        refuse_options(spec, (*IN_THIS_PROCESS, *FOR_CHATS))
        server, price = self.server(spec.options.base_url, spec.options.key), self._price(spec)
        check_priced(self._limits, {model_of(spec): price})
        endpoint = Endpoint(spec.rest, server, self._replies(anew), self.budget, price, spec.options)
        if self._forecasting:
            standing_in = ForecastEndpoint(endpoint.name, self._replies(anew), price)
            self.forecasters.append(standing_in)
            return standing_in
        return endpoint

    def server(self, base_url: str = "", key: str = "") -> Server:
        """One for each address, so that its concurrency is shared."""
        place = (base_url or self._base_url, key)
        if place not in self._servers:
            self._servers[place] = self._connect(place[0], key=key)
        return self._servers[place]

    def _backend(self, spec: Spec, text: str) -> Backend:
        if spec.kind == "embedded" and not spec.rest:
            refuse_options(spec, {*AT_A_SERVER, *(spec.options.parameters.keys() - SAMPLING)})
            return Embedded(None, spec.options)
        if spec.kind == "gguf" and spec.rest:
            refuse_options(spec, {*AT_A_SERVER, *(spec.options.parameters.keys() - SAMPLING)})
            return Embedded(at_home(spec.rest), spec.options)
        if spec.kind == "openai" and spec.rest:
            refuse_options(spec, IN_THIS_PROCESS)
            return Chat(spec.rest, self.server(spec.options.base_url, spec.options.key), spec.options)
        if spec.kind == "batch" and spec.rest.rpartition("@")[2]:
            refuse_options(spec, IN_THIS_PROCESS)
            model, _, folder = spec.rest.rpartition("@")
            opened = None if self._forecasting else self._folder(at_home(folder), model, spec.options)
            return Batched(model, opened, spec.options, self._base_url)
        if spec.kind == "scripted" and spec.rest:
            refuse_options(spec, spec.options.told)
            return Scripted(at_home(spec.rest))
        raise ConfigError(f"no model {shown_spec(text)!r}; there are {', '.join(KINDS)}")

    def _folder(self, path: Path, model: str, options: Options) -> BatchFolder:
        """Opened for its first model, whose replies get its whole name; those of others get theirs without options."""

        def known(asked: str) -> Known:
            same = options if asked == (model or UNNAMED) else Options(base_url=options.base_url)
            name = Batched("" if asked == UNNAMED else asked, None, same, self._base_url).name
            return Known(name, self._price_of(asked, options))

        place = path.resolve()
        if place not in self._folders:
            self._folders[place] = BatchFolder(path, self.cache, self.budget, known)
        return self._folders[place]

    def _price(self, spec: Spec) -> Price | None:
        return self._price_of(model_of(spec), spec.options) if spec.kind in ("openai", "batch") else FREE

    def _price_of(self, model: str, options: Options) -> Price | None:
        return price_of(model, options.base_url or self._base_url, self._prices)


def model_of(spec: Spec) -> str:
    """The model as its server and a price file know it."""
    return spec.rest.rpartition("@")[0] or UNNAMED if spec.kind == "batch" else spec.rest


def check_bounded(spec: Spec, limits: Limits) -> None:
    """A budget of tokens or dollars rests on what a call may take at most."""
    options = spec.options
    unbounded = "max_tokens" in options.omit or "max_completion_tokens" in options.parameters
    if unbounded and (limits.tokens, limits.money) != (None, None):
        raise ConfigError(
            f"a budget needs the limit of a reply for {spec.kind}:{spec.rest}; set it by max_tokens alone"
        )


@contextmanager
def foreseeing(stage: str, opener: Opener, foreseen: list[Foreseen]) -> Iterator[None]:
    """Adds what each model is asked inside to what is foreseen."""
    before = [model.foreseen(stage) for model in opener.forecasters]
    yield
    for model, known in zip_longest(opener.forecasters, before):  # some may be opened inside
        asked = model.foreseen(stage)
        more = asked.less(known) if known else asked
        foreseen += [more] if more.calls else []
