"""What systems that read have in common: passages in order, within a budget of tokens, what did not fit counted."""

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple

from ragstone.errors import ConfigError, ModelError
from ragstone.kit import NONE_IS_A_WORD, Kit, Reader, Refusal, System, identity
from ragstone.retrieval.chunks import titled
from ragstone.text import TOKEN, UNSPACED_CHARACTER, count_tokens
from ragstone.types import Answer, Document, Passage, Query


class ReadingSystem(System):
    """A system whose last step is the reader."""

    refusal: Annotated[Refusal, NONE_IS_A_WORD] = identity(
        "none", "what the reader is told of declining: none, allowed or required"
    )

    def read(self, query: Query, context: "Context", retrieved: tuple[Passage, ...] | None, kit: Kit) -> Answer:
        """The reader's answer to the query; without a reader, only what was retrieved."""
        try:
            answer = kit.reader.read(query, context.texts, self.refusal) if kit.reader else Answer()
        except ModelError as error:
            error.so_far = Answer(retrieved=retrieved)
            raise
        tokens = sum(count_tokens(text) for text in context.texts)
        usage = answer.usage.model_copy(update={"context_tokens": tokens, "truncated_tokens": context.truncated})
        return answer.model_copy(update={"retrieved": retrieved, "usage": usage})


class Context(NamedTuple):
    """The texts for the reader, and how many tokens were left out."""

    texts: Sequence[str]
    truncated: int = 0


def whole(document: Document) -> str:
    """A document as a reader sees it."""
    return titled(document.title, document.text)


def first_that_fit(texts: Sequence[str], budget: int | None) -> Context:
    """Whole texts in their order until the budget is full; a first text that is too long by itself is cut."""
    if budget is None or not texts:
        return Context(texts)
    sizes = [count_tokens(text) for text in texts]
    if sizes[0] > budget:
        return Context([cut_middle(texts[0], budget)], sum(sizes) - budget)
    kept, used = 0, 0
    while kept < len(texts) and used + sizes[kept] <= budget:
        used += sizes[kept]
        kept += 1
    return Context(texts[:kept], sum(sizes) - used)


def without_middle(texts: Sequence[str], budget: int | None) -> Context:
    """All texts as one; if that is too long, its middle is left out, as long-context evaluations do."""
    whole = "\n\n".join(texts)
    size = count_tokens(whole)
    if budget is None or size <= budget:
        return Context([whole] if texts else [])
    return Context([cut_middle(whole, budget)], size - budget)


def cut_middle(text: str, budget: int) -> str:
    """The first and the last half of the budget, whole words, with a mark between them."""
    words = list(TOKEN.finditer(text))
    head = words_within(words, budget / 2)
    tail = words_within(reversed(words), budget / 2)
    start = words[-tail].start() if tail else len(text)
    return f"{text[: words[head - 1].end() if head else 0]}\n[…]\n{text[start:]}"


def words_within(words: Iterable[re.Match[str]], budget: float) -> int:
    """How many of the words fit the budget, counted as `count_tokens` does."""
    used, fitting = 0.0, 0
    for word in words:
        used += 1 if UNSPACED_CHARACTER.match(word[0]) else 1.3
        if used > budget:
            break
        fitting += 1
    return fitting


def need_reader(kit: Kit, name: str) -> Reader:
    if kit.reader is None:
        raise ConfigError(
            f"{name} needs a model that answers; set one with --model SPEC, for instance --model embedded"
        )
    return kit.reader
