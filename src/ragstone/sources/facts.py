"""A table of facts: parent → dimension → child → predicate → value, one document for each row."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from pydantic import ConfigDict, ValidationError

from ragstone import text
from ragstone.kit import BadRecords, Source
from ragstone.sources.reading import Row, Said, decoded, head, keys, problem, rows, sampled_language
from ragstone.types import About, Benchmark, Document

COLUMNS = ("parent", "dimension", "child", "predicate", "value")


class FactRow(Row):
    """The columns that must be there; all others are kept as labels."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True, extra="allow")

    parent: Said
    dimension: Said
    child: Said
    predicate: Said
    value: Said
    id: str | None = None

    @property
    def columns(self) -> dict[str, str]:
        """Every column that says something, as text."""
        return {name: str(value) for name, value in self if value not in (None, "") and name != "id"}


class Facts(Source):
    """A JSON-lines or CSV table of facts."""

    def recognises(self, path: Path) -> bool:
        header = head(path).partition(b"\n")[0].decode(errors="replace")
        found = keys(path) if path.suffix != ".csv" else {name.strip(' "\r') for name in header.split(",")}
        return found.issuperset(COLUMNS)

    def load(self, path: Path, bad: BadRecords) -> Benchmark:
        found: dict[tuple[str, ...], Document] = {}
        received = 0
        for _, row in table(path, bad) if path.suffix == ".csv" else rows(path, FactRow, bad):
            received += 1
            found.setdefault(tuple(getattr(row, name) for name in COLUMNS), document(row))
        documents = tuple(found.values())
        merged = received - len(documents)
        about = About(
            name=path.stem,
            language=sampled_language(documents),
            sources=column(documents, "source") or (path.name,),
            licences=column(documents, "licence") or column(documents, "license"),
            notes=(f"{merged:,} rows that repeat a fact merged",) if merged else (),
        )
        return Benchmark(documents=documents, about=about)


def table(path: Path, bad: BadRecords) -> Iterator[tuple[str, FactRow]]:
    """The rows of a CSV file with a header."""
    reader = csv.DictReader(io.StringIO(decoded(path), newline=""), restkey="beyond", strict=True)
    while True:
        try:
            cells = {name: cell for name, cell in next(reader).items() if cell is not None}
            if "beyond" in cells:
                raise csv.Error("more cells than the header has")
            row = FactRow.model_validate(cells)
        except StopIteration:
            return
        except csv.Error as error:
            bad(f"{path}, line {reader.line_num}", f"broken CSV ({error})")
        except ValidationError as error:
            bad(f"{path}, line {reader.line_num}", problem(error))
        else:
            yield f"{path}, line {reader.line_num}", row


def document(row: FactRow) -> Document:
    columns = row.columns
    said = f"{row.child} — {row.predicate}: {row.value} {columns.get('unit', '')}".strip()
    id = row.id or text.content_id(row.child, "\x1f".join(columns[name] for name in COLUMNS))
    return Document(id=id, title=row.child, text=said, labels=columns)


def column(documents: tuple[Document, ...], name: str) -> tuple[str, ...]:
    """The different values of a column."""
    return tuple(dict.fromkeys(str(document.labels[name]) for document in documents if name in document.labels))
