"""Benchmarks on disk: what their folders hold, the card for people, and what can be wrong inside."""

import hashlib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ragstone.errors import ConfigError, DataError
from ragstone.files import decode, encode
from ragstone.folders import finished, locked, read_folder, write_folder
from ragstone.types import Benchmark, Document, Entry, Failure, Manifest, Question, Rejection, Slot, Template
from ragstone.version import __version__

BENCHMARK_FILES: Mapping[str, Any] = {
    "documents": Document,
    "questions": Question,
    "rejected": Entry[Rejection],
    "failures": Failure,
}
TEMPLATE_FILES: Mapping[str, Any] = {"documents": Document, "questions": Question, "slots": Slot}


def fingerprint(benchmark: Benchmark) -> str:
    """The sha256 of documents and questions: equal for equal data, wherever it lies."""
    digest = hashlib.sha256()
    for record in (*benchmark.documents, *benchmark.questions):
        digest.update(encode(record))
    return digest.hexdigest()


def canary(benchmark: Benchmark) -> str:
    """A string to search training data for: it stands in the manifest and the card of this benchmark alone."""
    return f"RAGSTONE CANARY {uuid.uuid5(uuid.NAMESPACE_URL, fingerprint(benchmark))}"


def save(benchmark: Benchmark, folder: Path | str) -> None:
    """Writes a benchmark folder in place of one that is there; a folder that holds something else is left alone."""
    folder = Path(folder)
    if any(folder.glob("[!.]*")) and not finished(folder, "manifest.json"):
        raise ConfigError(f"{folder} is not empty and holds no benchmark; choose another place")
    with locked(folder):
        write_benchmark(benchmark, folder)


def write_benchmark(benchmark: Benchmark, folder: Path) -> None:
    """Writes a benchmark into a folder that is locked."""
    template = benchmark.template
    rows: dict[str, Sequence[BaseModel]] = {f"{name}.jsonl": getattr(benchmark, name) for name in BENCHMARK_FILES}
    counts = {name: len(getattr(benchmark, name)) for name in BENCHMARK_FILES}
    if template:
        rows |= {template_file(name): getattr(template, name) for name in TEMPLATE_FILES}
        counts["slots"] = len(template.slots)
    manifest = Manifest(
        ragstone=__version__,
        canary=canary(benchmark),
        about=benchmark.about,
        steps=benchmark.steps,
        template={"style": template.style} if template else {},
        counts=counts,
    )
    left_out = () if template else ("template",)
    write_folder(folder, rows, manifest, "manifest.json", card=card(manifest), without=left_out)


def template_file(name: str) -> str:
    return f"template/{name}.jsonl"


def load_benchmark(folder: Path) -> Benchmark:
    """Reads a benchmark folder and compares every data file with its hash."""
    if not finished(folder, "manifest.json"):
        raise DataError(f"{folder} has no manifest.json, so it is not complete; run the command that made it again")
    names = [f"{name}.jsonl" for name in BENCHMARK_FILES]
    manifest, data = read_folder(folder, "manifest.json", Manifest, names, template_files)

    def rows(file: str, kind: Any) -> Any:
        return decode(data[file], folder / file, kind)

    found = {name: rows(f"{name}.jsonl", kind) for name, kind in BENCHMARK_FILES.items()}
    parts = {name: rows(template_file(name), kind) for name, kind in TEMPLATE_FILES.items() if manifest.template}
    template = Template(**parts, style=manifest.template.get("style", "")) if manifest.template else None
    return Benchmark(**found, about=manifest.about, steps=manifest.steps, template=template)


def template_files(manifest: Manifest) -> list[str]:
    return [template_file(name) for name in TEMPLATE_FILES] if manifest.template else []


def card(manifest: Manifest) -> str:
    """The card for people: what this is, where it comes from, how it was made, what was not checked."""
    about, counts = manifest.about, manifest.counts
    lines = [
        f"# {about.name or 'Benchmark'}",
        "",
        f"{counts.get('questions', 0)} questions over {counts.get('documents', 0)} documents; "
        f"{counts.get('rejected', 0)} drafts rejected and {counts.get('failures', 0)} failed, all kept beside them.",
        "",
        f"- Language: {about.language or 'not stated'}",
        f"- Sources: {'; '.join(about.sources) or 'not stated'}",
        f"- Licences: {'; '.join(about.licences) or 'not stated'}",
        *(f"- {note}" for note in about.notes),
        *(
            [f"- {counts['slots']} slots can be filled anew: `ragstone draw FOLDER --draw N`"]
            if manifest.template
            else []
        ),
        "",
        "## How it was made",
        "",
    ]
    for step in manifest.steps:
        counted = ", ".join(f"{number} {what}" for what, number in step.counts.items())
        lines.append(f"- `{step.recipe}` (draw {step.draw}): {counted}. Checks: {', '.join(step.checks) or 'none'}.")
        models = {
            **step.made.models,
            **{role: name for made in step.checks.values() for role, name in made.models.items()},
        }
        lines += [f"  - Model as {role}: {name}" for role, name in models.items()]
        lines += [f"  - Not run: {check} ({reason})" for check, reason in step.not_run.items()]
    lines += ["" if manifest.steps else "- loaded from its sources, unchanged\n", f"`{manifest.canary}`", ""]
    lines += [f"Made with ragstone {manifest.ragstone}. Evaluate a system: `ragstone eval FOLDER --system bm25`."]
    return "\n".join(lines) + "\n"


def evidence_ids(question: Question) -> list[str]:
    """The documents that the evidence names, each once."""
    return list(dict.fromkeys(piece.document_id for group in question.evidence for piece in group))


def problems(benchmark: Benchmark) -> Iterator[str]:
    """What is wrong inside a benchmark: double ids, pointers to nowhere, quotes that are not where they should be."""
    documents: dict[str, Document] = {}
    for document in benchmark.documents:
        if document.id in documents:
            yield f"document {document.id!r} appears twice"
        documents[document.id] = document
    seen: set[str] = set()
    for question in benchmark.questions:
        if question.id in seen:
            yield f"question {question.id!r} appears twice"
        seen.add(question.id)
        yield from (f"question {question.id!r}: {problem}" for problem in question_problems(question, documents))


def question_problems(question: Question, documents: Mapping[str, Document]) -> Iterator[str]:
    if not question.text.strip():
        yield "its text is empty"
    if not question.answers and not question.evidence and question.answerable:
        yield "it has neither an answer nor evidence"
    if any(not group or not all(alias.strip() for alias in group) for group in question.answers):
        yield "an answer is empty"
    for name in ("scope", "hidden"):
        for missing in [id for id in getattr(question, name) if id not in documents]:
            yield f"its {name} names document {missing!r}, which does not exist"
    for piece in (piece for group in question.evidence for piece in group):
        if piece.document_id not in documents:
            yield f"its evidence points to document {piece.document_id!r}, which does not exist"
        elif piece.start is not None and documents[piece.document_id].text[piece.start : piece.end] != piece.quote:
            yield f"its evidence is not at {piece.start}–{piece.end} of document {piece.document_id!r}"
