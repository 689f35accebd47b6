"""Prompts are Markdown files beside the code that uses them; their hashes go into manifests.

What is filled in is data. It is quoted by the prompt, and nothing in it can end its quotation or the message: the first
character of everything that would do so is exchanged for one that only looks like it, `<` for `‹` and `[` for `❲`. That
is all that is changed, and it is done to

- `<document` and `</document`, in any case and width, with white space and slashes in front of the word and invisible
  characters anywhere; not to longer words such as `<documents>`;
- `<|name|>`, `<|name>`, `<name|>`, `[|name|]`, with `|` or the full-width `｜`, where the name has no white space;
- `<<SYS>>`, `[INST]`, `<think>`, `<start_of_turn>` and the other names of `TAGS` and `BRACKETED`, in any case, with or
  without `/`, and `◁think▷`;
- `<s>`, `<bos>` and the other names of `TOKENS`, in small letters only, with or without `/`.

Everything else stays as it is: `a<b`, `x < |y|`, `<div>`, `a[i]`. So do `USER:` and `### Instruction:`, which are words
and no tokens to every model that is told of turns by its server.
"""

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from string import Template

INVISIBLE = (  # what Unicode says is ignored where it is shown, with all its marks of format
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
DOCUMENT = f"[{INVISIBLE}]*".join(f"[{letter}{chr(ord(letter) + 0xFEE0)}]" for letter in "document")  # in both widths

TAGS = (  # as servers write turns, thoughts and calls of tools into the text that a model sees
    *("start_of_turn", "end_of_turn", "start_of_image", "end_of_image", "image_soft_token"),
    *("begin_of_text", "end_of_text", "beginning_of_sentence", "end_of_sentence", "BOS_TOKEN", "EOS_TOKEN"),
    *("think", "thinking", "tool_call", "tool_calls", "tool_response", "tools", "function_call", "function_calls"),
    *(
        "repo_?name",
        "file_sep",
        "filename",
        "gh_stars",
        "issue_[a-z]+",
        "jupyter_[a-z_]+",
        "empty_output",
        "fim_[a-z]+",
    ),
    *("seed:[a-z_]+", "unused_?[0-9]+", "reserved_[0-9]+", "extra_id_[0-9]+", "tokens_unused_[0-9]+"),
)
TOKENS = ("s", "bos", "eos", "unk", "pad", "mask", "sep", "cls", "sop", "eop", "eod", "eoh", "eoa")
BRACKETED = (
    *("INST", "SYS", "SYSTEM_PROMPT", "THINK", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS", "TOOL_CONTENT"),
    *("ARGS", "CALL_ID", "MODEL_SETTINGS", "gMASK", "sMASK"),
)

MARK = re.compile(
    rf"""
      [<＜] (?= [\s/／\\{INVISIBLE}]* (?i:{DOCUMENT}) (?![a-zA-Z_]) )
    | <     (?= [|｜] [^\s<>|｜]{{1,80}} [|｜]? >  |  [^\s<>|｜]{{1,80}} [|｜]> )
    | <     (?= </?SYS>>  |  /?(?i:{"|".join(TAGS)})>  |  /?(?:{"|".join(TOKENS)})> )
    | \[    (?= [|｜] [^\s\[\]|｜]{{1,80}} [|｜]\]  |  /?(?i:{"|".join(BRACKETED)})\] )
    | ◁     (?= /?think▷ )
    """,
    re.VERBOSE,
)
"""The first character of what a model or its server could read as the end of a quotation or of a message."""

LOOK_ALIKE = {"<": "‹", "＜": "‹", "[": "❲", "◁": "‹"}


class Safe(str):
    """A text in which data is neutralised already; all the rest is our own."""


class Prompt:
    """A text with `$names`. Filling is a single pass, so what is filled in is never read as part of the prompt."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.sha256 = hashlib.sha256(text.encode()).hexdigest()
        self._template = Template(text.strip())

    def fill(self, **values: str) -> Safe:
        safe = {name: value if isinstance(value, Safe) else as_data(value) for name, value in values.items()}
        return Safe(self._template.substitute(safe))


@lru_cache
def prompt(folder: Path, name: str) -> Prompt:
    """The prompt `name.md` in a folder."""
    return Prompt(name, (folder / f"{name}.md").read_text("utf-8"))


def quoted(texts: Iterable[str]) -> Safe:
    """Documents, numbered, each between its own marks."""
    numbered = (f"<document {n}>\n{as_data(text)}\n</document {n}>" for n, text in enumerate(texts, 1))
    return Safe("\n".join(numbered))


def as_data(text: str) -> str:
    """The text with nothing in it that could be read as the end of a quotation or of a message."""
    return MARK.sub(lambda mark: LOOK_ALIKE[mark[0]], text)
