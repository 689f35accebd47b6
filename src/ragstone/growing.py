"""How a run grows: what earlier commands asked and scored is taken over, and only the rest is done."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ragstone.errors import ConfigError, Waiting
from ragstone.journal import Journal
from ragstone.kit import Kit, Metric
from ragstone.parallel import Done, record
from ragstone.plugins import check_components, check_same
from ragstone.progress import Progress
from ragstone.run import Column, item_id
from ragstone.run_folder import Run
from ragstone.score import Scored, score_all
from ragstone.types import Answer, AskedKey, Entry, Failure, Made, Timing

T = TypeVar("T")
R = TypeVar("R")

Which = tuple[str, str, int]
"""A system, a question, and which time it was asked."""


def all_of(parts: Iterable[T], work: Callable[[T], tuple[str, R]]) -> dict[str, R]:
    """What the work makes of each part. A part that waits for a batch does not keep the others from their turn."""
    done: dict[str, R] = {}
    waiting: Waiting | None = None
    for part in parts:
        try:
            name, made = work(part)
            done[name] = made
        except Waiting as error:
            waiting = error
    if waiting:
        raise waiting
    return done


def by_name(metrics: Iterable[Metric]) -> dict[str, Metric]:
    return {repr(metric): metric for metric in metrics}


def by_reader(run: Run, columns: Sequence[Column]) -> tuple[Run, list[Column]]:
    """The run and the columns that are to join it; where they have several readers, names tell which is which."""
    made = [*run.manifest.systems.values(), *(column.made for column in columns)]
    several = len({reader for one in made if (reader := one.models.get("reader"))}) > 1
    return relabelled(run, several), labelled(columns, several)


def labelled(columns: Sequence[Column], several: bool) -> list[Column]:
    return [column._replace(name=label(column.name, column.made, several)) for column in columns]


def relabelled(run: Run, several: bool) -> Run:
    names = {name: label(name, made, several) for name, made in run.manifest.systems.items()}
    if all(old == new for old, new in names.items()):
        return run

    def renamed(entries: Sequence[Entry[T]]) -> tuple[Entry[T], ...]:
        return tuple(
            entry.model_copy(update={"by": names.get(entry.by, entry.by), "of": names.get(entry.of, entry.of)})
            for entry in entries
        )

    systems = {names[name]: made for name, made in run.manifest.systems.items()}
    return Run(
        run.manifest.model_copy(update={"systems": systems}),
        run.questions,
        renamed(run.answers),
        renamed(run.failures),
        renamed(run.scores),
        renamed(run.timings),
    )


def label(name: str, made: Made, several: bool) -> str:
    """The name of a column, with its reader where there are several."""
    reader = made.models.get("reader", "")
    plain = name.removesuffix(f" [{reader}]")
    return f"{plain} [{reader}]" if several and reader else plain


def take_in(earlier: Run, journal: Journal) -> None:
    """Tells the journal what a finished run holds, so that it is not asked again."""
    seconds = {which(entry): entry.value.seconds for entry in earlier.timings}
    failed = [failure for failure in earlier.failures if not failure.of]
    asked: list[Entry[Answer] | Entry[Failure]] = [*failed, *earlier.answers]  # of columns made alike, an answer counts
    for entry in asked:
        id = item_id(earlier.manifest.systems[entry.by], entry.question_id, entry.repeat)
        journal.know(id, record(Done(entry.value, seconds.get(which(entry), 0.0))))


def which(entry: Entry[Any]) -> Which:
    """Which answer an entry is, or is about."""
    return entry.of or entry.by, entry.question_id, entry.repeat


def items(run: Run) -> set[str]:
    """The ids under which a journal knows what the run holds."""
    asked = [(question.id, repeat) for question in run.questions for repeat in range(run.manifest.repeats)]
    return {item_id(made, *each_time) for made in run.manifest.systems.values() for each_time in asked}


def add_systems(earlier: Run, made: Mapping[str, Made], done: Mapping[str, Mapping[AskedKey, Done[Answer]]]) -> Run:
    """The earlier run with these systems' answers, failures and timings, by system and question in their order."""
    answers: dict[str, list[Entry[Answer]]] = by_system(earlier.answers)
    failures: dict[str, list[Entry[Failure]]] = by_system([entry for entry in earlier.failures if not entry.of])
    timings: dict[str, list[Entry[Timing]]] = by_system(earlier.timings)
    for system, items in done.items():
        answers[system], failures[system], timings[system] = [], [], []
        for (id, repeat), item in items.items():
            about = {"question_id": id, "by": system, "repeat": repeat}
            timings[system].append(Entry[Timing](**about, value=Timing(seconds=round(item.seconds, 6))))
            if isinstance(item.value, Failure):
                failed = item.value.model_copy(update={"item_id": id})
                failures[system].append(Entry[Failure](**about, value=failed))
            else:
                answers[system].append(Entry[Answer](**about, value=item.value))
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


