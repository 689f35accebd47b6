"""HawkBench: questions of four levels over long texts in eight domains.

It keeps no evidence, so retrieval cannot be scored. The statements that level 4 has in `selections` test something else
than the question's answer, so they are not taken as its choices.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from pydantic import Field, ValidationError

from ragstone.errors import DataError
from ragstone.files import read_bytes
from ragstone.kit import BadRecords, Source
from ragstone.sources.questions import accepted, answer_kind
from ragstone.sources.reading import Row, Said, problem, rows, some
from ragstone.types import About, Benchmark, Document, Question

LEVEL = re.compile(r"level_([1-4])")
ABOUT = About(
    name="HawkBench",
    language="en",
    sources=("HawkBench (Qian et al. 2025)",),
    licences=("Apache-2.0", "texts remain their owners'"),
)


class HawkRow(Row):
    id: Said = Field(validation_alias="_id")
    input: Said
    answers: tuple[Said, ...] = Field(min_length=1)
    context_id: Said
    label: str = ""


class Context(Row):
    context: Said
    domain: str = ""


class Hawkbench(Source):
    """HawkBench's folder: `level_1…4/DOMAIN.jsonl` and `all_context.json`."""

    def recognises(self, path: Path) -> bool:
        return bool(level_files(path)) and (path / "all_context.json").is_file()

    def load(self, path: Path, bad: BadRecords) -> Benchmark:
        documents = contexts(path / "all_context.json", bad)
        questions = []
        for file in level_files(path):
            for where, row in rows(file, HawkRow, bad):
                if row.context_id in documents:
                    questions.append(question(row, file))
                else:
                    bad(where, f"its context_id {row.context_id!r} is not in all_context.json")
        return Benchmark(documents=tuple(documents.values()), questions=some(questions, path), about=ABOUT)


def level_files(path: Path) -> list[Path]:
    return sorted(file for file in path.glob("level_*/*.jsonl") if LEVEL.fullmatch(file.parent.name))


def contexts(path: Path, bad: BadRecords) -> Mapping[str, Document]:
    """The long texts by id."""
    try:
        found: Any = orjson.loads(read_bytes(path))
    except orjson.JSONDecodeError as error:
        raise DataError(f"{path}: broken JSON ({error}); get the file anew") from error
    if not isinstance(found, dict):
        raise DataError(f"{path} should be one object of texts by id; get the file anew")
    documents = {}
    for id, value in found.items():
        try:
            row = Context.model_validate(value)
        except ValidationError as error:
            bad(f"{path}, text {id!r}", problem(error))
        else:
            documents[id] = Document(id=id, text=row.context, labels={"domain": row.domain} if row.domain else {})
    return documents


def question(row: HawkRow, file: Path) -> Question:
    return Question(
        id=row.id,
        text=row.input,
        answers=accepted(*row.answers),
        labels={
            "level": f"L{file.parent.name[-1]}",
            "domain": row.label or file.stem,
            "answer_kind": answer_kind(row.answers[0]),
        },
        scope=(row.context_id,),
    )
