"""What follows from facts: a question graph as a plan of steps, carried out on facts. Never a guess."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from ragstone.gazetteer import ALL_COUNTRIES
from ragstone.graphs.edges import Edge, edges, names
from ragstone.graphs.values import Interval, between, intervals
from ragstone.slots import unaccented
from ragstone.text import canonical_tokens, contains_run, fold, tokens
from ragstone.types import Question, ReasoningGraph

Operation = Literal["bridge", "least", "greatest", "same", "count"]

LEAST = frozenset(
    "first earlier earliest older oldest sooner fewer fewest less least lower lowest smaller smallest shorter "
    "shortest".split()
)
GREATEST = frozenset(
    "later latest last recently newer newest younger youngest more most longer longest higher highest taller tallest "
    "larger largest bigger biggest greater greatest".split()
)
SAME = frozenset(("same", "share"))
CUES: Mapping[Operation, frozenset[str]] = {"least": LEAST, "greatest": GREATEST, "same": SAME}
BIRTH, DEATH = re.compile(r"\b(?:birth|born)\b"), re.compile(r"\b(?:death|died)\b")
COUNTRY_OF = {
    fold(word): country.code
    for country in reversed(ALL_COUNTRIES)
    for word in (*country.people, *country.adjectives, *country.names)
}
ASIDE = re.compile(r"\s*\([^()]*\)$")
LOOPS = 12
"""No way through a graph is longer: what goes round in circles ends here."""


class Step(NamedTuple):
    """From a node along a relation, or against it."""

    relation: str
    forward: bool = True


class Way(NamedTuple):
    """From a node that is given, step by step."""

    start: str
    steps: tuple[Step, ...]


class Plan(NamedTuple):
    """How the answer is found: which ways to go, and what to do with what they lead to."""

    operation: Operation
    ways: tuple[Way, ...]


def execute(graph: ReasoningGraph, question: str, told: ReasoningGraph | None = None) -> str | None:
    """The answer that follows from the graph, or from what is `told` instead; None where that does not decide.

    What the question names already is no answer to it, unless it is one of things to compare.
    """
    made = plan(graph, question)
    answer = carry_out(made, told or graph) if made else None
    named = answer is not None and contains_run(canonical_tokens(question), canonical_tokens(answer))
    return None if made and made.operation == "bridge" and named else answer


def reasoning(question: Question) -> ReasoningGraph:
    """The facts from which the answer follows: the first `steps` of its graph where a label tells, else all."""
    graph = question.graph or ReasoningGraph()
    return graph.model_copy(update={"facts": graph.facts[: int(question.labels.get("steps", len(graph.facts)))]})


def answer_of(question: Question) -> str | None:
    """The answer that follows from the question's own graph, or None where it does not decide."""
    return execute(reasoning(question), question.text)


# ── the plan ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def plan(graph: ReasoningGraph, question: str) -> Plan | None:
    """The plan that the graph and the words of the question give, if they are clear."""
    operation = graph.operation.removeprefix("bridge_")
    if operation in ("compare", "boolean"):
        return comparing(graph, question)
    if operation == "intersect":
        return intersecting(graph, question)
    ways = ways_to_ends(graph)
    if operation == "count":
        return Plan("count", ways) if len({way.start for way in ways}) == 1 else None
    return Plan("bridge", ways) if ways and operation == "bridge" else None


def comparing(graph: ReasoningGraph, question: str) -> Plan | None:
    """What is compared are the nodes that facts start from; the question must name them all."""
    called, ways = names(graph), ways_to_ends(graph)
    starts = list(dict.fromkeys(way.start for way in ways))
    words = words_without([called[start] for start in starts], question)
    if len(starts) < 2 or words is None:
        return None
    meant = [operation for operation, cues in CUES.items() if not cues.isdisjoint(words)]
    return Plan(meant[0], ways) if len(meant) == 1 else None


def words_without(called: Sequence[str], question: str) -> list[str] | None:
    """The words of the question but for these names; None where it does not name them all."""
    text = fold(question)
    for name in sorted(map(fold, called), key=len, reverse=True):
        spoken = next((form for form in (name, ASIDE.sub("", name)) if form and form in text), None)
        if spoken is None:
            return None
        text = text.replace(spoken, " ")
    return re.findall(r"\w+", text)


def intersecting(graph: ReasoningGraph, question: str) -> Plan | None:
    """The one node that the question does not name, and that a fact joins to each that it names."""
    called, told = names(graph), edges(graph)
    given = {node for node, name in called.items() if name and fold(name) in fold(question)}
    reached = {node: {other for edge in told if (other := across(edge, node))} for node in given}
    common = set.intersection(*reached.values()) - given if len(given) > 1 else set()
    if len(common) != 1:
        return None
    (answer,) = common
    found = [Way(node, (step_to(edge, node),)) for edge in told for node in given if across(edge, node) == answer]
    return Plan("bridge", tuple(found))


def across(edge: Edge, node: str) -> str:
    """The other end of the edge, if this node is at one."""
    return edge.object if edge.subject == node else edge.subject if edge.object == node else ""


def step_to(edge: Edge, start: str) -> Step:
    return Step(edge.relation, forward=edge.subject == start)