@dataclass(frozen=True)
class ScoringManner:
    """How answers are scored. With `retry_failed`, what a metric failed on before is scored again."""

    kit: Kit
    concurrency: int
    progress: Progress
    retry_failed: bool


def add_scores(run: Run, earlier: Run, metrics: Sequence[Metric], how: ScoringManner) -> Run:
    """The run scored by these metrics and those it was scored by before; what is scored already is not scored again."""
    asked = by_name(metrics)
    made = {name: how.kit.made_by(metric) for name, metric in asked.items()}
    earlier = without_empty(earlier, made)
    check_same(earlier.manifest.metrics, made, "scores")
    known = {**earlier.manifest.metrics, **made}
    scored = all_of(known, lambda name: (name, scored_by(name, asked.get(name), known[name], run, earlier, how)))
    failed = [failure for failure in run.failures if not failure.of]
    return replace(
        run,
        manifest=run.manifest.model_copy(update={"metrics": known}),
        scores=tuple(entry for by in scored.values() for entry in by.scores),
        failures=(*failed, *(entry for by in scored.values() for entry in by.failures)),
    )


def without_empty(earlier: Run, made: Mapping[str, Made]) -> Run:
    """The run without metrics that failed on everything and are asked for anew, perhaps with another model."""
    scored = {entry.by for entry in earlier.scores}
    empty = {name for name, by in earlier.manifest.metrics.items() if name not in scored and made.get(name, by) != by}
    metrics = {name: by for name, by in earlier.manifest.metrics.items() if name not in empty}
    failures = tuple(failure for failure in earlier.failures if not (failure.of and failure.by in empty))
    return replace(earlier, manifest=earlier.manifest.model_copy(update={"metrics": metrics}), failures=failures)


def check_earlier_metrics(earlier: Run, made: Mapping[str, Made], asked: Mapping[str, Metric], kit: Kit) -> None:
    """What scored the run before must be able to score new answers too; that is found out before they are paid for."""
    for name, scorer in earlier.manifest.metrics.items():
        if name not in asked and made.keys() - earlier.manifest.systems.keys():
            usable(name, earlier.metrics.get(name), scorer, kit)


def scored_by(name: str, asked: Metric | None, made: Made, run: Run, earlier: Run, how: ScoringManner) -> Scored:
    """All that a metric says of the run: of what was scored before as it was, of the rest now."""
    metric = asked or earlier.metrics.get(name)
    said = run.said_to(metric)
    retried = [f for f in earlier.failures if f.by == name and f.of] if how.retry_failed and asked else []
    again = {which(failure) for failure in retried}
    same = unchanged(said, earlier, metric) - again if name in earlier.manifest.metrics else set()
    todo = [entry for entry in said if which(entry) not in same]
    new = Scored((), ())
    if todo:
        ready = usable(name, metric, made, how.kit)
        new = score_all(run.questions, todo, ready, how.kit, concurrency=how.concurrency, progress=how.progress)
    return Scored(
        in_order(said, [*about(earlier.scores, name, same), *new.scores]),
        in_order(said, [*about(earlier.failures, name, same), *new.failures]),
    )


def usable(name: str, metric: Metric | None, made: Made, kit: Kit) -> Metric:
    """The metric as it was when it scored before: of the same settings, models and prompts."""
    if metric is None:
        raise ConfigError(f"{name} has answers to score and cannot be imported any more; put its module back")
    check_components([metric], kit)
    check_same({name: made}, {name: kit.made_by(metric)}, "scores")
    return metric


def unchanged(said: Sequence[Entry[Answer]], earlier: Run, metric: Metric | None) -> set[Which]:
    """Which answers are those that were scored before."""
    before = {which(entry): entry.value for entry in earlier.said_to(metric)}
    return {which(entry) for entry in said if before.get(which(entry)) == entry.value}


def about(entries: Sequence[Entry[T]], metric: str, keys: set[Which]) -> list[Entry[T]]:
    """What the metric said of these answers."""
    return [entry for entry in entries if entry.by == metric and entry.of and which(entry) in keys]


def in_order(said: Sequence[Entry[Answer]], entries: Sequence[Entry[T]]) -> tuple[Entry[T], ...]:
    place = {which(entry): number for number, entry in enumerate(said)}
    return tuple(sorted(entries, key=lambda entry: place[which(entry)]))
