"""The benchmark before it was changed, question by question."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ragstone.errors import DataError
from ragstone.load import load
from ragstone.slots import bind, bind_all, originals, values
from ragstone.store import evidence_ids
from ragstone.types import Benchmark, Question, Template

REBUILT = "rebuilt from the template"
SLOT = r"\{\{[a-z]+\d+(?:\.(?!(?:capital)?article)[a-z]+)?\}\}"
NAME = re.compile(rf"{SLOT}(?:[ '’.-]*{SLOT})*")


class Pair(NamedTuple):
    """The same questions after and before, under the same ids."""

    after: Benchmark
    before: Benchmark | None = None
    origin: str = ""


def paired(benchmark: Benchmark, original: str | Path | Benchmark | None) -> Pair:
    """The benchmark with its original: the one that is given, else the one that its template gives back."""
    if original is not None:
        source = original if isinstance(original, Benchmark) else load(original)
        return matched(benchmark, source, source.about.name if isinstance(original, Benchmark) else str(original))
    return rebuilt(benchmark, benchmark.template) if benchmark.template else Pair(benchmark)


def rebuilt(benchmark: Benchmark, template: Template) -> Pair:
    documents, questions = bind_all(template, originals(template.slots))
    return matched(benchmark, Benchmark(documents=documents, questions=questions, about=benchmark.about), REBUILT)


def matched(after: Benchmark, source: Benchmark, origin: str) -> Pair:
    """Both with just the questions that both have; those of the original get the ids of what was made from them."""
    known = {question.id: question for question in source.questions}
    both = [(mine, theirs) for mine in after.questions if (theirs := known.get(mine.parent) or known.get(mine.id))]
    if not both:
        raise DataError(
            f"no question of the benchmark was made from one in {origin}; give the source that it was built from"
        )
    originals = tuple(theirs.model_copy(update={"id": mine.id}) for mine, theirs in both)
    return Pair(with_questions(after, tuple(mine for mine, _ in both)), with_questions(source, originals), origin)


def with_questions(benchmark: Benchmark, questions: tuple[Question, ...]) -> Benchmark:
    """The benchmark with these questions and the documents they search: on both sides, so that neither has more."""
    documents = benchmark.documents
    if all(question.scope for question in questions):
        wanted = {id for question in questions for id in (*question.scope, *question.hidden, *evidence_ids(question))}
        documents = tuple(document for document in documents if document.id in wanted)
    return benchmark.model_copy(update={"questions": questions, "documents": documents})


def names_only(benchmark: Benchmark) -> Benchmark | None:
    """The benchmark with nothing left of a question but the names in it; None where no name can be told."""
    if benchmark.template is None:
        return None
    known, asked = values(benchmark.template.slots), {q.id: q.text for q in benchmark.template.questions}
    named = {question.id: names(asked.get(question.id, ""), known) for question in benchmark.questions}
    questions = tuple(q.model_copy(update={"text": named[q.id]}) for q in benchmark.questions if named[q.id])
    return benchmark.model_copy(update={"questions": questions}) if questions else None


def names(template: str, known: Mapping[str, str]) -> str:
    """The names in a question, each once."""
    return ", ".join(dict.fromkeys(bind(found[0], known) for found in NAME.finditer(template.replace("{{{{", ""))))
