"""The reader: the last step of most systems, from passages to an answer."""

from collections.abc import Sequence
from typing import Protocol

from ragstone.llm.prompts import prompt
from ragstone.text import count_tokens
from ragstone.types import Answer, Query, Usage


class Model(Protocol):
    """Turns a prompt into a reply, or raises `ModelError`."""

    @property
    def name(self) -> str:
        """What replied: part of the identity of every run."""
        ...

    def __call__(self, prompt: str) -> str: ...


class ModelReader:
    """Asks a model, with the passages or from memory. The words of the reply are always kept."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name = model.name
        self.prompts = {name: prompt("ragstone.llm", name).sha256 for name in ("read", "recall")}

    def read(self, query: Query, passages: Sequence[str]) -> Answer:
        template = prompt("ragstone.llm", "read" if passages else "recall")
        asked = template.fill(question=with_choices(query), **documents(passages))
        raw = self._model(asked)
        usage = Usage(calls=1, input_tokens=count_tokens(asked), output_tokens=count_tokens(raw))
        return Answer(text=raw.strip(), raw=raw, usage=usage)


def documents(passages: Sequence[str]) -> dict[str, str]:
    numbered = (f"<document {n}>\n{text}\n</document {n}>" for n, text in enumerate(passages, 1))
    return {"documents": "\n".join(numbered)} if passages else {}


def with_choices(query: Query) -> str:
    return "\n".join([query.text, *(f"- {choice}" for choice in query.choices)])
