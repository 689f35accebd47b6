"""Chooses seeds by what makes them hard: hops, nodes of the reasoning, facts that lead away from it."""

import operator
import re
from collections.abc import Mapping

from ragstone.errors import ConfigError
from ragstone.store import evidence_ids
from ragstone.types import Benchmark, Question, ReasoningGraph

CONDITION = re.compile(r"(hops|nodes|distractors)(>=|<=|==|>|<)(\d+)")
RELATIONS = {">=": operator.ge, "<=": operator.le, "==": operator.eq, ">": operator.gt, "<": operator.lt}


def chosen(
    benchmark: Benchmark, asked: Mapping[str, ReasoningGraph], told: Mapping[str, ReasoningGraph], wish: str
) -> Benchmark:
    """The benchmark with just the questions that meet every condition; `told` holds the facts of each document."""
    conditions = []
    for part in wish.split("+"):
        match = CONDITION.fullmatch(part.strip())
        if not match:
            raise ConfigError(
                f"difficulty={wish!r}: cannot read {part!r}; write hops>=3, nodes>=4 or distractors>=2, joined by +"
            )
        conditions.append((match[1], RELATIONS[match[2]], int(match[3])))
    measured = {question.id: measures(question, asked[question.id], told) for question in benchmark.questions}
    kept = tuple(
        question
        for question in benchmark.questions
        if all(holds(measured[question.id][what], wanted) for what, holds, wanted in conditions)
    )
    if not kept:
        raise ConfigError(f"difficulty={wish!r}: none of the {len(measured)} questions meets it; ask for less")
    return benchmark.model_copy(update={"questions": kept})


def measures(question: Question, graph: ReasoningGraph, told: Mapping[str, ReasoningGraph]) -> dict[str, int]:
    """How many hops and nodes the reasoning has, and how many facts of other documents share a name with it."""
    nodes = {name.casefold() for fact in graph.facts for name in (fact.subject, fact.object) if name}
    gold = evidence_ids(question)
    aside = [fact for id in question.scope if id not in gold and id in told for fact in named_facts(told[id])]
    leading_away = sum(bool(nodes & {name.casefold() for name in names}) for names in aside)
    hops = int(question.labels.get("hops", 0)) or len(graph.facts)
    return {"hops": hops, "nodes": len(nodes), "distractors": leading_away}


def named_facts(graph: ReasoningGraph) -> list[tuple[str, str]]:
    """Subject and object of each fact by name."""
    names = {entity.id: entity.name for entity in graph.entities}
    return [(names.get(fact.subject, fact.subject), names.get(fact.object, fact.object)) for fact in graph.facts]
