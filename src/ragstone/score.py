"""The score driver: every metric on every answer; no system is asked. Wrong, declined and failed are kept apart."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from statistics import median
from typing import NamedTuple

from pydantic import ValidationError

from ragstone.errors import ConfigError, DataError, ModelError
from ragstone.files import first_problem
from ragstone.journal import Journal
from ragstone.kit import Kit, Metric
from ragstone.matching import chance
from ragstone.parallel import each
from ragstone.progress import Progress, silent
from ragstone.stats import over_questions
from ragstone.text import normalise
from ragstone.types import Answer, AskedKey, Entry, Failure, Made, Question, Record, Score, Timing, Usage


class Scored(NamedTuple):
    scores: tuple[Entry[Score], ...]
    failures: tuple[Entry[Failure], ...]


class Scoring(Record):
    """What a metric says of one answer: nothing, where it does not apply."""

    score: Score | None = None


class Row(NamedTuple):
    """One system by one metric: the mean and its interval over `n` scored questions, and what was not scored."""

    system: str
    metric: str
    value: float | None  # None: nothing could be scored
    low: float | None
    high: float | None
    n: int
    failed: int
    declined: int


def score_all(
    questions: Sequence[Question],
    answers: Sequence[Entry[Answer]],
    metric: Metric,
    kit: Kit,
    *,
    concurrency: int = 8,
    progress: Progress = silent,
) -> Scored:
    """What the metric says of each answer, if it applies. A metric that asks models asks many at once."""
    by_id = {question.id: question for question in questions}
    seeing = kit.limited_to(metric)

    def score(entry: Entry[Answer]) -> Scoring:
        return Scoring(score=score_one(by_id[entry.question_id], entry.value, metric, seeing))

    if metric.needs or metric.uses:
        said = in_parallel(answers, score, metric, concurrency, progress)
    else:
        said = [failing(score, entry, metric) for entry in answers]
    return sorted_out(answers, said, repr(metric))


def score_one(question: Question, answer: Answer, metric: Metric, kit: Kit) -> Score | None:
    try:
        score = metric.score(question, answer, kit)
    except ValidationError as error:
        raise ConfigError(f"{metric!r} gave a wrong score, {first_problem(error)}; mend the metric") from error
    if score is not None and not isinstance(score, Score):
        raise ConfigError(f"{metric!r} gave {score!r} and not a Score; mend the metric")
    return score


def failing(score: Callable[[Entry[Answer]], Scoring], entry: Entry[Answer], metric: Metric) -> Scoring | Failure:
    try:
        return score(entry)
    except (DataError, ModelError) as error:
        return Failure(item_id=entry.question_id, stage=repr(metric), error=str(error))


def in_parallel(
    answers: Sequence[Entry[Answer]],
    score: Callable[[Entry[Answer]], Scoring],
    metric: Metric,
    concurrency: int,
    progress: Progress,
) -> list[Scoring | Failure]:
    """What was paid for is in the reply cache, so the journal need not outlive the command."""
    items = {f"{number}": entry for number, entry in enumerate(answers)}
    with progress(repr(metric), len(items)) as tick:
        done = each(
            items,
            lambda: score,
            Scoring,
            stage=repr(metric),
            journal=Journal(),
            concurrency=concurrency,
            tick=tick,
        )
    return [item.value for item in done.values()]


def sorted_out(answers: Sequence[Entry[Answer]], said: Sequence[Scoring | Failure], metric: str) -> Scored:
    scores: list[Entry[Score]] = []
    failures: list[Entry[Failure]] = []
    for entry, result in zip(answers, said, strict=True):
        about = {"question_id": entry.question_id, "by": metric, "of": entry.by, "repeat": entry.repeat}
        if isinstance(result, Failure):
            failed = result.model_copy(update={"item_id": entry.question_id})
            failures.append(Entry[Failure](**about, value=failed))
        elif result.score is not None:
            scores.append(Entry[Score](**about, value=result.score))
    return Scored(tuple(scores), tuple(failures))


def summarise(
    systems: Iterable[str],
    metrics: Iterable[str],
    answers: Sequence[Entry[Answer]],
    failures: Sequence[Entry[Failure]],
    scores: Sequence[Entry[Score]],
    concerned: Mapping[str, set[str]],
) -> list[Row]:
    """A row for each system and metric.

    An answer has failed for a metric if the system or the metric failed on it, what the system had done until then was
    not enough for a score, and its question is among those that the metric is for (`concerned`).
    """
    values: dict[tuple[str, str], dict[AskedKey, float]] = {}
    for score in scores:
        values.setdefault((score.of, score.by), {})[score.question_id, score.repeat] = score.value.value
    failed: dict[tuple[str, str], set[AskedKey]] = {}
    for failure in failures:
        key = (failure.of, failure.by) if failure.of else (failure.by, "")
        failed.setdefault(key, set()).add((failure.question_id, failure.repeat))
    declined = Counter(answer.by for answer in answers if answer.value.declined)
    rows = []
    for system in systems:
        for metric in metrics:
            scored = values.get((system, metric), {})
            lost = failed.get((system, ""), set()) | failed.get((system, metric), set())
            value, low, high, n = over_questions(by_question(scored)) or (None, None, None, 0)
            missed = sum(question in concerned[metric] for question, _ in lost - set(scored))
            rows.append(Row(system, metric, value, low, high, n, missed, declined[system]))
    return rows


class Cost(NamedTuple):
    """What a system's `answers` took. Tokens of the context are a mean over its answers, seconds are of an answer."""

    system: str
    answers: int
    calls: int
    input_tokens: int
    output_tokens: int
    context_tokens: float
    truncated: int  # answers whose context did not fit
    money: float | None  # in US dollars; None: a price is not known
    median_seconds: float | None = None  # None: not timed
    slow_seconds: float | None = None  # the 95th percentile


