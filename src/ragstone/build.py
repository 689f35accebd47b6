"""The build driver: plan, make, check. Every draft is kept or rejected with its reason, every failed job is named.

Checks that look at one draft run with the making, many jobs at once. Checks that compare drafts run afterwards, one
job after the other in the order of the plan, so that the result does not depend on the concurrency.
"""

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ragstone.config import Settings, load_settings, open_models
from ragstone.errors import ConfigError, DataError, ModelError
from ragstone.files import encode, sha256
from ragstone.folders import finished
from ragstone.journal import Journal, claim
from ragstone.kit import Check, Kit, Recipe
from ragstone.load import first_questions, load
from ragstone.parallel import each
from ragstone.plugins import check_components, create
from ragstone.progress import Progress, silent
from ragstone.store import fingerprint, load_benchmark, problems, write_benchmark
from ragstone.types import Benchmark, Document, Draft, Entry, Failure, Question, Record, Rejection, Step
from ragstone.version import __version__

if TYPE_CHECKING:
    from ragstone.llm.forecast import Foreseen


class Outcome(Record):
    """What became of one job."""

    kept: tuple[Draft, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    pending: tuple[Draft, ...] = ()  # made, and held back because a check failed
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
    stage: str = "build"
    failures: Sequence[Failure] = ()  # what the recipes that came first could not make…
    rejected: Sequence[Entry[Rejection]] = ()  # …and what was turned down there


def build(
    recipe: str | Recipe,
    source: str | Path | Benchmark,
    *,
    out: str | Path | None = None,
    checks: Sequence[str | Check] | None = None,
    format: str = "",
    skip_bad: bool = False,
    draw: int = 0,
    attempts: int | None = None,
    limit: int | None = None,
    settings: Settings | None = None,
    lenient: bool = False,
    retry_failed: bool = False,
    progress: Progress = silent,
    **fields: Any,
) -> Benchmark:
    """Makes a benchmark from a source; with `out` it is written there, and an interrupted build goes on.

    A recipe's own checks are left out where their model is not set, which the card says; `checks` that are named here
    need their models, unless `lenient`.

    `fields` are the recipe's own: `build("sample", "hotpot_dev.json", n=50, by="type")`.
    """
    chosen = settings or load_settings()
    loaded = source if isinstance(source, Benchmark) else load(source, format=format, skip_bad=skip_bad)
    folder = Path(out) if out is not None else None
    models = open_models(chosen, draw, language=loaded.about.language, purpose=folder, retry_failed=retry_failed)
    kit = models.kit_with_reader
    told = partial(progress, spent=models.spent)
    chosen_recipe = create(Recipe, recipe, **fields) if isinstance(recipe, str) else recipe
    tries = max(1, chosen_recipe.attempts if attempts is None else attempts)
    order = place_order(chosen_recipe, first_questions(loaded, limit), checks, kit, tries, lenient)
    return fulfilled(order, kit, folder, chosen.concurrency, retry_failed, told)


def fulfilled(
    order: Order,
    kit: Kit,
    folder: Path | None,
    concurrency: int,
    retry_failed: bool,
    progress: Progress,
    finish: Callable[[Benchmark], Benchmark] = lambda built: built,
) -> Benchmark:
    """What was ordered: found in the folder, or made and written there as `finish` leaves it."""
    with claim(folder, order.step) as journal:
        built = already_built(folder, order.step)
        if built is None or (retry_failed and built.failures):
            built = finish(carry_out(order, kit, journal, concurrency, retry_failed, progress))
            if folder:
                write_benchmark(built, folder)
        if not built.failures:  # with failures the journal stays, so that they can be tried again
            journal.forget()
    return built


def foresee_build(
    recipe: str | Recipe,
    source: str | Path | Benchmark,
    *,
    checks: Sequence[str | Check] | None = None,
    format: str = "",
    skip_bad: bool = False,
    draw: int = 0,
    attempts: int | None = None,
    limit: int | None = None,
    settings: Settings | None = None,
    lenient: bool = False,
    **fields: Any,
) -> "list[Foreseen]":
    """What `build` would ask of models, with stand-ins for their replies. Nothing is asked or kept.

    Drafts that stand-ins lead to may be rejected and made again, or fail, so this is only roughly what would happen.
    """
    from ragstone.llm.opening import foreseeing

    chosen = settings or load_settings()
    loaded = source if isinstance(source, Benchmark) else load(source, format=format, skip_bad=skip_bad)
    models = open_models(chosen, draw, language=loaded.about.language, forecasting=True)
    kit = models.kit_with_reader
    chosen_recipe = create(Recipe, recipe, **fields) if isinstance(recipe, str) else recipe
    tries = max(1, chosen_recipe.attempts if attempts is None else attempts)
    foreseen: list[Foreseen] = []
    with foreseeing("build", models.opener, foreseen), suppress(DataError):  # stand-ins need not make a sound benchmark
        order = place_order(chosen_recipe, first_questions(loaded, limit), checks, kit, tries, lenient)
        carry_out(order, kit, Journal(), chosen.concurrency, False, silent)
    return foreseen


def place_order(
    chosen: Recipe,
    source: Benchmark,
    checks: Sequence[str | Check] | None,
    kit: Kit,
    attempts: int,
    lenient: bool,
) -> Order:
    wanted = [create(Check, check) if isinstance(check, str) else check for check in checks or ()]
    if checks is None:
        wanted = [create(Check, name) for name in chosen.checks]
    if checks is not None and not lenient:
        check_components(wanted, kit)
    missing = {repr(check): role for check in wanted for role in check.needs if not kit.has(role)}
    ready = [check for check in wanted if repr(check) not in missing]
    check_components([chosen], kit)
    check_components(ready, kit)
    step = Step(
        recipe=repr(chosen),
        made=kit.made_by(chosen),
        ragstone=__version__,
        input=origin(source),
        draw=kit.draw,
        attempts=attempts,
        checks={repr(check): kit.made_by(check) for check in ready},
        not_run={check: f"no model is set for the role {role}" for check, role in missing.items()},
    )
    return Order(chosen, ready, source, attempts, step)


def origin(source: Benchmark) -> str:
    """What the benchmark is made from: the data, where that came from, and how it was made."""
    told = [fingerprint(source).encode(), encode(source.about), *(encode(step) for step in source.steps)]
    return sha256(b"\n".join(told))


def already_built(folder: Path | None, step: Step) -> Benchmark | None:
    """The finished benchmark in the folder, if it is the one that was ordered; another one is never overwritten."""
    if folder is None or not finished(folder, "manifest.json"):
        return None
    earlier = load_benchmark(folder)
    made = earlier.steps[-1].model_copy(update={"counts": {}}) if earlier.steps else None
    if made is None or encode(made) != encode(step):
        raise ConfigError(f"{folder} holds another benchmark already; choose another --out, or remove it first")
    return earlier


def carry_out(
    order: Order, kit: Kit, journal: Journal, concurrency: int, retry_failed: bool, progress: Progress
) -> Benchmark:
    """Plans, makes in parallel, compares in order, and puts the result together."""
    for earlier in order.recipe.first(kit):
        before = replace(place_order(earlier, order.source, None, kit, order.attempts, True), stage=earlier.name)
        order = after(order, carry_out(before, kit, journal, concurrency, retry_failed, progress))
    jobs = order.recipe.plan(order.source, kit.limited_to(order.recipe))
    if not jobs and not order.failures and not order.rejected:
        raise DataError(f"{order.recipe!r} found nothing to make from this source; check that it has questions")
    seeing = replace(kit, documents={document.id: document for document in order.source.documents})

    def carried(round: int, course: str, tasks: Mapping[str, tuple[Any, Outcome]]) -> dict[str, Outcome | Failure]:
        keyed = {journal_id(order, id, course): task for id, task in tasks.items()}
        with progress(order.stage if not round else f"again {round}", len(tasks)) as tick:
            done = each(
                keyed,
                lambda: lambda task: work(order, *task, seeing),
                Outcome,
                stage=order.stage,
                journal=journal,
                concurrency=concurrency,
                retry_failed=retry_failed,
                failed=lambda outcome: bool(outcome.error),
                tick=tick,
            )
        return {id: done[journal_id(order, id, course)].value for id in tasks}

    # What an earlier recipe could not make before, it may make now: then jobs are others under the same ids.
    course = fingerprint(order.source)[:12] if order.recipe.first(kit) else ""
    so_far = {id: outcome_so_far(journal.get(journal_id(order, id, course))) for id in jobs}
    done = carried(0, course, {id: (job, so_far[id]) for id, job in jobs.items()})
    for round in range(1, order.attempts):
        rejected = given_up(done)
        again = order.recipe.replan(jobs, rejected, kit.limited_to(order.recipe))
        if not again:
            break
        jobs = {**jobs, **again}
        course = course_after(course, rejected)
        done |= carried(round, course, {id: (job, before_again(done[id])) for id, job in again.items()})
    return assemble(order, jobs, done, seeing)


def after(order: Order, made: Benchmark) -> Order:
    """The order for what an earlier recipe made of the source; what was lost there is not lost from sight."""
    return replace(
        order,
        source=made.model_copy(update={"failures": (), "rejected": ()}),
        failures=(*order.failures, *made.failures),
        rejected=(*order.rejected, *made.rejected),
    )


def course_after(course: str, rejected: Mapping[str, Sequence[Rejection]]) -> str:
    """What was rejected in every round so far: where that differs, jobs that are carried out again do too."""
    told = sorted(f"{id}\x1f{every[-1].check}" for id, every in rejected.items())
    return sha256("\x1e".join((course, *told)).encode())[:12]


def journal_id(order: Order, id: str, course: str) -> str:
    marked = id if order.stage == "build" else f"{order.stage}\x1f{id}"
    return f"{marked}~{course}" if course else marked


def given_up(done: Mapping[str, Outcome | Failure]) -> dict[str, tuple[Rejection, ...]]:
    """The jobs of which nothing was kept, with their rejections."""
    return {
        id: outcome.rejected
        for id, outcome in done.items()
        if isinstance(outcome, Outcome) and outcome.rejected and not outcome.kept and not outcome.error
    }


def before_again(outcome: Outcome | Failure) -> Outcome:
    """What a job that is carried out again has behind it: what was rejected stays, what was kept is made anew."""
    rejected = () if isinstance(outcome, Failure) else outcome.rejected
    return Outcome(rejected=rejected)


def outcome_so_far(row: Mapping[str, Any] | None) -> Outcome:
    """What the journal tells of a job that is tried again: what was made and rejected before is not lost."""
    return Outcome.model_validate(row["value"]) if row and "value" in row else Outcome()


def work(order: Order, job: Any, before: Outcome, kit: Kit) -> Outcome:
    """Makes drafts until one passes or the attempts are used up; what failed is not counted as an attempt."""
    checks = [check for check in order.checks if not check.across]
    outcome = before.model_copy(update={"kept": (), "error": ""})
    while outcome.pending or outcome.attempts < order.attempts:
        drafts = outcome.pending
        if not drafts:
            try:
                drafts = tuple(order.recipe.make(job, kit.limited_to(order.recipe), outcome.rejected))
            except (DataError, ModelError) as error:
                return outcome.model_copy(update={"error": str(error)})
            outcome = outcome.model_copy(update={"attempts": outcome.attempts + 1})
        outcome = sift(drafts, checks, outcome, kit)
        if outcome.kept or outcome.error or not drafts:
            break
    return outcome


def sift(drafts: Sequence[Draft], checks: Sequence[Check], outcome: Outcome, kit: Kit) -> Outcome:
    """The outcome with these drafts judged; if a check fails, those not rejected are held back for another try."""
    kept: list[Draft] = []
    rejected = list(outcome.rejected)
    for number, draft in enumerate(drafts):
        seeing = replace(kit, kept=[*kit.kept, *(other.question for other in kept)]) if kept else kit
        try:
            rejection = judge(draft, checks, seeing)
        except (DataError, ModelError) as error:
            held = (*kept, *drafts[number:])
            told = {"kept": (), "rejected": tuple(rejected), "pending": held, "error": str(error)}
            return outcome.model_copy(update=told)
        rejected += [rejection] if rejection else []
        kept += [] if rejection else [draft]
    return outcome.model_copy(update={"kept": tuple(kept), "rejected": tuple(rejected), "pending": (), "error": ""})


def judge(draft: Draft, checks: Iterable[Check], kit: Kit) -> Rejection | None:
    """The first rejection of a draft, if any."""
    own = {document.id: document for document in draft.documents}
    seeing = replace(kit, documents=ChainMap(own, cast(dict[str, Document], kit.documents)))  # only read
    for check in checks:
        verdict = check.check(draft, seeing.limited_to(check))
        if not verdict.passed:
            return Rejection(check=repr(check), reason=verdict.reason, draft=draft)
    return None


def compare(order: Order, job: Any, outcome: Outcome, kit: Kit) -> Outcome:
    """Runs the comparing checks on a job's drafts; if none is left, makes again while attempts remain.

    Not journaled: what was paid for is in the cache of replies.
    """
    across = [check for check in order.checks if check.across]
    compared = sift(outcome.kept, across, outcome, kit) if outcome.kept else outcome
    if compared.kept or compared.error or not outcome.kept or compared.attempts >= order.attempts:
        return compared
    return compare(order, job, work(order, job, compared, kit), kit)


def assemble(order: Order, jobs: Mapping[str, Any], done: Mapping[str, Outcome | Failure], kit: Kit) -> Benchmark:
    kept: list[Draft] = []
    questions: list[Question] = []
    rejected: list[Rejection] = []
    failures: list[Failure] = []
    exhausted = 0
    for id, job in jobs.items():
        made = done[id]
        before = Outcome(error=made.error) if isinstance(made, Failure) else made
        outcome = compare(order, job, before, replace(kit, kept=questions))
        kept += outcome.kept
        questions += [draft.question for draft in outcome.kept]
        rejected += outcome.rejected
        failures += [Failure(item_id=id, stage=order.stage, error=outcome.error)] if outcome.error else []
        exhausted += not outcome.kept and not outcome.error
    counts = {"planned": len(jobs), "exhausted": exhausted, "failed": len(failures)}
    counts |= {"drafted": len(kept) + len(rejected), "kept": len(kept), "rejected": len(rejected)}
    built = put_together(order, jobs, kit, kept, rejected, failures, counts)
    for problem in problems(built):
        raise DataError(f"{order.recipe!r} made a benchmark in which {problem}; mend the recipe and remove the folder")
    return built


def of_the_source(notes: Sequence[str]) -> tuple[str, ...]:
    """What is true of the source need not be true of what was made from it."""
    return tuple(note if note.startswith("in the source: ") else f"in the source: {note}" for note in notes)


def put_together(
    order: Order,
    jobs: Mapping[str, Any],
    kit: Kit,
    kept: Sequence[Draft],
    rejected: Sequence[Rejection],
    failures: Sequence[Failure],
    counts: Mapping[str, int],
) -> Benchmark:
    questions = tuple(draft.question for draft in kept)
    documents: dict[str, Document] = {}
    brought = (document for draft in kept for document in draft.documents)
    for document in (*order.recipe.corpus(order.source, jobs, questions, kit), *brought):
        if documents.setdefault(document.id, document) != document:
            raise DataError(f"{order.recipe!r} made another document with the id {document.id!r}; give it its own")
    return Benchmark(
        documents=tuple(documents.values()),
        questions=questions,
        about=order.source.about.model_copy(update={"notes": of_the_source(order.source.about.notes)}),
        steps=(*order.source.steps, order.step.model_copy(update={"counts": counts})),
        rejected=(
            *order.rejected,
            *(Entry(question_id=r.draft.question.id, by=r.check, value=r) for r in rejected),
        ),
        failures=(*order.failures, *failures),
        template=order.recipe.template(jobs, questions, kit.limited_to(order.recipe)),
    )
