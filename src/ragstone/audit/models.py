"""Asks models: the questions, the original ones, and the names alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from ragstone.audit import answers
from ragstone.audit.answers import GOLD, GUESS, MEMORY, SYSTEMS, Asked, parts_of
from ragstone.audit.originals import Pair, names_only
from ragstone.audit.records import Audit, ModelRow, figure
from ragstone.audit.runs import Runs, column, scores
from ragstone.draw import draw
from ragstone.growing import all_of
from ragstone.run_folder import Run
from ragstone.stats import wilson
from ragstone.types import Benchmark


class Job(NamedTuple):
    """One run of the models."""

    what: str
    benchmark: Benchmark
    systems: Sequence[str]


@dataclass(frozen=True)
class Work:
    """What is measured, and how."""

    pair: Pair
    runs: Runs
    metric: str = "covered"
    draws: int = 4
    ask_draws: bool = False
    familiarity: bool = False
    re_extract: bool = False

    @property
    def retrievers(self) -> tuple[str, ...]:
        return ("bm25", "dense") if self.runs.settings.models.get("embedder") else ("bm25",)

    @property
    def metrics(self) -> tuple[str, ...]:
        return (self.metric, MEMORY)

    def jobs(self) -> Iterator[Job]:
        """All that models are asked."""
        after, before, _ = self.pair
        if not self.runs.readers:
            return
        yield Job("after", after, SYSTEMS)
        if before:
            yield Job("before", before, SYSTEMS)
        if named := names_only(after):
            yield Job("names", named, (GUESS,))
        if self.ask_draws:
            yield from (Job(f"draw-{number}", drawn, (GUESS,)) for number, drawn in self.drawn())

    def drawn(self) -> Iterator[tuple[int, Benchmark]]:
        """Fresh draws of the same questions and documents."""
        after = self.pair.after
        asked, searched = ({record.id for record in records} for records in (after.questions, after.documents))
        for number in range(1, self.draws + 1) if after.template and self.draws > 1 else ():
            fresh = draw(after, draw=number)
            questions = tuple(question for question in fresh.questions if question.id in asked)
            documents = tuple(document for document in fresh.documents if document.id in searched)
            yield number, fresh.model_copy(update={"questions": questions, "documents": documents})


def model_rows(earlier: Audit | None, work: Work) -> tuple[ModelRow, ...]:
    """The earlier rows, with those of the models that answer now; what did not change keeps its date."""
    rows = {row.model: row for row in earlier.models} if earlier else {}
    asked = all_of(work.jobs(), lambda job: (job.what, work.runs.answers(*job, work.metrics)))
    for reader in work.runs.readers:
        row, before = row_of(reader, asked, work), rows.get(reader)
        rows[reader] = before if before and before.model_copy(update={"at": row.at}) == row else row
    return tuple(rows.values())


def row_of(reader: str, asked: dict[str, Run], work: Work) -> ModelRow:
    said = {what: Asked(run, reader, work.metric) for what, run in asked.items()}
    after, before, named = said["after"], said.get("before"), said.get("names")
    familiar = familiar_to(reader, after, work) if work.familiarity else set()
    parts = [
        answers.split(part, questions, after, before, familiar)
        for part, questions in parts_of(work.pair.after.questions).items()
    ]
    recalled = scores(after.run, column(after.run, GOLD, reader), MEMORY)
    return ModelRow(
        model=reader,
        at=today(),
        metric=work.metric,
        parts=answers.together(parts),
        names_only=named.accuracy(GUESS, named.run.questions) if named else None,
        memory=figure(wilson(list(recalled.values()))),
        familiarity=work.familiarity,
    )


def familiar_to(reader: str, after: Asked, work: Work) -> set[str]:
    """Of the questions that the model answers wrong, those with a name that it says it knows."""
    wrong = {id for id, kind in after.kinds(after.run.questions).items() if kind == "confabulated"}
    questions = tuple(question for question in work.pair.after.questions if question.id in wrong)
    asked = work.pair.after.model_copy(update={"questions": questions, "template": None})
    return work.runs.familiar(asked, reader) if questions else set()


def today() -> str:
    return date.today().isoformat()
