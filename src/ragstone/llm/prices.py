"""What tokens cost: by the user's own price file, else by the list prices that come with genai-prices."""

import tomllib
from pathlib import Path

import orjson
from pydantic import NonNegativeFloat, PositiveInt, TypeAdapter, ValidationError

from ragstone.errors import ConfigError
from ragstone.files import first_problem
from ragstone.llm.transport import OPENAI
from ragstone.types import Record

MILLION = 1_000_000
EXAMPLE = 'write ["gpt-4o-mini"] and under it input = 0.15 and output = 0.6, in dollars for a million tokens'


class Tier(Record):
    """What a million tokens cost in a call with more input than this."""

    above: PositiveInt
    input: NonNegativeFloat
    output: NonNegativeFloat


class Price(Record):
    """US dollars for a million tokens. In a call whose input reaches a tier, every token costs what the tier says."""

    input: NonNegativeFloat = 0.0
    output: NonNegativeFloat = 0.0
    call: NonNegativeFloat = 0.0  # dollars for each call besides its tokens
    tiers: tuple[Tier, ...] = ()  # from the lowest up

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """What one call cost."""
        rate: Price | Tier = self
        for tier in self.tiers:
            rate = tier if input_tokens > tier.above else rate
        return self.call + (rate.input * input_tokens + rate.output * output_tokens) / MILLION


class WrittenPrice(Price):
    """A price as a file must give it: nothing that costs money is left to a default."""

    input: NonNegativeFloat
    output: NonNegativeFloat


FREE = Price()


def price_of(model: str, base_url: str = "", file: Path | None = None) -> Price | None:
    """The price of a model at a server, or None where it is not known. Where no server is named, it is OpenAI's."""
    own = read_prices(file) if file else {}
    return own[model] if model in own else list_price(model, base_url or OPENAI)


def read_prices(file: Path) -> dict[str, Price]:
    """A file of prices by model, in TOML or, by its ending, in JSON."""
    try:
        text = file.read_text("utf-8")
        found = orjson.loads(text) if file.suffix == ".json" else tomllib.loads(text)
        written = TypeAdapter(dict[str, WrittenPrice]).validate_python(found)
        return {model: Price.model_validate(price.model_dump()) for model, price in written.items()}
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ConfigError(f"cannot read the price file {file}: {reason}; check the path") from error
    except ValidationError as error:
        raise ConfigError(f"the price file {file} is wrong: {first_problem(error)}; {EXAMPLE}") from error
    except ValueError as error:  # neither UTF-8 nor TOML nor JSON
        raise ConfigError(f"cannot read the price file {file}: {error}; {EXAMPLE}") from error


def list_price(model: str, base_url: str) -> Price | None:
    """What the provider at this address asks for; another address may serve a model of the same name at any price.

    The list is the one that was installed: nothing is fetched. Where the time of day matters, the price is that of now.
    """
    from genai_prices import Usage, calc_price
    from genai_prices.types import TieredPrices

    def rates(tokens: int) -> tuple[float, float, float]:
        found = calc_price(Usage(input_tokens=tokens, output_tokens=tokens), model, provider_api_url=base_url)
        once = found.total_price - found.input_price - found.output_price
        return float(found.input_price * MILLION / tokens), float(found.output_price * MILLION / tokens), float(once)

    try:
        listed = calc_price(Usage(), model, provider_api_url=base_url).model_price
    except LookupError:
        return None
    parts = [part for part in (listed.input_mtok, listed.output_mtok) if part is not None]
    if not parts:
        return None  # it is sold by something else than tokens
    limits = sorted({tier.start for part in parts if isinstance(part, TieredPrices) for tier in part.tiers})
    tiers = [Tier(above=limit, input=given[0], output=given[1]) for limit in limits for given in [rates(limit + 1)]]
    per_input, per_output, per_call = rates(1)
    return Price(input=per_input, output=per_output, call=per_call, tiers=tuple(tiers))
