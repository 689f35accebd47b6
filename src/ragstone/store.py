"""The folder format: JSON lines, atomic writes, a manifest written last, hashes.

A data file is written beside its final name and renamed into place, so a reader sees the old file or the new one and
never half of one.
"""

import hashlib
import os
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError

from ragstone.errors import ConfigError, DataError
from ragstone.types import Benchmark, Document, Entry, Failure, Manifest, Question, Rejection
from ragstone.version import __version__

if sys.platform != "win32":
    import fcntl

T = TypeVar("T", bound=BaseModel)

FORMAT = 1
PARTIAL, STAGE = ".partial-", ".staged"
READS = 20


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def encode(record: BaseModel) -> bytes:
    """One line of a data file: fields in their declared order, defaults left out."""
    try:
        return orjson.dumps(record.model_dump(mode="json", exclude_defaults=True)) + b"\n"
    except (TypeError, ValueError) as error:
        raise DataError(
            f"this cannot be written: {error}; it may have half a character or a number beyond 64 bits"
        ) from error


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@contextmanager
def about_the_disk(path: Path, remedy: str = "choose another place or make room") -> Iterator[None]:
    """Turns a full disk, a missing right or a bad path into an error that names the place."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ConfigError(f"cannot write {path}: {reason}; {remedy}") from error


def write_bytes(path: Path, data: bytes) -> str:
    """Writes a whole file or nothing, and returns its sha256."""
    with about_the_disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=PARTIAL)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(partial, 0o644)
            os.replace(partial, path)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise
    return sha256(data)


def write_lines(path: Path, records: Iterable[BaseModel]) -> str:
    return write_bytes(path, b"".join(encode(record) for record in records))


def write_record(path: Path, record: BaseModel) -> None:
    """One record as a file that people read too."""
    data = orjson.dumps(record.model_dump(mode="json"), option=orjson.OPT_INDENT_2)
    write_bytes(path, data + b"\n")


def read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path}: {(error.strerror or str(error)).lower()}; check the path") from error


def read_lines(path: Path, kind: type[T]) -> tuple[T, ...]:
    """Every record of a JSON-lines file; a bad one is an error with its file and line."""
    return decode(read_bytes(path), path, kind)


def decode(data: bytes, path: Path, kind: type[T]) -> tuple[T, ...]:
    adapter = TypeAdapter(kind)
    records = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            records.append(adapter.validate_json(line))
        except ValidationError as error:
            raise DataError(f"{path}, line {number}: {first_problem(error)}; mend or remove the record") from error
    return tuple(records)


def manifest_of(data: bytes, path: Path, kind: type[T]) -> T:
    """A manifest of a format that this version knows."""
    try:
        found = orjson.loads(data).get("format")
        if found != FORMAT:
            raise DataError(f"{path} has format {found}, this version reads {FORMAT}; use the ragstone that wrote it")
        return kind.model_validate_json(data)
    except (orjson.JSONDecodeError, AttributeError) as error:
        raise DataError(f"{path} is not a manifest: {error}; make the folder anew") from error
    except ValidationError as error:
        raise DataError(f"{path}: {first_problem(error)}; mend the file or make the folder anew") from error


def first_problem(error: ValidationError) -> str:
    """The first of pydantic's complaints, as one line."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg'].lower()}" if where else first["msg"].lower()


def write_folder(
    folder: Path,
    files: Mapping[str, Sequence[BaseModel]],
    manifest: BaseModel,
    name: str,
    unhashed: Sequence[str] = (),
    card: str = "",
) -> None:
    """Replaces data files and manifest together: after a kill at any moment the old files count, or all the new ones.

    They are written into a folder beside their places. Once the manifest is there too, the new files count: whoever
    comes next moves what is still to be moved.
    """
    settle(folder, name)
    stage = folder / STAGE
    try:
        hashes = {file: write_lines(stage / file, records) for file, records in files.items()}
        if card:
            write_bytes(stage / "README.md", card.encode())
        kept = {file: digest for file, digest in hashes.items() if file not in unhashed}
        write_record(stage / name, manifest.model_copy(update={"sha256": kept}))
    except BaseException:
        shutil.rmtree(stage, ignore_errors=True)
        raise
    settle(folder, name)