def summed_costs(
    systems: Iterable[str], answers: Sequence[Entry[Answer]], timings: Sequence[Entry[Timing]]
) -> list[Cost]:
    said = {(entry.by, entry.question_id, entry.repeat) for entry in answers}
    seconds: dict[str, list[float]] = {}
    for timing in timings:  # a failed call says nothing of how long an answer takes
        if (timing.by, timing.question_id, timing.repeat) in said:
            seconds.setdefault(timing.by, []).append(timing.value.seconds)
    return [cost_of(name, [a.value.usage for a in answers if a.by == name], seconds.get(name, [])) for name in systems]


def cost_of(system: str, usages: Sequence[Usage], seconds: Sequence[float]) -> Cost:
    prices = [usage.cost for usage in usages]
    return Cost(
        system=system,
        answers=len(usages),
        calls=sum(usage.calls for usage in usages),
        input_tokens=sum(usage.input_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        context_tokens=sum(usage.context_tokens for usage in usages) / max(1, len(usages)),
        truncated=sum(usage.truncated_tokens > 0 for usage in usages),
        money=None if None in prices else sum(price or 0.0 for price in prices),
        median_seconds=median(seconds) if seconds else None,
        slow_seconds=sorted(seconds)[ceil(0.95 * len(seconds)) - 1] if seconds else None,
    )


def by_question(scored: Mapping[AskedKey, float]) -> list[list[float]]:
    """The scores of each question, one for each time that it was asked."""
    found: dict[str, list[float]] = {}
    for (question, _), value in scored.items():
        found.setdefault(question, []).append(value)
    return list(found.values())


def guessing_notes(questions: Sequence[Question]) -> list[str]:
    """How far one gets without knowing anything: by blind guesses, and by the commonest answer of each type."""
    guesses = [chance(question) for question in questions if question.answerable]
    closed = sum(guess > 0 for guess in guesses)
    blind = sum(guesses) / max(1, len(guesses))
    usual = commonest_answers(questions)
    notes = [f"{closed} of {len(guesses)} questions have closed answers: blind guessing alone gets {blind:.3f} right"]
    return (notes if closed else []) + (
        [f"the commonest answer of each question type gets {usual:.3f} right"] if usual > max(blind, 0.1) else []
    )


def commonest_answers(questions: Sequence[Question]) -> float:
    """The share of questions that the commonest gold answer of their type answers."""
    golds: dict[str, Counter[str]] = {}
    for question in questions:
        if question.answers and question.answerable:
            kind = str(question.labels.get("type", ""))
            golds.setdefault(kind, Counter())[normalise(question.answers[0][0])] += 1
    repeated = [counts for counts in golds.values() if len(counts) < counts.total()]  # else no answer is common
    right = sum(counts.most_common(1)[0][1] for counts in repeated)
    return right / max(1, sum(counts.total() for counts in golds.values()))


def failure_notes(failures: Sequence[Entry[Failure]]) -> list[str]:
    counts = Counter(f"{failure.by} of {failure.of}" if failure.of else failure.by for failure in failures)
    listed = ", ".join(f"{who} {number}" for who, number in counts.items())
    return [f"failed: {listed} (--retry-failed tries again); the first: {f.value.error}" for f in failures[:1]]


def concern_notes(concerned: Mapping[str, set[str]], total: int) -> list[str]:
    partly = [f"{metric} {len(ids)}" for metric, ids in concerned.items() if 0 < len(ids) < total]
    return [f"not every question can be scored; of {total}: {', '.join(partly)}"] if partly else []


def uneven_notes(scores: Sequence[Entry[Score]]) -> list[str]:
    """Means over different questions are not to be compared as they stand."""
    scored: dict[str, dict[str, set[str]]] = {}
    for entry in scores:
        scored.setdefault(entry.by, {}).setdefault(entry.of, set()).add(entry.question_id)
    uneven = [metric for metric, by in scored.items() if len({frozenset(ids) for ids in by.values()}) > 1]
    return [f"{', '.join(uneven)}: not every system was scored on the same questions (see n)"] if uneven else []


def judge_notes(systems: Mapping[str, Made], metrics: Mapping[str, Made]) -> list[str]:
    """A model is no fair judge of its own answers, whatever its options."""
    readers = {bare(made.models["reader"]) for made in systems.values() if "reader" in made.models}
    judges = {metric: made.models["judge"] for metric, made in metrics.items() if "judge" in made.models}
    same = {metric: judge for metric, judge in judges.items() if bare(judge) in readers}
    return [
        f"the judge of {metric} ({judge}) is also a reader here; models favour their own answers, so judge with another"
        for metric, judge in same.items()
    ]


def bare(model: str) -> str:
    """The name of a model without its options."""
    return model.partition("(")[0]


def unscored_notes(rows: Sequence[Row]) -> list[str]:
    empty: dict[str, list[str]] = {}
    for row in rows:
        if row.n == 0 and not row.failed:
            empty.setdefault(row.metric, []).append(row.system)
    together: dict[str, list[str]] = {}
    for metric, systems in empty.items():
        together.setdefault(", ".join(systems), []).append(metric)
    return [
        f"nothing to score for {systems} by {', '.join(metrics)}: no question is for it, or the system does not tell "
        "what it needs (answers take a reader, named by --model; what was retrieved takes a system that retrieves)"
        for systems, metrics in together.items()
    ]
