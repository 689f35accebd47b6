"""Looks for names that were to be changed and are still there, without the rules by which they were found.

A name is the title of a document, an answer or an entity of the reasoning whose words were changed somewhere. Names of
two or more words are looked for in any case, names of one word in their own. A run of lower-case words is prose: "his
second wife" does not name the film. Nor does a word that the source also writes in lower case, or a year.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from ragstone.slots import bind
from ragstone.types import Question, Template

WORD = re.compile(r"[^\W_]+")
PARENTHETICAL = re.compile(r"\s*\([^()]*\)\s*$")
ARTICLE = re.compile(r"^(?:The|A|An) ")
ARTICLES = ("The", "A", "An")
YEAR = re.compile(r"[12]\d{3}s?")
SHORTEST = 3  # a lone name of fewer letters, such as "II", is too much like other things

Run = tuple[str, ...]


class Residue:
    """The changed names of a template, ready to be found in what was made of it."""

    def __init__(self, template: Template, originals: Mapping[str, str], values: Mapping[str, str]) -> None:
        lower = {word for text in template.documents for word in WORD.findall(text.text) if word.islower()}
        self.runs: dict[str, set[Run]] = defaultdict(set)  # by their first word, folded
        for told in set(names(template)):
            name = PARENTHETICAL.sub("", bind(told, originals))
            words = tuple(WORD.findall(ARTICLE.sub("", name)))
            if len(words) == 1 and words[0].casefold() in lower:
                words = tuple(WORD.findall(name))  # `The Times`, with its article and capitals
            if name != PARENTHETICAL.sub("", bind(told, values)) and is_telling(words, lower):
                self.runs[words[0].casefold()].add(words)
                self.runs["".join(words).casefold()].update({words} if len(words) > 1 else ())

    def left_in(self, text: str) -> str:
        """The first changed name that is still in the text; empty if there is none."""
        found = list(WORD.finditer(text))
        folded = [word[0].casefold() for word in found]
        for start, first in enumerate(folded):
            for run in self.runs.get(first, ()):
                if len(run) > 1 and first == "".join(run).casefold():
                    return found[start][0]  # in an address
                if folded[start : start + len(run)] == [word.casefold() for word in run]:
                    said = text[found[start].start() : found[start + len(run) - 1].end()]
                    if said == " ".join(run) or (len(run) > 1 and not said.islower() and run[0] not in ARTICLES):
                        return said
        return ""


def names(template: Template) -> Iterator[str]:
    """What the template's titles, answers and reasoning name, with slots."""
    for document in template.documents:
        yield document.title
    for question in template.questions:
        yield from (alias for group in question.answers for alias in group if "{{" in alias)
        yield from (entity.name for entity in question.graph.entities) if question.graph else ()


def is_telling(words: Run, lower: Collection[str]) -> bool:
    """Whether the words can only be the name."""
    if not words or any(YEAR.fullmatch(word) or word.isdigit() for word in words):
        return False
    return len(words) > 1 or (len(words[0]) >= SHORTEST and words[0].casefold() not in lower)


def said_in(question: Question) -> str:
    """All that the question says, a line each."""
    return "\n".join((question.text, *question.choices, *(alias for group in question.answers for alias in group)))
