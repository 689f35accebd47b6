"""BEIR and TREC collections: a corpus, queries, and judgements of which documents are relevant."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import AliasChoices, Field

from ragstone.errors import DataError
from ragstone.kit import BadRecords, Source, identity
from ragstone.sources.reading import Row, Said, decoded, rows, sampled_language, some
from ragstone.types import About, Benchmark, Document, Evidence, Question

SPLITS = ("test", "dev", "train")
NUMBER = re.compile(r"<num>\s*(?:Number:)?\s*([^\s<]+)")
TITLE = re.compile(r"<title>\s*(?:Topic:)?\s*([^<]*[^\s<])")


class CorpusRow(Row):
    id: Said = Field(validation_alias=AliasChoices("_id", "id"))
    title: str | None = None
    text: str


class QueryRow(Row):
    id: Said = Field(validation_alias=AliasChoices("_id", "id"))
    text: Said


class Beir(Source):
    """A folder with `corpus.jsonl`, queries (`queries.jsonl` or TREC topics) and qrels."""

    split: str = identity("", "whose qrels to use; empty: test, else dev, else train, else any")

    def recognises(self, path: Path) -> bool:
        return (path / "corpus.jsonl").is_file() and all((queries_file(path), qrels_file(path, self.split)))

    def load(self, path: Path, bad: BadRecords) -> Benchmark:
        asked, judged = queries_file(path), qrels_file(path, self.split)
        if not asked or not judged:
            missing = f"{self.split} qrels".strip() if asked else "queries.jsonl or topics"
            raise DataError(f"{path} has no {missing}; put them beside corpus.jsonl")
        documents = tuple(
            Document(id=row.id, title=row.title or "", text=row.text)
            for _, row in rows(path / "corpus.jsonl", CorpusRow, bad)
        )
        queries = dict(read_queries(asked, bad))
        relevant = judgements(judged, queries, {document.id for document in documents}, bad)
        questions = some((question(id, queries[id], found) for id, found in relevant.items()), path)
        notes = [f"relevance from {judged.relative_to(path)}"]
        if unjudged := len(queries) - len(questions):
            notes.append(f"{unjudged:,} queries without a relevant document in it left out: they cannot be scored")
        name = path.resolve().name
        about = About(name=name, language=sampled_language(documents), sources=(name,), notes=tuple(notes))
        return Benchmark(documents=documents, questions=questions, about=about)


def queries_file(path: Path) -> Path | None:
    candidates = (path / "queries.jsonl", path / "queries.tsv", *sorted(path.glob("topics*")))
    return next((file for file in candidates if file.is_file()), None)


def qrels_file(path: Path, split: str) -> Path | None:
    """The judgements of a split; if none is named, of the one that is meant for testing."""
    files = [file for file in (*path.glob("qrels/*"), *path.glob("qrels*")) if file.is_file() and split in file.stem]
    return min(files, key=lambda file: (rank(file), file.name), default=None)


def rank(file: Path) -> int:
    return next((number for number, split in enumerate(SPLITS) if split in file.stem), len(SPLITS))


def read_queries(path: Path, bad: BadRecords) -> Iterator[tuple[str, str]]:
    """The queries by id, from JSON lines, TREC topics, or lines of id, tab and text."""
    if path.suffix == ".jsonl":
        return ((row.id, row.text) for _, row in rows(path, QueryRow, bad))
    content = decoded(path)
    return topics(path, content, bad) if "<top>" in content else tabbed(path, content, bad)


def topics(path: Path, content: str, bad: BadRecords) -> Iterator[tuple[str, str]]:
    for number, topic in enumerate(content.split("<top>")[1:], 1):
        id, title = NUMBER.search(topic), TITLE.search(topic)
        if id and title:
            yield id[1], " ".join(title[1].split())
        else:
            bad(f"{path}, topic {number}", "has no <num> or no <title>")


def tabbed(path: Path, content: str, bad: BadRecords) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(content.split("\n"), 1):
        id, tab, asked = line.strip().partition("\t")
        if tab and asked.strip():
            yield id, asked.strip()
        elif line.strip():
            bad(f"{path}, line {number}", "is not an id, a tab and a query")


def judgements(path: Path, queries: Mapping[str, str], documents: set[str], bad: BadRecords) -> Mapping[str, list[str]]:
    """The relevant documents of each query: those with a score above zero."""
    found: dict[str, list[str]] = {}
    for number, line in enumerate(decoded(path).split("\n"), 1):
        fields = [field.strip() for field in line.split("\t" if "\t" in line else None)]
        where = f"{path}, line {number}"
        if not any(fields) or (number == 1 and not is_number(fields[-1])):  # an empty line, the header
            continue
        if len(fields) not in (3, 4) or not is_number(fields[-1]):
            bad(where, "is not query, document and score, with or without a TREC iteration column")
        elif fields[0] not in queries:
            bad(where, f"query {fields[0]!r} does not exist")
        elif fields[-2] not in documents:
            bad(where, f"document {fields[-2]!r} is not in corpus.jsonl")
        elif float(fields[-1]) > 0:
            found.setdefault(fields[0], []).append(fields[-2])
    return found


def is_number(field: str) -> bool:
    return bool(re.fullmatch(r"-?\d+(\.\d+)?", field))


def question(id: str, asked: str, relevant: Iterable[str]) -> Question:
    evidence = tuple((Evidence(document_id=document_id),) for document_id in dict.fromkeys(relevant))
    return Question(id=id, text=asked, evidence=evidence)
