"""The results of runs as one self-contained page, or as Markdown."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from ragstone.errors import ConfigError
from ragstone.evaluate import Run
from ragstone.store import write_bytes

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
    shown = [{**run.manifest.model_dump(mode="json"), "table": run.table()._repr_html_()} for run in runs]
    return Environment(autoescape=True, undefined=StrictUndefined).from_string(template).render(title=TITLE, runs=shown)


def markdown_page(runs: Sequence[Run]) -> str:
    parts = [f"## {run.manifest.about.name}, {run.manifest.corpus} corpus\n\n{run.table().markdown()}" for run in runs]
    return "\n\n".join([f"# {TITLE}", *parts]) + "\n"
