"""How far a graph that was read from a text agrees with the graph that the text should tell."""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations

from ragstone.graphs.edges import edges, names
from ragstone.text import normalise
from ragstone.types import Fact, ReasoningGraph, Record

Told = tuple[str, ...]
"""Subject, object and relation of a fact; the relation only where it counts."""


class Alignment(Record):
    """The agreement of two graphs whose nodes are matched by name."""

    node_f1: float
    edge_f1: float
    missing: tuple[Fact, ...] = ()  # expected facts that were not found


def aligned(
    expected: ReasoningGraph, found: ReasoningGraph, renamed: Mapping[str, str] = {}, *, relations: bool = False
) -> Alignment:
    """Matches nodes by name or form, the expected ones under the names that `renamed` gives them, and compares.

    An edge is found where one joins the same two nodes in the same direction; with `relations` it must say the same.
    Where the subject of an expected fact is not told, any will do that no other fact has.
    """
    parts = slice(3 if relations else 2)
    asked = [told[parts] for told in joined(expected, lambda node, name: node_of(expected, node, name, renamed))]
    known = known_forms(expected, renamed)
    forms = {entity.id: (entity.name, *entity.forms) for entity in found.entities}
    there = {told[parts] for told in joined(found, lambda node, name: recognised(forms.get(node, (name,)), known))}
    wanted = [told if told[0] else with_subject(told, there.difference(asked)) for told in asked]
    ends = [{end for told in side for end in told[:2]} for side in (wanted, there)]
    missing = tuple(fact for fact, told in zip(expected.facts, wanted, strict=True) if told not in there)
    return Alignment(node_f1=f1(*ends), edge_f1=f1(set(wanted), there), missing=missing)


def joined(graph: ReasoningGraph, node: Callable[[str, str], str]) -> list[Told]:
    called = names(graph)
    return [
        (node(edge.subject, called[edge.subject]), node(edge.object, called[edge.object]), normalise(edge.relation))
        for edge in edges(graph)
    ]


def with_subject(told: Told, others: Collection[Told]) -> Told:
    """The edge that leads to the same node, if there is one."""
    return next((other for other in sorted(others) if other[1:] == told[1:]), told)


def node_of(graph: ReasoningGraph, node: str, name: str, renamed: Mapping[str, str]) -> str:
    """An entity by its id, a value by its new form."""
    return node if any(entity.id == node for entity in graph.entities) else normalise(renamed.get(name, name))


def known_forms(graph: ReasoningGraph, renamed: Mapping[str, str]) -> dict[str, str]:
    """The entity that each form means, under its new name; the name of one comes before a form of another."""
    forms = {form: entity.id for entity in graph.entities for form in entity.forms}
    forms |= {entity.name: entity.id for entity in graph.entities}
    return {normalise(renamed.get(form, form)): id for form, id in forms.items()}


def recognised(spoken: Sequence[str], known: Mapping[str, str]) -> str:
    plain = [normalise(form) for form in spoken]
    return next((known[form] for form in plain if form in known), plain[0])


def f1(wanted: Collection[object], there: Collection[object]) -> float:
    """1 where both are empty: nothing was wanted and nothing is wrong."""
    return 2 * len({*wanted} & {*there}) / (len(wanted) + len(there)) if wanted or there else 1.0


def noise_floor(extractions: Sequence[ReasoningGraph]) -> float:
    """How far readings of one and the same text agree: the mean edge-F1 of all pairs. Needs two readings."""
    pairs = list(combinations(extractions, 2))
    return sum(aligned(one, other).edge_f1 for one, other in pairs) / len(pairs)