def settle(folder: Path, name: str) -> None:
    """Moves staged files into place, the manifest last. Only for whoever holds the folder's lock."""
    stage = folder / STAGE
    with about_the_disk(folder):
        if (stage / name).exists():
            for path in sorted(stage.iterdir(), key=lambda path: path.name == name):
                os.replace(path, folder / path.name)
        shutil.rmtree(stage, ignore_errors=True)  # what is left does not count


def finished(folder: Path, manifest: str) -> bool:
    """Whether the folder holds a command's whole output."""
    return (folder / STAGE / manifest).exists() or (folder / manifest).exists()


def read_current(folder: Path, name: str, file: str) -> bytes:
    """A file as it counts: from the stage, if that is complete and the file is not moved yet."""
    stage = folder / STAGE
    try:
        if (stage / name).exists():
            return (stage / file).read_bytes()
    except FileNotFoundError:
        pass  # moved
    return read_bytes(folder / file)


def read_folder(folder: Path, name: str, kind: type[T], files: Sequence[str]) -> tuple[T, dict[str, bytes]]:
    """The manifest and the files that go with it, each read once; starts over if they are replaced meanwhile."""
    for _ in range(READS):
        data = read_current(folder, name, name)
        manifest = manifest_of(data, folder / name, kind)
        hashes: Mapping[str, str] = manifest.model_dump()["sha256"]
        found = {file: read_current(folder, name, file) for file in files}
        wrong = [file for file in files if hashes.get(file, "") not in ("", sha256(found[file]))]
        if not wrong:
            return manifest, found
        if data == read_current(folder, name, name):
            break
    raise DataError(f"{folder / wrong[0]} was changed after it was written; restore it or make the folder anew")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keeps other processes out of the folder. The lock's file stays as long as there is anything in the folder."""
    lock = folder / ".lock"
    with about_the_disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
        file = lock.open("ab")
    with file:
        try:
            if sys.platform != "win32":  # there, two commands on one folder are not kept apart
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                    raise BlockingIOError  # the folder was removed and made anew in between
        except (BlockingIOError, FileNotFoundError) as error:
            raise ConfigError(f"another command is working in {folder}; wait for it or choose another --out") from error
        try:
            yield
        finally:
            drop_bare(folder)


def drop_bare(folder: Path) -> None:
    """A folder in which there is nothing but the lock is as if nothing had happened."""
    if [path.name for path in folder.iterdir()] == [".lock"]:
        (folder / ".lock").unlink()
        folder.rmdir()


# ── benchmarks ───────────────────────────────────────────────────────────────────────────────────────────────────────


BENCHMARK_FILES: Mapping[str, Any] = {
    "documents": Document,
    "questions": Question,
    "rejected": Entry[Rejection],
    "failures": Failure,
}


def fingerprint(benchmark: Benchmark) -> str:
    """The sha256 of documents and questions: equal for equal data, wherever it lies."""
    digest = hashlib.sha256()
    for record in (*benchmark.documents, *benchmark.questions):
        digest.update(encode(record))
    return digest.hexdigest()


def canary(benchmark: Benchmark) -> str:
    """A string to search training data for: it stands in the manifest and the card of this benchmark alone."""
    return f"RAGSTONE CANARY {uuid.uuid5(uuid.NAMESPACE_URL, fingerprint(benchmark))}"


def save(benchmark: Benchmark, folder: Path | str) -> None:
    """Writes a benchmark folder in place of one that is there; a folder that holds something else is left alone."""
    folder = Path(folder)
    if any(folder.glob("[!.]*")) and not finished(folder, "manifest.json"):
        raise ConfigError(f"{folder} is not empty and holds no benchmark; choose another place")
    with locked(folder):
        write_benchmark(benchmark, folder)


