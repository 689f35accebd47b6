"""A table for people, in a terminal, a notebook, Markdown or a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from ragstone.score import Cost, Row

if TYPE_CHECKING:
    from ragstone.llm.forecast import Foreseen


@dataclass(frozen=True)
class Table:
    """Columns, rows and notes as text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The table in columns, for a terminal."""
        widths = [max(len(row[i]) for row in (self.columns, *self.rows)) for i in range(len(self.columns))]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in (self.columns, tuple("─" * width for width in widths), *self.rows)
        ]
        return "\n".join([*lines, *(f"· {note}" for note in self.notes)])

    __repr__ = __str__

    def markdown(self) -> str:
        lines = [self.columns, ("---",) * len(self.columns), *self.rows]
        table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
        return "\n".join([table, "", *(f"- {note}" for note in self.notes)])

    @property
    def width(self) -> int:
        """Characters in a line of the text."""
        return max(len(line) for line in str(self).splitlines()[: 2 + len(self.rows)])

    def html(self) -> str:
        """The table alone."""
        head = "".join(f'<th scope="col">{escape(column)}</th>' for column in self.columns)
        body = "".join(
            "<tr>"
            + f'<th scope="row">{escape(first)}</th>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
            + "</tr>"
            for first, *rest in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _repr_html_(self) -> str:
        return self.html() + "<ul>" + "".join(f"<li>{escape(note)}</li>" for note in self.notes) + "</ul>"


def results_table(rows: Sequence[Row], notes: Sequence[str], width: int | None = None) -> Table:
    """A line for each system, a column for each metric; where that is too wide, a line for each of both."""
    wide = wide_table(rows, notes)
    return wide if width is None or wide.width <= width else long_table(rows, notes)


def long_table(rows: Sequence[Row], notes: Sequence[str]) -> Table:
    lines = [(row.system, row.metric, cell(row, row.n), str(row.n), str(row.failed), str(row.declined)) for row in rows]
    return Table(("system", "metric", "mean", "n", "failed", "declined"), tuple(lines), tuple(notes))


def wide_table(rows: Sequence[Row], notes: Sequence[str]) -> Table:
    """Failed and declined stand apart from what was scored."""
    systems = list(dict.fromkeys(row.system for row in rows))
    metrics = list(dict.fromkeys(row.metric for row in rows))
    cells = {(row.system, row.metric): row for row in rows}
    lines = []
    for system in systems:
        mine = [cells[system, metric] for metric in metrics]
        most = max(row.n for row in mine)
        counts = (str(most), span([row.failed for row in mine]), str(mine[0].declined))
        lines.append((system, *(cell(row, most) for row in mine), *counts))
    return Table(("system", *metrics, "n", "failed", "declined"), tuple(lines), tuple(notes))


def costs_table(costs: Sequence[Cost], notes: Sequence[str]) -> Table:
    """What each system took; seconds stand there only if they were measured for it."""
    timed = any(cost.median_seconds is not None for cost in costs)
    names = ("system", "answers", "calls", "tokens in", "tokens out", "context tokens", "truncated", "cost")
    lines = [
        (
            cost.system,
            str(cost.answers),
            f"{cost.calls:,}",
            f"{cost.input_tokens:,}",
            f"{cost.output_tokens:,}",
            f"{cost.context_tokens:,.0f}",
            str(cost.truncated),
            "price not known" if cost.money is None else f"${cost.money:,.4f}",
            *((seconds(cost.median_seconds), seconds(cost.slow_seconds)) if timed else ()),
        )
        for cost in costs
    ]
    return Table((*names, *(("median s", "95th percentile s") if timed else ())), tuple(lines), tuple(notes))


def forecast_table(foreseen: "Sequence[Foreseen]") -> Table:
    """What a command would ask of models, stage by stage."""
    lines = [
        (
            row.stage,
            row.model,
            f"{row.calls:,}",
            f"{row.recalled:,}",
            f"{row.input_tokens:,}",
            f"{row.output_tokens:,}",
            "price not known" if row.cost is None else f"${row.cost:,.4f}",
        )
        for row in foreseen
    ]
    costs = [row.cost for row in foreseen]
    money = "price not known" if None in costs else f"${sum(cost or 0.0 for cost in costs):,.4f}"
    figures = ("calls", "recalled", "input_tokens", "output_tokens")
    total = (f"{sum(getattr(row, name) for row in foreseen):,}" for name in figures)
    notes = ["nothing was asked; tokens out and cost are the most that the calls may take"]
    names = ("stage", "model", "calls", "in the cache", "tokens in", "tokens out, at most", "cost, at most")
    return Table(names, (*lines, ("total", "", *total, money)), tuple(notes))


def seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def span(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low}–{high}"


def as_json(rows: Sequence[Row], costs: Sequence[Cost]) -> dict[str, object]:
    """The results for machines: system → metric → value, interval and counts; and system → what it took."""
    systems: dict[str, dict[str, object]] = {}
    for row in rows:
        figures = {name: value for name, value in row._asdict().items() if name not in ("system", "metric")}
        systems.setdefault(row.system, {})[row.metric] = figures
    took = {cost.system: {name: value for name, value in cost._asdict().items() if name != "system"} for cost in costs}
    return {"systems": systems, "costs": took}


def cell(row: Row, usual: int) -> str:
    """A mean with its interval, and its n where that is not the line's."""
    if row.value is None:
        return "–"
    return f"{row.value:.3f} [{row.low:.3f}, {row.high:.3f}]" + (f" n={row.n}" if row.n != usual else "")
