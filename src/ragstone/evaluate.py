"""Runs systems on a benchmark and scores what they say; the result is a `Run`, in memory or in a folder.

A run folder grows by systems and metrics: the same command with one more system asks only that system.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from ragstone.config import Settings, load_settings, open_kit
from ragstone.errors import ConfigError, DataError
from ragstone.journal import Journal, claim
from ragstone.kit import Component, Kit, Metric, System
from ragstone.load import load
from ragstone.parallel import Done, record
from ragstone.plugins import create
from ragstone.progress import Progress, silent
from ragstone.report.table import Table, results_table
from ragstone.run import Corpus, answer_all, item_id
from ragstone.score import (
    Row,
    Scored,
    failure_notes,
    guessing_notes,
    score_all,
    summarise,
    uneven_notes,
    unscored_notes,
)
from ragstone.store import (
    fingerprint,
    finished,
    read_intact,
    read_lines,
    read_manifest,
    sha256,
    write_folder,
)
from ragstone.text import TOKEN_RULE, slug
from ragstone.types import About, Answer, Benchmark, Entry, Failure, Made, Question, RunManifest, Score, Timing
from ragstone.version import __version__

T = TypeVar("T")
C = TypeVar("C", bound=Component)

INTERVALS = "means with 95 % intervals (Wilson), over the n questions that could be scored"
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
        return [
            INTERVALS,
            *self.manifest.about.notes,
            *guessing,
            *failure_notes(self.failures),
            *uneven_notes(self.rows),
            *unscored_notes(self.rows),
        ]

    def table(self, width: int | None = None) -> Table:
        """The results as a table that shows well in a notebook and, within a width, in a terminal."""
        return results_table(self.rows, self.notes, width)

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
    asked = once(create(System, system) if isinstance(system, str) else system for system in systems)
    wanted = choose_metrics(metrics, kit)
    check_fit(source, asked, wanted, kit)
    order = place_order(source, corpus, draw, limit)
    folder = Path(out) if out is not None else None
    with claim(folder, order_of(order), "run.json") as journal:
        earlier = finished_run(folder, order, source.questions)
        made = {repr(system): kit.made_by(system) for system in asked}
        check_same(earlier.manifest.systems, made, "answers")
        take_in(earlier, journal)
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
        answered = add_systems(earlier, made, {repr(system): ask(system) for system in asked})
        run = add_scores(answered, earlier, wanted, kit).read_from(benchmark)
        save_run(run, earlier, folder)
        journal.forget(items(run))
    return run


def rescore(folder: str | Path, metrics: Sequence[str | Metric], *, settings: Settings | None = None) -> Run:
    """Scores a finished run by more metrics, without asking any system again."""
    place = Path(folder)
    order = order_of(load_run(place).manifest)
    kit = open_kit(settings or load_settings(), order.draw)
    with claim(place, order, "run.json"):
        run = load_run(place)
        scored = add_scores(run, run, choose_metrics(metrics, kit), kit)
        save_run(scored, run, place)
    return scored


# ── before anything is spent ─────────────────────────────────────────────────────────────────────────────────────────


def choose_metrics(metrics: Sequence[str | Metric] | None, kit: Kit) -> list[Metric]:
    usual = (*RETRIEVAL_METRICS, *(ANSWER_METRICS if kit.reader else ()))
    return once(create(Metric, metric) if isinstance(metric, str) else metric for metric in metrics or usual)


def once(components: Iterable[C]) -> list[C]:
    """Each component once, however often it was named."""
    return list({(repr(component), type(component)): component for component in components}.values())


def check_fit(source: Benchmark, systems: Sequence[System], metrics: Sequence[Metric], kit: Kit) -> None:
    if not source.questions:
        raise DataError("this source has no questions to ask, only documents; choose one that has questions")
    if not systems:
        raise ConfigError("no system to evaluate; name at least one with --system, `ragstone list systems` shows them")
    for component in (*systems, *metrics):
        for role in component.needs:
            if not kit.has(role):
                raise ConfigError(f"{component!r} needs a model as {role}; set one with --model {role}=SPEC")
    for system in systems:
        for metric in metrics:
            have, need = getattr(system, "k", None), getattr(metric, "k", None)
            if metric.reads == "retrieved" and have is not None and need is not None and need > have:
                raise ConfigError(
                    f"{metric!r} looks at {need} passages and {system!r} retrieves {have}; --set k={need}"
                )
    for components in (systems, metrics):
        names: dict[str, Made] = {}
        for component in components:
            check_same(names, {repr(component): kit.made_by(component)}, "results")
            names[repr(component)] = kit.made_by(component)


def check_same(known: Mapping[str, Made], made: Mapping[str, Made], what: str) -> None:
    """Refuses to take one thing for another because it has the same name."""
    for name, mine in made.items():
        if name in known and known[name] != mine:
            theirs = [part for part, value in known[name] if value != getattr(mine, part)]
            raise ConfigError(f"there are {what} of another {name} (other {', '.join(theirs)}); choose another --out")


def place_order(source: Benchmark, corpus: Corpus, draw: int, limit: int | None) -> RunManifest:
    """All that must be equal for two commands to share a run folder; systems and metrics may be added to it."""
    return RunManifest(
        ragstone=__version__,
        benchmark=fingerprint(source),
        about=source.about,
        corpus=corpus,
        draw=draw,
        limit=limit,
        questions=len(source.questions),
        token_rule=TOKEN_RULE,
    )


def order_of(manifest: RunManifest) -> RunManifest:
    """The order that a run was made to, without what may differ."""
    free = {"systems": {}, "metrics": {}, "sha256": {}, "source": "", "about": About()}
    return manifest.model_copy(update=free)


# ── putting a run together ───────────────────────────────────────────────────────────────────────────────────────────


def take_in(earlier: Run, journal: Journal) -> None:
    """Tells the journal what a finished run holds, so that it is not asked again."""
    seconds = {(entry.by, entry.question_id): entry.value.seconds for entry in earlier.timings}
    asked: list[Entry[Answer] | Entry[Failure]] = [*earlier.answers, *(f for f in earlier.failures if not f.of)]
    for entry in asked:
        id = item_id(earlier.manifest.systems[entry.by], entry.question_id)
        journal.know(id, record(Done(entry.value, seconds.get((entry.by, entry.question_id), 0.0))))


def items(run: Run) -> set[str]:
    """The ids under which a journal knows what the run holds."""
    questions = [question.id for question in run.questions]
    return {item_id(made, id) for made in run.manifest.systems.values() for id in questions}


def add_systems(earlier: Run, made: Mapping[str, Made], done: Mapping[str, Mapping[str, Done[Answer]]]) -> Run:
    """The earlier run with these systems' answers, failures and timings, by system and question in their order."""
    answers: dict[str, list[Entry[Answer]]] = by_system(earlier.answers)
    failures: dict[str, list[Entry[Failure]]] = by_system([entry for entry in earlier.failures if not entry.of])
    timings: dict[str, list[Entry[Timing]]] = by_system(earlier.timings)
    for system, items in done.items():
        answers[system], failures[system], timings[system] = [], [], []
        for id, item in items.items():
            timings[system].append(Entry(question_id=id, by=system, value=Timing(seconds=round(item.seconds, 6))))
            if isinstance(item.value, Failure):
                failed = item.value.model_copy(update={"item_id": id})
                failures[system].append(Entry(question_id=id, by=system, value=failed))
            else:
                answers[system].append(Entry(question_id=id, by=system, value=item.value))
    systems = {**earlier.manifest.systems, **made}
    return replace(
        earlier,
        manifest=earlier.manifest.model_copy(update={"systems": systems}),
        answers=tuple(entry for system in systems for entry in answers.get(system, ())),
        failures=tuple(entry for system in systems for entry in failures.get(system, ())),
        timings=tuple(entry for system in systems for entry in timings.get(system, ())),
    )


