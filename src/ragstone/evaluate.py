"""Runs systems on a benchmark and scores what they say; the result is a `Run`, in memory or in a folder.

A run folder grows by systems and metrics: the same command with one more system asks only that system.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ragstone.config import Settings, load_settings, open_kit
from ragstone.errors import ConfigError, DataError
from ragstone.journal import Journal, claim
from ragstone.kit import Kit, Metric, System
from ragstone.load import load
from ragstone.parallel import Done, record
from ragstone.plugins import create
from ragstone.progress import Progress, silent
from ragstone.report.table import Table, results_table
from ragstone.run import Corpus, answer_all, item_id
from ragstone.score import Row, failure_notes, guessing_notes, score_all, summarise, unscored_notes
from ragstone.store import (
    fingerprint,
    finished,
    read_intact,
    read_lines,
    read_record,
    sha256,
    write_folder,
)
from ragstone.text import TOKEN_RULE, slug
from ragstone.types import Answer, Benchmark, Entry, Failure, Question, RunManifest, Score, Timing
from ragstone.version import __version__

RETRIEVAL_METRICS = ("recall@5", "all_recall@5", "ndcg@10")
ANSWER_METRICS = ("covered", "f1")


@dataclass(frozen=True)
class Run:
    """What systems answered and how it was scored."""

    manifest: RunManifest
    questions: tuple[Question, ...] = ()
    answers: tuple[Entry[Answer], ...] = ()
    failures: tuple[Entry[Failure], ...] = ()
    scores: tuple[Entry[Score], ...] = ()
    timings: tuple[Entry[Timing], ...] = ()

    @cached_property
    def rows(self) -> list[Row]:
        """One row for each system and metric: mean, interval, n, failed, declined."""
        return summarise(self.manifest.systems, self.manifest.metrics, self.answers, self.failures, self.scores)

    @property
    def notes(self) -> list[str]:
        """What a reader of the numbers must know."""
        spoken = any(entry.value.text is not None for entry in self.answers)
        guessing = guessing_notes(self.questions) if spoken else []
        return [*self.manifest.about.notes, *guessing, *failure_notes(self.failures), *unscored_notes(self.rows)]

    def table(self) -> Table:
        """The results as a table that shows well in a terminal and in a notebook."""
        return results_table(self.rows, self.notes)

    def read_from(self, source: str | Path | Benchmark) -> "Run":
        """The run with the place that its benchmark was read from, if it was read."""
        place = "" if isinstance(source, Benchmark) else str(source)
        return replace(self, manifest=self.manifest.model_copy(update={"source": place}))


# ── the two verbs ────────────────────────────────────────────────────────────────────────────────────────────────────


def evaluate(
    benchmark: str | Path | Benchmark,
    systems: Sequence[str | System],
    metrics: Sequence[str | Metric] | None = None,
    *,
    out: str | Path | None = None,
    corpus: Corpus = "scoped",
    format: str = "",
    skip_bad: bool = False,
    draw: int = 0,
    limit: int | None = None,
    settings: Settings | None = None,
    retry_failed: bool = False,
    progress: Progress = silent,
) -> Run:
    """Runs the systems and scores their answers; with `out` all is kept there, and an interrupted run goes on."""
    chosen = settings or load_settings()
    kit = open_kit(chosen, draw)
    loaded = benchmark if isinstance(benchmark, Benchmark) else load(benchmark, format=format, skip_bad=skip_bad)
    source = loaded.model_copy(update={"questions": loaded.questions[:limit]})
    asked = [create(System, system) if isinstance(system, str) else system for system in systems]
    wanted = choose_metrics(metrics, kit)
    check_fit(source, asked, wanted)
    order = place_order(source, corpus, kit, limit)
    folder = Path(out) if out is not None else None
    earlier = finished_run(folder, order, source.questions)
    with claim(folder, order, "run.json") as journal:
        hand_on(earlier, journal)
        ask = partial(
            answer_all,
            source,
            kit=kit,
            journal=journal,
            corpus=corpus,
            concurrency=chosen.concurrency,
            retry_failed=retry_failed,
            progress=progress,
        )
        answered = add_systems(earlier, asked, {repr(system): ask(system) for system in asked})
        run = add_scores(answered, wanted, kit)
        if folder:
            save_run(run.read_from(benchmark), folder)
            journal.remove()
    return run


def rescore(folder: str | Path, metrics: Sequence[str | Metric], *, settings: Settings | None = None) -> Run:
    """Scores a finished run by more metrics, without asking any system again."""
    run = load_run(Path(folder))
    kit = open_kit(settings or load_settings(), run.manifest.draw)
    scored = add_scores(run, choose_metrics(metrics, kit), kit)
    with claim(Path(folder), order_of(run.manifest), "run.json") as journal:
        hand_on(run, journal)
        save_run(scored, Path(folder))
        journal.remove()
    return scored


# ── before anything is spent ─────────────────────────────────────────────────────────────────────────────────────────


def choose_metrics(metrics: Sequence[str | Metric] | None, kit: Kit) -> list[Metric]:
    usual = (*RETRIEVAL_METRICS, *(ANSWER_METRICS if kit.reader else ()))
    return [create(Metric, metric) if isinstance(metric, str) else metric for metric in metrics or usual]


def check_fit(source: Benchmark, systems: Sequence[System], metrics: Sequence[Metric]) -> None:
    if not source.questions:
        raise DataError("this source has no questions to ask; build some with `ragstone build`, or choose another")
    if not systems:
        raise ConfigError("no system to evaluate; name at least one with --system, `ragstone list systems` shows them")
    for system in systems:
        for metric in metrics:
            have, need = getattr(system, "k", None), getattr(metric, "k", None)
            if metric.reads == "retrieved" and have is not None and need is not None and need > have:
                raise ConfigError(
                    f"{metric!r} looks at {need} passages and {system!r} retrieves {have}; --set k={need}"
                )


def place_order(source: Benchmark, corpus: Corpus, kit: Kit, limit: int | None) -> RunManifest:
    """All that must be equal for two commands to share a run folder; systems and metrics may be added to it."""
    return RunManifest(
        ragstone=__version__,
        benchmark=fingerprint(source),
        about=source.about,
        corpus=corpus,
        draw=kit.draw,
        limit=limit,
        questions=len(source.questions),
        models=kit.models,
        token_rule=TOKEN_RULE,
    )


def order_of(manifest: RunManifest) -> RunManifest:
    """The order that a run was made to."""
    return manifest.model_copy(update={"systems": {}, "metrics": {}, "sha256": {}, "source": ""})


# ── putting a run together ───────────────────────────────────────────────────────────────────────────────────────────


def hand_on(earlier: Run, journal: Journal) -> None:
    """Puts what an earlier, finished run holds into the journal, so that it survives whatever comes now."""
    seconds = {(entry.by, entry.question_id): entry.value.seconds for entry in earlier.timings}
    asked: list[Entry[Answer] | Entry[Failure]] = [*earlier.answers, *(f for f in earlier.failures if not f.of)]
    for entry in asked:
        id = item_id(entry.by, entry.question_id)
        if id not in journal:
            journal.add(id, record(Done(entry.value, seconds.get((entry.by, entry.question_id), 0.0))))


def add_systems(earlier: Run, systems: Sequence[System], done: Mapping[str, Mapping[str, Done[Answer]]]) -> Run:
    """The earlier run with these systems' answers, failures and timings in place."""
    settings = {**earlier.manifest.systems, **{repr(system): system.described() for system in systems}}
    answers = [entry for entry in earlier.answers if entry.by not in done]
    failures = [entry for entry in earlier.failures if entry.by not in done and not entry.of]
    timings = [entry for entry in earlier.timings if entry.by not in done]
    for system, items in done.items():
        for id, item in items.items():
            timings.append(Entry(question_id=id, by=system, value=Timing(seconds=round(item.seconds, 6))))
            if isinstance(item.value, Failure):
                failures.append(Entry(question_id=id, by=system, value=item.value))
            else:
                answers.append(Entry(question_id=id, by=system, value=item.value))
    manifest = earlier.manifest.model_copy(update={"systems": settings})
    return replace(earlier, manifest=manifest, answers=tuple(answers), failures=tuple(failures), timings=tuple(timings))


