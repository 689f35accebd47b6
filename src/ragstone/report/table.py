"""A table for people, in a terminal, a notebook, Markdown or a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ragstone.score import Row


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


def span(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low}–{high}"


def as_json(rows: Sequence[Row]) -> dict[str, object]:
    """The results for machines: system → metric → value, interval and counts."""
    systems: dict[str, dict[str, object]] = {}
    for row in rows:
        figures = {name: value for name, value in row._asdict().items() if name not in ("system", "metric")}
        systems.setdefault(row.system, {})[row.metric] = figures
    return {"systems": systems}


def cell(row: Row, usual: int) -> str:
    """A mean with its interval, and its n where that is not the line's."""
    if row.value is None:
        return "–"
    return f"{row.value:.3f} [{row.low:.3f}, {row.high:.3f}]" + (f" n={row.n}" if row.n != usual else "")
