"""Another outcome for a question: years of one of two compared things move, or its country becomes another."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice

from ragstone.gazetteer import ALL_COUNTRIES, KNOWN_EVENTS, Country
from ragstone.graphs.edges import names
from ragstone.graphs.execution import ASIDE, COUNTRY_OF, answer_of, plan, reasoning
from ragstone.graphs.values import day
from ragstone.recipes.reseed.sides import Corpus, Side, compared, value_of
from ragstone.slots import Bound, article, bind, bound, change_graph, filling, slot_ids
from ragstone.store import evidence_ids
from ragstone.text import fold, normalise
from ragstone.types import Fact, Question, ReasoningGraph, Slot

FIXED_IN_TIME = re.compile("|".join(["century", "centuries", *map(re.escape, sorted(KNOWN_EVENTS))]), re.IGNORECASE)
FORM = re.compile(r"(?<=\d)\.[a-z]+(?=\}\})")
OPPOSITE = {"yes": "no", "no": "yes"}
YEARS = range(1000, 2030)
DAYS_OF_A_YEAR = 365.25
PLAIN_WORD = re.compile(r"[A-Z][a-z]+")
COUNTRIES = {it.code: it for it in ALL_COUNTRIES if it.names and it.adjectives and it.people}
PLAIN_COUNTRIES = [
    it for it in COUNTRIES.values() if all(map(PLAIN_WORD.fullmatch, (it.names[0], it.adjectives[0], it.people[-1])))
]
WITH_ARTICLE = ("United ", "Netherlands", "Philippines")


@dataclass(frozen=True)
class Turn:
    """What must stand elsewhere in a question and its documents for it to end otherwise."""

    documents: frozenset[str]
    facts: frozenset[int]  # places in the graph
    exchange: Mapping[str, str]  # what stands there, as a template, and what stands there otherwise
    answer: str
    years: tuple[Slot, ...] = ()  # that no text had before


def turned(question: Question, corpus: Corpus, taken: Collection[str]) -> Turn | None:
    """How the question can end otherwise, if there is a safe way; documents in `taken` must stay as they are."""
    read = corpus.read[1][question.id]
    made = plan(reasoning(read), read.text)
    known = answer_of(read)
    if not made or len(question.answers) != 1 or not agrees(known, read):
        return None
    sides = [side for side in compared(read, made, corpus) if is_asked_about(side, question)]
    if len(sides) != 2:
        return None
    candidates = by_country if made.operation == "same" else by_years
    for side, other in zip(sides, reversed(sides), strict=True):
        if all(id not in taken and corpus.asked[id] == {question.id} for id in side.documents):
            wanted = other_answer(str(known), sides, question, corpus)
            for turn in candidates(question, side, other, wanted, corpus):
                if normalise(outcome(turn, question, corpus) or "") == normalise(bind(turn.answer, corpus.values)):
                    return turn
    return None


def agrees(known: str | None, question: Question) -> bool:
    return known is not None and any(normalise(known) == normalise(alias) for alias in question.answers[0])


def is_asked_about(side: Side, question: Question) -> bool:
    """Whether the question names it by the same slots as the graph, so that they agree in every draw."""
    name = names(question.graph or ReasoningGraph())[side.start]
    asked, called = (FORM.sub("", text).casefold() for text in (question.text, name))
    return called in asked or ASIDE.sub("", called) in asked


def other_answer(known: str, sides: Sequence[Side], question: Question, corpus: Corpus) -> str:
    """What the answer is otherwise: no for yes, the other of two names for one of them."""
    called = names(question.graph or ReasoningGraph())
    return OPPOSITE.get(known) or next(
        called[side.start] for side in sides if normalise(bind(called[side.start], corpus.values)) != normalise(known)
    )


def outcome(turn: Turn, question: Question, corpus: Corpus) -> str | None:
    """The answer that follows from the facts as they would be."""
    graph = turned_graph(question, turn, turn.exchange)
    known = corpus.values | {slot.id: slot.original for slot in turn.years}
    filled = change_graph(
        graph.model_copy(update={"facts": [without_evidence(it) for it in graph.facts]}), filling(known), {}
    )
    read = corpus.read[1][question.id]
    return answer_of(read.model_copy(update={"graph": filled}))


def without_evidence(fact: Fact) -> Fact:
    return fact.model_copy(update={"evidence": ()})


def turned_graph(question: Question, turn: Turn, exchange: Mapping[str, str]) -> ReasoningGraph:
    """The graph with what is exchanged in the facts that turn; an object that others share becomes a value there."""
    graph = question.graph or ReasoningGraph()
    called = names(graph)
    facts = list(graph.facts)
    for place in turn.facts:
        old = called[facts[place].object]
        new = exchanged(old, exchange).text
        facts[place] = facts[place].model_copy(update={"object": new} if new != old else {})
    return graph.model_copy(update={"facts": tuple(facts)})


def exchanged(text: str, exchange: Mapping[str, str]) -> Bound:
    """The text with each of these pieces exchanged, as a whole word, and where its places went."""
    pieces = sorted(exchange, key=len, reverse=True)
    marks = "|".join(re.escape(piece) for piece in pieces if piece.startswith("{{"))
    words = "|".join(re.escape(piece) for piece in pieces if not piece.startswith("{{"))
    known = [r"\{\{\{\{", *([marks] if marks else []), *([rf"(?<!\w)(?:{words})(?!\w)"] if words else [])]
    return bound(text, lambda match: exchange.get(match[0], match[0]), re.compile("|".join(known)))


# ── years ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def by_years(question: Question, side: Side, other: Side, answer: str, corpus: Corpus) -> Iterator[Turn]:
    """All years in the documents of one side move by tens, so that decades stay decades."""
    standing = {id for own in side.documents for id in slot_ids(corpus.text(own)) if id in corpus.year_slots}
    asked = set(slot_ids(question.text))
    elsewhere = {id for sentence in corpus.mentions(side) for id in slot_ids(sentence)}
    fixed = any(FIXED_IN_TIME.search(corpus.read[0][id].text) for id in side.documents)
    compared = set(slot_ids(value_of(side, question.graph or ReasoningGraph()))) & set(corpus.year_slots)
    stated = bool(compared) and compared <= set(slot_ids(corpus.text(side.told_in)))
    if not stated or fixed or standing & (asked | elsewhere):
        return
    for by in distances(side, other, question, corpus):
        if all(int(corpus.year_slots[id].original) + by in YEARS for id in standing):
            moved = {id: moved_year(corpus.year_slots[id], by, corpus) for id in sorted(standing)}
            exchange = {f"{{{{{id}}}}}": f"{{{{{slot.id}}}}}" for id, slot in moved.items()}
            new = tuple(slot for slot in moved.values() if slot.id not in corpus.year_slots)
            yield Turn(frozenset(side.documents), side.facts, exchange, answer, new)


def distances(side: Side, other: Side, question: Question, corpus: Corpus) -> Iterator[int]:
    """The multiples of ten that carry one side's date past the other's: the smallest, and the next."""
    graph = reasoning(corpus.read[1][question.id])
    days = [day(value_of(it, graph)) for it in (side, other)]
    if days[0] and days[1]:
        apart = int(abs(days[0][0] - days[1][0]) / DAYS_OF_A_YEAR)
        for tens in (apart // 10 + 1, apart // 10 + 2):
            yield -10 * tens
            yield 10 * tens


def moved_year(slot: Slot, by: int, corpus: Corpus) -> Slot:
    """The slot of the year that is so much later; years of one group move together in every draw."""
    year = str(int(slot.original) + by)
    id = re.sub(r"\d+$", year, slot.id)
    return corpus.year_slots.get(id) or slot.model_copy(update={"id": id, "original": year, "value": ""})


# ── countries ────────────────────────────────────────────────────────────────────────────────────────────────────────


def by_country(question: Question, side: Side, other: Side, answer: str, corpus: Corpus) -> Iterator[Turn]:
    """Every word for the country of one side becomes the word for another country: the other side's, or a third."""
    codes = [country_of(it, question, corpus) for it in (side, other)]
    texts = [corpus.text(id) for id in side.documents]
    if not all(code in COUNTRIES for code in codes):
        return
    mine, its = (COUNTRIES[code] for code in codes)
    named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words_between(mine, its)))})(?!\w)")
    if not named.search(corpus.text(side.told_in)):
        return
    if any(in_a_name(it) for text in texts for it in named.finditer(text)):
        return
    if any(named.search(sentence) for sentence in corpus.mentions(side)):
        return
    for target in [its] if answer == "yes" else islice(others(question, corpus), 3):
        if not any(says(text, target) for text in texts):
            yield Turn(frozenset(side.documents), side.facts, words_between(mine, target), answer)


