"""What several data sets leave unsaid of their questions: the kind of answer, and facts as a graph."""

import re
from collections.abc import Iterable

from ragstone.text import fold
from ragstone.types import Entity, Fact, ReasoningGraph

MONTH = (
    r"(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?"
    r"|sep(t(ember)?)?|oct(ober)?|nov(ember)?|dec(ember)?)\.?"
)
DAY, YEAR = r"\d{1,2}(st|nd|rd|th)?", r"(1\d|20)\d\d"
DATE = re.compile(
    rf"{YEAR}|\d{{4}}-\d\d-\d\d|({DAY} (of )?)?{MONTH},? {YEAR}|{MONTH} {DAY}(,? {YEAR})?|{DAY} (of )?{MONTH}"
)
NUMBER = re.compile(r"[-+]?[$€£]?\d[\d,.]*( ?(%|percent|thousand|million|billion|trillion))?")


def answer_kind(answer: str, question: str = "") -> str:
    """yes_no, date, number, option (given a comparing question that names the answer) or open."""
    plain = fold(answer).strip(" .")
    if plain in ("yes", "no"):
        return "yes_no"
    if plain in fold(question):
        return "option"
    if DATE.fullmatch(plain):
        return "date"
    return "number" if NUMBER.fullmatch(plain) else "open"


def accepted(answer: str, *aliases: str) -> tuple[tuple[str, ...], ...]:
    """One answer in all its forms; yes and no are written in one way."""
    plain = fold(answer).strip(" .")
    return ((plain,),) if plain in ("yes", "no") else (tuple(dict.fromkeys((answer, *aliases))),)


def graph(facts: Iterable[Fact], operation: str) -> ReasoningGraph:
    """Facts that name their subjects and objects, as a graph over entities; dates and numbers stay literal."""
    facts = tuple(facts)
    names = dict.fromkeys(name for fact in facts for name in (fact.subject, fact.object))
    entities = [name for name in names if name and answer_kind(name) == "open"]
    ids = {name: f"e{number}" for number, name in enumerate(entities, 1)}
    return ReasoningGraph(
        entities=tuple(Entity(id=id, name=name) for name, id in ids.items()),
        facts=tuple(
            fact.model_copy(
                update={"subject": ids.get(fact.subject, fact.subject), "object": ids.get(fact.object, fact.object)}
            )
            for fact in facts
        ),
        operation=operation,
    )
