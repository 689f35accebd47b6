"""The run driver: gives a system its queries and keeps what comes back, answer or failure."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

from pydantic import ValidationError

from ragstone.errors import ConfigError, DataError, ModelError
from ragstone.files import encode, first_problem, sha256
from ragstone.journal import Journal
from ragstone.kit import Answerer, Kit, System
from ragstone.llm.meter import tallied
from ragstone.parallel import Done, each
from ragstone.progress import Progress, silent
from ragstone.types import Answer, AskedKey, Benchmark, Made, Query, Question

Corpus = Literal["scoped", "pooled"]
"""`scoped` keeps each question to its scope, `pooled` lets it search everything; what is hidden stays hidden."""


class Column(NamedTuple):
    """A system with its models, under the name that it has in results."""

    name: str
    system: System
    kit: Kit

    @property
    def made(self) -> Made:
        return self.kit.made_by(self.system)


class Asked(NamedTuple):
    """A question, and which time it is asked."""

    question: Question
    repeat: int = 0


def answer_all(
    benchmark: Benchmark,
    column: Column,
    journal: Journal,
    *,
    corpus: Corpus = "scoped",
    repeats: int = 1,
    timed: bool = False,
    concurrency: int = 8,
    retry_failed: bool = False,
    progress: Progress = silent,
) -> dict[AskedKey, Done[Answer]]:
    """What the system does with every question, each time; what the journal holds is not asked again."""
    system, kit, made = column.system, column.kit, column.made
    ids = [document.id for document in benchmark.documents]
    everything = set(ids)
    asked = [Asked(question, repeat) for question in benchmark.questions for repeat in range(repeats)]

    def prepare() -> Callable[[Asked], Answer]:
        answer = system.open(benchmark.documents, kit.limited_to(system))

        def ask(item: Asked) -> Answer:
            seen = query(item.question, system, corpus, ids, item.repeat)
            with tallied() as tally:
                said = known(answered(system, answer, seen), everything if seen.scope is None else set(seen.scope))
            return said.model_copy(update={"usage": tally.on_top_of(said.usage)}) if tally.calls else said

        if timed:
            with suppress(DataError, ModelError):
                ask(asked[0])  # loads models and opens connections, which is no part of answering
        return ask

    with progress(column.name, len(asked)) as tick:
        done = each(
            {item_id(made, item.question.id, item.repeat): item for item in asked},
            prepare,
            Answer,
            stage="run",
            journal=journal,
            concurrency=1 if timed else concurrency,
            retry_failed=retry_failed,
            tick=tick,
        )
    return dict(zip(((item.question.id, item.repeat) for item in asked), done.values(), strict=True))


def answered(system: System, answer: Answerer, asked: Query) -> Answer:
    """What the system says; if that is no answer, every question would fail alike."""
    try:
        said = answer(asked)
    except ValidationError as error:
        raise ConfigError(f"{system!r} made a wrong answer, {first_problem(error)}; mend the system") from error
    if not isinstance(said, Answer):
        raise ConfigError(f"{system!r} returned {said!r:.60} and not an Answer; mend the system")
    return said


def known(answer: Answer, allowed: Collection[str]) -> Answer:
    """The answer, if it rests on documents that the system may use."""
    for passage in answer.retrieved or ():
        if passage.document_id not in allowed:
            raise DataError(
                f"it retrieved document {passage.document_id!r}, which is not among those that it may use here; "
                "return ids of the given documents, within the query's scope"
            )
    return answer


def item_id(made: Made, question_id: str, repeat: int = 0) -> str:
    """What is asked of whom: another setting, model or prompt is another item."""
    return f"{sha256(encode(made))[:12]}{f'+{repeat}' if repeat else ''} {question_id}"


def query(question: Question, system: System, corpus: Corpus, everything: Sequence[str], repeat: int = 0) -> Query:
    """What the system may see of a question. The gold is not passed on, nor are ids that may tell."""
    return Query.model_construct(  # what was valid in the question is not validated again: a scope may be very long
        id=sha256(question.id.encode())[:12],
        text=question.text,
        choices=question.choices,
        scope=visible(question, system, corpus, everything),
        repeat=repeat,
    )


def visible(question: Question, system: System, corpus: Corpus, everything: Sequence[str]) -> tuple[str, ...] | None:
    """The documents that a system may use for a question; None: all of them."""
    if system.sees == "nothing":
        return ()
    if system.sees == "evidence":
        ids: Sequence[str] = list(dict.fromkeys(group[0].document_id for group in question.evidence if group))
    elif corpus == "scoped" and question.scope:
        ids = question.scope
    elif question.hidden:
        ids = everything
    else:
        return None
    hidden = set(question.hidden)
    return tuple(id for id in ids if id not in hidden)
