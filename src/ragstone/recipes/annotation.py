"""From what a model tells of a question and its documents to a graph: nothing gets in that does not stand in them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from ragstone.matching import says_polarity
from ragstone.text import UNSPACED, canonical_tokens, contains_run, normalise
from ragstone.types import Document, Entity, Evidence, Fact, Question, ReasoningGraph, Record

Said = Annotated[str, Field(min_length=1)]

EntityType = Literal[
    "person", "organisation", "place", "work", "event", "product", "award",
    "country", "nationality", "language", "religion", "date", "number", "other",
]  # fmt: skip
Operation = Literal["bridge", "compare", "intersect", "boolean", "count"]

CLASSES = ("country", "nationality", "language", "religion")
"""Types of which a question may name one without asking about it: the Danish chemist, the French film."""

LETTER = rf"[^\W{UNSPACED}]"
"""A letter or digit of a script that parts its words."""


# ── what a model is asked for ────────────────────────────────────────────────────────────────────────────────────────


class Named(Record):
    """A thing with a name, and every way in which the texts write it."""

    name: Said
    type: EntityType
    gender: Literal["m", "f", "none"]
    forms: tuple[Said, ...]

    @property
    def spellings(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.name, *self.forms)))


class Stated(Record):
    """A fact, and the sentence that states it."""

    number: int
    subject: Said
    relation: Said
    object: Said
    sentence: str


class Reading(Record):
    """What documents name and say."""

    entities: tuple[Named, ...]
    facts: tuple[Stated, ...]


class Reasoning(Record):
    """What a question names, and how its answer follows from facts that are known already."""

    entities: tuple[Named, ...]
    operation: Operation
    steps: tuple[int, ...]


class Annotation(Record):
    """What a question and its documents name and state, and how the answer follows."""

    entities: tuple[Named, ...]
    facts: tuple[Stated, ...]
    operation: Operation
    steps: tuple[int, ...]


# ── what is wrong with it ────────────────────────────────────────────────────────────────────────────────────────────


class Texts(NamedTuple):
    """All that a model was shown: what it tells must stand there."""

    question: Question
    documents: Sequence[Document]

    def hold(self, words: str) -> bool:
        return any(occurs(words, text) for text in self.all())

    def all(self) -> Iterator[str]:
        yield self.question.text
        yield from self.question.choices
        for group in self.question.answers:
            yield from group
        for document in self.documents:
            yield document.title
            yield document.text

    def evidence(self, sentence: str) -> Evidence | None:
        """Where a sentence stands, however its words are spaced."""
        spaced = re.compile(r"\s+".join(map(re.escape, sentence.split())))
        for document in self.documents:
            if sentence.strip() and (found := spaced.search(document.text)):
                return Evidence(document_id=document.id, quote=found[0], start=found.start(), end=found.end())
        return None


def occurs(words: str, text: str) -> bool:
    """Whether the words stand in the text letter for letter, and not as a part of longer words."""
    before = f"(?<!{LETTER})" if re.match(LETTER, words) else ""
    after = f"(?!{LETTER})" if re.match(LETTER, words[-1:]) else ""
    return bool(words.strip()) and re.search(before + re.escape(words) + after, text) is not None


def reading_problems(told: Reading | Annotation, texts: Texts) -> list[str]:
    """What does not stand in the texts, and what points nowhere."""
    known = {spelling for entity in told.entities for spelling in entity.spellings}
    wrong = spelling_problems(told.entities, texts)
    for fact in told.facts:
        if texts.evidence(fact.sentence) is None:
            wrong.append(
                f"fact {fact.number}: its sentence is in no document letter for letter: {short(fact.sentence)}"
            )
        for end in (fact.subject, fact.object):
            if end not in known and not texts.hold(end):
                wrong.append(f"fact {fact.number}: {short(end)} is neither a listed entity nor words of the documents")
    numbers = [fact.number for fact in told.facts]
    return wrong + [f"several facts have the number {n}" for n in sorted(set(numbers)) if numbers.count(n) > 1]


def spelling_problems(entities: Iterable[Named], texts: Texts) -> list[str]:
    spellings = dict.fromkeys(spelling for entity in entities for spelling in entity.spellings)
    return [
        f"{short(spelling)} is not in the texts letter for letter" for spelling in spellings if not texts.hold(spelling)
    ]


def annotation_problems(told: Annotation, texts: Texts) -> list[str]:
    """What is wrong with a whole annotation: with its parts, and with the way from the question to the answer."""
    return [*reading_problems(told, texts), *way_problems(told, texts)]


def way_problems(told: Annotation, texts: Texts) -> list[str]:
    numbers = {fact.number for fact in told.facts}
    if lost := [step for step in told.steps if step not in numbers]:
        return [f"steps names fact {step}, which is not listed" for step in lost]
    graph, steps = graph_of(told, texts)
    if missing := missing_answer(graph, texts.question):
        return [f"the answer {short(missing)} is neither a listed entity nor the subject or object of a fact"]
    if not steps:
        return ["steps names no fact that the documents state: name those from which the answer follows"]
    if not leads_to_answer(graph, steps, texts.question):
        return ["the steps do not connect what the question names with the answer; add the facts between them"]
    return []


def missing_answer(graph: ReasoningGraph, question: Question) -> str:
    """The answer that is nowhere in the graph; closed answers and counts are worked out, and need not be."""
    if is_closed(question) or graph.operation == "count":
        return ""
    return next((group[0] for group in question.answers if not answer_ends(graph, group)), "")


def is_closed(question: Question) -> bool:
    return not question.answerable or bool(question.choices) or says_polarity(question)


def answer_ends(graph: ReasoningGraph, aliases: Sequence[str]) -> set[str]:
    """The entities and values that say the answer; a value may say more: 5 May 1821 says 1821."""
    named = {
        one.id for one in graph.entities if any(same(spelling, it) for spelling in spellings(one) for it in aliases)
    }
    ids = {one.id for one in graph.entities}
    values = {end for fact in graph.facts for end in (fact.subject, fact.object) if end not in ids}
    values |= {one.id for one in graph.entities if one.type in ("date", "number")}
    names = {one.id: one.name for one in graph.entities}
    told = {end for end in values for it in aliases if says(names.get(end, end), it)}
    return named | told


def same(one: str, other: str) -> bool:
    return normalise(one) == normalise(other) or canonical_tokens(one) == canonical_tokens(other)


def says(text: str, words: str) -> bool:
    return contains_run(canonical_tokens(text), canonical_tokens(words))


def spellings(entity: Entity) -> tuple[str, ...]:
    return (entity.name, *entity.forms)


def leads_to_answer(graph: ReasoningGraph, steps: int, question: Question) -> bool:
    """Whether the first facts connect something that the question names with every part of the answer."""
    edges = [(fact.subject, fact.object) for fact in graph.facts[:steps]]
    ids = {one.id for one in graph.entities}
    named = {one.id for one in graph.entities if one.type not in CLASSES and any_said(question.text, spellings(one))}
    named |= {end for edge in edges for end in edge if end not in ids and says(question.text, end)}
    if is_closed(question) or graph.operation == "count" or not named:
        return True
    reached = connected(named, edges)
    return all(answer_ends(graph, group) & reached for group in question.answers)


def any_said(text: str, names: Iterable[str]) -> bool:
    return any(says(text, name) for name in names)


def connected(begin: set[str], edges: Sequence[tuple[str, str]]) -> set[str]:
    """All that can be reached."""
    reached, size = set(begin), -1
    while len(reached) > size:
        size = len(reached)
        reached |= {end for edge in edges if reached & set(edge) for end in edge}
    return reached


def short(words: str) -> str:
    return repr(words if len(words) <= 80 else f"{words[:77]}…")


# ── from a reply to a graph ──────────────────────────────────────────────────────────────────────────────────────────


def graph_of(told: Annotation, texts: Texts) -> tuple[ReasoningGraph, int]:
    """The graph of what stands in the texts, and how many of its facts, from the first, the answer follows from."""
    entities, ids = entities_of(told.entities, texts)
    known = {fact.number: fact for fact in reversed(told.facts)}
    steps = [known[number] for number in dict.fromkeys(told.steps) if number in known]
    taken = [fact for stated in steps if (fact := fact_of(stated, ids, texts))]
    others = [fact for stated in told.facts if stated not in steps and (fact := fact_of(stated, ids, texts))]
    return ReasoningGraph(entities=tuple(entities), facts=(*taken, *others), operation=told.operation), len(taken)


def entities_of(told: Iterable[Named], texts: Texts) -> tuple[list[Entity], dict[str, str]]:
    """The entities as the texts write them, and the id behind every way in which the model does; names come first."""
    kept = [(named, found) for named in told if (found := [it for it in named.spellings if texts.hold(it)])]
    entities = [entity_of(named, found, f"e{number}") for number, (named, found) in enumerate(kept, 1)]
    ids: dict[str, str] = {}
    for (named, _), entity in zip(kept, entities, strict=True):
        ids.setdefault(named.name, entity.id)
    for (named, _), entity in zip(kept, entities, strict=True):
        ids |= {form: entity.id for form in named.forms if form not in ids}
    return entities, ids


def entity_of(named: Named, found: Sequence[str], id: str) -> Entity:
    """The entity with those of its spellings that were found; if its name was not, the longest of them is its name."""
    name = named.name if named.name in found else max(found, key=len)
    forms = tuple(spelling for spelling in found if spelling != name)
    return Entity(id=id, name=name, type=named.type, forms=forms, gender="" if named.gender == "none" else named.gender)


def fact_of(stated: Stated, ids: Mapping[str, str], texts: Texts) -> Fact | None:
    evidence = texts.evidence(stated.sentence)
    ends = [ids.get(end, end) for end in (stated.subject, stated.object)]
    if evidence is None or not all(end in ids or texts.hold(end) for end in (stated.subject, stated.object)):
        return None
    return Fact(subject=ends[0], relation=stated.relation, object=ends[1], evidence=(evidence,))
