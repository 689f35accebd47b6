"""Two graphs of one question made one: what the source tells stays, what a model found is added."""

from collections.abc import Callable, Iterable, Sequence
from itertools import count

from ragstone.recipes.annotation import same, spellings
from ragstone.types import Entity, Fact, ReasoningGraph


def merged(known: ReasoningGraph, found: ReasoningGraph) -> ReasoningGraph:
    """All that is known, completed by what was found; of a fact that both tell, the known words stay."""
    entities = {entity.id: entity for entity in known.entities}
    ids: dict[str, str] = {}  # where an entity goes that is another one
    for entity in found.entities:
        same_as = [one.id for one in entities.values() if any(same(one.name, it) for it in spellings(entity))]
        id = same_as[0] if same_as else next(new for n in count(1) if (new := f"e{n}") not in entities)
        others = [entities.pop(other) for other in same_as[1:]]
        entities[id] = united([*(entities[one] for one in same_as[:1]), *others, entity], id)
        ids |= {other.id: id for other in others}
        ids[f"found {entity.id}"] = id
    facts = [redirected(fact, lambda end: ids.get(end, end)) for fact in known.facts]
    for fact in found.facts:
        add(redirected(fact, lambda end: ids.get(f"found {end}", named_by(end, entities.values()))), facts)
    return ReasoningGraph(
        entities=tuple(entities.values()), facts=tuple(facts), operation=known.operation or found.operation
    )


def united(entities: Sequence[Entity], id: str) -> Entity:
    """One entity of several that are the same."""
    first = entities[0]
    every = dict.fromkeys(spelling for entity in entities for spelling in spellings(entity))
    return Entity(
        id=id,
        name=first.name,
        type=next((entity.type for entity in entities if entity.type), ""),
        forms=tuple(spelling for spelling in every if spelling != first.name),
        gender=next((entity.gender for entity in entities if entity.gender), ""),
    )


def redirected(fact: Fact, to: Callable[[str], str]) -> Fact:
    return fact.model_copy(update={"subject": to(fact.subject), "object": to(fact.object)})


def named_by(value: str, entities: Iterable[Entity]) -> str:
    """The entity with this name, else the value itself."""
    return next((entity.id for entity in entities if same(entity.name, value)), value)


def add(fact: Fact, facts: list[Fact]) -> None:
    """Adds the fact, or its evidence to one that says the same and has none."""
    for position, one in enumerate(facts):
        if not one.evidence and (between(one, fact.subject, fact.object) or between(one, fact.object, fact.subject)):
            facts[position] = one.model_copy(update={"evidence": fact.evidence})
            return
    facts.append(fact)


def between(fact: Fact, subject: str, object: str) -> bool:
    return same(fact.subject, subject) and same(fact.object, object)
