"""Loads a benchmark or corpus: finds its format, reads it, and makes sure that nothing in it points nowhere."""

from pathlib import Path
from typing import NamedTuple

from ragstone import plugins
from ragstone.errors import ConfigError, DataError
from ragstone.kit import Source
from ragstone.store import problems, question_problems
from ragstone.types import Benchmark, Document, Question

SAMPLE = Path(__file__).parent / "sample"


class Bad:
    """Raises at the first bad record, or skips and counts when told to."""

    def __init__(self, skip: bool) -> None:
        self.skip = skip
        self.skipped: list[str] = []

    def __call__(self, where: str, problem: str) -> None:
        if not self.skip:
            raise DataError(f"{where}: {problem}; mend or remove it, or leave such records out with --skip-bad")
        self.skipped.append(f"{where}: {problem}")

    @property
    def notes(self) -> tuple[str, ...]:
        count = len(self.skipped)
        records = "record" if count == 1 else "records"
        return (f"{count:,} bad {records} skipped; the first: {self.skipped[0]}",) if count else ()


def load(path: Path | str, *, format: str = "", skip_bad: bool = False) -> Benchmark:
    """The benchmark at `path`, in the format that is named or else recognised."""
    place = something(path)
    bad = Bad(skip_bad)
    benchmark = source_of(place, format).load(place, bad)
    benchmark = cleaned(benchmark, place, bad) if skip_bad else checked(benchmark, place)
    if not benchmark.documents and not benchmark.questions:
        raise DataError(f"{path} has no usable record; check that it is the right file, or name another --format")
    notes = (*benchmark.about.notes, *(note.replace(str(place), place.name) for note in bad.notes))
    return benchmark.model_copy(update={"about": benchmark.about.model_copy(update={"notes": notes})})


def first_questions(benchmark: Benchmark, limit: int | None) -> Benchmark:
    """The benchmark with no more than `limit` questions."""
    if limit is not None and limit < 1:
        raise ConfigError(f"limit={limit} leaves no question; it must be 1 or more")
    return benchmark.model_copy(update={"questions": benchmark.questions[:limit]})


class Inspected(NamedTuple):
    """The number of documents and questions, everything that is wrong with them, and what was noted."""

    counts: dict[str, int]
    problems: list[str]
    notes: tuple[str, ...] = ()


def inspect(path: Path | str, *, format: str = "") -> Inspected:
    """What is found at `path`, with all its problems and not just the first."""
    place = something(path)
    bad = Bad(skip=True)
    try:
        benchmark = source_of(place, format).load(place, bad)
    except DataError as error:
        return Inspected({"documents": 0, "questions": 0}, [*bad.skipped, str(error)])
    counts = {"documents": len(benchmark.documents), "questions": len(benchmark.questions)}
    nothing = [] if any(counts.values()) else ["nothing in it can be used in this format"]
    return Inspected(counts, [*bad.skipped, *problems(benchmark), *nothing], benchmark.about.notes)


def something(place: Path | str) -> Path:
    """The path, if there is anything at it; `sample` is the benchmark that comes with Ragstone."""
    try:
        return there(SAMPLE if str(place) == "sample" and not Path(place).exists() else Path(place))
    except OSError as error:
        raise DataError(f"cannot read {place}: {(error.strerror or str(error)).lower()}; check the path") from error


def there(path: Path) -> Path:
    if not path.exists():
        raise DataError(f"{path} does not exist; check the path")
    if not path.is_dir() and not path.is_file():
        raise DataError(f"{path} is neither a file nor a folder; save the data to a file first")
    if path.is_dir() and any(path.glob("journal-*.jsonl")) and not any(path.glob("*.json")):
        raise DataError(f"{path} is not finished; run the command that began it again")
    if path.is_dir() and not any(path.iterdir()):
        raise DataError(f"{path} is an empty folder; name one with a benchmark or texts in it")
    if path.is_file() and path.stat().st_size == 0:
        raise DataError(f"{path} is empty; check that it was saved or downloaded whole")
    return path


def source_of(path: Path, format: str) -> Source:
    return plugins.create(Source, format) if format else recognised(path)


def recognised(path: Path) -> Source:
    """The first format that the path looks like."""
    for name in plugins.SOURCES:
        source = plugins.create(Source, name)
        if source.recognises(path):
            return source
    known = ", ".join(plugins.SOURCES)
    raise DataError(f"{path} is in no format that Ragstone knows; there are {known}; name one with --format")


# ── what must hold in every format ───────────────────────────────────────────────────────────────────────────────────


def checked(benchmark: Benchmark, path: Path) -> Benchmark:
    """The benchmark, if nothing in it is wrong."""
    if found := list(problems(benchmark)):
        more = f" (and {len(found) - 1:,} more problems)" if len(found) > 1 else ""
        raise DataError(f"{path}: {found[0]}{more}; mend the data, or leave such records out with --skip-bad")
    return benchmark


def cleaned(benchmark: Benchmark, path: Path, bad: Bad) -> Benchmark:
    """The benchmark without the questions that have a problem, and without documents that are there twice."""
    documents: dict[str, Document] = {}
    for document in benchmark.documents:
        if documents.setdefault(document.id, document) != document:
            raise DataError(f"{path}: two different documents have the id {document.id!r}; give each its own")
    if doubles := len(benchmark.documents) - len(documents):
        bad(str(path), f"{doubles:,} documents appear twice")
    questions: dict[str, Question] = {}
    for question in benchmark.questions:
        found = next(question_problems(question, documents), "appears twice" if question.id in questions else "")
        if found:
            bad(str(path), f"question {question.id!r}: {found}")
        else:
            questions[question.id] = question
    return benchmark.model_copy(update={"documents": tuple(documents.values()), "questions": tuple(questions.values())})
