"""Runs systems on a benchmark and scores what they say; the result is a `Run`, in memory or in a folder.

A run folder grows by systems and metrics: the same command with one more system asks only that system.
"""

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ragstone.config import Models, Settings, load_settings, model_flags, open_models
from ragstone.errors import ConfigError, DataError
from ragstone.files import encode
from ragstone.growing import (
    ScoringManner,
    add_scores,
    add_systems,
    all_of,
    by_name,
    by_reader,
    check_earlier_metrics,
    items,
    labelled,
    take_in,
)
from ragstone.journal import Journal, claim
from ragstone.kit import Component, Kit, Metric, Reader, System
from ragstone.load import first_questions, load
from ragstone.parallel import Done
from ragstone.plugins import check_components, check_same, create
from ragstone.progress import Progress, silent
from ragstone.run import Column, Corpus, answer_all
from ragstone.run_folder import Run, finished_run, load_run, order_of, save_run
from ragstone.score import score_all
from ragstone.store import fingerprint
from ragstone.text import TOKEN_RULE
from ragstone.types import Answer, AskedKey, Benchmark, Entry, Made, RunManifest
from ragstone.version import __version__

if TYPE_CHECKING:
    from ragstone.llm.forecast import Foreseen

C = TypeVar("C", bound=Component)

RETRIEVAL_METRICS = ("recall@5", "all_recall@5", "ndcg@10")
ANSWER_METRICS = ("covered", "f1")


# ── the verbs ────────────────────────────────────────────────────────────────────────────────────────────────────────


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
    repeats: int = 1,
    timed: bool = False,
    model: str | Sequence[str] = (),
    settings: Settings | None = None,
    models: Models | None = None,
    retry_failed: bool = False,
    progress: Progress = silent,
) -> Run:
    """Runs the systems and scores their answers; with `out` all is kept there, and an interrupted run goes on.

    `model` is a reader, as `openai:NAME`, or `ROLE=SPEC`; several readers are several columns. With `repeats`, each
    question is asked so often. With `timed`, systems answer one question at a time and nothing comes from the cache.
    Runs that are given the same opened `models` share their budget and their batch.
    """
    folder = Path(out) if out is not None else None
    plan = make_plan(
        benchmark,
        systems,
        metrics,
        corpus=corpus,
        format=format,
        skip_bad=skip_bad,
        draw=draw,
        limit=limit,
        repeats=repeats,
        timed=timed,
        model=model,
        settings=settings,
        models=models,
        folder=folder,
        retry_failed=retry_failed,
    )
    told = partial(progress, spent=plan.models.spent)
    with claim(folder, order_of(plan.manifest), "run.json") as journal:
        found = finished_run(folder, plan.manifest, plan.source.questions)
        earlier, columns = by_reader(found, plan.columns)
        made = {column.name: column.made for column in columns}
        check_same(earlier.manifest.systems, made, "answers")
        check_depth({**earlier.manifest.systems, **made}, {**earlier.metrics, **by_name(plan.metrics)})
        check_earlier_metrics(earlier, made, by_name(plan.metrics), plan.models.kit)
        take_in(earlier, journal)
        ask = partial(plan.answers, journal=journal, retry_failed=retry_failed, progress=told)
        answered = add_systems(earlier, made, all_of(columns, lambda column: (column.name, ask(column))))
        scoring = ScoringManner(plan.models.kit, plan.concurrency, told, retry_failed)
        run = add_scores(answered, earlier, plan.metrics, scoring).read_from(benchmark)
        save_run(run, found, folder)
        journal.forget(items(run))
    return replace(run, remarks=plan.models.notes)


def rescore(
    folder: str | Path,
    metrics: Sequence[str | Metric],
    *,
    model: str | Sequence[str] = (),
    settings: Settings | None = None,
    progress: Progress = silent,
) -> Run:
    """Scores a finished run by more metrics, without asking any system again."""
    place = Path(folder)
    manifest = load_run(place).manifest
    order = order_of(manifest)
    chosen = chosen_settings(settings, model)
    models = open_models(chosen, order.draw, language=manifest.about.language, purpose=place, retry_failed=True)
    wanted = choose_metrics(metrics, (), models.kit)
    check_components(wanted, models.kit)
    with claim(place, order, "run.json"):
        run = load_run(place)
        check_depth(run.manifest.systems, by_name(wanted))
        told = partial(progress, spent=models.spent)
        scored = add_scores(run, run, wanted, ScoringManner(models.kit, chosen.concurrency, told, retry_failed=True))
        save_run(scored, run, place)
    return replace(scored, remarks=models.notes)


def foresee(
    benchmark: str | Path | Benchmark,
    systems: Sequence[str | System],
    metrics: Sequence[str | Metric] | None = None,
    **how: Any,
) -> "list[Foreseen]":
    """What `evaluate` would ask of models at most, stage by stage. Nothing is asked or kept.

    The arguments are those of `evaluate`, without `out`, `retry_failed` and `progress`. Retrieval is done for real.
    Stand-ins take the place of replies, so steps that depend on what a model says are only roughly foreseen.
    """
    from ragstone.llm.opening import foreseeing

    plan = make_plan(benchmark, systems, metrics, **how, forecasting=True)
    foreseen: list[Foreseen] = []
    answers: list[Entry[Answer]] = []
    for column in by_reader(Run(plan.manifest), plan.columns)[1]:
        with foreseeing(column.name, plan.models.opener, foreseen):
            done = plan.answers(column, journal=Journal())
        answers += add_systems(Run(plan.manifest), {column.name: column.made}, {column.name: done}).answers
    for metric in plan.metrics:
        with foreseeing(repr(metric), plan.models.opener, foreseen):
            score_all(plan.source.questions, answers, metric, plan.models.kit, concurrency=plan.concurrency)
    return foreseen