def ways_to_ends(graph: ReasoningGraph) -> tuple[Way, ...]:
    """Every way from a node that no fact leads to, along the facts, to a node from which none leads on."""
    told = edges(graph)
    called = names(graph)
    reached = {follow_up(edge.object, told, called) for edge in told}
    starts = dict.fromkeys(edge.subject for edge in told if edge.subject not in reached)
    found = dict.fromkeys(Way(start, steps) for start in starts for steps in onward(start, told, called, LOOPS))
    return tuple(found)


def onward(node: str, told: Sequence[Edge], called: Mapping[str, str], left: int) -> list[tuple[Step, ...]]:
    following = [edge for edge in told if edge.subject == follow_up(node, told, called)]
    if not following or not left:
        return [()]
    return [(Step(edge.relation), *rest) for edge in following for rest in onward(edge.object, told, called, left - 1)]


def follow_up(node: str, told: Sequence[Edge], called: Mapping[str, str]) -> str:
    """The node where facts about this one are told: itself, or the only one of its name (but for accents, `(film)`)."""
    if any(edge.subject == node for edge in told):
        return node
    plain = plain_name(called[node])
    alike = {edge.subject for edge in told if plain and plain_name(called[edge.subject]) == plain}
    return alike.pop() if len(alike) == 1 else node


@lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    return " ".join(tokens(unaccented(ASIDE.sub("", name))))


# ── carrying it out ──────────────────────────────────────────────────────────────────────────────────────────────────


def carry_out(made: Plan, graph: ReasoningGraph) -> str | None:
    """What the plan finds in these facts, by name; None where a step leads nowhere, or to more than one thing."""
    told, called = edges(graph), names(graph)
    ends = [walk(way, told, called).ends for way in made.ways]
    if not ends or not all(ends):
        return None
    if made.operation == "bridge":
        common = set.intersection(*ends)
        return called[common.pop()] if len(common) == 1 else None
    if made.operation == "count":
        return str(len(set.union(*ends)))
    values: dict[str, list[Value]] = {}
    for way, found in zip(made.ways, ends, strict=True):
        values.setdefault(way.start, []).extend(
            Value(way.steps[-1].relation, called[end], called[end] != end) for end in sorted(found)
        )
    return same(list(values.values())) if made.operation == "same" else extreme(made.operation, values, called)


class Walk(NamedTuple):
    """Where a way ends, and the places of the facts that it goes along."""

    ends: set[str]
    used: set[int]


def walk(way: Way, told: Sequence[Edge], called: Mapping[str, str]) -> Walk:
    here, used = {way.start}, set[int]()
    for step in way.steps:
        known = {follow_up(node, told, called) for node in here} if step.forward else here
        taken = [
            place
            for place, edge in enumerate(told)
            if edge.relation == step.relation and (edge.subject if step.forward else edge.object) in known
        ]
        here = {told[place].object if step.forward else told[place].subject for place in taken}
        used.update(taken)
    return Walk(here, used)


def on_path(graph: ReasoningGraph, question: str, told: ReasoningGraph | None = None) -> set[int]:
    """The places of the facts from which the answer follows, or would follow from what is `told` instead.

    None where the graph does not decide.
    """
    made, facts, called = plan(graph, question), edges(told or graph), names(told or graph)
    return {place for way in made.ways for place in walk(way, facts, called).used} if made else set()


# ── comparing what was reached ───────────────────────────────────────────────────────────────────────────────────────


class Value(NamedTuple):
    """What was reached, and the relation that led there."""

    relation: str
    text: str
    is_entity: bool


def same(values: Sequence[Sequence[Value]]) -> str | None:
    """Whether all have a value in common; that they have none is sure only of countries, which have few names."""
    sets = [{COUNTRY_OF.get(fold(value.text), fold(value.text)) for value in each} for each in values]
    if set.intersection(*sets):
        return "yes"
    return "no" if set.union(*sets) <= set(COUNTRY_OF.values()) else None


def extreme(operation: Operation, values: Mapping[str, Sequence[Value]], called: Mapping[str, str]) -> str | None:
    """The start whose measure is the least or the greatest beyond doubt."""
    sizes = measures(list(values.values()))
    for start, size in zip(values, sizes or (), strict=False):
        others = [other for other in sizes or () if other is not size]
        below = all(size[1] < other[0] for other in others)
        above = all(size[0] > other[1] for other in others)
        if below if operation == "least" else above:
            return called[start]
    return None


def measures(values: Sequence[Sequence[Value]]) -> list[Interval] | None:
    """An interval for each: from its first to its last date or number; how long it lived; how many things it has."""
    flat = [value for each in values for value in each]
    if len({value.relation for value in flat}) > 1:
        spans = [lifetime(each) for each in values]
        known = [span for span in spans if span]
        return known if len(known) == len(values) else None
    if all(value.is_entity for value in flat):
        return [(len(each), len(each)) for each in values]
    sizes = iter(intervals([value.text for value in flat]) or ())
    hulls = [hull([size for _, size in zip(each, sizes, strict=False)]) for each in values]
    return [found for found in hulls if found] if all(hulls) else None


def hull(sizes: Sequence[Interval]) -> Interval | None:
    return (min(size[0] for size in sizes), max(size[1] for size in sizes)) if sizes else None


def lifetime(values: Sequence[Value]) -> Interval | None:
    """From the only birth to the only death."""
    born, died = ([value.text for value in values if cue.search(value.relation)] for cue in (BIRTH, DEATH))
    ends = intervals([*born, *died])
    return between(ends[0], ends[1]) if ends and len(born) == len(died) == 1 else None
