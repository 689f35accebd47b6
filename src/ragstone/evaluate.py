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
from ragstone.files import encode
from ragstone.journal import Journal, claim
from ragstone.kit import Component, Kit, Metric, System
from ragstone.load import first_questions, load
from ragstone.parallel import Done, record
from ragstone.plugins import check_components, check_same, create
from ragstone.progress import Progress, silent
from ragstone.run import Corpus, answer_all, item_id
from ragstone.run_folder import Run, finished_run, load_run, order_of, save_run
from ragstone.score import Scored, score_all
from ragstone.store import fingerprint
from ragstone.text import TOKEN_RULE
from ragstone.types import Answer, Benchmark, Entry, Failure, Made, RunManifest, Timing
from ragstone.version import __version__

T = TypeVar("T")
C = TypeVar("C", bound=Component)

Key = tuple[str, str]
"""A system and a question."""

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
    source = first_questions(loaded, limit)
    asked = once((create(System, system) if isinstance(system, str) else system for system in systems), kit)
    wanted = choose_metrics(metrics, kit)
    check_fit(source, asked, wanted, kit)
    order = place_order(source, corpus, draw, limit)
    folder = Path(out) if out is not None else None
    with claim(folder, order_of(order), "run.json") as journal:
        earlier = finished_run(folder, order, source.questions)
        made = {repr(system): kit.made_by(system) for system in asked}
        check_same(earlier.manifest.systems, made, "answers")
        check_depth({**earlier.manifest.systems, **made}, {**earlier.metrics, **by_name(wanted)})
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
        run = add_scores(answered, earlier, wanted, kit, retry_failed).read_from(benchmark)
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
        check_depth(run.manifest.systems, by_name(wanted))
        scored = add_scores(run, run, wanted, kit, retry_failed=True)
        save_run(scored, run, place)
    return scored


# ── before anything is spent ─────────────────────────────────────────────────────────────────────────────────────────


def choose_metrics(metrics: Sequence[str | Metric] | None, kit: Kit) -> list[Metric]:
    usual = (*RETRIEVAL_METRICS, *(ANSWER_METRICS if kit.reader else ()))
    return once((create(Metric, metric) if isinstance(metric, str) else metric for metric in metrics or usual), kit)


def once(components: Iterable[C], kit: Kit) -> list[C]:
    """Each component once, however often it was named."""
    return list({encode(kit.made_by(component)): component for component in components}.values())


def by_name(metrics: Iterable[Metric]) -> dict[str, Metric]:
    return {repr(metric): metric for metric in metrics}


def check_fit(source: Benchmark, systems: Sequence[System], metrics: Sequence[Metric], kit: Kit) -> None:
    if not source.questions:
        raise DataError("this source has no questions to ask, only documents; choose one that has questions")
    if not systems:
        raise ConfigError("no system to evaluate; name at least one with --system, `ragstone list systems` shows them")
    check_components(systems, kit)
    check_components(metrics, kit)


def check_depth(systems: Mapping[str, Made], metrics: Mapping[str, Metric]) -> None:
    """A metric cannot look at more ranks than a system fills."""
    for name, metric in metrics.items():
        need = getattr(metric, "k", 0) if metric.reads == "retrieved" else 0
        for system, made in systems.items():
            have = made.component.get("k")
            if isinstance(have, int) and need > have:
                raise ConfigError(f"{name} looks at {need} passages and {system} retrieves {have}; --set k={need}")


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


def add_scores(run: Run, earlier: Run, metrics: Sequence[Metric], kit: Kit, retry_failed: bool) -> Run:
    """The run scored by these metrics and those it was scored by before; what is scored already is not scored again.

    With `retry_failed`, what a metric failed on before is scored again.
    """
    asked = by_name(metrics)
    made = {name: kit.made_by(metric) for name, metric in asked.items()}
    check_same(earlier.manifest.metrics, made, "scores")
    known = {**earlier.manifest.metrics, **made}
    scores, failures = [], [failure for failure in run.failures if not failure.of]
    for name in known:
        metric = asked.get(name) or earlier.metrics.get(name)
        said = run.said_to(metric)
        retried = [f for f in earlier.failures if f.by == name and f.of] if retry_failed and name in asked else []
        again = {(failure.of, failure.question_id) for failure in retried}
        same = unchanged(said, earlier, metric) - again if name in earlier.manifest.metrics else set()
        todo = [entry for entry in said if (entry.by, entry.question_id) not in same]
        new = score_all(run.questions, todo, usable(name, metric, known[name], kit), kit) if todo else Scored((), ())
        scores += in_order(said, [*about(earlier.scores, name, same), *new.scores])
        failures += in_order(said, [*about(earlier.failures, name, same), *new.failures])
    manifest = run.manifest.model_copy(update={"metrics": known})
    return replace(run, manifest=manifest, scores=tuple(scores), failures=tuple(failures))


def usable(name: str, metric: Metric | None, made: Made, kit: Kit) -> Metric:
    """The metric as it was when it scored before: of the same settings, models and prompts."""
    if metric is None:
        raise ConfigError(f"{name} has answers to score and cannot be imported any more; put its module back")
    check_components([metric], kit)
    check_same({name: made}, {name: kit.made_by(metric)}, "scores")
    return metric


def unchanged(said: Sequence[Entry[Answer]], earlier: Run, metric: Metric | None) -> set[Key]:
    """Which answers are those that were scored before."""
    before = {(entry.by, entry.question_id): entry.value for entry in earlier.said_to(metric)}
    return {key for entry in said if before.get(key := (entry.by, entry.question_id)) == entry.value}


def about(entries: Sequence[Entry[T]], metric: str, keys: set[Key]) -> list[Entry[T]]:
    """What the metric said of these answers."""
    return [entry for entry in entries if entry.by == metric and (entry.of, entry.question_id) in keys]


def in_order(said: Sequence[Entry[Answer]], entries: Sequence[Entry[T]]) -> list[Entry[T]]:
    place = {(entry.by, entry.question_id): number for number, entry in enumerate(said)}
    return sorted(entries, key=lambda entry: place[entry.of, entry.question_id])
