"""Files: JSON lines of records, written whole or not at all, with their hashes.

A file is written beside its final name and renamed into place, so a reader sees the old one or the new one and never
half of one.
"""

import hashlib
import os
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError

from ragstone.errors import ConfigError, DataError

T = TypeVar("T", bound=BaseModel)

PARTIAL = ".partial-"


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


def at_home(path: str) -> Path:
    """The path with `~` spelled out."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:  # there is no such user
        raise ConfigError(f"{path} is in no home folder; write the whole path") from error


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


def write_record(path: Path, record: BaseModel, without: Collection[str] = ()) -> None:
    """One record as a file that people read too."""
    data = orjson.dumps(record.model_dump(mode="json", exclude=set(without)), option=orjson.OPT_INDENT_2)
    write_bytes(path, data + b"\n")


def read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path}: {(error.strerror or str(error)).lower()}; check the path") from error


def decode(data: bytes, path: Path, kind: type[T]) -> tuple[T, ...]:
    """Every record of a JSON-lines file; a bad one is an error with its file and line."""
    adapter = TypeAdapter(kind)
    records = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            records.append(adapter.validate_json(line))
        except ValidationError as error:
            raise DataError(f"{path}, line {number}: {first_problem(error)}; mend or remove the record") from error
    return tuple(records)


def first_problem(error: ValidationError) -> str:
    """The first of pydantic's complaints, as one line."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg'].lower()}" if where else first["msg"].lower()
