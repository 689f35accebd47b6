"""The command line: flags and one call for each command. Data goes to stdout, talk to stderr."""

import os
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Literal, TextIO

import orjson
import typer

from ragstone.errors import ConfigError, RagstoneError
from ragstone.version import __version__

DEMO_QUESTIONS = 18  # the embedded model takes seconds for each
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

app = typer.Typer(
    name="ragstone",
    help="Build RAG benchmarks that cannot be cheated, and run systems on them with honest statistics.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Source = Annotated[str, typer.Argument(help="a benchmark folder, a data set's file, a folder of texts, or `sample`")]
Out = Annotated[Path | None, typer.Option(metavar="PATH", help="folder for the result; by default runs/NAME-HASH")]
Format = Annotated[
    str,
    typer.Option(metavar="NAME", help="format of the source, if it is not found by itself (`ragstone list sources`)"),
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="leave out and count records that cannot be used")]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="KEY=VALUE for the main component, NAME.KEY=VALUE for another"),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="SPEC", help="SPEC of a reader, or ROLE=SPEC (`ragstone list models`); repeatable"),
]
BaseUrl = Annotated[str | None, typer.Option(metavar="URL", help="server of `openai:` models")]
Concurrency = Annotated[int | None, typer.Option(metavar="N", min=1, help="calls under way at once, at most")]
Budget = Annotated[
    str | None, typer.Option(metavar="LIMIT", help="the most that the result may cost: 5 dollars, 500calls, 2Mtokens")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="only say how many calls and tokens it would take, at most")]
Draw = Annotated[int, typer.Option(metavar="N", help="number that all randomness is drawn from")]
Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="only the first N questions")]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="try again what failed before")]
Json = Annotated[bool, typer.Option("--json", help="print JSON for machines")]
MetricNames = Annotated[
    list[str] | None,
    typer.Option("--metric", metavar="NAME", help="metric, as recall@5; repeatable; by default the usual ones"),
]
Corpus = Annotated[Literal["scoped", "pooled"], typer.Option(help="search each question's own documents, or all")]


@app.command()
def demo(
    out: Annotated[Path, typer.Option(metavar="PATH", help="folder for the run and its page")] = Path("demo"),
) -> None:
    """Compare retrieval systems on the sample benchmark, see how much of it the embedded model knows by heart, and how
    much is left when every name is changed.

    Example: ragstone demo --out demo
    """
    from ragstone.build import build
    from ragstone.evaluate import evaluate
    from ragstone.report.page import write_page
    from ragstone.terminal import shown, talk

    metrics = ("recall@2", "recall@5", "all_recall@5", "ndcg@10")
    found = evaluate("sample", ("bm25", "dense", "hybrid"), metrics, out=out / "run", corpus="pooled", progress=shown)
    say(False, None, found.table(terminal_width()))
    asked: dict[str, Any] = {"model": "embedded", "limit": DEMO_QUESTIONS, "progress": shown}
    read = evaluate("sample", ("closed_book", "oracle"), ("covered", "f1"), out=out / "answers", **asked)
    say(False, None, f"\n{read.table(terminal_width())}\n\n{read.cost_table()}\n")
    build("reseed", "sample", out=out / "reseeded", progress=shown)
    renamed = evaluate(
        out / "reseeded", ("closed_book", "oracle"), ("covered", "memory"), out=out / "reseeded-answers", **asked
    )
    say(False, None, f"as published   {known_by_heart(read)}\nnames changed  {known_by_heart(renamed)}")
    talk.print(f"page: {write_page([found, read, renamed], out / 'report.html')}")
    talk.print(
        f"next: ragstone show {out / 'answers'} q01   or   ragstone eval YOUR_FILE --system bm25 --metric recall@5"
    )