def in_a_name(found: "re.Match[str]") -> bool:
    """Whether the word is a part of something longer: West German, Italian-French, American Film Institute."""
    before, after = found.string[: found.start()], found.string[found.end() :]
    return bool(
        re.search(r"(?:West|East|North|South|New|[-–])\s?$", before) or re.match(r"\s?[-–]|\s+(?:[A-Z]|\{\{)", after)
    )


def country_of(side: Side, question: Question, corpus: Corpus) -> str:
    return COUNTRY_OF.get(fold(value_of(side, reasoning(corpus.read[1][question.id]))), "")


def others(question: Question, corpus: Corpus) -> Iterator[Country]:
    """Countries with plain words of which no evidence speaks, in an order that depends on the question alone."""
    texts = [corpus.text(id) for id in evidence_ids(question)]
    for country in sorted(PLAIN_COUNTRIES, key=lambda it: sha256(f"{question.id} {it.code}".encode()).digest()):
        if not any(says(text, country) for text in texts):
            yield country


def says(text: str, country: Country) -> bool:
    words = "|".join(map(re.escape, (*country.names, *country.adjectives, *country.people)))
    return re.search(rf"(?<!\w)(?:{words})(?!\w)", text) is not None


def words_between(old: Country, new: Country) -> dict[str, str]:
    """Each word for the one country with the same kind of word for the other, articles included."""
    plural, singular = new.people[-1], new.adjectives[0]
    named = f"the {new.names[0]}" if new.names[0].startswith(WITH_ARTICLE) else new.names[0]
    found = {word: plural if word.endswith("s") else singular for word in old.people}
    found |= dict.fromkeys(old.adjectives, singular)
    found |= {form: named for name in old.names for form in (name, f"the {name}")}
    for word, instead in [*found.items()]:
        there = article(word)
        found |= {f"{there} {word}": f"{article(instead)} {instead}"}
        found |= {f"{there.capitalize()} {word}": f"{article(instead).capitalize()} {instead}"}
    return found
