"""Runs systems on a benchmark and scores what they say; the result is a `Run`, in memory or in a folder.

A run folder grows by systems and metrics: the same command with one more system asks only that system.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from ragstone.config import Settings, load_settings, open_kit
from ragstone.errors import ConfigError, DataError
from ragstone.journal import Journal, claim
from ragstone.kit import Component, Kit, Metric, System
from ragstone.load import load
from ragstone.parallel import Done, record
from ragstone.plugins import create
from ragstone.progress import Progress, silent
from ragstone.run import Corpus, answer_all, item_id
from ragstone.runs import Run, finished_run, load_run, order_of, save_run
from ragstone.score import (
    Scored,
    score_all,
)
from ragstone.store import (
    fingerprint,
)
from ragstone.text import TOKEN_RULE
from ragstone.types import Answer, Benchmark, Entry, Failure, Made, RunManifest, Timing
from ragstone.version import __version__

T = TypeVar("T")
C = TypeVar("C", bound=Component)

RETRIEVAL_METRICS = ("recall@5", "all_recall@5", "ndcg@10")
ANSWER_METRICS = ("covered", "f1")


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
    wanted = choose_metrics(metrics, kit)
    check_components(wanted, kit)
    with claim(place, order, "run.json"):
        run = load_run(place)
        scored = add_scores(run, run, wanted, kit)
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
    check_components(systems, kit)
    check_components(metrics, kit)
    for system in systems:
        for metric in metrics:
            check_depth(system, metric)


def check_components(components: Sequence[Component], kit: Kit) -> None:
    """Each has the models that it needs and a name of its own."""
    made: dict[str, Made] = {}
    for component in components:
        for role in component.needs:
            if not kit.has(role):
                raise ConfigError(f"{component!r} needs a model as {role}; set one with --model {role}=SPEC")
        check_same(made, {repr(component): kit.made_by(component)}, "results")
        made[repr(component)] = kit.made_by(component)


def check_depth(system: System, metric: Metric) -> None:
    """A metric cannot look at more ranks than the system fills."""
    have, need = getattr(system, "k", None), getattr(metric, "k", None)
    if metric.reads == "retrieved" and have is not None and need is not None and need > have:
        raise ConfigError(f"{metric!r} looks at {need} passages and {system!r} retrieves {have}; --set k={need}")


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
    said, before = run.scorable, {(entry.by, entry.question_id): entry.value for entry in earlier.scorable}
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