@app.command("build")
def build_command(
    recipe: Annotated[str, typer.Argument(help="recipe, see `ragstone list recipes`")],
    source: Source,
    out: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="folder for the benchmark; the same command goes on where it was stopped"),
    ] = None,
    check: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="check instead of the recipe's own; repeatable")
    ] = None,
    format: Format = "",
    skip_bad: SkipBad = False,
    sets: Sets = None,
    draw: Draw = 0,
    attempts: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="how often a question is made, at most; by default the recipe's"),
    ] = None,
    limit: Limit = None,
    model: Models = None,
    base_url: BaseUrl = None,
    concurrency: Concurrency = None,
    budget: Budget = None,
    dry_run: DryRun = False,
    retry_failed: RetryFailed = False,
    json: Json = False,
) -> None:
    """Make a benchmark from a source.

    Example: ragstone build sample hotpot_dev.json --set n=50 --set by=type --out bench
    """
    from ragstone.build import build, foresee_build
    from ragstone.kit import Check, Recipe
    from ragstone.plugins import configure, find, name_in
    from ragstone.terminal import shown, talk

    checks = check if check is not None else find(Recipe, name_in(recipe)).checks
    [made], wanted = configure({Recipe: [recipe], Check: checks}, sets or ())
    asked: dict[str, Any] = {
        "checks": wanted,
        "lenient": check is None,
        "format": format,
        "skip_bad": skip_bad,
        "draw": draw,
        "attempts": attempts,
        "limit": limit,
        "settings": settings(model, base_url, concurrency, budget),
    }
    if dry_run:
        return say_forecast(json, foresee_build(made, source, **asked))
    if out is None:
        raise ConfigError("a benchmark needs a folder to be written to; give --out FOLDER")
    benchmark = build(made, source, **asked, out=out, retry_failed=retry_failed, progress=shown)
    for left_out, why in benchmark.steps[-1].not_run.items():
        talk.print(f"not checked: {left_out}, because {why}", markup=False)
    counts = benchmark.steps[-1].counts
    by_check = Counter(entry.by for entry in benchmark.rejected)
    told = ", ".join(f"{n} {what}" for what, n in counts.items())
    told += f" (by {', '.join(f'{check} {n}' for check, n in by_check.items())})" if by_check else ""
    say(json, {"out": str(out), "counts": counts, "rejected_by": by_check}, f"{out}: {told}")
    if benchmark.failures and not benchmark.questions:
        leave(f"no question could be made; the first failure: {benchmark.failures[0].error}", 2)


@app.command("draw")
def draw_command(
    source: Annotated[str, typer.Argument(help="a benchmark that has a template, as `ragstone build reseed` makes it")],
    draw: Annotated[int, typer.Option(metavar="N", help="number of the draw: another one has other names")],
    out: Annotated[
        Path | None, typer.Option(metavar="PATH", help="folder for the new benchmark; needed unless --dry-run")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="run the checks of the benchmark's making; what they reject leaves it")
    ] = False,
    check: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="with --verify: check instead of those; repeatable")
    ] = None,
    salt_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="file with a secret: without it nobody can make this draw (or RAGSTONE_SALT)"
        ),
    ] = None,
    model: Models = None,
    base_url: BaseUrl = None,
    concurrency: Concurrency = None,
    budget: Budget = None,
    dry_run: DryRun = False,
    retry_failed: RetryFailed = False,
    json: Json = False,
) -> None:
    """Fill a benchmark's template with new names: a fresh benchmark in seconds, without a model.

    Example: ragstone draw bench --draw 7 --out fresh
    """
    from ragstone.draw import draw as draw_benchmark
    from ragstone.draw import foresee_draw, secret
    from ragstone.terminal import shown

    if check and not verify:
        raise ConfigError("--check names what --verify runs; give --verify too")
    asked: dict[str, Any] = {
        "draw": draw,
        "salt": secret(salt_file),
        "checks": check,
        "settings": settings(model, base_url, concurrency, budget),
    }
    if dry_run:
        return say_forecast(json, foresee_draw(source, **asked) if verify else [])
    if out is None:
        raise ConfigError("a benchmark needs a folder to be written to; give --out FOLDER")
    drawn = draw_benchmark(source, **asked, out=out, verify=verify, retry_failed=retry_failed, progress=shown)
    step, note = drawn.steps[-1], drawn.about.notes[-1]
    told = ", ".join(f"{number} {what}" for what, number in step.counts.items())
    by_check = Counter(entry.by for entry in drawn.rejected)
    record = {"out": str(out), "draw": draw, "verified": verify, "counts": step.counts, "rejected_by": by_check}
    say(json, {**record, "note": note}, f"{out}: {told}; {note}")
    if drawn.failures and not drawn.questions:
        leave(f"no question could be checked; the first failure: {drawn.failures[0].error}", 2)


