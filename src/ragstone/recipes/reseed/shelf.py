"""Finished templates, kept so that the same source need not be read and marked again. Nothing here is dear."""

import hashlib
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from ragstone import slots, text
from ragstone.errors import ConfigError
from ragstone.extract.kept import rules
from ragstone.files import sha256, write_bytes
from ragstone.store import fingerprint
from ragstone.types import Benchmark, Template

FOLDER = "templates"


def key(benchmark: Benchmark, *wishes: str) -> str:
    """Differs whenever the template might: the data, what is wished of it, and the code and word lists that make it."""
    return sha256("\x1f".join((fingerprint(benchmark), *wishes, making())).encode())


@cache
def making() -> str:
    digest = hashlib.sha256(rules())
    own = [*Path(__file__).parent.iterdir(), Path(slots.__file__), Path(text.__file__)]
    for path in sorted(path for path in own if path.suffix in (".py", ".toml")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def recall(folder: Path | None, key: str) -> Template | None:
    """The template that was kept; None where there is none or its file is damaged."""
    if folder is None:
        return None
    try:
        checksum, _, data = place(folder, key).read_bytes().partition(b"\n")
        return Template.model_validate_json(data) if checksum == sha256(data).encode() else None
    except (OSError, ValidationError):
        return None


def keep(folder: Path | None, key: str, template: Template) -> None:
    """Writes the template whole or not at all; where there is no room or no right, it is gone without."""
    if folder is None:
        return
    data = template.model_dump_json(exclude_defaults=True).encode()
    try:
        write_bytes(place(folder, key), sha256(data).encode() + b"\n" + data)
    except ConfigError:
        return


def place(folder: Path, key: str) -> Path:
    return folder / FOLDER / f"{key}.json"