def write_benchmark(benchmark: Benchmark, folder: Path) -> None:
    """Writes a benchmark into a folder that is locked."""
    rows: dict[str, Sequence[BaseModel]] = {f"{name}.jsonl": getattr(benchmark, name) for name in BENCHMARK_FILES}
    manifest = Manifest(
        ragstone=__version__,
        canary=canary(benchmark),
        about=benchmark.about,
        steps=benchmark.steps,
        counts={name: len(getattr(benchmark, name)) for name in BENCHMARK_FILES},
    )
    write_folder(folder, rows, manifest, "manifest.json", card=card(manifest))


def load_benchmark(folder: Path) -> Benchmark:
    """Reads a benchmark folder and compares every data file with its hash."""
    if not finished(folder, "manifest.json"):
        raise DataError(f"{folder} has no manifest.json, so it is not complete; run the command that made it again")
    names = [f"{name}.jsonl" for name in BENCHMARK_FILES]
    manifest, data = read_folder(folder, "manifest.json", Manifest, names)
    rows: dict[str, Any] = {
        name: decode(data[f"{name}.jsonl"], folder / f"{name}.jsonl", kind) for name, kind in BENCHMARK_FILES.items()
    }
    return Benchmark(**rows, about=manifest.about, steps=manifest.steps)


def card(manifest: Manifest) -> str:
    """The card for people: what this is, where it comes from, how it was made, what was not checked."""
    about, counts = manifest.about, manifest.counts
    lines = [
        f"# {about.name or 'Benchmark'}",
        "",
        f"{counts.get('questions', 0)} questions over {counts.get('documents', 0)} documents; "
        f"{counts.get('rejected', 0)} drafts rejected and {counts.get('failures', 0)} failed, all kept beside them.",
        "",
        f"- Language: {about.language or 'not stated'}",
        f"- Sources: {'; '.join(about.sources) or 'not stated'}",
        f"- Licences: {'; '.join(about.licences) or 'not stated'}",
        *(f"- {note}" for note in about.notes),
        "",
        "## How it was made",
        "",
    ]
    for step in manifest.steps:
        counted = ", ".join(f"{number} {what}" for what, number in step.counts.items())
        lines.append(f"- `{step.recipe}` (draw {step.draw}): {counted}. Checks: {', '.join(step.checks) or 'none'}.")
        models = {
            **step.made.models,
            **{role: name for made in step.checks.values() for role, name in made.models.items()},
        }
        lines += [f"  - Model as {role}: {name}" for role, name in models.items()]
        lines += [f"  - Not run: {check} ({reason})" for check, reason in step.not_run.items()]
    lines += ["" if manifest.steps else "- loaded from its sources, unchanged\n", f"`{manifest.canary}`", ""]
    lines += [f"Made with ragstone {manifest.ragstone}. Evaluate a system: `ragstone eval FOLDER --system bm25`."]
    return "\n".join(lines) + "\n"


def problems(benchmark: Benchmark) -> Iterator[str]:
    """What is wrong inside a benchmark: double ids, pointers to nowhere, quotes that are not where they should be."""
    documents: dict[str, Document] = {}
    for document in benchmark.documents:
        if document.id in documents:
            yield f"document {document.id!r} appears twice"
        documents[document.id] = document
    seen: set[str] = set()
    for question in benchmark.questions:
        if question.id in seen:
            yield f"question {question.id!r} appears twice"
        seen.add(question.id)
        yield from (f"question {question.id!r}: {problem}" for problem in question_problems(question, documents))


def question_problems(question: Question, documents: Mapping[str, Document]) -> Iterator[str]:
    if not question.text.strip():
        yield "its text is empty"
    if not question.answers and not question.evidence and question.answerable:
        yield "it has neither an answer nor evidence"
    if any(not group or not all(alias.strip() for alias in group) for group in question.answers):
        yield "an answer is empty"
    for name in ("scope", "hidden"):
        for missing in [id for id in getattr(question, name) if id not in documents]:
            yield f"its {name} names document {missing!r}, which does not exist"
    for piece in (piece for group in question.evidence for piece in group):
        if piece.document_id not in documents:
            yield f"its evidence points to document {piece.document_id!r}, which does not exist"
        elif piece.start is not None and documents[piece.document_id].text[piece.start : piece.end] != piece.quote:
            yield f"its evidence is not at {piece.start}–{piece.end} of document {piece.document_id!r}"
