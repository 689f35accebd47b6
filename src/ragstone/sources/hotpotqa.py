"""HotpotQA: ten paragraphs in sentences, a question over two of them, and the sentences that support its answer."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AliasChoices, BeforeValidator, Field, model_validator

from ragstone.kit import BadRecords, Source
from ragstone.sources.questions import accepted, answer_kind, graph
from ragstone.sources.reading import Pool, Row, Said, keys, rows, some
from ragstone.types import About, Benchmark, Document, Evidence, Fact, Question

OPERATIONS = {
    "compositional": "bridge",
    "inference": "bridge",
    "comparison": "compare",
    "bridge_comparison": "bridge_compare",
}


def unpacked(value: Any) -> Any:
    """Pairs as they are, as a JSON string, or as the two columns that data-set hubs make of them."""
    if isinstance(value, str):
        value = json.loads(value)
    return list(zip(*value.values(), strict=True)) if isinstance(value, dict) else value


class HotpotRow(Row):
    id: Said = Field(validation_alias=AliasChoices("_id", "id"))
    question: Said
    answer: Said
    type: str | None = None
    level: str | None = None
    supporting_facts: Annotated[tuple[tuple[str, int], ...], BeforeValidator(unpacked)]
    context: Annotated[tuple[tuple[str, tuple[str, ...]], ...], BeforeValidator(unpacked)]
    evidences: Annotated[tuple[tuple[str, str, str], ...], BeforeValidator(unpacked)] = ()

    @model_validator(mode="after")
    def supporting_titles_exist(self) -> "HotpotRow":
        titles = {title for title, _ in self.context}
        for title, _ in self.supporting_facts:
            if title not in titles:
                raise ValueError(f"its supporting fact names {title!r}, which is none of its paragraphs")
        return self


class Paragraph:
    """A paragraph as a document that knows where its sentences are."""

    def __init__(self, sentences: Sequence[str], glue: str) -> None:
        self.text = glue.join(sentences)
        self.spans: list[tuple[int, int]] = []
        position = 0
        for sentence in sentences:
            begin = position + len(sentence) - len(sentence.lstrip())
            self.spans.append((begin, position + len(sentence.rstrip())))
            position += len(sentence) + len(glue)

    def evidence(self, document_id: str, sentence: int) -> Evidence:
        """The sentence; the whole paragraph where it has no such sentence, a known flaw of the data."""
        start, end = self.spans[sentence] if 0 <= sentence < len(self.spans) else (0, 0)
        if start >= end:
            return Evidence(document_id=document_id)
        return Evidence(document_id=document_id, quote=self.text[start:end], start=start, end=end)


class Hotpotqa(Source):
    """HotpotQA's official JSON, and whatever has its shape."""

    about: ClassVar[About] = About(
        name="HotpotQA", language="en", sources=("HotpotQA (Yang et al. 2018)",), licences=("CC BY-SA 4.0",)
    )
    triples: ClassVar[bool] = False  # whether the records have 2WikiMultihopQA's `evidences`

    def recognises(self, path: Path) -> bool:
        found = keys(path)
        return {"question", "supporting_facts", "context"} <= found and ("evidences" in found) == self.triples

    def load(self, path: Path, bad: BadRecords) -> Benchmark:
        pool = Pool()
        questions = some((question(row, pool) for _, row in rows(path, HotpotRow, bad)), path)
        notes = (*pool.notes, *unquoted(questions))
        return Benchmark(
            documents=pool.documents, questions=questions, about=self.about.model_copy(update={"notes": notes})
        )


def question(row: HotpotRow, pool: Pool) -> Question:
    glue = "" if carry_their_spaces(row) else " "
    passages = [(title, Paragraph(sentences, glue)) for title, sentences in row.context]
    documents = [pool.add(title, passage.text) for title, passage in passages]
    places: dict[str, tuple[Document, Paragraph]] = {}
    for (title, passage), document in zip(passages, documents, strict=True):
        places.setdefault(title, (document, passage))
    evidence = ((places[title][1].evidence(places[title][0].id, number),) for title, number in row.supporting_facts)
    return Question(
        id=row.id,
        text=row.question,
        answers=accepted(row.answer),
        evidence=tuple(dict.fromkeys(evidence)),
        graph=graph(map(fact, row.evidences), OPERATIONS.get(row.type or "", "")) if row.evidences else None,
        labels=labels(row),
        scope=tuple(dict.fromkeys(document.id for document in documents)),
    )


def carry_their_spaces(row: HotpotRow) -> bool:
    """Whether sentences bring the space before them, as HotpotQA's do and 2WikiMultihopQA's do not."""
    later = [sentence for _, sentences in row.context for sentence in sentences[1:]]
    return 2 * sum(sentence.startswith(" ") for sentence in later) > len(later)


def fact(triple: tuple[str, str, str]) -> Fact:
    return Fact(subject=triple[0], relation=triple[1], object=triple[2])


def labels(row: HotpotRow) -> dict[str, str | int]:
    kind = answer_kind(row.answer, row.question if "comparison" in (row.type or "") else "")
    hops = len({title for title, _ in row.supporting_facts})
    given = {"type": row.type, "level": row.level}
    return {**{name: value for name, value in given.items() if value}, "hops": hops, "answer_kind": kind}


def unquoted(questions: Sequence[Question]) -> tuple[str, ...]:
    """Says how many supporting facts name a sentence that does not exist."""
    count = sum(not piece.quote for question in questions for group in question.evidence for piece in group)
    return (f"{count:,} supporting facts name no sentence of their paragraph: all of it counts",) if count else ()