@app.command("eval")
def eval_command(
    source: Source,
    system: Annotated[list[str], typer.Option(metavar="NAME", help="system, see `ragstone list systems`; repeatable")],
    metric: MetricNames = None,
    out: Out = None,
    corpus: Corpus = "scoped",
    format: Format = "",
    skip_bad: SkipBad = False,
    sets: Sets = None,
    draw: Draw = 0,
    limit: Limit = None,
    model: Models = None,
    base_url: BaseUrl = None,
    concurrency: Concurrency = None,
    repeats: Annotated[int, typer.Option(metavar="N", min=1, help="how often each question is asked")] = 1,
    timed: Annotated[
        bool, typer.Option("--timed", help="measure seconds: one call at a time, no reply from the cache")
    ] = False,
    budget: Budget = None,
    dry_run: DryRun = False,
    retry_failed: RetryFailed = False,
    json: Json = False,
) -> None:
    """Run systems on a benchmark and score their answers.

    Example: ragstone eval sample --system bm25 --system dense --metric recall@5 --corpus pooled --out run
    """
    from ragstone.evaluate import evaluate, foresee
    from ragstone.kit import Metric, System
    from ragstone.plugins import configure
    from ragstone.run_folder import default_folder
    from ragstone.terminal import shown, talk

    systems, metrics = configure({System: system, Metric: metric or ()}, sets or ())
    asked: dict[str, Any] = {
        "corpus": corpus,
        "format": format,
        "skip_bad": skip_bad,
        "draw": draw,
        "limit": limit,
        "repeats": repeats,
        "timed": timed,
        "settings": settings(model, base_url, concurrency, budget),
    }
    if dry_run:
        return say_forecast(json, foresee(source, systems, metrics or None, **asked))
    folder = out or default_folder(source, corpus, draw, limit, model or (), repeats, timed)
    run = evaluate(source, systems, metrics or None, **asked, out=folder, retry_failed=retry_failed, progress=shown)
    talk.print(f"run: {folder}", markup=False)
    say_results(json, run, folder)


@app.command("score")
def score_command(
    run: Annotated[Path, typer.Argument(help="folder of a finished run")],
    metric: Annotated[list[str], typer.Option(metavar="NAME", help="metric, for instance recall@5; repeatable")],
    sets: Sets = None,
    model: Models = None,
    base_url: BaseUrl = None,
    concurrency: Concurrency = None,
    budget: Budget = None,
    json: Json = False,
) -> None:
    """Score a finished run by more metrics; no system is asked again.

    Example: ragstone score run --metric ndcg@10 --metric all_recall@5
    """
    from ragstone.evaluate import rescore
    from ragstone.kit import Metric
    from ragstone.plugins import configure
    from ragstone.terminal import shown

    [metrics] = configure({Metric: metric}, sets or ())
    chosen = settings(model, base_url, concurrency, budget)
    say_results(json, rescore(run, metrics, settings=chosen, progress=shown), run)


