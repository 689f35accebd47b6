"""Measures a benchmark by ordinary runs, and keeps what was found beside it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ragstone.audit import difficulty, making
from ragstone.audit.answers import GUESS, baselines
from ragstone.audit.card import markdown
from ragstone.audit.models import Work, model_rows, today
from ragstone.audit.originals import paired
from ragstone.audit.records import Audit, ModelRow, Stability, Structure
from ragstone.audit.runs import Runs, column, scores
from ragstone.config import Settings
from ragstone.errors import ConfigError, DataError
from ragstone.evaluate import chosen_settings, foresee
from ragstone.files import first_problem, read_bytes, write_bytes, write_record
from ragstone.folders import finished
from ragstone.load import first_questions, load
from ragstone.progress import Progress, silent
from ragstone.store import fingerprint
from ragstone.types import Benchmark
from ragstone.version import __version__

if TYPE_CHECKING:
    from ragstone.llm.forecast import Foreseen

FILE, CARD, RUNS = "audit.json", "AUDIT.md", ".audit"


def audit(
    benchmark: str | Path | Benchmark,
    *,
    original: str | Path | Benchmark | None = None,
    direct: str | Path | Benchmark | None = None,
    metric: str = "covered",
    draws: int = 4,
    ask_draws: bool = False,
    familiarity: bool = False,
    re_extract: bool = False,
    limit: int | None = None,
    add_model: str | Sequence[str] = (),
    out: str | Path | None = None,
    runs: str | Path | None = None,
    settings: Settings | None = None,
    retry_failed: bool = False,
    progress: Progress = silent,
) -> Audit:
    """The quality card of a benchmark, written beside it or to `out` as `audit.json` and `AUDIT.md`.

    The readers of the settings answer with and without documents, before and after; without any, only what needs no
    model is measured. The original is rebuilt from the template unless one is given. With `ask_draws` they answer
    fresh draws too, with `familiarity` they are asked which names they know. With `re_extract` the evidence of both
    sides is read anew, without a model. `add_model` adds rows of other models to the audit that is there and measures
    nothing else again. Runs are kept in `runs`.
    """
    folder = place_for(benchmark, out)
    place = Path(runs) if runs is not None else folder / RUNS if folder else None
    pair = paired(loaded(benchmark, limit), original)
    kept = Runs(chosen_settings(settings, add_model), pair.after.about.language, place, retry_failed, progress)
    work = Work(pair, kept, metric, draws, ask_draws and not add_model, familiarity, re_extract)
    earlier = read_audit(folder / FILE, work.pair.after) if folder else None
    found = with_rows(earlier, work) if add_model else whole(earlier, work, None if direct is None else loaded(direct))
    if folder:
        write_record(folder / FILE, found)
        write_bytes(folder / CARD, markdown(found).encode())
    return found


def foresee_audit(
    benchmark: str | Path | Benchmark,
    *,
    original: str | Path | Benchmark | None = None,
    metric: str = "covered",
    draws: int = 4,
    ask_draws: bool = False,
    limit: int | None = None,
    add_model: str | Sequence[str] = (),
    settings: Settings | None = None,
) -> "list[Foreseen]":
    """What `audit` would ask of the models that answer, run by run. Nothing is asked or kept."""
    chosen = chosen_settings(settings, add_model)
    pair = paired(loaded(benchmark, limit), original)
    work = Work(pair, Runs(chosen), metric, draws, ask_draws and not add_model)
    return [
        stage.model_copy(update={"stage": f"{job.what}: {stage.stage}"})
        for job in work.jobs()
        for stage in foresee(job.benchmark, job.systems, work.metrics, settings=chosen)
    ]


def loaded(benchmark: str | Path | Benchmark, limit: int | None = None) -> Benchmark:
    return first_questions(benchmark if isinstance(benchmark, Benchmark) else load(benchmark), limit)


def place_for(benchmark: str | Path | Benchmark, out: str | Path | None) -> Path | None:
    """Where the audit is written: to `out`, else into the benchmark's own folder, if it has one."""
    if out is not None:
        return Path(out)
    if isinstance(benchmark, Benchmark) or not finished(Path(benchmark), "manifest.json"):
        return None
    return Path(benchmark)


