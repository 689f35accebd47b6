"""Where a benchmark names something: graphs, titles, quotations."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ragstone.recipes.reseed.roles import is_fixed
from ragstone.recipes.reseed.words import Word, words
from ragstone.types import Benchmark, Question, ReasoningGraph

QUOTED = re.compile(r"\"([^\"\n]{1,90})\"|“([^”\n]{1,90})”|(?<![\w'])'([^'\n\"]{1,60})'(?!\w)|‘([^’\n]{1,60})’(?!\w)")
ASIDE = re.compile(r"\s*\(([^()]*)\)\s*$")


class Mention(NamedTuple):
    """A string that names something, where it was found."""

    text: str
    type: str
    sure: bool
    place: str  # the id of the document or question


def mentions(benchmark: Benchmark, graphs: Mapping[str, ReasoningGraph]) -> Iterator[Mention]:
    for document in benchmark.documents:
        graph = graphs.get(document.id)
        told = {entity.name: entity.type for entity in graph.entities} if graph else {}
        titles = list(of_title(document.title, document.text, told, document.id))
        common_noun = "" if titles else document.title
        yield from titles
        yield from (mention for mention in of_graph(graph, document.id, sure=False) if mention.text != common_noun)
        yield from quotations(document.text, document.id)
    for question in benchmark.questions:
        yield from of_graph(graphs.get(question.id), question.id, sure=False)
        yield from of_graph(question.graph, question.id, sure=True)
        yield from quotations(question.text, question.id)


def of_graph(graph: ReasoningGraph | None, place: str, sure: bool) -> Iterator[Mention]:
    for entity in graph.entities if graph else ():
        for text in (entity.name, *entity.forms):
            yield Mention(text, entity.type, sure and text[:1].isupper() and is_titled(words(text)), place)


def of_title(title: str, text: str, told: Mapping[str, str], place: str) -> Iterator[Mention]:
    aside = ASIDE.search(title)
    base = title[: aside.start()] if aside else title
    type = (title_type(aside[1]) if aside else "") or told_type(text) or told.get(base, "")
    if is_name_title(base, text, bool(aside) or type == "work"):
        yield Mention(base, type, True, place)
        if "," in base:
            for part in base.split(","):
                yield Mention(part.strip(), "", False, place)


WORKS = re.compile(
    r"film|album|song|novel|book|series|EP|single|play|opera|magazine|game|story|soundtrack|painting|musical"
)
PEOPLE = re.compile(
    r"actor|actress|singer|musician|politician|footballer|player|writer|director|artist|bishop|producer|composer|poet|born"
)


def title_type(aside: str) -> str:
    return "work" if WORKS.search(aside) else "person" if PEOPLE.search(aside) else ""


TOLD = re.compile(
    r"\b(?:is|was|are|were) (?:an?|the|one of)\b[^.]{0,90}?\b(?:"
    r"(film|album|song|novel|book|EP|single|magazine|television series|sitcom|video game|opera|musical|poem|short story"
    r"|soundtrack|painting)|(actor|actress|singer|politician|footballer|player|writer|director|bishop|musician"
    r"|nobleman|king|queen|poet|painter|author|composer|general))\b"
)


def told_type(text: str) -> str:
    """What the first sentence says that the title is."""
    told = TOLD.search(text[:300])
    return "" if not told else "work" if told[1] else "person"


def is_name_title(title: str, text: str, told_apart: bool) -> bool:
    """Whether a title is a name, and no common noun."""
    found = words(title)
    if len(found) > 1:
        return is_titled(found[1:]) or (told_apart and title.lower() in text[: len(title) + 2].lower())
    plain = re.findall(rf"(?<!\w){re.escape(title)}(?!\w)", text)
    return told_apart or (bool(plain) and title.lower() not in text)


def quotations(text: str, place: str) -> Iterator[Mention]:
    for match in QUOTED.finditer(text):
        inside = next(group for group in match.groups() if group is not None)
        found = words(inside)
        if found and len(found) <= 9 and is_titled(found) and found[0].shape != "lower":
            yield Mention(inside, "work", True, place)


def is_titled(found: Iterable[Word]) -> bool:
    """Whether every word that could have a capital has one."""
    return all(word.shape != "lower" or is_fixed(word.key) for word in found)


def gold_ids(question: Question) -> list[str]:
    return list(dict.fromkeys(piece.document_id for group in question.evidence for piece in group))
