"""Replies as typed values: by a JSON schema where the server has it, with one turn to repair, never by a default."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from ragstone.errors import ModelError
from ragstone.files import first_problem
from ragstone.prompts import as_data
from ragstone.types import Call, Message, Reply

T = TypeVar("T", bound=BaseModel)


class Asked(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def asks_anew(self) -> bool:
        """Whether what was of no use before is asked for again."""
        ...

    def ask(self, call: Call) -> Reply: ...

    def forget(self, call: Call) -> None: ...


def ask_for(model: Asked, kind: type[T], call: Call) -> T:
    """The reply as a value of the type, or a `ModelError`. A reply of no use stays in the cache until it is retried."""
    call = call.model_copy(update={"reply_schema": reply_schema(kind)})
    value, problem, asked = with_repair(model, kind, call)
    if value is None and model.asks_anew:
        for unusable in asked:
            model.forget(unusable)
        value, problem, _ = with_repair(model, kind, call)
    if value is None:
        raise ModelError(f"{model.name} gave no usable {kind.__name__}, also when asked again: {problem}")
    return value


def with_repair(model: Asked, kind: type[T], call: Call) -> tuple[T | None, str, list[Call]]:
    """The value, or what is wrong, and the calls: if a reply is no value, the model is shown it, as data, once."""
    reply = model.ask(call)
    value, problem = read_reply(kind, reply, call)
    asked = [call]
    if value is None:
        shown = Message(role="assistant", content=as_data(reply.text))
        wish = "Reply with the corrected JSON alone" + (", and be brief." if reply.cut else ".")
        repair = Message(role="user", content=as_data(f"That is not usable: {problem}. {wish}"))
        again = call.model_copy(update={"messages": (*call.messages, shown, repair)})
        value, problem = read_reply(kind, model.ask(again), again)
        asked.append(again)
    return value, problem, asked


# ── from a reply to a value ──────────────────────────────────────────────────────────────────────────────────────────

FENCED = re.compile(r"```(?:json)?[^\S\n]*\n(.*?)\n\s*```", re.DOTALL | re.IGNORECASE)
OPENING = re.compile(r"[{\[]")
BEGUN = re.compile(r'(?:\[\s*)?\{\s*(?:"|\Z)')
"""How an object begins, or a list of them; other brackets are prose."""


def read_reply(kind: type[T], reply: Reply, call: Call) -> tuple[T | None, str]:
    """The value in a reply, or what is wrong with it."""
    value, problem = parsed(kind, reply.text)
    if value is None and reply.cut:
        problem = f"it was cut off at the limit of {call.max_tokens} tokens"
    return value, problem


def parsed(kind: type[T], text: str) -> tuple[T | None, str]:
    """The value in a text, or what is wrong with it: the last JSON object, whatever words are around it.

    Nothing is guessed: an object that breaks off, or lacks a field that has a default, is no value.
    """
    try:
        value = kind.model_validate_json(last_object(text))
    except ValidationError as error:
        return None, first_problem(error)
    except ValueError as error:
        return None, str(error)
    missing = left_out(value)
    return (None, f"{missing}: field required") if missing else (value, "")


def last_object(text: str) -> str:
    """The last JSON object, out of a fenced block if there is one, and out of a list if it is alone in it."""
    fenced = [block for block in FENCED.findall(text) if "{" in block]
    text = fenced[-1] if fenced else text
    found, position = "", 0
    while opening := OPENING.search(text, position):
        value, position = decoded(text, opening.start())
        if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value)):
            found = text[opening.start() : position]
            if isinstance(value, list) and len(value) == 1:
                found = last_object(found[1:-1])
    if not found:
        raise ValueError("there is no JSON object in it")
    return found


def decoded(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that begins there and where it ends; for a bracket of the prose, nothing and the next place."""
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except RecursionError as error:
        raise ValueError("its JSON cannot be read: it is too deep") from error
    except json.JSONDecodeError as error:
        if BEGUN.match(text, start):
            raise ValueError(f"its JSON cannot be read: {error.msg.lower()}") from error
        return None, start + 1
    return value, end


def left_out(value: Any) -> str:
    """The first field of a value, or of what is in it, that was not told; empty if there is none."""
    if isinstance(value, list | tuple):
        return next(filter(None, map(left_out, value)), "")
    if not isinstance(value, BaseModel):
        return ""
    for name in type(value).model_fields:
        if name not in value.model_fields_set:
            return name
        if inner := left_out(getattr(value, name)):
            return f"{name}.{inner}"
    return ""


# ── from a type to a schema ──────────────────────────────────────────────────────────────────────────────────────────

UNDERSTOOD = (
    *("type", "description", "enum", "const", "minItems", "maxItems"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
)
"""What OpenAI's strict mode and llama.cpp both enforce."""
TOLD = ("minLength", "maxLength", "pattern", "format", "uniqueItems")
"""What one of them refuses: the model is told in words, and the value is checked anyway."""


@lru_cache
def reply_schema(kind: type[BaseModel]) -> Mapping[str, Any]:
    """The JSON schema of a type as servers take it: objects with all their fields and no others."""
    schema = kind.model_json_schema()
    parts = schema.pop("$defs", {})
    root = parts[kind.__name__] if "$ref" in schema else schema  # a type that contains itself
    if root.get("type") != "object":
        raise TypeError(f"{kind.__name__} cannot be asked for: a reply must be an object with fields")
    named = {name: strict(part, kind) for name, part in parts.items()}
    return strict(root, kind) | ({"$defs": named} if named else {})


def strict(part: Mapping[str, Any], kind: type[BaseModel]) -> dict[str, Any]:
    if "$ref" in part:
        return {"$ref": part["$ref"]}
    found = {name: part[name] for name in UNDERSTOOD if name in part}
    if told := [f"{name}: {part[name]}" for name in TOLD if name in part]:
        found["description"] = f"{part.get('description', '')} ({', '.join(told)})".strip()
    if options := part.get("anyOf") or part.get("oneOf"):
        found["anyOf"] = [strict(option, kind) for option in options]
    elif "properties" in part:
        fields = {name: strict(field, kind) for name, field in part["properties"].items()}
        found |= {"properties": fields, "required": list(fields), "additionalProperties": False}
    elif "items" in part and "prefixItems" not in part:
        found["items"] = strict(part["items"], kind)
    elif part.get("type") in (None, "object", "array") and "enum" not in part:
        raise TypeError(f"{kind.__name__} cannot be asked for: {dict(part)} is no record, list or plain value")
    return found
