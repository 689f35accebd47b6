"""The score driver: every metric on every answer, without inference. Wrong, declined and failed are kept apart."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pydantic import ValidationError

from ragstone.errors import ConfigError, DataError, ModelError
from ragstone.files import first_problem
from ragstone.kit import Kit, Metric
from ragstone.stats import wilson
from ragstone.text import normalise
from ragstone.types import Answer, Entry, Failure, Question, Score


class Scored(NamedTuple):
    scores: tuple[Entry[Score], ...]
    failures: tuple[Entry[Failure], ...]


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


def score_all(questions: Sequence[Question], answers: Sequence[Entry[Answer]], metric: Metric, kit: Kit) -> Scored:
    """What the metric says of each answer; nothing where it does not apply."""
    by_id = {question.id: question for question in questions}
    seeing = kit.limited_to(metric)
    scores: list[Entry[Score]] = []
    failures: list[Entry[Failure]] = []
    for entry in answers:
        result = score_one(by_id[entry.question_id], entry, metric, seeing)
        if isinstance(result, Failure):
            failures.append(Entry(question_id=entry.question_id, by=repr(metric), of=entry.by, value=result))
        elif result is not None:
            scores.append(Entry(question_id=entry.question_id, by=repr(metric), of=entry.by, value=result))
    return Scored(tuple(scores), tuple(failures))


def score_one(question: Question, entry: Entry[Answer], metric: Metric, kit: Kit) -> Score | Failure | None:
    try:
        score = metric.score(question, entry.value, kit)
        if score is not None and not isinstance(score, Score):
            raise ConfigError(f"{metric!r} gave {score!r} and not a Score; mend the metric")
        return score
    except (DataError, ModelError) as error:
        return Failure(item_id=question.id, stage=repr(metric), error=str(error))
    except ValidationError as error:
        raise ConfigError(f"{metric!r} gave a wrong score, {first_problem(error)}; mend the metric") from error


def summarise(
    systems: Iterable[str],
    metrics: Iterable[str],
    answers: Sequence[Entry[Answer]],
    failures: Sequence[Entry[Failure]],
    scores: Sequence[Entry[Score]],
    concerned: Mapping[str, set[str]],
) -> list[Row]:
    """A row for each system and metric.

    A question has failed for a metric if the system or the metric failed on it, what the system had done until then was
    not enough for a score, and it is among those that the metric is for (`concerned`).
    """
    values: dict[tuple[str, str], dict[str, float]] = {}
    for score in scores:
        values.setdefault((score.of, score.by), {})[score.question_id] = score.value.value
    failed: dict[tuple[str, str], set[str]] = {}
    for failure in failures:
        key = (failure.of, failure.by) if failure.of else (failure.by, "")
        failed.setdefault(key, set()).add(failure.question_id)
    declined = Counter(answer.by for answer in answers if answer.value.declined)
    rows = []
    for system in systems:
        for metric in metrics:
            scored = values.get((system, metric), {})
            lost = failed.get((system, ""), set()) | failed.get((system, metric), set())
            value, low, high, n = wilson(list(scored.values())) or (None, None, None, 0)
            missed = len((lost - set(scored)) & concerned[metric])
            rows.append(Row(system, metric, value, low, high, n, missed, declined[system]))
    return rows


CHANCE = {"yes_no": 0.5, "option": 0.5}


def chance(question: Question) -> float:
    """How often a blind guess among the possible answers is right; 0 where they cannot be listed."""
    if question.choices:
        return 1 / len(question.choices)
    return CHANCE.get(str(question.labels.get("answer_kind", "")), 0.0)


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


def unscored_notes(rows: Sequence[Row]) -> list[str]:
    empty: dict[str, list[str]] = {}
    for row in rows:
        if row.n == 0 and not row.failed:
            empty.setdefault(row.metric, []).append(row.system)
    return [
        f"{metric} has nothing to score for {', '.join(systems)}: it applies to no question, or the system does not "
        "tell what it needs (answers need a reader: --model)"
        for metric, systems in empty.items()
    ]
