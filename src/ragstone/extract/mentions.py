"""Where a text names something: spaCy's names, the title, quoted works, and capitalised words that spaCy missed."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ragstone.extract.facts import ABBREVIATION
from ragstone.gazetteer import FUNCTION_WORDS, closed_class, is_common

VALUES = frozenset({"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"})
"""spaCy's labels of what is no name."""

QUOTED = re.compile(r"[\"“]([A-Z0-9][^\"“”\n]{2,80}?)[,.]?[\"”]")
CAPITALISED = r"(?:(?:[A-Z]|St|Mt|Dr|Mr|Mrs|Jr|Sr)\.|[^\W\d_a-z][\w'’-]*)"
RUN = re.compile(
    rf"(?<![\w'’.&-]){CAPITALISED}(?:\s(?:(?:of|the|and|de|la|von|van|du|del|in|on|for|&)\s){{0,2}}{CAPITALISED})*"
)
NICKNAMED = re.compile(rf"{CAPITALISED}(?:\s{CAPITALISED}){{0,3}}\s(?:\"\w[\w. ]*\"|“\w[\w. ]*”)\s[^\W\d_a-z][\w'’-]+")
SURNAME = re.compile(r"(?<![\w-])[^\W\d_a-z][^\W\d_]+(?:-[^\W\d_]+)*(?!\w)")
SENTENCE_BEFORE = re.compile(r"(?:^|[.!?:;\n][\"”’')\]]*\s*|[\"“(]\s*)$")
OUTSIDE = re.compile(
    r"^(?:[\s\"“”‘’'(\[,.;:–—-]|(?i:the|a|an|and)\s)+|(?:['’]s?|[\s\"“”,;:(\[–—-]|\s(?:and|of|the|in|by|for|or))+$"
)
INITIALS = re.compile(r"[A-Z]{2,}")
LONGEST = 100


class Mention(NamedTuple):
    """A name where it stands."""

    start: int
    end: int
    text: str
    label: str = ""  # spaCy's; TITLE, QUOTED or RUN where it has none


def cleaned(text: str, start: int, end: int, label: str) -> Mention | None:
    """The name without articles, quotes and possessive around it; None if no name is left."""
    piece = text[start:end]
    lead = OUTSIDE.match(piece)
    if lead and lead.end() < len(piece):
        start, piece = start + lead.end(), piece[lead.end() :]
    tail = OUTSIDE.search(piece, max(1, len(piece) - 12))
    if tail and tail.end() == len(piece) and tail.start():
        piece = piece[: tail.start()]
    if "(" in piece and ")" not in piece:
        piece = piece.partition("(")[0].rstrip()
    if "\n" in piece or len(piece) > LONGEST or not any(map(str.isalpha, piece)):
        return None
    if not any(letter.isupper() or letter.isdigit() for letter in piece):
        return None
    return Mention(start, start + len(piece), piece, label)


def titled(text: str, title: str) -> Iterator[Mention]:
    """Every place where the title stands."""
    if len(title) > 1:
        for match in re.finditer(rf"(?<!\w){re.escape(title)}(?!\w)", text):
            yield Mention(match.start(), match.end(), match[0], "TITLE")


def quoted(text: str) -> Iterator[Mention]:
    """What is quoted and written like a title."""
    for match in QUOTED.finditer(text):
        words = match[1].split()
        small = [word for word in words if word[0].islower() and word.lower() not in FUNCTION_WORDS]
        if not small and len(words) <= 10:
            yield Mention(match.start(1), match.end(1), match[1], "QUOTED")


def runs(text: str) -> Iterator[Mention]:
    """Capitalised words in a row; one alone only inside a sentence and if it is no common word."""
    for match in RUN.finditer(text):
        before = text[max(0, match.start() - 12) : match.start()]
        begins = bool(SENTENCE_BEFORE.search(before)) and not ABBREVIATION.search(before.rstrip())
        start, words = match.start(), match[0].split(" ")
        while begins and len(words) > 1 and words[0].lower() in FUNCTION_WORDS:
            start += len(words.pop(0)) + 1
        if len(words) == 1 and not stands_alone(words[0], begins):
            continue
        found = cleaned(text, start, start + len(" ".join(words)), "RUN")
        if found and not all(word.lower() in FUNCTION_WORDS for word in found.text.split()):
            yield found


def nicknamed(text: str) -> Iterator[Mention]:
    """`Jeffrey Thomas "Jeff" Porcaro` as one name."""
    for match in NICKNAMED.finditer(text):
        yield Mention(match.start(), match.end(), match[0], "PERSON")


def surnames(text: str, full_names: Iterable[str]) -> Iterator[Mention]:
    """The last words of persons' names wherever they stand alone."""
    last = {words[-1] for name in full_names if len(words := name.split()) > 1 and len(words[-1]) > 2}
    for match in SURNAME.finditer(text) if last else ():
        if match[0] in last:
            yield Mention(match.start(), match.end(), match[0], "PERSON")


def stands_alone(word: str, begins: bool) -> bool:
    """Whether a single capitalised word is a name."""
    if kind := closed_class(word):
        return kind not in ("month", "day")
    return not begins and len(word) > 2 and not is_common(word)


def apart(length: int, mentions: Iterable[Mention]) -> list[Mention]:
    """Mentions that do not overlap, in order; those that come first in the argument win."""
    taken = bytearray(length)
    chosen = []
    for mention in mentions:
        if taken.find(1, mention.start, mention.end) < 0:
            taken[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
            chosen.append(mention)
    return sorted(chosen)


def acronym_of(name: str) -> str:
    return "".join(word[0] for word in re.split(r"[\s-]+", name) if word[:1].isupper())


def is_acronym_of(short: str, name: str) -> bool:
    """`NBA` for `National Basketball Association`."""
    return bool(INITIALS.fullmatch(short.replace(".", ""))) and acronym_of(name) == short.replace(".", "")
