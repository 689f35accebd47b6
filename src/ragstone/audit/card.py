"""An audit for people: tables in a terminal, and the same as a page with examples."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragstone.audit.records import Accuracy, Audit, Example, Figure, ModelRow, Said, Side, Split, Told
from ragstone.report.table import Table

NOTHING = "–"
MOST_REASONS = 5
NOT_MEASURED = Side(guessing=0.0)


class Section(NamedTuple):
    """A table under its title."""

    title: str
    table: Table


def in_terminal(audit: Audit) -> str:
    parts = [heading(audit), *(f"{title}\n{table}" for title, table in sections(audit))]
    return "\n\n".join([*parts, *absent(audit)])


def markdown(audit: Audit) -> str:
    """The card: all tables, and the examples in full."""
    parts = [f"# Audit\n\n{heading(audit)}"]
    parts += [f"## {capital(title)}\n\n{table.markdown()}" for title, table in sections(audit)]
    parts += ["## Examples", *map(example, audit.examples)] if audit.examples else []
    parts += ["## Not measured\n\n" + "\n".join(f"- {line}" for line in audit.missing)] if audit.missing else []
    return "\n\n".join([*parts, f"Made with ragstone {audit.ragstone}."]) + "\n"


def heading(audit: Audit) -> str:
    origin = f"the original is {audit.original}" if audit.original else "there is no original to compare with"
    if audit.original and not audit.original.startswith("rebuilt"):
        origin = f"the original is read from {audit.original}"
    return f"{audit.questions} questions, {audit.at}; {origin}. Intervals are of 95 % unless they say otherwise."


def absent(audit: Audit) -> list[str]:
    return ["\n".join(["not measured", *(f"· {line}" for line in audit.missing)])] if audit.missing else []


def sections(audit: Audit) -> Iterator[Section]:
    """Every part of the audit that has something to tell."""
    makers = (leakage, gold, closed_book, commonest, retrieval, structure, funnel, stability)
    tables = ((maker.__doc__ or "", maker(audit)) for maker in makers)
    return (Section(title.rstrip("."), table) for title, table in tables if table and table.rows)


# ── models ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def by_part(audit: Audit) -> Iterator[tuple[ModelRow, Split, Side]]:
    """Each model with each part of the questions, and how that was before."""
    return ((row, part, part.before or NOT_MEASURED) for row in audit.models for part in row.parts)


def leakage(audit: Audit) -> Table:
    """leakage error: right answers without any document."""
    names = ("model", "questions", "n", "original", "benchmark", "above chance", "reduction", "may decline", "found")
    rows = [
        (
            row.model,
            part.part,
            str(size(part)),
            raw(then.leakage, size(part)),
            raw(part.after.leakage, size(part)),
            corrected(part.after.leakage, size(part)),
            shown(part.reduction, size(part)),
            raw(part.after.may_decline, size(part)),
            part.found,
        )
        for row, part, then in by_part(audit)
    ]
    found = dict.fromkeys(f"{part.found}: {part.why} ({row.model}, {part.part})" for row, part, _ in by_part(audit))
    notes = (
        "only a model that beats guessing on the original can certify the benchmark; guessing is the better of chance "
        "and the commonest answer; above chance is (raw − chance) / (1 − chance), and reduction is of that",
        *found,
        *(f"{row.model} was asked on {row.at}; right means {row.metric}" for row in audit.models),
    )
    return Table(names, tuple(rows), notes)


def gold(audit: Audit) -> Table:
    """answers with the evidence, and answerability: what the evidence adds."""
    names = ("model", "questions", "n", "original", "benchmark", "change", "p")
    rows = [
        (
            row.model,
            part.part,
            str(size(part)),
            raw(then.gold, size(part)),
            raw(part.after.gold, size(part)),
            shown(part.gold_change, size(part), signed=True),
            NOTHING if part.gold_p is None else f"{part.gold_p:.3f}",
            shown(then.answerability, size(part)),
            shown(part.after.answerability, size(part)),
            shown(part.after.answerability_corrected, size(part)),
        )
        for row, part, then in by_part(audit)
    ]
    answerable = ("answerability: original", "benchmark", "above chance")
    return Table((*names, *answerable), tuple(rows), ("change is on the same questions, p by McNemar's exact test",))


def closed_book(audit: Audit) -> Table:
    """what closed-book answers are, of a model that may decline."""
    names = ("model", "questions", "of", "leak", "inconsistent", "confabulated", "none", "n")
    rows = []
    for row, part, _ in by_part(audit):
        sides = (("original", part.said_before), ("benchmark", part.said))
        rows += [(row.model, part.part, side, *counted(said)) for side, said in sides if said]
    notes = [
        f"{row.model}: names alone {raw(row.names_only)}; the original answer although the evidence is at hand "
        f"(`memory`) {shown(row.memory)}"
        for row in audit.models
    ]
    told = "inconsistent: wrong, and the original answer or about a name that the model says it knows; confabulated: "
    told += "any other wrong answer"
    unasked = [row.model for row in audit.models if not row.familiarity]
    asked = [f"which names it knows was not asked of {', '.join(unasked)} (--familiarity)"] if unasked else []
    return Table(names, tuple(rows), (told, *asked, *notes))


def counted(said: Said) -> tuple[str, ...]:
    counts = (said.leak, said.inconsistent, said.confabulated, said.none)
    return (*map(str, counts), str(sum(counts)))


# ── without models ───────────────────────────────────────────────────────────────────────────────────────────────────


def commonest(audit: Audit) -> Table:
    """the commonest answer to every question."""
    rows = [
        (
            b.part,
            str(b.after.n),
            b.before_answer or NOTHING,
            shown(b.before, b.after.n),
            b.answer,
            shown(b.after, b.after.n),
        )
        for b in audit.baselines
    ]
    return Table(("questions", "n", "original", "right", "benchmark", "right"), tuple(rows))


def retrieval(audit: Audit) -> Table:
    """how hard the evidence is to find among all documents."""
    rows = [
        (
            found.system,
            found.metric,
            str(found.after.n),
            shown(found.before, found.after.n),
            shown(found.after, found.after.n),
            shown(found.difference, found.after.n, signed=True),
            NOTHING if found.p is None else f"{found.p:.3f}",
            {None: NOTHING, True: "yes", False: "not shown"}[found.equivalent],
        )
        for found in audit.retrieval
    ]
    notes = ["difference with a 90 % interval; equal: two one-sided tests say that it is within ± 5 points"]
    return Table(
        ("system", "metric", "n", "original", "benchmark", "difference", "p", "equal"), tuple(rows), tuple(notes)
    )


def structure(audit: Audit) -> Table:
    """the shape of graphs."""
    rows = [
        (
            found.of,
            name.replace("_", " "),
            f"{found.before[name]:.3f}",
            f"{found.after[name]:.3f}",
            percent(found.drift.get(name)),
            found.label,
        )
        for found in audit.structure
        for name in found.after
    ]
    sizes = [f"{found.n} {found.of}" for found in audit.structure]
    notes = (
        f"means over {' and '.join(sizes)}; by construction: filling a template cannot change them, so it is no "
        "evidence; re-extracted: found independently on both sides",
    )
    return Table(("of", "mean of", "original", "benchmark", "mean relative drift", "label"), tuple(rows), notes)


def funnel(audit: Audit) -> Table:
    """how it was made."""
    rows: list[tuple[str, ...]] = []
    for step in audit.funnel:
        rows += [(step.recipe, what, "", str(number)) for what, number in step.counts.items()]
        for check, told in step.rejected.items():
            commonest = list(told.items())[:MOST_REASONS]
            rows += [(step.recipe, f"rejected by {check}", why, str(n)) for why, n in commonest]
        rows += [(step.recipe, f"not run: {check}", why, "") for check, why in step.not_run.items()]
    return Table(("recipe", "what", "why", "number"), tuple(rows))


def stability(audit: Audit) -> Table:
    """fresh draws."""
    rows = [
        (
            found.system,
            found.metric,
            " ".join(f"{value:.3f}" for value in found.values.values()),
            f"{found.mean:.3f}",
            f"{found.sd:.3f}",
            str(found.n),
        )
        for found in audit.stability
    ]
    fixed = audit.fixed_outcomes
    notes = [] if fixed is None else [f"{fixed} of {audit.questions} questions are closed and end alike in every draw"]
    return Table(("system", "metric", "draw by draw", "mean", "SD", "n"), tuple(rows), tuple(notes))


# ── cells ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def size(part: Split) -> int:
    """The number of questions of a line: those that could be scored without any document."""
    return part.after.leakage.raw.n if part.after.leakage else 0


def shown(figure: Figure | None, usual: int | None = None, signed: bool = False) -> str:
    """A value with its interval, and its n where that is not the line's."""
    if figure is None:
        return NOTHING
    sign = "+" if signed else ""
    n = f" n={figure.n}" if figure.n != usual else ""
    return f"{figure.value:{sign}.2f} [{figure.low:{sign}.2f}, {figure.high:{sign}.2f}]{n}"


def raw(accuracy: Accuracy | None, usual: int | None = None) -> str:
    if accuracy is None:
        return NOTHING
    return shown(accuracy.raw, usual) + (f", {accuracy.failed} failed" if accuracy.failed else "")


def corrected(accuracy: Accuracy | None, usual: int | None = None) -> str:
    return shown(accuracy.corrected if accuracy else None, usual)


def percent(share: float | None) -> str:
    return NOTHING if share is None else f"{share:.1%}"


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# ── examples ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def example(found: Example) -> str:
    forms: Sequence[tuple[str, Told | None]] = (
        ("Original", found.original),
        ("Reseeded", found.reseeded),
        ("Direct", found.direct),
    )
    return "\n\n".join([f"### `{found.id}`", *(spoken(name, told) for name, told in forms if told)])


def spoken(name: str, told: Told) -> str:
    lines = [f"**{name}**: {told.question}", f"- answer: {told.answer}", *(f"- {text}" for text in told.evidence)]
    return "\n".join([lines[0], "", *lines[1:]])
