"""The results of runs as one self-contained page, or as Markdown."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from ragstone.errors import ConfigError
from ragstone.files import write_bytes
from ragstone.run_folder import Run
from ragstone.types import Made

TITLE = "Ragstone results"


def write_page(runs: Sequence[Run], out: Path) -> Path:
    """Writes an .html or .md file and returns its path."""
    formats = {".html": html_page, ".md": markdown_page}
    if out.suffix not in formats:
        raise ConfigError(f"cannot write {out}: the name must end in {' or '.join(formats)}")
    write_bytes(out, formats[out.suffix](runs).encode())
    return out


def html_page(runs: Sequence[Run]) -> str:
    template = (files("ragstone.report") / "page.html").read_text("utf-8")
    shown = [in_page(run) for run in runs]
    return Environment(autoescape=True, undefined=StrictUndefined).from_string(template).render(title=TITLE, runs=shown)


def in_page(run: Run) -> dict[str, object]:
    made = {name: settings(made) for name, made in (*run.manifest.systems.items(), *judged(run))}
    known = run.manifest.model_dump(mode="json")
    took = run.cost_table()
    return {
        **known,
        "table": run.table().html(),
        "took": took.html() if took else "",
        "took_notes": took.notes if took else (),
        "notes": run.notes,
        "made": made,
    }


def markdown_page(runs: Sequence[Run]) -> str:
    return "\n\n".join([f"# {TITLE}", *(markdown_section(run) for run in runs)]) + "\n"


def markdown_section(run: Run) -> str:
    manifest = run.manifest
    facts = [
        f"{manifest.questions} questions; sources: {'; '.join(manifest.about.sources) or 'not stated'}",
        f"licences: {'; '.join(manifest.about.licences) or 'not stated'}",
        f"benchmark fingerprint: `{manifest.benchmark}`",
        *(f"{name}: `{settings(made)}`" for name, made in (*manifest.systems.items(), *judged(run))),
        f"made with ragstone {manifest.ragstone}, draw {manifest.draw}",
    ]
    heading = f"## {escape(manifest.about.name)}, {manifest.corpus} corpus"
    took = run.cost_table()
    costs = ["", took.markdown(), ""] if took else []
    return "\n".join([heading, "", run.table().markdown(), *costs, *(f"- {escape(f, quote=False)}" for f in facts)])


def judged(run: Run) -> list[tuple[str, Made]]:
    """The metrics that asked models, with what they asked."""
    return [(name, made) for name, made in run.manifest.metrics.items() if made.models]


def settings(made: Made) -> str:
    """All that made a column, for people who want to make it again."""
    fields = [f"{name}={value}" for name, value in made.component.items() if name != "component"]
    return ", ".join([*fields, *(f"{role}={model}" for role, model in made.models.items())]) or "no settings"
