"""One question with its evidence, or one answer with its scores, as text."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ragstone.errors import DataError, RagstoneError
from ragstone.folders import finished
from ragstone.load import load, something
from ragstone.report.table import as_json
from ragstone.run_folder import Run, load_run
from ragstone.store import evidence_ids, fingerprint
from ragstone.types import Benchmark, Document, Evidence, Passage, Question


def shown_item(place: str, question_id: str, format: str = "", skip_bad: bool = False) -> tuple[dict[str, Any], str]:
    """What to show of a benchmark or a run, as a record and as text."""
    if finished(something(place), "run.json"):
        run = load_run(Path(place))
        results = {**as_json(run.rows, run.costs), "notes": run.notes}
        return shown_answer(run, question_id) if question_id else (results, str(run.table()))
    benchmark = load(place, format=format, skip_bad=skip_bad)
    if not question_id:
        return shown_overview(benchmark)
    question = found(benchmark.questions, question_id, place)
    documents = {document.id: document for document in benchmark.documents}
    return question.model_dump(mode="json"), "\n".join(question_lines(question, documents))


def found(questions: Sequence[Question], question_id: str, place: str) -> Question:
    for question in questions:
        if question.id == question_id:
            return question
    near = ", ".join(question.id for question in questions[:3])
    raise DataError(f"{place} has no question {question_id!r}; its ids look like {near}")


def shown_overview(benchmark: Benchmark) -> tuple[dict[str, Any], str]:
    about = benchmark.about
    counts = {"questions": len(benchmark.questions), "documents": len(benchmark.documents)}
    labels: dict[str, dict[str, int]] = {}
    for name in sorted({name for question in benchmark.questions for name in question.labels}):
        values = Counter(str(question.labels.get(name, "–")) for question in benchmark.questions)
        labels[name] = dict(values.most_common(8))
    lines = [about.name or "benchmark", ", ".join(f"{number} {what}" for what, number in counts.items())]
    lines += [f"{name}: " + ", ".join(f"{value} {n}" for value, n in by.items()) for name, by in labels.items()]
    lines += [f"licence: {licence}" for licence in about.licences] + list(about.notes)
    ids = [item.id for item in benchmark.questions or benchmark.documents]
    lines += ["first ids: " + ", ".join(ids[:5])]
    return {"about": about.model_dump(mode="json"), "counts": counts, "labels": labels}, "\n".join(lines)


def question_lines(question: Question, documents: dict[str, Document]) -> Iterator[str]:
    yield f"{question.id}: {question.text}"
    yield from (f"  - {choice}" for choice in question.choices)
    gold = " and ".join(" | ".join(group) for group in question.answers)
    yield f"answer: {gold or '–'}" + ("" if question.answerable else " (withheld: not answerable)")
    yield "labels: " + (", ".join(f"{name}={value}" for name, value in question.labels.items()) or "–")
    for number, group in enumerate(question.evidence, 1):
        yield from (f"evidence {number}: {evidence_text(piece, documents)}" for piece in group)


def evidence_text(piece: Evidence, documents: dict[str, Document]) -> str:
    document = documents.get(piece.document_id)
    title = f" ({document.title})" if document and document.title else ""
    quote = piece.quote or (document.text if document else "")
    return f"{piece.document_id}{title}: {quote[:300]}{'…' if len(quote) > 300 else ''}"


def documents_of(run: Run) -> dict[str, Document]:
    """The documents of a run, if its source still lies where it was read from and is the same."""
    try:
        source = load(run.manifest.source) if run.manifest.source else Benchmark()
    except RagstoneError:
        return {}
    same = fingerprint(source.model_copy(update={"questions": run.questions})) == run.manifest.benchmark
    return {document.id: document for document in source.documents} if same else {}


def snippet(passage: Passage, documents: dict[str, Document]) -> str:
    """The score and the beginning of a passage."""
    score = "" if passage.score is None else f" ({passage.score:.3f})"
    document = documents.get(passage.document_id)
    text = " ".join(document.text[passage.start or 0 : (passage.start or 0) + 100].split()) if document else ""
    return score + (f" {text}…" if text else "")


def column(system: str, repeat: int) -> str:
    return f"{system}, time {repeat + 1}" if repeat else system


def why(reason: str) -> str:
    return f" ({reason})" if reason else ""


def shown_answer(run: Run, question_id: str) -> tuple[dict[str, Any], str]:
    question = found(run.questions, question_id, "this run")
    mine = {
        name: [entry for entry in getattr(run, name) if entry.question_id == question_id]
        for name in ("answers", "failures", "scores")
    }
    documents = documents_of(run)
    lines = list(question_lines(question, documents))
    gold = evidence_ids(question)
    failed = {(entry.by, entry.repeat): entry.value.error for entry in mine["failures"] if not entry.of}
    for entry in [entry for entry in run.scorable if entry.question_id == question_id]:
        said = (entry.by, entry.repeat)
        text = "(only retrieved)" if entry.value.text is None else entry.value.text
        text = f"failed: {failed.pop(said)}" if said in failed else text
        lines += ["", f"{column(*said)}: {text}" + (" (declined)" if entry.value.declined else "")]
        about = [score for score in mine["scores"] if (score.of, score.repeat) == said]
        lines += [f"  {score.by} {score.value.value:.3f}{why(score.value.reason)}" for score in about]
        for rank, passage in enumerate(entry.value.retrieved or (), 1):
            mark = "*" if passage.document_id in gold else " "
            lines += [f"  {mark} {rank}. {passage.document_id}{snippet(passage, documents)}"]
    lines += [f"\n{column(*said)} failed: {error}" for said, error in failed.items()]
    lines += [
        f"\n{entry.by} of {column(entry.of, entry.repeat)} failed: {entry.value.error}"
        for entry in mine["failures"]
        if entry.of
    ]
    record = {name: [entry.model_dump(mode="json") for entry in entries] for name, entries in mine.items()}
    return {"question": question.model_dump(mode="json"), **record}, "\n".join(lines)
