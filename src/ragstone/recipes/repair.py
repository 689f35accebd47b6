"""Asking until a reply is sound: what a schema cannot say is checked here, and told to the model."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ragstone.kit import Model
from ragstone.llm.samples import WARM
from ragstone.prompts import Safe, prompt
from ragstone.types import Record

R = TypeVar("R", bound=Record)

SHOWN = 20
"""Problems that a model is told of at once."""


def ask_soundly(
    model: Model,
    kind: type[R],
    asked: Safe,
    problems: Callable[[R], Sequence[str]],
    *,
    repairs: int,
    max_tokens: int,
    sample: int = 0,
) -> tuple[R, Sequence[str]]:
    """The reply with the fewest problems and what they are; while there are any, the model is asked to mend them."""
    temperature = WARM if sample else 0.0
    reply = model.ask_for(kind, asked, sample=sample, temperature=temperature, max_tokens=max_tokens)
    best, wrong = reply, problems(reply)
    for _ in range(repairs):
        if not wrong:
            break
        again = repair_prompt(asked, best, wrong)
        reply = model.ask_for(kind, again, sample=sample, temperature=temperature, max_tokens=max_tokens)
        if len(problems(reply)) < len(wrong):
            best, wrong = reply, problems(reply)
    return best, wrong


def repair_prompt(asked: Safe, reply: Record, problems: Sequence[str]) -> Safe:
    listed = "\n".join(f"- {problem}" for problem in problems[:SHOWN])
    return prompt(Path(__file__).parent, "repair").fill(asked=asked, reply=reply.model_dump_json(), problems=listed)
