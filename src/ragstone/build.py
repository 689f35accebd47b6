"""The build driver: plan, make, check. Every draft is kept or rejected with its reason, every failed job is named.

Checks that look at one draft run with the making, many jobs at once. Checks that compare drafts run afterwards, one
job after the other in the order of the plan, so that the result does not depend on the concurrency.
"""

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from ragstone.config import Settings, load_settings, open_kit
from ragstone.errors import ConfigError, DataError, ModelError
from ragstone.journal import Journal, claim
from ragstone.kit import Check, Kit, Recipe
from ragstone.load import load
from ragstone.parallel import each
from ragstone.plugins import create
from ragstone.progress import Progress, silent
from ragstone.store import fingerprint, finished, load_benchmark, problems, save_benchmark
from ragstone.types import Benchmark, Document, Draft, Entry, Failure, Question, Record, Rejection, Step
from ragstone.version import __version__


class Outcome(Record):
    """What became of one job."""

    kept: tuple[Draft, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    attempts: int = 0
    error: str = ""


@dataclass(frozen=True)
class Order:
    """What is to be built: equal orders give equal files."""

    recipe: Recipe
    checks: Sequence[Check]
    source: Benchmark
    attempts: int
    step: Step


def build(
    recipe: str | Recipe,
    source: str | Path | Benchmark,
    *,
    out: str | Path | None = None,
    checks: Sequence[str | Check] | None = None,
    format: str = "",
    skip_bad: bool = False,
    draw: int = 0,
    attempts: int = 3,
    limit: int | None = None,
    settings: Settings | None = None,
    retry_failed: bool = False,
    progress: Progress = silent,
    **fields: Any,
) -> Benchmark:
    """Makes a benchmark from a source; with `out` it is written there, and an interrupted build goes on.

    `fields` are the recipe's own: `build("sample", "hotpot_dev.json", n=50, by="type")`.
    """
    chosen = settings or load_settings()
    kit = open_kit(chosen, draw)
    given = source if isinstance(source, Benchmark) else load(source, format=format, skip_bad=skip_bad)
    given = given.model_copy(update={"questions": given.questions[:limit]})
    order = place_order(recipe, given, checks, kit, attempts, fields)
    folder = Path(out) if out is not None else None
    with claim(folder, order.step) as journal:
        earlier = already_built(folder, order.step)
        if earlier and not (retry_failed and earlier.failures):
            return earlier
        jobs = order.recipe.plan(order.source, kit)
        built = carry_out(order, jobs, kit, journal, chosen.concurrency, retry_failed, progress)
        if folder:
            save_benchmark(built, folder)
        if not built.failures:
            journal.forget(jobs)
    return built


def place_order(
    recipe: str | Recipe,
    source: Benchmark,
    checks: Sequence[str | Check] | None,
    kit: Kit,
    attempts: int,
    fields: Mapping[str, Any],
) -> Order:
    chosen = create(Recipe, recipe, **fields) if isinstance(recipe, str) else recipe
    wanted = [create(Check, check) if isinstance(check, str) else check for check in checks or ()]
    if checks is None:
        wanted = [create(Check, name) for name in chosen.checks]
    missing = {repr(check): role for check in wanted for role in check.needs if not kit.has(role)}
    ready = [check for check in wanted if repr(check) not in missing]
    step = Step(
        recipe=repr(chosen),
        made=kit.made_by(chosen),
        ragstone=__version__,
        input=fingerprint(source),
        draw=kit.draw,
        attempts=attempts,
        checks={repr(check): kit.made_by(check) for check in ready},
        not_run={check: f"no model is set for the role {role}" for check, role in missing.items()},
    )
    return Order(chosen, ready, source, attempts, step)


def already_built(folder: Path | None, step: Step) -> Benchmark | None:
    """The finished benchmark in the folder, if it is the one that was ordered; another one is never overwritten."""
    if folder is None or not finished(folder, "manifest.json"):
        return None
    earlier = load_benchmark(folder)
    made = earlier.steps[-1].model_copy(update={"counts": {}}) if earlier.steps else None
    if made != step:
        raise ConfigError(f"{folder} holds another benchmark already; choose another --out, or remove it first")
    return earlier


def carry_out(
    order: Order,
    jobs: Mapping[str, Any],
    kit: Kit,
    journal: Journal,
    concurrency: int,
    retry_failed: bool,
    progress: Progress,
) -> Benchmark:
    """Makes in parallel, compares in order, and puts the result together."""
    if not jobs:
        raise DataError(f"{order.recipe!r} found nothing to make from this source; check that it has questions")
    seeing = replace(kit, documents={document.id: document for document in order.source.documents})
    alone = [check for check in order.checks if not check.across]
    with progress("build", len(jobs)) as tick:
        done = each(
            jobs,
            lambda: lambda job: work(order, alone, job, seeing, Outcome()),
            Outcome,
            stage="build",
            journal=journal,
            concurrency=concurrency,
            retry_failed=retry_failed,
            failed=lambda outcome: bool(outcome.error),
            tick=tick,
        )
    return assemble(order, seeing, jobs, {id: item.value for id, item in done.items()})


def work(order: Order, checks: Sequence[Check], job: Any, kit: Kit, before: Outcome) -> Outcome:
    """Makes drafts until one passes or the attempts are used up; an error keeps what was made before it."""
    rejected = list(before.rejected)
    for attempt in range(before.attempts + 1, order.attempts + 1):
        try:
            drafts = list(order.recipe.make(job, kit, rejected))
            judged = [(draft, judge(draft, checks, kit)) for draft in drafts]
        except (DataError, ModelError) as error:
            return Outcome(rejected=tuple(rejected), attempts=attempt, error=str(error))
        rejected += [rejection for _, rejection in judged if rejection]
        kept = tuple(draft for draft, rejection in judged if not rejection)
        if kept or not drafts:
            return Outcome(kept=kept, rejected=tuple(rejected), attempts=attempt)
    return Outcome(rejected=tuple(rejected), attempts=order.attempts)


def judge(draft: Draft, checks: Iterable[Check], kit: Kit) -> Rejection | None:
    """The first rejection of a draft, if any."""
    own = {document.id: document for document in draft.documents}
    seeing = replace(kit, documents=ChainMap(own, cast(dict[str, Document], kit.documents)))  # only read
    for check in checks:
        verdict = check.check(draft, seeing)
        if not verdict.passed:
            return Rejection(check=repr(check), reason=verdict.reason, draft=draft)
    return None


def compare(order: Order, job: Any, outcome: Outcome, kit: Kit, kept: list[Question]) -> Outcome:
    """Runs the comparing checks on a job's drafts; if none is left, makes again while attempts remain."""
    across = [check for check in order.checks if check.across]
    left: list[Draft] = []
    rejected = list(outcome.rejected)
    for draft in outcome.kept:
        try:
            rejection = judge(draft, across, replace(kit, kept=[*kept, *(d.question for d in left)] if left else kept))
        except (DataError, ModelError) as error:
            return outcome.model_copy(update={"kept": tuple(left), "rejected": tuple(rejected), "error": str(error)})
        rejected += [rejection] if rejection else []
        left += [] if rejection else [draft]
    compared = outcome.model_copy(update={"kept": tuple(left), "rejected": tuple(rejected)})
    if left or not outcome.kept or outcome.attempts >= order.attempts:
        return compared
    alone = [check for check in order.checks if not check.across]
    return compare(order, job, work(order, alone, job, kit, compared), kit, kept)


def assemble(order: Order, kit: Kit, jobs: Mapping[str, Any], done: Mapping[str, Outcome | Failure]) -> Benchmark:
    kept: list[Draft] = []
    questions: list[Question] = []
    rejected: list[Rejection] = []
    failures: list[Failure] = []
    exhausted = 0
    for id, job in jobs.items():
        made = done[id]
        outcome = Outcome(error=made.error) if isinstance(made, Failure) else compare(order, job, made, kit, questions)
        kept += outcome.kept
        questions += [draft.question for draft in outcome.kept]
        rejected += outcome.rejected
        failures += [Failure(item_id=id, stage="build", error=outcome.error)] if outcome.error else []
        exhausted += not outcome.kept and not outcome.error
    counts = {"planned": len(jobs), "exhausted": exhausted, "failed": len(failures)}
    counts |= {"drafted": len(kept) + len(rejected), "kept": len(kept), "rejected": len(rejected)}
    built = put_together(order, kit, kept, rejected, failures, counts)
    for problem in problems(built):
        raise DataError(f"{order.recipe!r} made a benchmark in which {problem}; nothing was written")
    return built


def of_the_source(notes: Sequence[str]) -> tuple[str, ...]:
    """What is true of the source need not be true of what was made from it."""
    return tuple(note if note.startswith("in the source: ") else f"in the source: {note}" for note in notes)


def put_together(
    order: Order,
    kit: Kit,
    kept: Sequence[Draft],
    rejected: Sequence[Rejection],
    failures: Sequence[Failure],
    counts: Mapping[str, int],
) -> Benchmark:
    questions = tuple(draft.question for draft in kept)
    documents: dict[str, Document] = {}
    brought = (document for draft in kept for document in draft.documents)
    for document in (*order.recipe.corpus(order.source, questions, kit), *brought):
        if documents.setdefault(document.id, document) != document:
            raise DataError(f"{order.recipe!r} made another document with the id {document.id!r}; nothing was written")
    return Benchmark(
        documents=tuple(documents.values()),
        questions=questions,
        about=order.source.about.model_copy(update={"notes": of_the_source(order.source.about.notes)}),
        steps=(*order.source.steps, order.step.model_copy(update={"counts": counts})),
        rejected=tuple(Entry(question_id=r.draft.question.id, by=r.check, value=r) for r in rejected),
        failures=tuple(failures),
    )
