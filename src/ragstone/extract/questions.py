"""The reasoning of a question from what its source says of it: triples, steps, or the sentences that support it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

from ragstone.extract.facts import between
from ragstone.extract.kinds import name_type, title_type, without_aside
from ragstone.extract.mentions import apart, quoted, runs, titled
from ragstone.extract.people import by_name, by_pronouns
from ragstone.text import DATES, MONTHS, fold
from ragstone.types import Document, Entity, Evidence, Fact, Question, ReasoningGraph

BOTH = re.compile(r"\bboth\b|\bin common\b|\bshared? (?:by|the same)\b", re.IGNORECASE)
COMPARES = re.compile(
    r"\b(?:older|younger|earlier|later|first|last|longer|larger|bigger|higher|taller|more|fewer|most recently|closer)\b"
    r".*\bor\b|\bor\b.*\b(?:older|younger|earlier|later|first)\b",
    re.IGNORECASE,
)
HOW_MANY = re.compile(r"\bhow many\b|\bnumber of\b", re.IGNORECASE)
ASKS_WHEN = re.compile(
    r"\b(?:first|older|younger|oldest|earlier|later|born|died|founded|released|published|established|started|formed"
    r"|opened|recently|year|age|longer)\b",
    re.IGNORECASE,
)
ASKS_HOW_MUCH = re.compile(r"\b(?:more|fewer|less|larger|bigger|higher|taller|longer|most|many|population)\b", re.I)
ASKS_WHENCE = re.compile(r"\b(?:nationality|country|countries|american|british|english|nation)\b", re.IGNORECASE)
YEAR = re.compile(r"\b1[0-9]{3}\b|\b20[0-9]{2}\b")
NUMBER = re.compile(r"\b\d[\d,.]*\b")
VALUE = re.compile(rf"(?:[\d.,:%$€£–-]+(?:st|nd|rd|th)?|{'|'.join(MONTHS)}|AD|BC|CE|BCE|\s)+", re.IGNORECASE)
SAYS = re.compile(r"\b(?:is|was|are|were)\s((?:an?|the)\s[^.;]{2,80})")
OPERATION_OF_TYPE = {"comparison": "compare", "bridge_comparison": "bridge_compare"}
LONGEST_VALUE = 60


def question_graph(question: Question, documents: Mapping[str, Document]) -> ReasoningGraph:
    """The source's own graph with types, genders and evidence added; else one made from the supporting sentences."""
    gold = Gold(question, documents)
    told = question.graph or made(gold)
    return ReasoningGraph(
        entities=tuple(gold.described(entity) for entity in told.entities),
        facts=tuple(gold.supported(fact, told) for fact in told.facts),
        operation=told.operation or operation(gold),
    )


class Gold:
    """A question with the documents that it rests on."""

    def __init__(self, question: Question, documents: Mapping[str, Document]) -> None:
        self.question = question
        pieces = [piece for group in question.evidence for piece in group[:1] if piece.document_id in documents]
        self.pieces: dict[str, list[Evidence]] = {}
        for piece in pieces:
            self.pieces.setdefault(piece.document_id, []).append(piece)
        self.documents = {id: documents[id] for id in self.pieces}
        known = [*(documents[id] for id in question.scope if id in documents), *self.documents.values()]
        self.titled = {fold(without_aside(it.title)): it for it in known if it.title}  # gold comes last, so it counts

    @cached_property
    def answers(self) -> tuple[str, ...]:
        return tuple(alias for group in self.question.answers for alias in group)

    @property
    def closed(self) -> bool:
        return any(fold(answer) in ("yes", "no") for answer in self.answers)

    @cached_property
    def named(self) -> list[str]:
        """What the question names, titles of its documents as a whole."""
        text = self.question.text
        whole = (
            mention for document in self.titled.values() for mention in titled(text, without_aside(document.title))
        )
        found = apart(len(text), chain(sorted(whole, key=lambda it: -len(it.text)), quoted(text), runs(text)))
        return [mention.text for mention in found if name_type(mention.text) not in ("nationality", "date")]

    def quotes(self, id: str) -> Iterator[tuple[str, Evidence]]:
        """The sentences of a document that count, the whole text where none is named."""
        for piece in self.pieces[id]:
            yield piece.quote or self.documents[id].text, piece

    def said(self) -> str:
        return " ".join(quote for id in self.pieces for quote, _ in self.quotes(id))

    def described(self, entity: Entity) -> Entity:
        """The entity with its type and gender, where the source does not give them."""
        document = self.titled.get(fold(without_aside(entity.name)))
        kind = entity.type or (title_type(document.title, document.text) if document else "") or guessed(entity.name)
        if kind != "person" or entity.gender:
            return entity.model_copy(update={"type": kind})
        told = (by_pronouns(document.text) if document else "") or by_name((entity.name, *entity.forms))
        return entity.model_copy(update={"type": kind, "gender": told})

    def supported(self, fact: Fact, graph: ReasoningGraph) -> Fact:
        """The fact with the sentence that names both of its ends, or one of them in the other's document."""
        if fact.evidence:
            return fact
        names = {entity.id: entity.name for entity in graph.entities}
        subject, object = (names.get(end, end) for end in (fact.subject, fact.object))
        ranked = [
            (self.fit(id, quote, subject, object), piece) for id in self.pieces for quote, piece in self.quotes(id)
        ]
        best = max(ranked, key=lambda pair: pair[0], default=None)
        return fact.model_copy(update={"evidence": (best[1],)}) if best and best[0] > 1 else fact

    def fit(self, id: str, quote: str, subject: str, object: str) -> int:
        own = fold(without_aside(self.documents[id].title)) == fold(without_aside(subject))
        return 2 * own + 2 * bool(place(object, quote)) + bool(place(without_aside(subject), quote))


