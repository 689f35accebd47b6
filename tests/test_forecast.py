"""A forecast goes through everything and asks nothing."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from ragstone.llm.cache import ReplyCache
from ragstone.llm.forecast import Forecaster, Foreseen, example_of
from ragstone.llm.model import LanguageModel, asked
from ragstone.llm.prices import Price
from ragstone.llm.structured import reply_schema
from ragstone.text import count_tokens
from ragstone.types import Call, Reply


class Costly:
    """A backend that must not be asked, unless it is told so."""

    name = "openai:costly"
    keeps = True
    allowed = False

    def complete(self, call: Call) -> Reply:
        assert self.allowed, "a forecast asked the model"
        return Reply(text="a real reply", input_tokens=1000, output_tokens=500)


PRICE = Price(input=10, output=100)


def test_a_forecast_counts_what_would_be_asked_and_asks_nothing() -> None:
    forecaster = Forecaster(Costly(), price=PRICE)
    model = LanguageModel(forecaster)
    prompts = ["one two three four five six seven eight nine ten", "In which sea does the Nile end?"]
    for prompt in prompts:
        assert model.ask(asked(prompt, max_tokens=100)).text
    tokens = sum(map(count_tokens, prompts))
    assert tokens == 13 + 9
    assert model.name == "openai:costly"
    assert forecaster.foreseen("answer") == Foreseen(
        stage="answer",
        model="openai:costly",
        calls=2,
        recalled=0,
        input_tokens=tokens,
        output_tokens=200,
        cost=(tokens * 10 + 200 * 100) / 1e6,
    )


def test_what_the_cache_holds_is_foreseen_to_be_free_and_is_the_real_reply(tmp_path: Path) -> None:
    with closing(ReplyCache(tmp_path)) as cache:
        backend = Costly()
        backend.allowed = True
        LanguageModel(backend, cache).ask(asked("known"))
        backend.allowed = False

        forecaster = Forecaster(backend, cache, PRICE)
        model = LanguageModel(forecaster)
        assert model.ask(asked("known")).text == "a real reply"
        assert model.ask(asked("new", max_tokens=7)).text != "a real reply"
        foreseen = forecaster.foreseen("answer")
        assert (foreseen.calls, foreseen.recalled, foreseen.output_tokens) == (2, 1, 7)
        assert cache.summary().entries == 1, "a stand-in is never kept"


def test_what_is_asked_twice_is_foreseen_once_however_many_threads_ask() -> None:
    forecaster = Forecaster(Costly(), price=PRICE)
    model = LanguageModel(forecaster)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: model.ask(asked(f"question {number % 50}", max_tokens=10)), range(1000)))
    foreseen = forecaster.foreseen("answer")
    assert (foreseen.calls, foreseen.output_tokens) == (50, 500)


def test_each_stage_has_what_it_adds() -> None:
    forecaster = Forecaster(Costly(), price=PRICE)
    model = LanguageModel(forecaster)
    model.ask(asked("a", max_tokens=10))
    before = forecaster.foreseen("score")
    for prompt in ("a", "b", "c"):  # the first was foreseen already
        model.ask(asked(prompt, max_tokens=20 if prompt != "a" else 10))
    added = forecaster.foreseen("score").less(before)
    assert (added.stage, added.calls, added.input_tokens, added.output_tokens) == ("score", 2, 2, 40)
    assert added.cost == (2 * 10 + 40 * 100) / 1e6


def test_without_a_price_the_cost_is_not_known() -> None:
    forecaster = Forecaster(Costly(), price=None)
    LanguageModel(forecaster).ask(asked("a"))
    assert forecaster.foreseen("answer").cost is None


class Colour(Enum):
    red = "red"
    blue = "blue"


class Part(BaseModel):
    title: str
    weight: float = Field(gt=0, lt=1)


class Whole(BaseModel):
    colour: Colour
    verdict: Literal["supported", "refuted"]
    parts: list[Part] = Field(min_length=2, max_length=4)
    words: tuple[str, ...]
    best: Part | None
    score: int = Field(ge=1, le=5)
    debt: int = Field(lt=-3)
    even: int = Field(gt=4, multiple_of=4)
    low: float = Field(le=-1)
    sure: bool
    only: Literal["this"]


class Fussy(BaseModel):
    """What example_of can do with a whole schema, besides what servers are given."""

    long: str = Field(min_length=30)
    short: str = Field(max_length=3)
    code: str = Field(pattern="^[A-Z]$")
    year: str = Field(pattern=r"^\d{4}$")
    day: date
    pair: tuple[int, str]


class Tree(BaseModel):
    name: str
    children: list["Tree"]
    parent: "Tree | None"


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


class Pet(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]


@pytest.mark.parametrize("kind", [Whole, Part, Tree, Pet])
def test_an_example_of_a_schema_is_a_value_of_its_type(kind: type[BaseModel]) -> None:
    assert kind.model_validate(example_of(reply_schema(kind)))
    assert kind.model_validate(example_of(kind.model_json_schema()))


def test_an_example_heeds_lengths_patterns_and_formats() -> None:
    assert Fussy.model_validate(example_of(Fussy.model_json_schema()))


def test_an_example_has_an_item_where_there_may_be_one() -> None:
    found: Any = example_of(reply_schema(Whole))
    assert (len(found["parts"]), len(found["words"])) == (2, 1)


def test_a_forecast_goes_through_structured_replies_without_a_repair() -> None:
    forecaster = Forecaster(Costly())
    value = LanguageModel(forecaster).ask_for(Whole, "What is it?", max_tokens=300)
    assert value.verdict == "supported"
    foreseen = forecaster.foreseen("make")
    assert (foreseen.calls, foreseen.output_tokens, foreseen.cost) == (1, 300, 0.0)
