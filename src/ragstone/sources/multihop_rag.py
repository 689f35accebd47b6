"""MultiHop-RAG: queries over news articles, with the facts that answer them.

The facts are not verbatim in the corpus, so they are found by their letters and digits alone and then mapped back to
the words of the article or chunk.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from ragstone.errors import DataError
from ragstone.kit import BadRecords, Source
from ragstone.sources.questions import accepted, answer_kind
from ragstone.sources.reading import Pool, Row, Said, keys, rows, some
from ragstone.text import letters_and_digits
from ragstone.types import About, Benchmark, Document, Evidence, Question

ABOUT = About(
    name="MultiHop-RAG",
    language="en",
    sources=("MultiHop-RAG (Tang & Yang 2024)",),
    licences=("ODC-BY 1.0", "articles remain the publishers'"),
)


class EvidenceRow(Row):
    fact: str


class QueryRow(Row):
    id: str = ""
    query: Said
    answer: Said
    question_type: Said
    evidence_list: tuple[EvidenceRow, ...]


class Article(Row):
    title: str = ""
    body: Said
    author: str | None = None
    source: str | None = None
    published_at: str | None = None
    category: str | None = None
    url: str | None = None


class Chunk(Row):
    id: Said
    text: Said


class Finder:
    """Finds facts in documents by letters and digits alone."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = documents
        squashed = [letters_and_digits(document.text) for document in documents]
        self.begins = [0]
        for piece in squashed:
            self.begins.append(self.begins[-1] + len(piece) + 1)
        self.squashed = "\n".join(squashed)  # one text, so that one search finds every document
        self.places = cache(self.search)  # queries share many facts
        self.origins = cache(self.trace)  # and facts share documents

    def search(self, fact: str) -> tuple[Evidence, ...]:
        """The fact in every document that has it."""
        wanted = letters_and_digits(fact)
        return tuple(self.evidence(number, begin, begin + len(wanted)) for number, begin in self.hits(wanted))

    def hits(self, wanted: str) -> Iterator[tuple[int, int]]:
        """The number of each document that has these letters, and where in its squashed text."""
        position = self.squashed.find(wanted) if wanted else -1
        while position >= 0:
            number = bisect_right(self.begins, position) - 1
            yield number, position - self.begins[number]
            position = self.squashed.find(wanted, self.begins[number + 1])

    def evidence(self, number: int, begin: int, end: int) -> Evidence:
        """The document's own words for a part of its squashed text; all of it where letters were composed."""
        document, origins = self.documents[number], self.origins(number)
        if len(origins) != self.begins[number + 1] - self.begins[number] - 1:
            return Evidence(document_id=document.id)
        start, stop = origins[begin], origins[end - 1] + 1
        return Evidence(document_id=document.id, quote=document.text[start:stop], start=start, end=stop)

    def trace(self, number: int) -> Sequence[int]:
        """For each character of a squashed text, where it comes from."""
        text = self.documents[number].text
        return array("L", (index for index, character in enumerate(text) for _ in range(weight(character))))


@cache
def weight(character: str) -> int:
    """How many letters and digits a character becomes."""
    return len(letters_and_digits(character))


class MultihopRag(Source):
    """MultiHop-RAG's official JSON beside its corpus: `corpus.json` or `corpus_chunks.jsonl`."""

    def recognises(self, path: Path) -> bool:
        return {"query", "evidence_list", "question_type"} <= keys(queries_file(path))

    def load(self, path: Path, bad: BadRecords) -> Benchmark:
        file = queries_file(path)
        documents, notes = corpus(file.parent, bad)
        finder = Finder(documents)
        queries = [row for _, row in rows(file, QueryRow, bad)]
        questions = some((question(row, number, finder) for number, row in enumerate(queries, 1)), file)
        notes = (*notes, coverage(queries, finder))
        return Benchmark(documents=documents, questions=questions, about=ABOUT.model_copy(update={"notes": notes}))


def queries_file(path: Path) -> Path:
    """The queries in a folder, or the file itself."""
    return next(iter(sorted(path.glob("MultiHopRAG*.json"))), path) if path.is_dir() else path


def corpus(folder: Path, bad: BadRecords) -> tuple[tuple[Document, ...], tuple[str, ...]]:
    """The documents of the corpus, and notes on them."""
    articles, chunks = folder / "corpus.json", folder / "corpus_chunks.jsonl"
    if articles.exists():
        pool = Pool()
        for _, row in rows(articles, Article, bad):
            pool.add(row.title, row.body, row.model_dump(exclude={"title", "body"}, exclude_none=True))
        return pool.documents, pool.notes
    if chunks.exists():
        return tuple(Document(id=row.id, text=row.text) for _, row in rows(chunks, Chunk, bad)), ()
    raise DataError(
        f"{folder} has no MultiHop-RAG corpus; put its corpus.json or corpus_chunks.jsonl beside the queries"
    )


def question(row: QueryRow, number: int, finder: Finder) -> Question:
    """The question with the facts that the corpus has; null queries have no answer, not even a withheld one."""
    kind = row.question_type.removesuffix("_query")
    groups = [finder.places(evidence.fact) for evidence in row.evidence_list]
    labels: dict[str, str | int] = {"type": kind, "hops": len(groups)}
    if kind != "null":
        labels["answer_kind"] = answer_kind(row.answer, row.query if kind == "comparison" else "")
        labels["evidence"] = "none" if not any(groups) else "full" if all(groups) else "partial"
    return Question(
        id=row.id or f"query-{number}",
        text=row.query,
        answers=() if kind == "null" else accepted(row.answer),
        answerable=kind != "null",
        evidence=tuple(dict.fromkeys(group for group in groups if group)),
        labels=labels,
    )


def coverage(queries: Sequence[QueryRow], finder: Finder) -> str:
    """How much of the evidence the corpus has: a retrieval score is only as good as this."""
    found = [
        [bool(finder.places(evidence.fact)) for evidence in row.evidence_list]
        for row in queries
        if row.question_type != "null_query"
    ]
    return (
        f"{sum(map(sum, found)):,} of {sum(map(len, found)):,} evidence facts found in the corpus; "
        f"{sum(map(all, found)):,} of {len(found):,} answerable queries fully covered"
    )
