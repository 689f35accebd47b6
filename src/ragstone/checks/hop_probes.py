"""The steps of a question as open questions of their own: what is known of a step is known of the question.

Which steps count. A step whose answer holds a name, or a date with its month, cannot be guessed, so one right reply
shows that it is known. A bare year can be, about once in twenty times, so it takes more right replies than that
explains. Countries, nationalities, languages, yes and no, words without a name and plain numbers are not asked for:
how often a guess is right there is not known, and a model's guesses lean to one word. To reject by it would leave a
benchmark without Americans.
"""

import re
from collections.abc import Mapping

from ragstone.checks.open_names import has_name
from ragstone.text import DATE_TOKEN, YEAR_ALONE, canonical_tokens, contains_run
from ragstone.types import Entity, Fact, Question, ReasoningGraph

YEAR_CHANCE = 0.05
"""Above what a guess at a year within living memory gets right, so that luck is not taken for knowledge."""

STEP = re.compile(r"#(\d+)")


def hop_probes(question: Question) -> list[tuple[Question, float]]:
    """An open question for each step that counts, with how often a guess at it is right."""
    if question.graph is None:
        return []
    asked: dict[str, tuple[Question, float]] = {}
    for fact in question.graph.facts:
        text = step_text(fact, question.graph)
        aliases = step_answers(fact.object, question.graph, text)
        if text and aliases:
            hop = Question(id=f"{question.id}-hop{len(asked) + 1}", text=text, answers=(aliases,))
            asked.setdefault(text, (hop, YEAR_CHANCE if YEAR_ALONE.fullmatch(aliases[0]) else 0.0))
    return list(asked.values())


def step_text(fact: Fact, graph: ReasoningGraph) -> str:
    """The step as a question: a triple's `father` and `#1 >> father` ask for the father of the subject."""
    subject = name_of(fact.subject, graph)
    before, arrow, label = fact.relation.rpartition(">>")
    if not arrow and (not subject or STEP.search(fact.relation)):
        return filled(fact.relation, graph)
    subject = subject or filled(before.strip(), graph)
    return f"What is the {label.strip()} of {subject}?"


def filled(text: str, graph: ReasoningGraph) -> str:
    """The text with the answers of the steps that it names."""
    steps = list({fact.relation: name_of(fact.object, graph) for fact in graph.facts}.values())

    def answer(match: re.Match[str]) -> str:
        place = int(match[1]) - 1
        return steps[place] if 0 <= place < len(steps) else match[0]

    return STEP.sub(answer, text)


def step_answers(object: str, graph: ReasoningGraph, text: str) -> tuple[str, ...]:
    """How the answer may be said; empty if it can be guessed or the step itself says it.

    Of the other forms only those of several words count: a lone surname would be right for all the family.
    """
    entity = entities(graph).get(object) or Entity(id=object, name=object)
    said = canonical_tokens(text)
    forms = (entity.name, *(form for form in entity.forms if len(form.split()) > 1))
    return tuple(form for form in forms if counts(form) and not contains_run(said, canonical_tokens(form)))


def counts(value: str) -> bool:
    """Whether a right reply shows anything."""
    dates = [match for token in canonical_tokens(value) if (match := DATE_TOKEN.fullmatch(token))]
    return any(match[1] for match in dates) or bool(YEAR_ALONE.fullmatch(value)) or has_name(value)


def name_of(id: str, graph: ReasoningGraph) -> str:
    known = entities(graph).get(id)
    return known.name if known else id


def entities(graph: ReasoningGraph) -> Mapping[str, Entity]:
    return {entity.id: entity for entity in graph.entities}
