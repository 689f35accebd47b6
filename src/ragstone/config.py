"""Settings from flags, the environment and one TOML file, in that order of precedence.

    # ragstone.toml, in the folder where the command is run
    concurrency = 16
    cache = "~/big-disk/ragstone"
    base_url = "http://localhost:8000/v1"
    budget = "5"

    [models]
    reader = "openai:gpt-4o-mini"
    judge = "openai:gpt-4o"
    embedder = "sentence-transformers:all-MiniLM-L6-v2"

In the environment: RAGSTONE_CONCURRENCY, RAGSTONE_CACHE, RAGSTONE_BASE_URL, RAGSTONE_MODEL_READER and so on.
"""

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field, PositiveFloat, PositiveInt, ValidationError, field_validator

from ragstone.errors import ConfigError
from ragstone.files import at_home, first_problem
from ragstone.kit import ROLES, Embedder, Kit, Reader
from ragstone.types import Record

if TYPE_CHECKING:
    from ragstone.llm.opening import Opener

FILE = Path("ragstone.toml")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ragstone"


class Settings(Record):
    """What a command runs with.

    Of the roles, only the embedder is always set, and a system that cannot do without a reader gets the embedded one.
    Several readers are given as a tuple; each is a column of its own.
    """

    models: Mapping[str, str | tuple[str, ...]] = Field({"embedder": "wordllama"}, description="model spec by role")
    base_url: str = Field("", description="server of `openai:` models")
    key_file: Path | None = Field(None, description="file that holds the key, if the environment does not")
    concurrency: PositiveInt = Field(8, description="calls under way at once, at most")
    timeout: PositiveFloat = Field(120.0, description="seconds that one try of a call may take")
    patience: PositiveFloat = Field(600.0, description="seconds that all tries of a call may take")
    budget: str = Field("", description="the most that a result may cost: dollars, or as 500calls or 2Mtokens")
    prices: Path | None = Field(None, description="TOML file of prices, in dollars for a million tokens")
    cache: Path | None = Field(CACHE, description="where replies and indexes are kept; off: nowhere")

    @field_validator("cache", mode="before")
    @classmethod
    def _off(cls, value: object) -> object:
        return None if value == "off" else value

    @field_validator("budget", mode="before")
    @classmethod
    def _number(cls, value: object) -> object:
        return str(value) if isinstance(value, int | float) else value


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
    check_roles(models)
    try:
        return Settings(**{**merged, "models": models})
    except ValidationError as error:
        raise ConfigError(f"settings: {first_problem(error)}; there are {', '.join(Settings.model_fields)}") from error


def check_roles(models: Iterable[str]) -> None:
    unknown = sorted(set(models) - set(ROLES))
    if unknown:
        raise ConfigError(f"no model role named {unknown[0]!r}; there are {', '.join(ROLES)}")


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
    plain = {name: variables.get(f"RAGSTONE_{name.upper()}") for name in Settings.model_fields if name != "models"}
    found: dict[str, Any] = {name: value for name, value in plain.items() if value}
    models = {role: variables.get(f"RAGSTONE_MODEL_{role.upper()}", "") for role in ROLES}
    found["models"] = {role: spec for role, spec in models.items() if spec}
    return with_home(found)


def with_home(found: dict[str, Any]) -> dict[str, Any]:
    places = {name: found[name] for name in ("cache", "key_file", "prices") if isinstance(found.get(name), str)}
    return {**found, **{name: place if place == "off" else at_home(place) for name, place in places.items()}}


def model_flags(specs: Sequence[str]) -> dict[str, str | tuple[str, ...]]:
    """`SPEC` sets the reader, `ROLE=SPEC` a role; in `scripted:a=b.jsonl` the = belongs to the file's name."""
    split = [text.partition("=") if "=" in re.split("[:(]", text)[0] else ("reader", "=", text) for text in specs]
    found: dict[str, str | tuple[str, ...]] = {}
    for role, _, spec in split:
        before = found.get(role, ())
        several = (before, spec) if isinstance(before, str) else (*before, spec)
        found[role] = several if len(several) > 1 else spec
    check_roles(found)
    return found


class Models(NamedTuple):
    """The models of a command: the kit with all but the reader, and the readers that were named."""

    kit: Kit
    readers: tuple[Reader, ...]
    default_reader: Callable[[], Reader]  # for what cannot do without one, where none was named
    opener: "Opener"

    @property
    def kit_with_reader(self) -> Kit:
        """For what has one reader, if any."""
        if len(self.readers) > 1:
            raise ConfigError("there can be one reader only here; give --model SPEC once")
        return replace(self.kit, reader=self.readers[0]) if self.readers else self.kit

    @property
    def notes(self) -> tuple[str, ...]:
        """What the models found out that people should know."""
        return tuple(dict.fromkeys(note for model in self.opener.models.values() for note in model.notes))

    def spent(self) -> str:
        """What has been spent so far, for people; empty if no model was asked."""
        return f"{self.opener.budget.spent_text()} in all" if self.opener.models else ""


def open_models(
    chosen: Settings,
    draw: int = 0,
    *,
    language: str = "",
    purpose: Path | None = None,
    timed: bool = False,
    retry_failed: bool = False,
    forecasting: bool = False,
) -> Models:
    """The models that the settings name; each is loaded when it is first used.

    `purpose` is the folder that the calls are made for: what has been spent for it before counts against the budget.
    With `timed`, what answers questions is asked anew even if the cache holds its reply; with `retry_failed`, so is
    what could not be used.
    """
    from ragstone.llm.reader import ModelReader

    opener = opener_for(chosen, purpose, retry_failed, forecasting)
    named = {role: (specs,) if isinstance(specs, str) else specs for role, specs in chosen.models.items() if specs}
    for role, specs in named.items():
        if role != "reader" and len(specs) > 1:
            raise ConfigError(f"there can be one {role} only; give --model {role}=SPEC once")
    models: dict[str, Any] = {
        role: opener.model(named[role][0]) for role in ("generator", "probe", "judge") if role in named
    }
    embedder = opened_embedder(named["embedder"][0], opener, anew=timed) if "embedder" in named else None

    def reader(spec: str) -> Reader:
        return ModelReader(opener.model(spec, anew=timed), language)

    readers = tuple(reader(spec) for spec in dict.fromkeys(named.get("reader", ())))
    kept = None if forecasting else chosen.cache  # an index of stand-ins is not worth keeping
    kit = Kit(draw=draw, cache=kept, language=language, embedder=embedder, **models)
    return Models(kit, readers, lambda: reader("embedded"), opener)


def opened_embedder(text: str, opener: "Opener", anew: bool) -> Embedder:
    from ragstone.llm.options import read_spec
    from ragstone.retrieval.embedders import open_embedder

    spec = read_spec(text)
    return opener.endpoint(spec, anew) if spec.kind == "openai" and spec.rest else open_embedder(text)


def opener_for(chosen: Settings, purpose: Path | None, retry_failed: bool, forecasting: bool) -> "Opener":
    from ragstone.llm.budget import read_limits
    from ragstone.llm.opening import Opener

    return Opener(
        base_url=chosen.base_url,
        key_file=chosen.key_file,
        concurrency=chosen.concurrency,
        timeout=chosen.timeout,
        patience=chosen.patience,
        cache=chosen.cache,
        purpose=str(purpose.resolve()) if purpose else "",
        limits=read_limits(chosen.budget),
        prices=chosen.prices,
        asks_anew=retry_failed,
        forecasting=forecasting,
    )