def add_scores(run: Run, metrics: Sequence[Metric], kit: Kit) -> Run:
    """The run scored by these metrics and by those it was scored by before."""
    new = {repr(metric): metric.described() for metric in metrics}
    old = [remake(described) for name, described in run.manifest.metrics.items() if name not in new]
    scores, failures = score_all(run.questions, run.answers, [*old, *metrics], kit)
    manifest = run.manifest.model_copy(update={"metrics": {**run.manifest.metrics, **new}})
    asked = [failure for failure in run.failures if not failure.of]
    return replace(run, manifest=manifest, scores=scores, failures=(*asked, *failures))


def remake(described: Mapping[str, object]) -> Metric:
    """The metric that an earlier command used."""
    fields = {name: value for name, value in described.items() if name != "component"}
    return create(Metric, str(described["component"]), **fields)


# ── the folder ───────────────────────────────────────────────────────────────────────────────────────────────────────

FILES: Mapping[str, Any] = {
    "questions": Question,
    "answers": Entry[Answer],
    "failures": Entry[Failure],
    "scores": Entry[Score],
    "timings": Entry[Timing],
}


def default_folder(*parts: object) -> Path:
    """A folder named by what is run, so that the same command finds its own work again."""
    return Path("runs") / f"{slug(Path(str(parts[0])).stem)}-{sha256(repr(parts).encode())[:8]}"


def save_run(run: Run, folder: Path) -> None:
    """Writes the data files, then `run.json`. The questions go along, so that a run can always be scored again."""
    files: dict[str, Sequence[BaseModel]] = {f"{name}.jsonl": getattr(run, name) for name in FILES}
    write_folder(folder, files, run.manifest, "run.json", unhashed=("timings.jsonl",))


def load_run(folder: Path) -> Run:
    if not finished(folder, "run.json"):
        raise DataError(f"{folder} holds no finished run; run the `ragstone eval` command that began it again")
    manifest = read_record(folder / "run.json", RunManifest)
    read_intact(folder, manifest.sha256)
    return Run(manifest, **{name: read_lines(folder / f"{name}.jsonl", kind) for name, kind in FILES.items()})


def finished_run(folder: Path | None, order: RunManifest, questions: tuple[Question, ...]) -> Run:
    """The finished run in the folder, to be added to; a run without answers where there is none."""
    if folder is None or not finished(folder, "run.json"):
        return Run(order, questions)
    run = load_run(folder)
    for field, theirs in order_of(run.manifest):
        if theirs != getattr(order, field):
            raise ConfigError(f"{folder} holds a run with another {field}; choose another --out, or remove it first")
    return run
