"""The reader: the last step of most systems, from passages to an answer."""

import math
import re
from collections.abc import Sequence
from pathlib import Path

from ragstone.kit import Model, Refusal
from ragstone.llm.answers import short_answer
from ragstone.llm.choices import listed
from ragstone.prompts import Safe, prompt, quoted
from ragstone.types import Answer, Call, Message, Query, Reply

PROMPTS = Path(__file__).parent / "prompts"
NAMES = ("read", "recall", "brief", "choose", "may_decline", "must_decline", "must_decline_by_heart")

MAX_TOKENS = 256
"""Room for a few sentences before or after a short answer, and an end to a small model that repeats itself.
A model that thinks needs thousands: `openai:NAME(max_tokens=8000)`."""

ENGLISH = ("", "en", "eng", "english")
CHINESE = ("zh", "zho", "chi", "cmn", "yue", "chinese", "中文", "汉语")


class ModelReader:
    """Asks a model in the language of the benchmark, with the passages or from memory; its words are always kept."""

    def __init__(self, model: Model, language: str = "") -> None:
        main = re.split(r"[\W_]", language.strip().lower())[0]  # the zh of zh-CN
        self._model = model
        self._folder = "zh" if main in CHINESE else "en"
        self._foreign = main not in ENGLISH and self._folder == "en"
        self.name = model.name
        used = (*NAMES, *(("same_language",) if self._foreign else ()))
        self.prompts = {name: prompt(PROMPTS, name).sha256 for name in (f"{self._folder}/{name}" for name in used)}

    def read(
        self, query: Query, passages: Sequence[str], refusal: Refusal = "none", temperature: float = 0.0
    ) -> Answer:
        message = Message(role="user", content=self.asked(query, passages, refusal))
        call = Call(messages=(message,), temperature=temperature, max_tokens=MAX_TOKENS, sample=query.repeat)
        reply = self._model.ask(call)
        text, declined = short_answer(reply.text, query)
        return Answer(text=text, raw=reply.text, declined=declined, confidence=confidence(reply))

    def asked(self, query: Query, passages: Sequence[str], refusal: Refusal) -> str:
        """The prompt: the documents, what to do, and the question after them."""
        question = "\n".join([query.text, listed(query.choices)]) if query.choices else query.text
        manner = Safe("\n".join(self._filled(name) for name in self._manner(query, passages, refusal)))
        if passages:
            return self._filled("read", question=question, manner=manner, documents=quoted(passages))
        return self._filled("recall", question=question, manner=manner)

    def _manner(self, query: Query, passages: Sequence[str], refusal: Refusal) -> Sequence[str]:
        """The prompts that say how to answer."""
        must = "must_decline" if passages else "must_decline_by_heart"
        declining = {"none": (), "allowed": ("may_decline",), "required": (must,)}[refusal]
        return ("choose" if query.choices else "brief", *(("same_language",) if self._foreign else ()), *declining)

    def _filled(self, name: str, **values: str) -> Safe:
        return prompt(PROMPTS, f"{self._folder}/{name}").fill(**values)


def confidence(reply: Reply) -> float | None:
    """The geometric mean of the probabilities of the tokens, where the model told them."""
    return math.exp(math.fsum(reply.logprobs) / len(reply.logprobs)) if reply.logprobs else None
