"""A reasoning graph as nodes and edges: what its subjects and objects are, and what they are called."""

from collections.abc import Mapping
from typing import NamedTuple

from ragstone.graphs.values import literal_type
from ragstone.types import ReasoningGraph


class Edge(NamedTuple):
    """A fact between two nodes: entity ids, literal values, or `?3` for the unknown subject of the fact number 3."""

    subject: str
    relation: str
    object: str


def edges(graph: ReasoningGraph) -> list[Edge]:
    """The facts in their order, parallel ones included; each subject that is not told is a node of its own."""
    return [Edge(fact.subject or f"?{place}", fact.relation, fact.object) for place, fact in enumerate(graph.facts)]


def nodes(graph: ReasoningGraph) -> list[str]:
    """Every node that a fact touches; an entity without facts is part of no reasoning."""
    return list(dict.fromkeys(node for edge in edges(graph) for node in (edge.subject, edge.object)))


def names(graph: ReasoningGraph) -> Mapping[str, str]:
    """What each node is called; a literal value is its own name, an unknown subject has none."""
    told = {entity.id: entity.name for entity in graph.entities}
    return {node: told.get(node, "" if node.startswith("?") else node) for node in nodes(graph)}


def types(graph: ReasoningGraph) -> Mapping[str, str]:
    """The type of every node: as the entity says, else date or number, else empty."""
    told = {entity.id: entity.type for entity in graph.entities}
    return {node: told[node] if node in told else literal_type(node) for node in nodes(graph)}