@app.command("audit")
def audit_command(
    benchmark: Annotated[str, typer.Argument(help="a benchmark folder, or any source", metavar="BENCH")],
    original: Annotated[
        str | None, typer.Option(metavar="SOURCE", help="what it was made from; by default rebuilt from its template")
    ] = None,
    direct: Annotated[
        str | None, typer.Option(metavar="BENCH", help="what direct generation made of the same, for the examples")
    ] = None,
    metric: Annotated[str, typer.Option(metavar="NAME", help="what counts as right: covered, judged, …")] = "covered",
    draws: Annotated[int, typer.Option(metavar="N", min=0, help="fresh draws that are compared")] = 4,
    ask_draws: Annotated[
        bool, typer.Option("--ask-draws", help="ask the models closed-book on every draw too")
    ] = False,
    familiarity: Annotated[
        bool, typer.Option("--familiarity", help="ask the models which names they know, where they answer wrong")
    ] = False,
    re_extract: Annotated[
        bool, typer.Option("--re-extract", help="read the evidence of both sides anew to compare its structure")
    ] = False,
    add_model: Annotated[
        list[str] | None,
        typer.Option(metavar="SPEC", help="add a row of this model to the audit that is there; repeatable"),
    ] = None,
    limit: Limit = None,
    out: Annotated[
        Path | None, typer.Option(metavar="PATH", help="folder for audit.json and AUDIT.md; by default BENCH")
    ] = None,
    runs: Annotated[
        Path | None, typer.Option(metavar="PATH", help="folder for its runs; by default BENCH/.audit")
    ] = None,
    model: Models = None,
    base_url: BaseUrl = None,
    concurrency: Concurrency = None,
    budget: Budget = None,
    dry_run: DryRun = False,
    retry_failed: RetryFailed = False,
    json: Json = False,
) -> None:
    """Measure what a benchmark promises: leakage, answerability, structure, difficulty, before and after.

    Example: ragstone audit bench --model openai:gpt-4o-mini --budget 5
    """
    from ragstone.audit import audit, foresee_audit, place_for
    from ragstone.terminal import shown, talk

    asked: dict[str, Any] = {
        "original": original,
        "metric": metric,
        "draws": draws,
        "ask_draws": ask_draws,
        "limit": limit,
        "add_model": add_model or (),
        "settings": settings(model, base_url, concurrency, budget),
    }
    if dry_run:
        return say_forecast(json, foresee_audit(benchmark, **asked))
    kept: dict[str, Any] = {"out": out, "runs": runs, "retry_failed": retry_failed, "progress": shown}
    found = audit(benchmark, direct=direct, familiarity=familiarity, re_extract=re_extract, **asked, **kept)
    place = place_for(benchmark, out)
    talk.print(f"audit: {place}" if place else "not written: give --out FOLDER to keep it", markup=False)
    say(json, found.model_dump(mode="json"), found)


@app.command("report")
def report_command(
    runs: Annotated[list[Path], typer.Argument(help="folders of finished runs")],
    out: Annotated[Path, typer.Option(metavar="PATH", help="file to write: .html or .md")] = Path("report.html"),
) -> None:
    """Write the results of runs as one page.

    Example: ragstone report run --out report.html
    """
    from ragstone.report.page import write_page
    from ragstone.run_folder import load_run

    typer.echo(write_page([load_run(run) for run in runs], out))


@app.command("show")
def show_command(
    folder: Annotated[str, typer.Argument(help="a benchmark, any source, or a run")],
    question: Annotated[str, typer.Argument(help="id of a question; without one, an overview")] = "",
    format: Format = "",
    skip_bad: SkipBad = False,
    json: Json = False,
) -> None:
    """Show a question with its evidence, or an answer with its scores.

    Example: ragstone show sample q01
    """
    from ragstone.report.show import shown_item

    record, text = shown_item(folder, question, format, skip_bad)
    say(json, record, text)


@app.command("validate")
def validate_command(
    source: Source,
    format: Format = "",
    json: Json = False,
) -> None:
    """Check that a source loads and that every pointer in it leads somewhere.

    Example: ragstone validate sample
    """
    from ragstone.load import inspect

    counts, found, notes = inspect(source, format=format)
    lines = [*found[:20], *([f"and {len(found) - 20} more"] if len(found) > 20 else [])]
    counted = ", ".join(f"{number} {what}" for what, number in counts.items())
    told = f"{source}: {counted}, {len(found)} problem{'' if len(found) == 1 else 's'}"
    record = {"counts": counts, "problems": found, "notes": notes}
    say(json, record, "\n".join([told, *lines, *(f"· {note}" for note in notes)]))
    if found:
        raise typer.Exit(2)


@app.command("list")
def list_command(
    kind: Annotated[
        str, typer.Argument(help="sources, recipes, checks, systems, metrics or models; without one, all")
    ] = "",
    json: Json = False,
) -> None:
    """List the components with what they do and their fields.

    Example: ragstone list metrics
    """
    from ragstone.report.catalogue import catalogue, catalogue_text

    found = catalogue(kind)
    say(json, found, catalogue_text(found))


