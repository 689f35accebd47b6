"""QASC: eight choices, and two facts that together give the right one.

The facts of all questions form one corpus, as in QASC itself, so questions have no scope of their own.
"""

from pathlib import Path

from pydantic import Field, model_validator

from ragstone.kit import BadRecords, Source
from ragstone.sources.reading import Pool, Row, Said, keys, rows, some
from ragstone.types import About, Benchmark, Evidence, Question

ABOUT = About(name="QASC", language="en", sources=("QASC (Khot et al. 2020)",), licences=("CC BY 4.0",))


class Choice(Row):
    text: Said
    label: Said


class Stem(Row):
    stem: Said
    choices: tuple[Choice, ...]


class QascRow(Row):
    id: Said
    question: Stem
    answer_key: Said = Field(validation_alias="answerKey")
    fact1: Said
    fact2: Said

    @model_validator(mode="after")
    def key_is_a_choice(self) -> "QascRow":
        if self.answer_key not in self.options:
            raise ValueError(f"its answerKey {self.answer_key!r} is none of its choices")
        return self

    @property
    def options(self) -> dict[str, str]:
        return {choice.label: choice.text for choice in self.question.choices}


class Qasc(Source):
    """QASC's official JSON lines; its test split has no answers and cannot be used."""

    def recognises(self, path: Path) -> bool:
        return {"stem", "choices"} <= keys(path)

    def load(self, path: Path, bad: BadRecords) -> Benchmark:
        pool = Pool()
        questions = some((question(row, pool) for _, row in rows(path, QascRow, bad)), path)
        about = ABOUT.model_copy(update={"notes": pool.notes})
        return Benchmark(documents=pool.documents, questions=questions, about=about)


def question(row: QascRow, pool: Pool) -> Question:
    facts = dict.fromkeys(pool.add("", fact).id for fact in (row.fact1, row.fact2))
    return Question(
        id=row.id,
        text=row.question.stem,
        answers=((row.options[row.answer_key],),),
        choices=tuple(row.options.values()),
        evidence=tuple((Evidence(document_id=id),) for id in facts),
        labels={"hops": 2, "answer_kind": "choice"},
    )
