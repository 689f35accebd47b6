"""A model whose replies are written down: for tests, examples and replays. It never makes a reply up."""

from pathlib import Path

from ragstone.errors import ModelError
from ragstone.files import decode, read_bytes, sha256
from ragstone.types import Record


class Line(Record):
    """One line of the script: the reply to every prompt that contains `when`."""

    when: str
    reply: str


class Scripted:
    """Replies from a JSON-lines file of `{"when": …, "reply": …}`; of several matches the longest `when` counts."""

    def __init__(self, path: Path) -> None:
        data = read_bytes(path)
        self.name = f"scripted:{path.name}#{sha256(data)[:8]}"  # another script is another model
        self._path = path
        self._lines = sorted(decode(data, path, Line), key=lambda line: -len(line.when))

    def __call__(self, prompt: str) -> str:
        for line in self._lines:
            if line.when in prompt:
                return line.reply
        raise ModelError(
            f"{self._path} has no reply to the prompt ending {prompt[-60:]!r}; write it and use another --out"
        )
