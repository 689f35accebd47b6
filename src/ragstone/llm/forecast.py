"""What a command would ask of its models, found out by going through it without asking."""

import math
import re
from collections.abc import Mapping
from threading import Lock
from typing import Any

import orjson

from ragstone.llm.cache import Replies
from ragstone.llm.model import Backend, call_key
from ragstone.llm.prices import FREE, Price
from ragstone.text import count_tokens
from ragstone.types import Call, Record, Reply

STAND_IN = "stand-in"
WORDS = (STAND_IN, "word", "Word", "WORD", "a", "A", "1", "12", "2001", "yes", "2001-02-03", "2001-02-03T04:05:06Z")
"""What a text with a pattern is tried with."""
FORMATS = {"date": r"^\d{4}-\d\d-\d\d$", "date-time": r"T\d\d:"}
DEEP = 5
"""Where a schema that contains itself comes to an end."""


class Foreseen(Record):
    """What one stage would ask of one model: different calls, each once, without tries and repairs that may be needed.

    Tokens of the input are counted by `text.TOKEN_RULE`; of the output they are the most that is allowed.
    """

    stage: str
    model: str
    calls: int
    recalled: int  # of these, from the cache: they cost nothing, and their tokens are not in what follows
    input_tokens: int
    output_tokens: int  # at most
    cost: float | None  # at most, in US dollars; None: the price is not known

    def less(self, before: "Foreseen") -> "Foreseen":
        """What came after it: the calls that were not foreseen before."""
        known = self.cost is not None and before.cost is not None
        return Foreseen(
            stage=self.stage,
            model=self.model,
            calls=self.calls - before.calls,
            recalled=self.recalled - before.recalled,
            input_tokens=self.input_tokens - before.input_tokens,
            output_tokens=self.output_tokens - before.output_tokens,
            cost=round((self.cost or 0) - (before.cost or 0), 9) if known else None,
        )


class Forecaster:
    """Stands for a backend and never asks it. Replies that the cache holds are real, all others are stand-ins."""

    keeps = False

    def __init__(self, backend: Backend, cache: Replies | None = None, price: Price | None = FREE) -> None:
        self.name = backend.name
        self._cache = cache if backend.keeps else None
        self._price = price
        self._lock = Lock()
        self._seen: set[str] = set()  # keys: what is asked twice is made once
        self._recalled = self._input = self._output = 0
        self._cost: float | None = 0.0

    def complete(self, call: Call) -> Reply:
        key = call_key(self.name, call)
        found = self._cache.get(key) if self._cache else None
        reply = found or stand_in(call)
        with self._lock:
            if key not in self._seen:
                self._seen.add(key)
                self._count(reply, recalled=found is not None)
        return reply

    def foreseen(self, stage: str) -> Foreseen:
        """All that it was asked so far."""
        with self._lock:
            return Foreseen(
                stage=stage,
                model=self.name,
                calls=len(self._seen),
                recalled=self._recalled,
                input_tokens=self._input,
                output_tokens=self._output,
                cost=None if self._cost is None else round(self._cost, 9),  # whatever the order
            )

    def _count(self, reply: Reply, recalled: bool) -> None:
        if recalled:
            self._recalled += 1
            return
        self._input += reply.input_tokens
        self._output += reply.output_tokens
        cost = self._price.of(reply.input_tokens, reply.output_tokens) if self._price else None
        self._cost = None if cost is None or self._cost is None else self._cost + cost


def stand_in(call: Call) -> Reply:
    """A reply of the right form that says nothing."""
    asked = sum(count_tokens(message.content) for message in call.messages)
    text = STAND_IN if call.reply_schema is None else orjson.dumps(example_of(call.reply_schema)).decode()
    return Reply(text=text, input_tokens=asked, output_tokens=call.max_tokens)


# ── an example of a schema ───────────────────────────────────────────────────────────────────────────────────────────


def example_of(schema: Mapping[str, Any]) -> Any:
    """A value that the schema allows, as far as it can be had simply: a pattern is met if a usual word meets it."""
    return example(schema, schema.get("$defs", {}), 0)


def example(schema: Mapping[str, Any], parts: Mapping[str, Any], depth: int) -> Any:
    """The example of a part that lies so deep in a schema with these named parts."""
    if "$ref" in schema:
        return example(parts[schema["$ref"].rpartition("/")[2]], parts, depth)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    if options := schema.get("anyOf") or schema.get("oneOf"):
        ending = [option for option in options if option.get("type") == "null"]
        return example(ending[0] if ending and depth > DEEP else options[0], parts, depth)
    makers = {"object": object_of, "array": array_of, "string": string_of, "integer": integer_of, "number": number_of}
    kind = schema.get("type", "object")
    return makers[kind](schema, parts, depth + 1) if kind in makers else (True if kind == "boolean" else None)


def object_of(schema: Mapping[str, Any], parts: Mapping[str, Any], depth: int) -> dict[str, Any]:
    return {name: example(part, parts, depth) for name, part in schema.get("properties", {}).items()}


def array_of(schema: Mapping[str, Any], parts: Mapping[str, Any], depth: int) -> list[Any]:
    """As few items as may be, but one at least, so that what follows from an item is foreseen too."""
    first = [example(part, parts, depth) for part in schema.get("prefixItems", ())]
    useful = min(1, schema.get("maxItems", 1)) if depth <= DEEP else 0
    more = max(schema.get("minItems", 0), useful) - len(first)
    return first + [example(schema.get("items", {}), parts, depth) for _ in range(more)]


def string_of(schema: Mapping[str, Any], parts: Mapping[str, Any], depth: int) -> str:
    """The first word that fits, made as long as it must be and as short."""
    form = schema.get("pattern") or FORMATS.get(schema.get("format", ""), "")
    word = next((word for word in WORDS if re.search(form, word)), STAND_IN)
    return word.ljust(schema.get("minLength", 0), word[-1])[: schema.get("maxLength")]


def integer_of(schema: Mapping[str, Any], parts: Mapping[str, Any], depth: int) -> int:
    low, high = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    least = schema.get("minimum", None if low is None else math.floor(low) + 1)
    most = schema.get("maximum", None if high is None else math.ceil(high) - 1)
    step = schema.get("multipleOf", 1)
    value = least if least is not None else min(0, most or 0)
    return int(math.ceil(value / step) * step if least is not None else math.floor(value / step) * step)


def number_of(schema: Mapping[str, Any], parts: Mapping[str, Any], depth: int) -> float:
    """In the middle, if there are two ends; else as near to nought as may be."""
    least = schema.get("minimum", schema.get("exclusiveMinimum"))
    most = schema.get("maximum", schema.get("exclusiveMaximum"))
    if least is not None and most is not None:
        return float(least + most) / 2
    return float(least + 1 if least is not None else min(0, (most or 1) - 1))