# ── before anything is spent ─────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Plan:
    """All that is settled before the first question is asked."""

    source: Benchmark
    models: Models
    columns: Sequence[Column]
    metrics: Sequence[Metric]
    manifest: RunManifest
    concurrency: int

    def answers(
        self, column: Column, *, journal: Journal, retry_failed: bool = False, progress: Progress = silent
    ) -> dict[AskedKey, Done[Answer]]:
        return answer_all(
            self.source,
            column,
            journal,
            corpus=self.manifest.corpus,
            repeats=self.manifest.repeats,
            timed=self.manifest.timed,
            concurrency=self.concurrency,
            retry_failed=retry_failed,
            progress=progress,
        )


def make_plan(
    benchmark: str | Path | Benchmark,
    systems: Sequence[str | System],
    metrics: Sequence[str | Metric] | None,
    *,
    corpus: Corpus = "scoped",
    format: str = "",
    skip_bad: bool = False,
    draw: int = 0,
    limit: int | None = None,
    repeats: int = 1,
    timed: bool = False,
    model: str | Sequence[str] = (),
    settings: Settings | None = None,
    models: Models | None = None,
    folder: Path | None = None,
    retry_failed: bool = False,
    forecasting: bool = False,
) -> Plan:
    chosen = chosen_settings(settings, model)
    loaded = benchmark if isinstance(benchmark, Benchmark) else load(benchmark, format=format, skip_bad=skip_bad)
    source = first_questions(loaded, limit)
    models = models or open_models(
        chosen,
        draw,
        language=source.about.language,
        purpose=folder,
        timed=timed,
        retry_failed=retry_failed,
        forecasting=forecasting,
    )
    columns = columns_of(systems, models)
    wanted = choose_metrics(metrics, columns, models.kit)
    check_fit(source, columns, wanted, models.kit)
    order = place_order(source, corpus, draw, limit, repeats, timed)
    return Plan(source, models, columns, wanted, order, chosen.concurrency)


def chosen_settings(settings: Settings | None, model: str | Sequence[str]) -> Settings:
    """The settings with the models that a call names itself."""
    chosen = settings or load_settings()
    named = model_flags([model] if isinstance(model, str) else model)
    return chosen.model_copy(update={"models": {**chosen.models, **named}})


def columns_of(systems: Sequence[str | System], models: Models) -> list[Column]:
    """Each system with each reader, once."""
    made = [create(System, system) if isinstance(system, str) else system for system in systems]
    found = [column for system in made for column in with_readers(system, models)]
    return list({encode(column.made): column for column in found}.values())


def with_readers(system: System, models: Models) -> list[Column]:
    """A system that can do without a reader gets one only if one was named."""
    reads = "reader" in (*system.needs, *system.uses)
    readers: Sequence[Reader | None] = models.readers if reads else ()
    if not readers:
        readers = [models.default_reader() if "reader" in system.needs else None]
    return [Column(repr(system), system, replace(models.kit, reader=reader)) for reader in readers]


def choose_metrics(metrics: Sequence[str | Metric] | None, columns: Sequence[Column], kit: Kit) -> list[Metric]:
    retrieving = RETRIEVAL_METRICS if any(column.system.sees != "nothing" for column in columns) else ()
    usual = (*retrieving, *(ANSWER_METRICS if any(column.kit.reader for column in columns) else ()))
    return once((create(Metric, metric) if isinstance(metric, str) else metric for metric in metrics or usual), kit)


def once(components: Iterable[C], kit: Kit) -> list[C]:
    """Each component once, however often it was named."""
    return list({encode(kit.made_by(component)): component for component in components}.values())


def check_fit(source: Benchmark, columns: Sequence[Column], metrics: Sequence[Metric], kit: Kit) -> None:
    if not source.questions:
        raise DataError("this source has no questions to ask, only documents; choose one that has questions")
    if not columns:
        raise ConfigError("no system to evaluate; name at least one with --system, `ragstone list systems` shows them")
    made: dict[str, Made] = {}
    for column in labelled(columns, several=True):
        check_components([column.system], column.kit)
        check_same(made, {column.name: column.made}, "results")
        made[column.name] = column.made
    check_components(metrics, kit)


def check_depth(systems: Mapping[str, Made], metrics: Mapping[str, Metric]) -> None:
    """A metric cannot look at more ranks than a system fills."""
    for name, metric in metrics.items():
        need = getattr(metric, "k", 0) if metric.reads == "retrieved" else 0
        for system, made in systems.items():
            have = made.component.get("k")
            if isinstance(have, int) and need > have:
                raise ConfigError(f"{name} looks at {need} passages and {system} retrieves {have}; --set k={need}")


def place_order(
    source: Benchmark, corpus: Corpus, draw: int, limit: int | None, repeats: int, timed: bool
) -> RunManifest:
    """All that must be equal for two commands to share a run folder; systems and metrics may be added to it."""
    return RunManifest(
        ragstone=__version__,
        benchmark=fingerprint(source),
        about=source.about,
        corpus=corpus,
        draw=draw,
        limit=limit,
        repeats=repeats,
        timed=timed,
        hardware=hardware() if timed else "",
        questions=len(source.questions),
        token_rule=TOKEN_RULE,
    )


def hardware() -> str:
    """What seconds were measured on."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text("utf-8").splitlines() if about.is_file() else []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return f"{os.cpu_count()} × {model or platform.processor() or platform.machine()}, {platform.system()}"
