"""The run driver: gives a system its queries and keeps what comes back, answer or failure."""

from collections.abc import Callable, Collection, Sequence
from typing import Literal

from pydantic import ValidationError

from ragstone.errors import ConfigError, DataError
from ragstone.files import encode, first_problem, sha256
from ragstone.journal import Journal
from ragstone.kit import Answerer, Kit, System
from ragstone.parallel import Done, each
from ragstone.progress import Progress, silent
from ragstone.types import Answer, Benchmark, Made, Query, Question

Corpus = Literal["scoped", "pooled"]
"""`scoped` keeps each question to its scope, `pooled` lets it search everything; what is hidden stays hidden."""


def answer_all(
    benchmark: Benchmark,
    system: System,
    kit: Kit,
    journal: Journal,
    *,
    corpus: Corpus = "scoped",
    concurrency: int = 8,
    retry_failed: bool = False,
    progress: Progress = silent,
) -> dict[str, Done[Answer]]:
    """What the system does with every question, by question id; what the journal holds is not asked again."""
    made = kit.made_by(system)
    ids = [document.id for document in benchmark.documents]
    everything = set(ids)

    def prepare() -> Callable[[Question], Answer]:
        answer = system.open(benchmark.documents, kit.limited_to(system))

        def ask(question: Question) -> Answer:
            asked = query(question, system, corpus, ids)
            return known(answered(system, answer, asked), everything if asked.scope is None else set(asked.scope))

        return ask

    with progress(repr(system), len(benchmark.questions)) as tick:
        done = each(
            {item_id(made, question.id): question for question in benchmark.questions},
            prepare,
            Answer,
            stage="run",
            journal=journal,
            concurrency=concurrency,
            retry_failed=retry_failed,
            tick=tick,
        )
    return dict(zip((question.id for question in benchmark.questions), done.values(), strict=True))


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


def item_id(made: Made, question_id: str) -> str:
    """What is asked of whom: another setting, model or prompt is another item."""
    return f"{sha256(encode(made))[:12]} {question_id}"


def query(question: Question, system: System, corpus: Corpus, everything: Sequence[str]) -> Query:
    """What the system may see of a question. The gold is not passed on, nor are ids that may tell."""
    return Query.model_construct(  # what was valid in the question is not validated again: a scope may be very long
        id=sha256(question.id.encode())[:12],
        text=question.text,
        choices=question.choices,
        scope=visible(question, system, corpus, everything),
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
