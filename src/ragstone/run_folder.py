"""The noun `Run`, what systems answered and how it was scored, and the folder that it lies in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ragstone.errors import ConfigError, DataError
from ragstone.files import decode, sha256
from ragstone.folders import finished, read_folder, write_folder
from ragstone.kit import Metric
from ragstone.plugins import create
from ragstone.report.table import Table, costs_table, results_table
from ragstone.score import (
    Cost,
    Row,
    concern_notes,
    failure_notes,
    guessing_notes,
    judge_notes,
    summarise,
    summed_costs,
    uneven_notes,
    unscored_notes,
)
from ragstone.text import slug
from ragstone.types import About, Answer, Benchmark, Entry, Failure, Made, Question, RunManifest, Score, Timing

INTERVALS = "means with 95 % intervals (Wilson), over the n questions that could be scored"


@dataclass(frozen=True)
class Run:
    """What systems answered and how it was scored."""

    manifest: RunManifest
    questions: tuple[Question, ...] = ()
    answers: tuple[Entry[Answer], ...] = ()
    failures: tuple[Entry[Failure], ...] = ()
    scores: tuple[Entry[Score], ...] = ()
    timings: tuple[Entry[Timing], ...] = ()
    remarks: tuple[str, ...] = field(default=(), compare=False)  # what models found out in this command; not kept

    @cached_property
    def rows(self) -> list[Row]:
        """One row for each system and metric: mean, interval, n, failed, declined."""
        told = (self.answers, self.failures, self.scores)
        return summarise(self.manifest.systems, self.manifest.metrics, *told, self.concerned)

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """The metrics that it was scored by, as far as they can still be imported."""
        remade = {name: remake(made) for name, made in self.manifest.metrics.items()}
        return {name: metric for name, metric in remade.items() if metric}

    @cached_property
    def concerned(self) -> dict[str, set[str]]:
        """The questions that each metric is for; all of them for a metric that is not there any more."""
        return {
            name: {q.id for q in self.questions if name not in self.metrics or self.metrics[name].applies(q)}
            for name in self.manifest.metrics
        }

    def said_to(self, metric: Metric | None) -> Sequence[Entry[Answer]]:
        """What a metric may score: where a reader failed, what was retrieved is for metrics of retrieval alone."""
        return self.scorable if metric and metric.reads == "retrieved" else self.answers

    @property
    def notes(self) -> list[str]:
        """What a reader of the numbers must know."""
        spoken = any(entry.value.text is not None for entry in self.answers)
        guessing = guessing_notes(self.questions) if spoken else []
        return [
            INTERVALS,
            *model_notes(self.manifest),
            *self.manifest.about.notes,
            *concern_notes(self.concerned, len(self.questions)),
            *guessing,
            *repeat_notes(self.manifest),
            *judge_notes(self.manifest.systems, self.manifest.metrics),
            *failure_notes(self.failures),
            *uneven_notes(self.scores),
            *unscored_notes(self.rows),
            *self.remarks,
        ]

    @cached_property
    def scorable(self) -> list[Entry[Answer]]:
        """The answers, and what failed systems had done so far, by system and question in their order."""
        partial = [(failure, failure.value.so_far) for failure in self.failures if not failure.of]
        so_far = [
            Entry[Answer](question_id=failure.question_id, by=failure.by, repeat=failure.repeat, value=answer)
            for failure, answer in partial
            if answer
        ]
        systems = {name: number for number, name in enumerate(self.manifest.systems)}
        questions = {question.id: number for number, question in enumerate(self.questions)}
        return sorted(
            [*self.answers, *so_far],
            key=lambda entry: (systems[entry.by], questions[entry.question_id], entry.repeat),
        )

    def table(self, width: int | None = None) -> Table:
        """The results as a table that shows well in a notebook and, within a width, in a terminal."""
        return results_table(self.rows, self.notes, width)

    @cached_property
    def costs(self) -> list[Cost]:
        """What each system took to answer: calls, tokens, money, and seconds where the run was timed."""
        seconds = self.timings if self.manifest.timed else ()
        return summed_costs(self.manifest.systems, self.answers, seconds)

    def cost_table(self) -> Table | None:
        """What the answers took, if any model was asked or time was taken."""
        notes = ["what the answers took, also where a reply came from the cache; context tokens are a mean"]
        notes += [f"timed on {self.manifest.hardware}, one question at a time"] if self.manifest.timed else []
        asked = any(cost.calls for cost in self.costs) or self.manifest.timed
        return costs_table(self.costs, notes) if asked else None

    def read_from(self, source: str | Path | Benchmark) -> "Run":
        """The run with the place that its benchmark was read from, if it was read."""
        place = "" if isinstance(source, Benchmark) else str(source)
        return replace(self, manifest=self.manifest.model_copy(update={"source": place}))


def model_notes(manifest: RunManifest) -> list[str]:
    """Who answered and who judged; several readers are in the names of the systems."""
    readers = {made.models["reader"] for made in manifest.systems.values() if "reader" in made.models}
    judges = {name: made.models["judge"] for name, made in manifest.metrics.items() if "judge" in made.models}
    return [
        *(f"reader: {reader}" for reader in readers if len(readers) == 1),
        *(f"judge of {metric}: {judge}" for metric, judge in judges.items()),
    ]


def repeat_notes(manifest: RunManifest) -> list[str]:
    if manifest.repeats == 1:
        return []
    return [
        f"each question was asked {manifest.repeats} times; n counts questions, failed and declined count answers, and "
        "the intervals hold how repeats vary (at temperature 0 that is the server's own variation)"
    ]


def remake(made: Made) -> Metric | None:
    """The metric that an earlier command used, if it can still be imported."""
    fields = {name: value for name, value in made.component.items() if name != "component"}
    try:
        return create(Metric, str(made.component["component"]), **fields)
    except ConfigError:
        return None


def order_of(manifest: RunManifest) -> RunManifest:
    """The order that a run was made to, without what may differ."""
    free = {"systems": {}, "metrics": {}, "sha256": {}, "source": "", "about": About()}
    return manifest.model_copy(update=free)


# ── the folder ───────────────────────────────────────────────────────────────────────────────────────────────────────

FILES: Mapping[str, Any] = {
    "questions": Question,
    "answers": Entry[Answer],
    "failures": Entry[Failure],
    "scores": Entry[Score],
    "timings": Entry[Timing],
}


FLAGS = ("limit", "corpus", "draw", "repeats", "timed")


def default_folder(*parts: object) -> Path:
    """A folder named by what is run, so that the same command finds its own work again."""
    return Path("runs") / f"{slug(Path(str(parts[0])).stem)}-{sha256(repr(parts).encode())[:8]}"


def save_run(run: Run, earlier: Run, folder: Path | None) -> None:
    """Writes what is new. The questions go along, so that a run can always be scored again."""
    if folder and (run != earlier or not finished(folder, "run.json")):
        files: dict[str, Sequence[BaseModel]] = {f"{name}.jsonl": getattr(run, name) for name in FILES}
        write_folder(folder, files, run.manifest, "run.json", unhashed=("timings.jsonl",))


def load_run(folder: Path) -> Run:
    if finished(folder, "manifest.json"):
        raise DataError(f"{folder} is a benchmark, not a run; run systems on it with `ragstone eval`")
    if not finished(folder, "run.json"):
        raise DataError(f"{folder} holds no finished run; run the `ragstone eval` command that began it again")
    manifest, data = read_folder(folder, "run.json", RunManifest, [f"{name}.jsonl" for name in FILES])
    rows = {name: decode(data[f"{name}.jsonl"], folder / f"{name}.jsonl", kind) for name, kind in FILES.items()}
    return Run(manifest, **rows)


def finished_run(folder: Path | None, order: RunManifest, questions: tuple[Question, ...]) -> Run:
    """The finished run in the folder, to be added to; a run without answers where there is none."""
    if folder is None or not finished(folder, "run.json"):
        return Run(order, questions)
    run = load_run(folder)
    before, now = order_of(run.manifest), order_of(order)
    for name in (*FLAGS, *RunManifest.model_fields):
        if getattr(before, name) != getattr(now, name):
            what = f"--{name}" if name in FLAGS else name
            raise ConfigError(f"{folder} holds a run with another {what}; choose another --out, or remove it first")
    return run
