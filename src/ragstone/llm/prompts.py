"""Prompts are Markdown files beside the code that uses them; their hashes go into manifests."""

import hashlib
from functools import lru_cache
from importlib.resources import files
from string import Template


class Prompt:
    """A text with `$names`. Filling is a single pass, so what is filled in is never read as part of the prompt."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.sha256 = hashlib.sha256(text.encode()).hexdigest()
        self._template = Template(text)

    def fill(self, **values: str) -> str:
        return self._template.substitute(values)


@lru_cache
def prompt(package: str, name: str) -> Prompt:
    """The prompt `name.md` of a package."""
    return Prompt(name, (files(package) / f"{name}.md").read_text("utf-8"))
