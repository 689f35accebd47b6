"""MuSiQue: twenty paragraphs, a question of two to four hops, and its decomposition into steps."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import model_validator

from ragstone.kit import BadRecords, Source
from ragstone.sources.questions import accepted, answer_kind, graph
from ragstone.sources.reading import Pool, Row, Said, keys, rows, some
from ragstone.store import evidence_ids
from ragstone.types import About, Benchmark, Document, Evidence, Fact, Question

SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s)|$)", re.DOTALL)
ABOUT = About(name="MuSiQue", language="en", sources=("MuSiQue (Trivedi et al. 2022)",), licences=("CC BY 4.0",))


class Paragraph(Row):
    idx: int
    title: str = ""
    paragraph_text: Said


class StepRow(Row):
    question: Said
    answer: Said
    paragraph_support_idx: int | None = None  # None: the paragraph was taken away to make the question unanswerable


class MusiqueRow(Row):
    id: Said
    question: Said
    answer: Said
    answer_aliases: tuple[Said, ...] = ()
    answerable: bool = True
    paragraphs: tuple[Paragraph, ...]
    question_decomposition: tuple[StepRow, ...]

    @model_validator(mode="after")
    def steps_have_their_paragraphs(self) -> "MusiqueRow":
        there: set[int | None] = {paragraph.idx for paragraph in self.paragraphs}
        for number, step in enumerate(self.question_decomposition, 1):
            withheld = step.paragraph_support_idx is None and not self.answerable
            if step.paragraph_support_idx not in there and not withheld:
                raise ValueError(f"step {number} rests on paragraph {step.paragraph_support_idx}, which does not exist")
        return self


class Musique(Source):
    """MuSiQue's official JSON lines, answerable or full."""

    def recognises(self, path: Path) -> bool:
        return {"question", "paragraphs", "question_decomposition"} <= keys(path)

    def load(self, path: Path, bad: BadRecords) -> Benchmark:
        pool = Pool()
        questions = with_hidden(some((question(row, pool) for _, row in rows(path, MusiqueRow, bad)), path))
        about = ABOUT.model_copy(update={"notes": pool.notes})
        return Benchmark(documents=pool.documents, questions=questions, about=about)


def question(row: MusiqueRow, pool: Pool) -> Question:
    """The twins of MuSiQue-Full share an id, so the unanswerable one gets its own and names the other as parent."""
    documents = {paragraph.idx: pool.add(paragraph.title, paragraph.paragraph_text) for paragraph in row.paragraphs}
    evidence = [place(step, documents) for step in row.question_decomposition]
    return Question(
        id=row.id if row.answerable else f"{row.id}-unanswerable",
        text=row.question,
        answers=accepted(row.answer, *row.answer_aliases),
        answerable=row.answerable,
        evidence=tuple(dict.fromkeys(group for group in evidence if group)),
        graph=graph(facts(row, evidence), "bridge"),
        labels={
            "type": row.id.partition("__")[0],
            "hops": len(row.question_decomposition),
            "answer_kind": answer_kind(row.answer),
        },
        parent="" if row.answerable else row.id,
        scope=tuple(dict.fromkeys(document.id for document in documents.values())),
    )


def with_hidden(questions: Sequence[Question]) -> tuple[Question, ...]:
    """What was taken from an unanswerable question stays hidden from it where its twin brings it into the pool."""
    gold = {question.id: evidence_ids(question) for question in questions if question.answerable}
    return tuple(
        question.model_copy(update={"hidden": tuple(id for id in gold[question.parent] if id not in question.scope)})
        if question.parent in gold
        else question
        for question in questions
    )


def place(step: StepRow, documents: Mapping[int, Document]) -> tuple[Evidence, ...]:
    """The one sentence that has the step's answer, else the whole paragraph; nothing if that was taken away."""
    if step.paragraph_support_idx is None:
        return ()
    document = documents[step.paragraph_support_idx]
    answer = re.compile(rf"(?<!\w){re.escape(step.answer)}(?!\w)")
    holding = [sentence for sentence in SENTENCE.finditer(document.text) if answer.search(sentence[0])]
    if len(holding) != 1:
        return (Evidence(document_id=document.id),)
    start, end = holding[0].span()
    return (Evidence(document_id=document.id, quote=holding[0][0], start=start, end=end),)


def facts(row: MusiqueRow, evidence: list[tuple[Evidence, ...]]) -> list[Fact]:
    """A fact for each step and each earlier answer it builds on, so that the graph has the steps' order."""
    steps = row.question_decomposition
    return [
        Fact(subject=subject, relation=step.question, object=step.answer, evidence=pieces)
        for step, pieces in zip(steps, evidence, strict=True)
        for subject in subjects(step, steps)
    ]


def subjects(step: StepRow, steps: tuple[StepRow, ...]) -> list[str]:
    """The answers of the steps named `#1`, `#2`…; else what stands before `>>`; else unknown."""
    named = [int(number) for number in dict.fromkeys(re.findall(r"#(\d+)", step.question))]
    known = [steps[number - 1].answer for number in named if 1 <= number <= len(steps)]
    subject, arrow, _ = step.question.partition(">>")
    return known or [subject.strip() if arrow else ""]
