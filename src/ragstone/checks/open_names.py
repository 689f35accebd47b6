"""Whether a value names something of an open class: only such names are changed, and only such names can be known."""

import re

from ragstone.gazetteer import closed_class

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
DIGITS = re.compile(r"\d+")


def is_closed(value: str) -> bool:
    """Whether all that the value names is a country, a nationality, a language, a month…: kept, or swapped around."""
    if closed_class(value):
        return True
    names = [word for word in WORD.findall(value) if not word.islower()]
    return bool(names) and all(closed_class(word) for word in names)


def has_name(value: str) -> bool:
    """Whether a name of an open class stands in it: a word in capitals, or in a script without them."""
    return any(not word.islower() for word in WORD.findall(value)) and not is_closed(value)


def replaced(before: tuple[str, ...], after: tuple[str, ...]) -> list[str]:
    """The aliases of an answer that had to go, if any of its names was changed.

    Numbers do not count, for years move onto each other: what was 1954 is 1964, and another year is 1954 now.
    """
    kept = {DIGITS.sub("", alias) for alias in after}
    if all(is_closed(alias) or DIGITS.sub("", alias) in kept for alias in before):
        return []
    return [
        alias
        for alias in before
        if WORD.search(alias) and not is_closed(alias) and not only_digits_differ(alias, after)
    ]


def only_digits_differ(alias: str, after: tuple[str, ...]) -> bool:
    return bool(DIGITS.search(alias)) and DIGITS.sub("", alias) in {DIGITS.sub("", other) for other in after}
