"""What can be told of a benchmark without running anything: its structure, how it was made, examples."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ragstone.audit.records import Example, Funnel, Structure, Told
from ragstone.files import sha256
from ragstone.matching import spelled_out
from ragstone.slots import bind_all, values
from ragstone.store import evidence_ids
from ragstone.types import Benchmark, Question, ReasoningGraph

if TYPE_CHECKING:
    from ragstone.graphs import Statistics

EXAMPLES = 3
LONGEST = 400
VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|“[^”]*”|\d+")


def structure(after: Benchmark, before: Benchmark | None) -> list[Structure]:
    """How far the question graphs have drifted; nothing where either side has none."""
    originals = {question.id: question.graph for question in before.questions} if before else {}
    pairs = [(old, q.graph) for q in after.questions if q.graph and (old := originals.get(q.id))]
    return drifted(pairs, "question graphs", "by construction" if is_bound(after) else "re-extracted")


def read_again(after: Benchmark, before: Benchmark, cache: Path | None) -> list[Structure]:
    """How far what is read off the evidence has drifted, both sides read anew and without a model."""
    from ragstone.extract import extract

    originals = {question.id: question for question in before.questions}
    ids = {
        new: old
        for question in after.questions
        for new, old in zip(evidence_ids(question), evidence_ids(originals[question.id]), strict=False)
    }
    now = extract([document for document in after.documents if document.id in ids], cache)
    then = extract([document for document in before.documents if document.id in set(ids.values())], cache)
    pairs = [(then[old], now[new]) for new, old in ids.items() if then[old].facts or now[new].facts]
    return drifted(pairs, "evidence documents", "re-extracted")


def drifted(
    pairs: Sequence[tuple[ReasoningGraph, ReasoningGraph]],
    of: Literal["question graphs", "evidence documents"],
    label: Literal["by construction", "re-extracted"],
) -> list[Structure]:
    from ragstone.graphs import mean_drift, statistics

    if not pairs:
        return []
    measured = [(statistics(old), statistics(new)) for old, new in pairs]
    then, now = means([old for old, _ in measured]), means([new for _, new in measured])
    drift = {name: found.absolute for name, found in mean_drift(measured).items()}
    return [Structure(of=of, label=label, n=len(pairs), before=then, after=now, drift=drift)]


def is_bound(benchmark: Benchmark) -> bool:
    """Whether the graphs were made by filling a template, so that their shape could not change."""
    if benchmark.template is None:
        return False
    made: dict[str, ReasoningGraph | None] = {
        question.id: question.graph for question in bind_all(benchmark.template, values(benchmark.template.slots))[1]
    }
    return all(made.get(question.id) == question.graph for question in benchmark.questions)


def means(found: "Sequence[Statistics]") -> dict[str, float]:
    return {name: sum(getattr(one, name) for one in found) / len(found) for name in type(found[0]).model_fields}


# ── how it was made ──────────────────────────────────────────────────────────────────────────────────────────────────


def funnel(benchmark: Benchmark) -> tuple[Funnel, ...]:
    """What became of the drafts of each recipe; rejected drafts are those of the last that made any."""
    reasons: dict[str, Counter[str]] = {}
    for entry in benchmark.rejected:
        reasons.setdefault(entry.by, Counter())[alike(entry.value.reason)] += 1
    ranked = {check: dict(told.most_common()) for check, told in reasons.items()}
    made = [step for step in benchmark.steps if "planned" in step.counts]
    return tuple(
        Funnel(
            recipe=step.recipe, counts=step.counts, not_run=step.not_run, rejected=ranked if step is made[-1] else {}
        )
        for step in made
    )


def alike(reason: str) -> str:
    """A reason without what differs from draft to draft: what it quotes and counts."""
    return VARYING.sub("…", reason).strip()


# ── examples ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def examples(after: Benchmark, before: Benchmark | None, direct: Benchmark | None) -> tuple[Example, ...]:
    """A few questions beside what they were made from, and what direct generation made from the same."""
    originals = {question.id: question for question in before.questions} if before else {}
    generated = {question.parent: question for question in direct.questions} if direct else {}

    def parallel(question: Question) -> Question | None:
        return generated.get(question.parent) or generated.get(question.id)

    shown = sorted(after.questions, key=lambda q: (direct is not None and not parallel(q), sha256(q.id.encode())))
    return tuple(
        Example(
            id=question.id,
            reseeded=told(question, after),
            original=told(originals[question.id], before) if before and question.id in originals else None,
            direct=told(other, direct) if direct and (other := parallel(question)) else None,
        )
        for question in shown[:EXAMPLES]
    )


def told(question: Question, benchmark: Benchmark) -> Told:
    texts: Mapping[str, str] = {document.id: document.text for document in benchmark.documents}
    quoted = {piece.document_id: piece.quote for group in question.evidence for piece in group[:1]}
    evidence = tuple(shortened(quoted.get(id) or texts.get(id, "")) for id in evidence_ids(question) if id in quoted)
    return Told(question=question.text, answer=spelled_out(question.answers), evidence=evidence)


def shortened(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else f"{flat[:LONGEST].rsplit(' ', 1)[0]} …"
