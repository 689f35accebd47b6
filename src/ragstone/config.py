"""Settings from flags, the environment and one TOML file, in that order of precedence.

    # ragstone.toml, in the folder where the command is run
    concurrency = 16
    cache = "~/big-disk/ragstone"
    base_url = "http://localhost:8000/v1"

    [models]
    reader = "scripted:replies.jsonl"
    embedder = "sentence-transformers:all-MiniLM-L6-v2"

In the environment: RAGSTONE_CONCURRENCY, RAGSTONE_CACHE, RAGSTONE_BASE_URL, RAGSTONE_MODEL_READER and so on.
"""

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, PositiveInt, ValidationError

from ragstone.errors import ConfigError
from ragstone.files import first_problem
from ragstone.kit import ROLES, Kit, Reader
from ragstone.types import Record

FILE = Path("ragstone.toml")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ragstone"


class Settings(Record):
    """What a command runs with. Only the embedder has a default model; what needs another role says so."""

    models: Mapping[str, str] = Field({"embedder": "wordllama"}, description="model spec by role")
    base_url: str = Field("", description="server of `openai:` models")
    concurrency: PositiveInt = Field(8, description="calls under way at once")
    cache: Path | None = Field(CACHE, description="where indexes are kept")


def load_settings(file: Path = FILE, **flags: Any) -> Settings:
    """Flags over environment over file over defaults; a flag that is None was not given."""
    given = {name: value for name, value in flags.items() if value is not None}
    layers = [from_file(file), from_environment(os.environ), given]
    merged: dict[str, Any] = {}
    models = dict(Settings().models)
    for layer in layers:
        merged.update(layer)
        if not isinstance(layer.get("models", {}), dict):
            raise ConfigError(f"{file}: models must be a table; write [models] and a line for each role")
        models.update(layer.get("models", {}))
    unknown = sorted(set(models) - set(ROLES))
    if unknown:
        raise ConfigError(f"no model role named {unknown[0]!r}; there are {', '.join(ROLES)}")
    try:
        return Settings(**{**merged, "models": models})
    except ValidationError as error:
        raise ConfigError(f"settings: {first_problem(error)}; there are {', '.join(Settings.model_fields)}") from error


def from_file(path: Path) -> dict[str, Any]:
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {path}: {error}; mend or remove it") from error
    return with_home(found)


def from_environment(variables: Mapping[str, str]) -> dict[str, Any]:
    """RAGSTONE_DATA belongs to the tests and is left alone; so is every name that is not a setting."""
    plain = {name: variables.get(f"RAGSTONE_{name.upper()}") for name in ("base_url", "concurrency", "cache")}
    found: dict[str, Any] = {name: value for name, value in plain.items() if value}
    models = {role: variables.get(f"RAGSTONE_MODEL_{role.upper()}", "") for role in ROLES}
    found["models"] = {role: spec for role, spec in models.items() if spec}
    return with_home(found)


def with_home(found: dict[str, Any]) -> dict[str, Any]:
    if isinstance(found.get("cache"), str):
        found["cache"] = Path(found["cache"]).expanduser()
    return found


def model_flags(specs: Sequence[str]) -> dict[str, str]:
    """`SPEC` sets the reader, `ROLE=SPEC` a role; in `scripted:a=b.jsonl` the = belongs to the file's name."""
    split = [text.partition("=") if "=" in text.partition(":")[0] else ("reader", "=", text) for text in specs]
    return {role: spec for role, _, spec in split}


def open_kit(chosen: Settings, draw: int = 0) -> Kit:
    """The kit with the models that the settings name; a model is loaded when it is first used."""
    from ragstone.retrieval.embedders import open_embedder

    spec = chosen.models.get("embedder", "")
    return Kit(
        draw=draw,
        cache=chosen.cache,
        reader=open_reader(chosen.models.get("reader", "")),
        embedder=open_embedder(spec, chosen.base_url) if spec else None,
    )


def open_reader(spec: str) -> Reader | None:
    from ragstone.llm.reader import ModelReader
    from ragstone.llm.scripted import Scripted

    kind, _, rest = spec.partition(":")
    if not spec:
        return None
    if kind == "scripted" and rest:
        return ModelReader(Scripted(Path(rest)))
    raise ConfigError(f"no reader model {spec!r}; there is scripted:FILE")