def guessed(name: str) -> str:
    """A type from the name alone; two or three capitalised words that say nothing else are most often a person."""
    kind = name_type(name)
    words = name.split()
    if kind == "other" and ", " in name and all(word[:1].isupper() for word in words):
        return "place"
    likely = (
        kind == "other" and len(words) in (2, 3) and all(word[:1].isupper() for word in words) and words[0] != "The"
    )
    return "person" if likely else kind


# ── how the answer follows ───────────────────────────────────────────────────────────────────────────────────────────


def operation(gold: Gold) -> str:
    """What is done with the facts: bridge, compare, intersect, boolean or count; empty for a single fact."""
    question = gold.question
    kind, type = question.labels.get("answer_kind"), str(question.labels.get("type", ""))
    if gold.closed:
        return "boolean"
    if BOTH.search(question.text) and kind != "option":
        return "intersect"
    if type in OPERATION_OF_TYPE or kind == "option" or COMPARES.search(question.text):
        return OPERATION_OF_TYPE.get(type, "compare")
    if HOW_MANY.search(question.text) and gold.answers and is_counted(gold):
        return "count"
    return "bridge" if len(gold.pieces) > 1 or type == "bridge" else ""


def is_counted(gold: Gold) -> bool:
    """Whether the number that is asked for must be counted: no sentence says it."""
    numbers = [answer for answer in gold.answers if NUMBER.fullmatch(answer)]
    return bool(numbers) and not any(place(answer, gold.said()) for answer in numbers)


# ── facts from supporting sentences ──────────────────────────────────────────────────────────────────────────────────


def made(gold: Gold) -> ReasoningGraph:
    """A graph for a question whose source only says which sentences support it."""
    means = operation(gold)
    compares = means.removeprefix("bridge_") in ("compare", "boolean")
    told = list(dict.fromkeys(compared(gold) if compares else joined(gold)))
    open_answers = [] if gold.closed else gold.answers[:1]
    ends = [end for fact in told for end in (fact.subject, fact.object)]
    names = [name for name in dict.fromkeys((*ends, *gold.named, *open_answers)) if is_name(name)]
    ids = {name: f"e{number}" for number, name in enumerate(unlike(names), 1)}
    return ReasoningGraph(
        entities=tuple(Entity(id=id, name=name) for name, id in ids.items()),
        facts=tuple(
            fact.model_copy(
                update={"subject": ids.get(fact.subject, fact.subject), "object": ids.get(fact.object, fact.object)}
            )
            for fact in told
        ),
        operation=means,
    )


def is_name(text: str) -> bool:
    return any(map(str.isupper, text)) and not VALUE.fullmatch(text)


def unlike(names: Iterable[str]) -> list[str]:
    """Each name once, however it is written."""
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(fold(name), name)
    return list(found.values())


def compared(gold: Gold) -> Iterator[Fact]:
    """For each document, what its sentences say of the thing that the question compares."""
    for id, document in gold.documents.items():
        for quote, piece in gold.quotes(id):
            if value := value_in(quote, gold.question.text):
                start = quote.index(value)
                relation = between(quote, max(0, start - LONGEST_VALUE), start) or "is"
                yield Fact(subject=without_aside(document.title), relation=relation, object=value, evidence=(piece,))
                break


def value_in(quote: str, question: str) -> str:
    """A date, a number, a nationality or what the thing is: whichever the question asks about."""
    if ASKS_WHEN.search(question) and (found := first_date(quote)):
        return found
    if ASKS_HOW_MUCH.search(question) and (number := NUMBER.search(quote)):
        return number[0]
    if ASKS_WHENCE.search(question):
        for mention in runs(quote):
            if name_type(mention.text) in ("nationality", "country"):
                return mention.text
    said = SAYS.search(quote)
    return said[1].split(",")[0][:LONGEST_VALUE].strip() if said else ""


def first_date(quote: str) -> str:
    found = [match for form in DATES for match in form.finditer(quote) if match["year"]]
    return min(found, key=lambda match: match.start())[0].strip() if found else (YEAR.findall(quote) or [""])[0]


def joined(gold: Gold) -> Iterator[Fact]:
    """From what the question names to the documents, from one document to the other, and on to the answer."""
    titles = {id: without_aside(document.title) for id, document in gold.documents.items()}
    answers = gold.answers[:1]
    known = {fold(title) for title in titles.values()} | set(map(fold, answers))
    for id, title in titles.items():
        yield from linked(gold, id, title, [name for name in gold.named if fold(name) not in known])
    for id, title in titles.items():
        yield from linked(gold, id, title, [other for other in titles.values() if other != title])
    for id, title in titles.items():
        yield from linked(gold, id, title, [answer for answer in answers if fold(answer) != fold(title)])


def linked(gold: Gold, id: str, title: str, others: Sequence[str]) -> Iterator[Fact]:
    """A fact from the title to each of these that a sentence of its document names."""
    for other in others:
        for quote, piece in gold.quotes(id):
            if found := place(other, quote):
                own = place(title, quote) or (0, 0)
                first, second = sorted((own, found))
                relation = between(quote, first[1], second[0]) or "is with"
                yield Fact(subject=title, relation=relation, object=other, evidence=(piece,))
                break


def place(name: str, text: str) -> tuple[int, int] | None:
    """Where the name stands as whole words, in whatever case."""
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) if name else None
    return found.span() if found else None
