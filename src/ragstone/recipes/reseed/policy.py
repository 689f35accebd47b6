"""What is done with each type of entity. The table is data: `policies.toml`."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from ragstone.types import Record

Treatment = Literal["coin", "keep", "shift", "swap"]


class Policy(Record):
    """How far the names, dates and numbers of a benchmark are changed."""

    dates: Literal["shift", "keep"] = "shift"
    numbers: Literal["answers", "keep"] = "answers"  # answers: only numbers that answer a question
    closed: Literal["keep", "swap"] = "keep"  # countries with their people and languages
    concepts: Literal["auto", "none", "coin"] = "auto"  # auto: where questions have choices and no names
    scope: Literal["all", "gold", "path"] = "all"  # names of all documents, of evidence, or of questions and facts
    types: Mapping[str, Treatment] = {}  # by type, where it differs from the table

    def treatment(self, type: str) -> Treatment:
        """What is done with entities of this type."""
        if type in self.types:
            return self.types[type]
        if type in ("country", "nationality", "language") and self.closed == "swap":
            return "swap"
        if type == "date" and self.dates == "keep":
            return "keep"
        return table().get(type, "coin")


@cache
def table() -> dict[str, Treatment]:
    return tomllib.loads((Path(__file__).parent / "policies.toml").read_text("utf-8"))
