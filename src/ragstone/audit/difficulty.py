"""How hard the evidence is to find: before and after, and from draw to draw."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, stdev

from ragstone.audit.records import Figure, Retrieval, Stability, figure
from ragstone.audit.runs import Runs, column, scores
from ragstone.stats import equivalence, wilson
from ragstone.types import Benchmark

METRIC = "recall@5"


def retrieval(runs: Runs, systems: Sequence[str], after: Benchmark, before: Benchmark | None) -> tuple[Retrieval, ...]:
    """Recall over all documents of the same questions, and whether it is the same but for a margin."""
    now = recalls(runs, "pooled", after, systems)
    then = recalls(runs, "pooled-original", before, systems) if before else {}
    return tuple(found for system in systems if (found := compared(system, now[system], then.get(system, {}))))


def recalls(runs: Runs, what: str, benchmark: Benchmark, systems: Sequence[str]) -> dict[str, dict[str, float]]:
    """The recall of each question, system by system."""
    run = runs.rankings(what, benchmark, systems, (METRIC,))
    return {system: scores(run, column(run, system), METRIC) for system in systems}


def compared(system: str, after: Mapping[str, float], before: Mapping[str, float]) -> Retrieval | None:
    now, then = figure(wilson(list(after.values()))), figure(wilson(list(before.values())))
    if now is None:
        return None
    both = [id for id in after if id in before]
    same = equivalence([before[id] for id in both], [after[id] for id in both])
    if same is None:
        return Retrieval(system=system, metric=METRIC, after=now)
    return Retrieval(
        system=system,
        metric=METRIC,
        after=now,
        before=then,
        difference=Figure(value=same.value, low=same.low, high=same.high, n=same.n),
        margin=same.margin,
        p=same.p,
        equivalent=same.equivalent,
    )


def stability(values: Iterable[tuple[int, str, str, Sequence[float]]]) -> tuple[Stability, ...]:
    """How much figures differ between draws: for each draw, system and metric, the scores of its questions."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    counts: dict[tuple[str, str], int] = {}
    for number, system, metric, told in values:
        if told:
            found.setdefault((system, metric), {})[str(number)] = mean(told)
            counts[system, metric] = len(told)
    return tuple(
        Stability(
            system=system,
            metric=metric,
            values=means,
            mean=mean(means.values()),
            sd=stdev(means.values()) if len(means) > 1 else 0.0,
            n=counts[system, metric],
        )
        for (system, metric), means in found.items()
    )
