"""Multiple choice: how options are shown to a model, and which of them a reply names."""

import re
import unicodedata
from collections.abc import Sequence
from string import ascii_uppercase

from ragstone.text import canonical_tokens, fold

LABELLED = re.compile(
    r"(?:(?:the )?(?:correct )?(?:option|choice|answer|letter|antwort|选项|选择?)\s*(?:is\s)?)?"
    r"[(\[]?(?P<label>[A-Z]|\d{1,2})(?:(?:\s*[)\].:,、-]+\s*|\s+(?=(?:is|because|since)\b)|\s*—\s*)(?P<rest>.*))?",
    re.IGNORECASE | re.DOTALL,
)
MORE_LABELS = re.compile(r"(?:(?:and|or|和|或)\s+)?[(\[]?(?:[A-Z]|\d{1,2})\b[)\]]?\s*(?:[,.、]|and\b|or\b|$)")
STATED = re.compile(r"\s*(?:[.;:。；：\n]|[,，]?\s*(?:because|since|因为)|$)")
NEGATED = re.compile(r"\b(?:not|nor|never|neither|except|cannot)\b|n['’]t\b|不|没")


def labels(choices: Sequence[str]) -> Sequence[str]:
    """Letters; numbers where letters do not suffice."""
    return ascii_uppercase[: len(choices)] if len(choices) <= 26 else [str(n + 1) for n in range(len(choices))]


def listed(choices: Sequence[str]) -> str:
    """The options, each on a line of its own behind its label."""
    lines = (f"{label}) {' '.join(choice.split())}" for label, choice in zip(labels(choices), choices, strict=True))
    return "\n".join(lines)


def chosen(text: str, choices: Sequence[str]) -> str:
    """The option that the text is or begins with, by its label or its words; empty if that is none or doubtful."""
    if not choices or not text:
        return ""
    by_words = [choice for choice in choices if begins_with(text, choice)]
    by_label = labelled(text, choices)
    found = {longest(by_words), by_label} - {""}
    return found.pop() if len(found) == 1 else ""


def begins_with(text: str, choice: str) -> bool:
    """Whether the text is the option, perhaps with a reason after it."""
    said, option = fold(text), fold(choice.strip().rstrip("."))
    return bool(option) and said.startswith(option) and bool(STATED.match(said, len(option)))


def labelled(text: str, choices: Sequence[str]) -> str:
    """The option of the label that the text begins with, unless it goes on with another label or option."""
    option, rest = split_label(text, choices)
    if not option or (rest and MORE_LABELS.match(rest)):
        return ""
    return option if begins_with(rest, option) or named(rest, choices) in ("", option) else ""


def split_label(text: str, choices: Sequence[str]) -> tuple[str, str]:
    """The option of the label that the text begins with, if there is one, and what follows."""
    match = LABELLED.fullmatch(unicodedata.normalize("NFKC", text).strip())
    known = dict(zip(labels(choices), choices, strict=True))
    return (known.get(match["label"].upper(), ""), (match["rest"] or "").strip()) if match else ("", text)


def named(text: str, choices: Sequence[str]) -> str:
    """The only option whose words stand in the text; empty if there are none or several, or something is denied."""
    if NEGATED.search(text):
        return ""
    said, found = f" {' '.join(canonical_tokens(text))} ", []
    for choice in sorted(choices, key=lambda choice: -len(choice)):  # "wet sand" before its part "sand"
        run = " ".join(canonical_tokens(choice))
        if run and f" {run} " in said:
            said = said.replace(f" {run} ", " \x1f ")
            found.append(choice)
    label, _ = split_label(text, choices)
    return found[0] if len(found) == 1 and label in ("", found[0]) else ""


def longest(texts: Sequence[str]) -> str:
    return max(texts, key=len, default="")
