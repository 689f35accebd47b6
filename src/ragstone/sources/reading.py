"""From files to rows: JSON arrays and JSON lines with the place of every record, and the pool of passages.

A format's native schema is a `Row`: what pydantic refuses is a bad record, so a source only sees rows it can use.
"""

import codecs
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from ragstone import text
from ragstone.errors import DataError
from ragstone.files import read_bytes
from ragstone.kit import BadRecords
from ragstone.types import Document, Question

HEAD = 1 << 20  # bytes; holds at least one whole record of every format
KEY = re.compile(rb'"(\w+)"\s*:')
SPACE = re.compile(r"\s*")
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
DECODER = json.JSONDecoder()

Said = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""A text that must say something."""


class Row(BaseModel):
    """A record in its data set's own words; fields that are not listed are not needed."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)


R = TypeVar("R", bound=Row)


# ── recognising ──────────────────────────────────────────────────────────────────────────────────────────────────────


def head(path: Path) -> bytes:
    """The beginning of a file; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(HEAD).removeprefix(codecs.BOM_UTF8)
    except OSError:
        return b""


def keys(path: Path) -> set[str]:
    """The names of JSON fields at the beginning of a file; found even if its first record is broken."""
    return {name.decode(errors="replace") for name in KEY.findall(head(path))}


# ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def rows(path: Path, kind: type[R], bad: BadRecords) -> Iterator[tuple[str, R]]:
    """Every usable record of a JSON array or JSON-lines file, with its place; the others go to `bad`."""
    for where, value in values(path, bad):
        try:
            row = kind.model_validate(value)
        except ValidationError as error:
            bad(where, problem(error))
        else:
            yield where, row


def problem(error: ValidationError) -> str:
    """The first of pydantic's complaints in our words."""
    first = error.errors()[0]
    if first["type"] == "model_type":
        return "is not a JSON object"
    said = str(first["ctx"]["error"]) if first["type"] == "value_error" else first["msg"].lower()
    return ": ".join(filter(None, (".".join(map(str, first["loc"])), said)))


def values(path: Path, bad: BadRecords) -> Iterator[tuple[str, Any]]:
    """The JSON values of a file, with their places."""
    elements = array(path, bad) if head(path).lstrip().startswith(b"[") else lines(path, bad)
    for where, value, raw in elements:
        if SURROGATE.search(raw) and not writable(value):
            bad(where, "has half a character (a lone surrogate)")
        else:
            yield where, value


def lines(path: Path, bad: BadRecords) -> Iterator[tuple[str, Any, str]]:
    """The values of a JSON-lines file, with their place and text."""
    for number, line in enumerate(io.BytesIO(read_bytes(path)), 1):
        where = f"{path}, line {number}"
        try:
            content = line.decode("utf-8-sig").strip()
            value = json.loads(content) if content else None
        except (ValueError, RecursionError) as error:
            bad(where, broken(error))
        else:
            if content:
                yield where, value, content


def array(path: Path, bad: BadRecords) -> Iterator[tuple[str, Any, str]]:
    """The elements of a JSON array, one by one so that a broken one can be named, with their place and text."""
    content = decoded(path)
    position, counted, line, number = after_space(content, content.index("[") + 1), 0, 1, 0
    while not content.startswith("]", position):
        line, counted, number = line + content.count("\n", counted, position), position, number + 1
        where = f"{path}, record {number} (line {line})"
        try:
            value, end = DECODER.raw_decode(content, position)
        except (ValueError, RecursionError) as error:
            bad(where, f"{broken(error)}, so neither it nor anything after it can be read")
            return
        yield where, value, content[position:end]
        position = after_space(content, end)
        if content.startswith(",", position):
            position = after_space(content, position + 1)
        elif not content.startswith("]", position):
            bad(where, "no comma or closing bracket follows it, so nothing after it can be read")
            return
    if content[position + 1 :].strip():
        bad(f"{path}, after record {number}", "there is more after the closing bracket")


def writable(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def broken(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"broken JSON ({error.msg.lower()} at character {error.pos + 1})"
    return f"not UTF-8 ({error})" if isinstance(error, UnicodeError) else f"broken JSON ({error})"


def after_space(content: str, position: int) -> int:
    space = SPACE.match(content, position)
    return space.end() if space else position


def decoded(path: Path) -> str:
    """A whole file as text."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text (byte {error.start + 1}); convert it to UTF-8") from error


# ── what rows become ─────────────────────────────────────────────────────────────────────────────────────────────────


class Pool:
    """The documents so far: passages with the same title and text become one."""

    def __init__(self) -> None:
        self._documents: dict[str, Document] = {}
        self._received = 0

    def add(self, title: str, passage: str, labels: Mapping[str, str] | None = None) -> Document:
        self._received += 1
        id = text.content_id(title, passage)
        return self._documents.setdefault(id, Document(id=id, title=title, text=passage, labels=labels or {}))

    @property
    def documents(self) -> tuple[Document, ...]:
        return tuple(self._documents.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """What pooling did, if it did anything."""
        if self._received == len(self._documents):
            return ()
        return (f"{self._received:,} passages pooled to {len(self._documents):,}: identical ones are merged",)


def some(questions: Iterable[Question], path: Path) -> tuple[Question, ...]:
    """The questions, of which there must be one at least."""
    found = tuple(questions)
    if not found:
        raise DataError(
            f"{path} has no usable question; check the file (without --skip-bad, its first problem is shown)"
        )
    return found


def sampled_language(documents: Iterable[Document]) -> str:
    """The language of the first few documents, judged by a piece of each."""
    pieces = (document.text[:2000] for document, _ in zip(documents, range(20), strict=False))
    return text.language("\n".join(pieces))
