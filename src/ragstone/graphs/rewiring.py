"""Cyclic rewiring: the same entities, and as many facts, but other objects for the same subjects and relations."""

from collections.abc import Collection
from typing import NamedTuple

from ragstone.graphs.edges import types
from ragstone.types import ReasoningGraph


class Rewired(NamedTuple):
    """A graph whose facts have changed places, and how many of them say something else now."""

    graph: ReasoningGraph
    moved: frozenset[int]  # places in `graph.facts`


def rewire(graph: ReasoningGraph, k: int = 1, fixed: Collection[int] = ()) -> Rewired:
    """Among facts whose objects share a type, each gets the object of the fact `k` places on.

    Where the type of an object is not known, those of one relation belong together. Facts at the places in `fixed`
    stay as they are. What moved has no evidence: the text still says what it was.
    """
    kinds = types(graph)
    groups: dict[tuple[str, str], list[int]] = {}
    for place, fact in enumerate(graph.facts):
        if place not in fixed:
            kind = kinds[fact.object]
            groups.setdefault((kind, "" if kind else fact.relation), []).append(place)
    facts = list(graph.facts)
    for places in groups.values():
        for step, place in enumerate(places):
            taken = graph.facts[places[(step + k) % len(places)]].object
            if taken != facts[place].object:
                facts[place] = facts[place].model_copy(update={"object": taken, "evidence": ()})
    moved = frozenset(place for place, fact in enumerate(facts) if fact is not graph.facts[place])
    return Rewired(graph.model_copy(update={"facts": tuple(facts)}), moved)
