"""A model whose replies are written down: for tests, examples and replays. It never makes a reply up."""

from collections.abc import Mapping
from pathlib import Path

from ragstone.errors import ModelError
from ragstone.files import decode, encode, read_bytes, sha256
from ragstone.text import count_tokens
from ragstone.types import Call, Record, Reply


class Line(Record):
    """One line of the script: the reply to every prompt that contains `when`."""

    when: str
    reply: str


class Scripted:
    """Replies by a mapping, or JSON lines of `{"when": …, "reply": …}`; of several matches the longest counts."""

    keeps = False  # nothing is saved by keeping them

    def __init__(self, script: Path | Mapping[str, str]) -> None:
        if isinstance(script, Path):
            data, place = read_bytes(script), str(script)
            lines = decode(data, script, Line)
        else:
            lines = tuple(Line(when=when, reply=reply) for when, reply in script.items())
            data, place = b"".join(encode(line) for line in lines), "the script"
        stem = script.name if isinstance(script, Path) else "mapping"
        self.name = f"scripted:{stem}#{sha256(data)[:8]}"  # another script is another model
        self._place = place
        self._lines = sorted(lines, key=lambda line: -len(line.when))

    def complete(self, call: Call) -> Reply:
        prompt = "\n\n".join(message.content for message in call.messages)
        for line in self._lines:
            if line.when in prompt:
                return Reply(text=line.reply, input_tokens=count_tokens(prompt), output_tokens=count_tokens(line.reply))
        raise ModelError(
            f"{self._place} has no reply to the prompt ending {prompt[-60:]!r}; write it and use another --out"
        )