@app.command("cache")
def cache_command(
    action: Annotated[Literal["show", "prune", "move"], typer.Argument(help="what to do with it")] = "show",
    place: Annotated[Path | None, typer.Argument(help="for move: the folder to move it to")] = None,
    older_than: Annotated[
        int | None, typer.Option(metavar="DAYS", min=0, help="for prune: replies kept longer than this")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="for prune: replies of this model only, named as `ragstone cache` shows it"),
    ] = None,
    json: Json = False,
) -> None:
    """Show, prune or move the cache of model replies. A reply that it holds is never paid for again.

    Example: ragstone cache prune --older-than 90
    """
    from ragstone.report.cached import cache_action

    record, text = cache_action(settings().cache, action, place, older_than, model)
    say(json, record, text)


def settings(
    model: Sequence[str] | None = None,
    base_url: str | None = None,
    concurrency: int | None = None,
    budget: str | None = None,
) -> Any:
    from ragstone.config import load_settings, model_flags

    return load_settings(models=model_flags(model or ()), base_url=base_url, concurrency=concurrency, budget=budget)


def say_results(as_json: bool, run: Any, folder: Path) -> None:
    from ragstone.report.table import as_json as results

    took = run.cost_table()
    text = f"{run.table(terminal_width())}" + (f"\n\n{took}" if took else "")
    say(as_json, {**results(run.rows, run.costs), "notes": run.notes, "run": str(folder)}, text)
    if run.failures and not run.answers:
        leave(f"no question was answered; --retry-failed tries again; the first: {run.failures[0].value.error}", 2)


def say_forecast(as_json: bool, foreseen: Sequence[Any]) -> None:
    from ragstone.report.table import forecast_table

    say(as_json, {"foreseen": [row.model_dump(mode="json") for row in foreseen]}, forecast_table(foreseen))


def known_by_heart(run: Any) -> str:
    """How much a model answers from memory, beside what it can do with the evidence; where guessing does not help."""
    from ragstone.matching import chance
    from ragstone.stats import wilson

    open_ones = {question.id for question in run.questions if not chance(question)}

    def told(system: str) -> str:
        scores = [score for score in run.scores if (score.by, score.of) == ("covered", system)]
        values = [score.value.value for score in scores if score.question_id in open_ones]
        rate = wilson(values)
        within = f" [{rate.low:.0%}, {rate.high:.0%}]" if rate else ""
        return f"{sum(values):.0f} of {len(values)} open questions{within}"

    return f"{told('closed_book')} answered by heart, {told('oracle')} with the evidence"


def say(as_json: bool, record: Any, text: object) -> None:
    """The result on stdout, for machines or for people; what could command a terminal is left out."""
    told = orjson.dumps(record, option=orjson.OPT_INDENT_2).decode() if as_json else CONTROL.sub("", str(text))
    typer.echo(told)
    sys.stdout.flush()


def terminal_width() -> int | None:
    """The width that a table has to fit, if someone is looking."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ragstone {__version__}")
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[bool, typer.Option("--version", callback=version, is_eager=True, help="print it")] = False,
) -> None:
    """What holds for all commands."""


def main() -> None:
    """Exit codes: 0 done, 1 a bug, 2 to be fixed by the user, 3 waiting for a batch, 4 budget reached, 130 stopped."""
    sys.path.insert(0, "")  # components of the user's own are looked for in the current folder first
    signal.signal(signal.SIGINT, interrupt)
    try:
        app()
    except Interrupted:
        leave("interrupted; the same command goes on from here", 130)
    except RagstoneError as error:
        leave(CONTROL.sub("", str(error)), error.exit_code)
    except BrokenPipeError:
        silence(sys.stdout)
    except OSError as error:
        silence(sys.stdout)
        leave(f"cannot write the result: {(error.strerror or str(error)).lower()}; make room or write elsewhere", 2)


class Interrupted(BaseException):
    """Ctrl-C, as an error that only `main` catches."""


def interrupt(number: int, frame: FrameType | None) -> None:
    """The first Ctrl-C lets the calls under way finish, since they are paid for; the second waits for nothing."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    os.write(sys.stderr.fileno(), b"\nragstone: stopping after the calls under way; Ctrl-C again stops at once\n")
    raise Interrupted


def leave(message: str, code: int) -> None:
    typer.echo(f"ragstone: {message}", err=True)
    sys.exit(code)


def silence(stream: TextIO) -> None:
    """Nothing more can be written there, not even at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