def read_audit(path: Path, benchmark: Benchmark) -> Audit | None:
    """The earlier audit of the same questions, if there is one."""
    if not path.exists():
        return None
    try:
        found = Audit.model_validate_json(read_bytes(path))
    except ValidationError as error:
        raise DataError(f"{path}: {first_problem(error)}; remove it to audit anew") from error
    return found if found.benchmark == fingerprint(benchmark) else None


def whole(earlier: Audit | None, work: Work, direct: Benchmark | None) -> Audit:
    """Everything that can be measured."""
    after, before, origin = work.pair
    rows = model_rows(earlier, work)
    return Audit(
        ragstone=__version__,
        benchmark=fingerprint(after),
        original=origin,
        at=today(),
        questions=len(after.questions),
        baselines=baselines(after.questions, before.questions if before else ()),
        models=rows,
        retrieval=difficulty.retrieval(work.runs, work.retrievers, after, before),
        structure=tuple(structure(work)),
        funnel=making.funnel(after),
        stability=stability(work),
        fixed_outcomes=fixed_outcomes(after),
        examples=making.examples(after, before, direct),
        missing=tuple(missing(work, rows)),
    )


def with_rows(earlier: Audit | None, work: Work) -> Audit:
    """The earlier audit with rows of more models."""
    if earlier is None:
        raise ConfigError("there is no audit of these questions to add a model to; run the audit without --add-model")
    left = tuple(line for line in earlier.missing if line != NO_MODEL)
    return earlier.model_copy(update={"models": model_rows(earlier, work), "missing": left})


NO_MODEL = "leakage and answerability: no model answers; name one or more with --model SPEC"


def missing(work: Work, rows: Sequence[ModelRow]) -> Iterator[str]:
    """What could not be measured, why, and how to get it."""
    if not rows:
        yield NO_MODEL
    if work.pair.before is None:
        yield "before and after: there is no template to rebuild the original from; give it with --original SOURCE"
    if work.pair.after.template is None:
        yield "names only and stability over draws: the benchmark has no template"
    if work.pair.before and not work.re_extract:
        yield "structure of the texts: the evidence was not read anew; --re-extract does, without a model"
    if "dense" not in work.retrievers:
        yield "retrieval by meaning: no embedder is set; name one with --model embedder=SPEC"


def structure(work: Work) -> list[Structure]:
    after, before, _ = work.pair
    again = making.read_again(after, before, work.runs.settings.cache) if before and work.re_extract else []
    return [*making.structure(after, before), *again]


# ── draws ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def stability(work: Work) -> tuple[Stability, ...]:
    """How much figures differ between fresh draws; models are asked only if that is wanted."""
    return difficulty.stability(figure for number, drawn in work.drawn() for figure in of_draw(work, number, drawn))


def of_draw(work: Work, number: int, drawn: Benchmark) -> Iterator[tuple[int, str, str, list[float]]]:
    for system, told in difficulty.recalls(work.runs, f"draw-{number}-pooled", drawn, work.retrievers).items():
        yield number, system, difficulty.METRIC, list(told.values())
    if work.ask_draws and work.runs.readers:
        run = work.runs.answers(f"draw-{number}", drawn, (GUESS,), work.metrics)  # asked before, so found in its folder
        for reader in work.runs.readers:
            told = scores(run, column(run, GUESS, reader), work.metric)
            yield number, f"{GUESS} [{reader}]", work.metric, list(told.values())


def fixed_outcomes(benchmark: Benchmark) -> int | None:
    """How many questions end alike in every draw although what they ask about could be turned round."""
    from ragstone.recipes.reseed.outcomes import fixed_outcome

    if benchmark.template is None:
        return None
    ids = {question.id for question in benchmark.questions}
    asked = tuple(question for question in benchmark.template.questions if question.id in ids)
    return fixed_outcome(benchmark.template.model_copy(update={"questions": asked}))