def by_system(entries: Sequence[Entry[T]]) -> dict[str, list[Entry[T]]]:
    found: dict[str, list[Entry[T]]] = {}
    for entry in entries:
        found.setdefault(entry.by, []).append(entry)
    return found


def add_scores(run: Run, earlier: Run, metrics: Sequence[Metric], kit: Kit) -> Run:
    """The run scored by these metrics and those it was scored by before; what is scored already is not scored again."""
    asked = {repr(metric): metric for metric in metrics}
    made = {name: kit.made_by(metric) for name, metric in asked.items()}
    check_same(earlier.manifest.metrics, made, "scores")
    known = {**earlier.manifest.metrics, **made}
    said, before = scorable(run), {(entry.by, entry.question_id): entry.value for entry in scorable(earlier)}
    changed = [entry for entry in said if before.get((entry.by, entry.question_id)) != entry.value]
    scores, failures = [], [failure for failure in run.failures if not failure.of]
    for name in known:
        old = name in earlier.manifest.metrics
        todo = changed if old else said
        metric = asked.get(name) or (remake(known[name]) if todo else None)
        new = score_all(run.questions, todo, metric, kit) if metric else Scored((), ())
        scores += in_order(said, [*(kept(earlier.scores, name, changed) if old else ()), *new.scores])
        failures += in_order(said, [*(kept(earlier.failures, name, changed) if old else ()), *new.failures])
    manifest = run.manifest.model_copy(update={"metrics": known})
    return replace(run, manifest=manifest, scores=tuple(scores), failures=tuple(failures))


