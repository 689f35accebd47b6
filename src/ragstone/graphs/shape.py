"""The shape of a reasoning graph: statistics, drift between graphs, and whether two are the same but for names."""

import operator
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from ragstone.graphs.edges import edges, names, nodes, types
from ragstone.text import canonical_tokens, contains_run
from ragstone.types import Question, ReasoningGraph, Record

if TYPE_CHECKING:
    from rustworkx import PyDiGraph

Colours = Mapping[str, object]


class Statistics(Record):
    """Measures of a directed multigraph with n nodes and m edges, parallel edges counted.

    Density is m / (n (n - 1)), average degree 2 m / n. Path length is the longest of all shortest directed paths: the
    hops of a question graph.
    """

    nodes: int
    edges: int
    density: float
    average_degree: float
    path_length: int


def statistics(graph: ReasoningGraph) -> Statistics:
    """The measures of a graph; of an empty one all are 0."""
    n, m = len(nodes(graph)), len(graph.facts)
    return Statistics(
        nodes=n,
        edges=m,
        density=m / (n * (n - 1)) if n > 1 else 0.0,
        average_degree=2 * m / n if n else 0.0,
        path_length=path_length(graph) if n else 0,
    )


def path_length(graph: ReasoningGraph) -> int:
    from rustworkx import distance_matrix

    plain: dict[str, object] = dict.fromkeys(nodes(graph))
    return int(distance_matrix(indexed(graph, plain, None)).max())


def drift(before: Statistics, after: Statistics) -> dict[str, float]:
    """By how much each measure changed, relative to what it was; one that was 0 and no longer is, is left out."""
    pairs = {name: (getattr(before, name), getattr(after, name)) for name in Statistics.model_fields}
    return {name: (new - old) / old if old else 0.0 for name, (old, new) in pairs.items() if old or not new}


class MeanDrift(Record):
    """The drift of one measure over many graphs."""

    absolute: float  # the mean size of the relative change, graph by graph
    of_means: float  # the relative change of the mean
    graphs: int  # how many have a relative change


def mean_drift(pairs: Sequence[tuple[Statistics, Statistics]]) -> dict[str, MeanDrift]:
    """The drift of each measure over pairs of graphs, before and after; a measure that was always 0 is left out."""
    found: dict[str, MeanDrift] = {}
    single = [drift(before, after) for before, after in pairs]
    for name in Statistics.model_fields:
        changes = [one[name] for one in single if name in one]
        was, now = (sum(getattr(pair[side], name) for pair in pairs) for side in (0, 1))
        if changes and was:
            mean = sum(map(abs, changes)) / len(changes)
            found[name] = MeanDrift(absolute=mean, of_means=now / was - 1, graphs=len(changes))
    return found


# ── the same but for names ───────────────────────────────────────────────────────────────────────────────────────────

Likeness = Literal["isomorphic", "different", "undecided"]


class TooMuchWork(Exception):
    """The search for an isomorphism has used up its bound."""


def isomorphic(
    one: ReasoningGraph,
    other: ReasoningGraph,
    *,
    typed: bool = True,
    relations: bool = True,
    roles: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
    work: int = 100_000,
) -> Likeness:
    """Whether the graphs are the same directed multigraph but for names; undecided where that takes too much work.

    With `typed`, nodes match nodes of the same type and role, and operations must be equal; with `relations`, edges
    match edges of the same relation. `work` bounds the pairs of nodes that the search looks at.
    """
    pair = (one, other)
    if len({(len(nodes(graph)), len(graph.facts), graph.operation if typed else "") for graph in pair}) > 1:
        return "different"
    plain = [coloured(graph, typed, role) for graph, role in zip(pair, roles, strict=True)]
    fine = [refined(graph, colours, relations) for graph, colours in zip(pair, plain, strict=True)]
    if Counter(fine[0].values()) != Counter(fine[1].values()):
        return "different"
    return searched([indexed(graph, fine[i], relations) for i, graph in enumerate(pair)], work)


def coloured(graph: ReasoningGraph, typed: bool, roles: Mapping[str, str]) -> Colours:
    kinds = types(graph)
    return {node: (kinds[node], roles.get(node, "")) if typed else "" for node in nodes(graph)}


def refined(graph: ReasoningGraph, colours: Colours, relations: bool) -> Colours:
    """Colours that also tell of the neighbours, and theirs, until nothing more is told apart.

    What an isomorphism maps has equal colours; the colours of two graphs can be compared.
    """
    found = dict(colours)
    while True:
        around: dict[str, list[tuple[str, str, object]]] = {node: [] for node in found}
        for subject, relation, end in edges(graph):
            told = relation if relations else ""
            around[subject].append(("to", told, found[end]))
            around[end].append(("from", told, found[subject]))
        finer: dict[str, object] = {node: hash((found[node], *sorted(map(repr, around[node])))) for node in found}
        if len(set(finer.values())) == len(set(found.values())):
            return finer
        found = finer


def indexed(graph: ReasoningGraph, colours: Colours, relations: bool | None) -> "PyDiGraph[object, object]":
    """The graph as rustworkx knows it: parallel edges as one that holds all their relations, or just their number."""
    from rustworkx import PyDiGraph

    made: PyDiGraph[object, object] = PyDiGraph()
    places = {node: made.add_node(colour) for node, colour in colours.items()}
    parallel: dict[tuple[int, int], list[str]] = {}
    for subject, relation, end in edges(graph):
        parallel.setdefault((places[subject], places[end]), []).append(relation)
    for (start, goal), told in parallel.items():
        made.add_edge(start, goal, tuple(sorted(told)) if relations else len(told))
    return made


def searched(pair: "Sequence[PyDiGraph[object, object]]", work: int) -> Likeness:
    """VF2, which asks `same` for each pair of nodes that it tries: there the work is counted."""
    from rustworkx import is_isomorphic

    left = iter(range(work))

    def same(one: object, other: object) -> bool:
        if next(left, None) is None:
            raise TooMuchWork
        return one == other

    try:
        found = is_isomorphic(pair[0], pair[1], same, operator.eq, id_order=False)
    except TooMuchWork:
        return "undecided"
    return "isomorphic" if found else "different"


def roles(graph: ReasoningGraph, question: Question) -> dict[str, str]:
    """What each node is to the question: given (named in it), answer, option (both), else bridge."""
    spoken = canonical_tokens(question.text)
    answers = [canonical_tokens(alias) for group in question.answers for alias in group]
    found: dict[str, str] = {}
    for node, name in names(graph).items():
        tokens = canonical_tokens(name)
        given, answer = contains_run(spoken, tokens), tokens in answers
        found[node] = "option" if given and answer else "given" if given else "answer" if answer else "bridge"
    return found