def scorable(run: Run) -> list[Entry[Answer]]:
    """The answers, and what failed systems had done so far, by system and question in their order."""
    partial = [(failure, failure.value.so_far) for failure in run.failures if not failure.of]
    entries = [
        *run.answers,
        *(Entry(question_id=f.question_id, by=f.by, value=so_far) for f, so_far in partial if so_far),
    ]
    place = {question.id: number for number, question in enumerate(run.questions)}
    systems = list(run.manifest.systems)
    return sorted(entries, key=lambda entry: (systems.index(entry.by), place[entry.question_id]))


def kept(entries: Sequence[Entry[T]], metric: str, changed: Sequence[Entry[Answer]]) -> list[Entry[T]]:
    """What the metric said of answers that have not changed."""
    stale = {(entry.by, entry.question_id) for entry in changed}
    return [entry for entry in entries if entry.by == metric and (entry.of, entry.question_id) not in stale]


def in_order(said: Sequence[Entry[Answer]], entries: Sequence[Entry[T]]) -> list[Entry[T]]:
    place = {(entry.by, entry.question_id): number for number, entry in enumerate(said)}
    return sorted(entries, key=lambda entry: place[entry.of, entry.question_id])


def remake(made: Made) -> Metric:
    """The metric that an earlier command used."""
    fields = {name: value for name, value in made.component.items() if name != "component"}
    return create(Metric, str(made.component["component"]), **fields)


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


def save_run(run: Run, earlier: Run, folder: Path | None) -> None:
    """Writes what is new. The questions go along, so that a run can always be scored again."""
    if folder and (run != earlier or not finished(folder, "run.json")):
        files: dict[str, Sequence[BaseModel]] = {f"{name}.jsonl": getattr(run, name) for name in FILES}
        write_folder(folder, files, run.manifest, "run.json", unhashed=("timings.jsonl",))


def load_run(folder: Path) -> Run:
    if not finished(folder, "run.json"):
        raise DataError(f"{folder} holds no finished run; run the `ragstone eval` command that began it again")
    manifest = read_manifest(folder / "run.json", RunManifest)
    read_intact(folder, manifest.sha256)
    return Run(manifest, **{name: read_lines(folder / f"{name}.jsonl", kind) for name, kind in FILES.items()})


def finished_run(folder: Path | None, order: RunManifest, questions: tuple[Question, ...]) -> Run:
    """The finished run in the folder, to be added to; a run without answers where there is none."""
    if folder is None or not finished(folder, "run.json"):
        return Run(order, questions)
    run = load_run(folder)
    before, now = order_of(run.manifest), order_of(order)
    for field in ("limit", "corpus", "draw", *RunManifest.model_fields):
        if getattr(before, field) != getattr(now, field):
            raise ConfigError(f"{folder} holds a run with another {field}; choose another --out, or remove it first")
    return run
