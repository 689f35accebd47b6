"""Turns the texts of a benchmark into templates: every name word, year and asked-for number becomes a slot."""

import hashlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragstone.recipes.reseed.book import Book
from ragstone.recipes.reseed.concepts import Concepts, concepts_of
from ragstone.recipes.reseed.marking import Mark, Marker, with_articles
from ragstone.recipes.reseed.mentions import gold_ids
from ragstone.recipes.reseed.numbers import asked_numbers, numbers_by_document
from ragstone.recipes.reseed.policy import Policy
from ragstone.recipes.reseed.registry import Registry, registered
from ragstone.recipes.reseed.words import words
from ragstone.slots import escaped, slot_ids
from ragstone.types import Benchmark, Document, Entity, Evidence, Fact, Question, ReasoningGraph, Template


def templated(benchmark: Benchmark, graphs: Mapping[str, ReasoningGraph], policy: Policy) -> Template:
    """The benchmark with slots. Binding them to what stood there gives back the benchmark, letter by letter."""
    registry = registered(benchmark, graphs, policy)
    concepts = concepts_of(benchmark, policy)
    allowed = None if policy.scope == "all" else words_in_scope(benchmark, registry, concepts)
    texts = Texts(benchmark, registry, Marker(registry, Book(registry), concepts, allowed))
    documents = {document.id: texts.document(document) for document in benchmark.documents}
    questions = tuple(texts.question(question, documents) for question in benchmark.questions)
    templates = tuple(marked.template for marked in documents.values())
    return Template(documents=templates, questions=questions, slots=texts.marker.book.all())


def words_in_scope(benchmark: Benchmark, registry: Registry, concepts: Concepts) -> frozenset[str]:
    """The name words and acronyms of questions and answers, and with `scope=gold` of all evidence."""
    book = Book(registry)
    texts = Texts(benchmark, registry, Marker(registry, book, concepts))
    gold = {id for question in benchmark.questions for id in gold_ids(question)}
    documents = {document.id: texts.document(document) for document in benchmark.documents if document.id in gold}
    alone = (question.model_copy(update={"scope": (), "hidden": ()}) for question in benchmark.questions)
    asked = {id for question in alone for id in question_slots(texts.question(question, documents))}
    known = book.by_key | {text: id for (_, text), id in book.by_text.items()}
    return frozenset(key for key, id in known.items() if registry.policy.scope == "gold" or id in asked)


def question_slots(question: Question) -> Iterator[str]:
    """The slots of its text, answers, choices and facts."""
    yield from slot_ids(" ".join((question.text, *question.choices, *(" ".join(group) for group in question.answers))))
    graph = question.graph or ReasoningGraph()
    yield from slot_ids(" ".join(f"{fact.subject} {fact.relation} {fact.object}" for fact in graph.facts))
    yield from slot_ids(" ".join(entity.name for entity in graph.entities))


@dataclass(frozen=True)
class Marked:
    """A document with its marks, so that places of the original are found in the template."""

    source: Document
    marks: Sequence[Mark]
    title_marks: Sequence[Mark]
    template: Document


def filled(text: str, marks: Iterable[Mark]) -> str:
    """The template of a text."""
    pieces = []
    position = 0
    for one in marks:
        pieces += [escaped(text[position : one.start]), one.text]
        position = one.end
    return "".join([*pieces, escaped(text[position:])])


def sliced(text: str, marks: Sequence[Mark], start: int, end: int) -> str | None:
    """The template of a part of a text; none if a mark stands across its border."""
    inside = marks[bisect_left(marks, (start,)) : bisect_left(marks, (end,))]
    before = marks[bisect_left(marks, (start,)) - 1] if bisect_left(marks, (start,)) else None
    if (before and before.end > start) or (inside and inside[-1].end > end):
        return None
    moved = [Mark(one.start - start, one.end - start, one.text) for one in inside]
    return filled(text[start:end], moved)


def place(text: str, marks: Sequence[Mark], offset: int, end: bool) -> int:
    """Where an offset of the text is in its template; inside a mark, the border of it."""
    before = list(marks[: bisect_left(marks, (offset,))])
    if before and before[-1].end > offset:
        last = before.pop()
        offset = last.end if end else last.start
        before += [last] if end else []
    literal_end = before[-1].end if before else 0
    return len(filled(text[:literal_end], before)) + len(escaped(text[literal_end:offset]))


def opaque(prefix: str, id: str) -> str:
    return f"{prefix}-{hashlib.sha256(id.encode()).hexdigest()[:10]}"


class Texts:
    """Templates of documents and questions."""

    def __init__(self, benchmark: Benchmark, registry: Registry, marker: Marker) -> None:
        self.registry = registry
        self.marker = marker
        wanted = benchmark.questions if registry.policy.numbers == "answers" else ()
        self.asked = asked_numbers(wanted, benchmark.documents)
        self.numbers = numbers_by_document(wanted, self.asked)

    def document(self, document: Document) -> Marked:
        local = frozenset(self.registry.local.get(document.id, ()))
        numbers = self.numbers.get(document.id, frozenset())
        marks = self.marker.marks(document.text, local, numbers=numbers)
        title_marks = self.marker.marks(document.title, local, titled=True)
        labels = {
            name: self.string(value, local) if isinstance(value, str) else value
            for name, value in document.labels.items()
        }
        template = Document(
            id=opaque("d", document.id),
            title=filled(document.title, title_marks),
            text=filled(document.text, marks),
            labels=labels,
        )
        return Marked(document, marks, title_marks, template)

    def string(
        self, text: str, local: frozenset[str], titled: bool = False, numbers: frozenset[str] = frozenset()
    ) -> str:
        return filled(text, self.marker.marks(text, local, titled, numbers))

    def question(self, question: Question, documents: Mapping[str, Marked]) -> Question:
        gold = [documents[id] for id in gold_ids(question)]
        own = set(self.registry.local.get(question.id, ()))
        local = frozenset(own.union(*(self.registry.local.get(marked.source.id, ()) for marked in gold)))
        numbers = self.asked.get(question.id, frozenset())
        update = {
            "id": self.question_id(question.id),
            "text": filled(question.text, self.marker.marks(question.text, local, numbers=numbers, asked=True)),
            "answers": tuple(
                tuple(self.answer(alias, gold, local, numbers) for alias in group) for group in question.answers
            ),
            "choices": tuple(self.answer(choice, gold, local, numbers) for choice in question.choices),
            "evidence": tuple(tuple(self.evidence(piece, documents) for piece in group) for group in question.evidence),
            "graph": question.graph and self.graph(question.graph, gold, local, documents),
            "parent": question.id,
            "remembered": question.answers,
            "scope": tuple(documents[id].template.id for id in question.scope),
            "hidden": tuple(documents[id].template.id for id in question.hidden),
        }
        return question.model_copy(update=update)

    def question_id(self, id: str) -> str:
        """As it was, unless it tells a name."""
        named = any(len(word.key) > 2 and word.key in self.marker.book.by_key for word in words(id))
        return opaque("q", id) if named else id

    def answer(
        self, alias: str, gold: Sequence[Marked], local: frozenset[str], numbers: frozenset[str] = frozenset()
    ) -> str:
        """As the documents that prove it have it, so that it is still found in them."""
        if self.marker.concepts:  # they change wherever they stand
            return self.string(alias, local, titled=True, numbers=numbers)
        found: Counter[str] = Counter()
        for marked in gold:
            for text, marks in ((marked.source.text, marked.marks), (marked.source.title, marked.title_marks)):
                found.update(self.occurrences(alias, text, marks))
        if found:
            return max(found, key=lambda one: (found[one], len(one), one))
        for marked in gold:
            for text, marks in ((marked.source.text, marked.marks), (marked.source.title, marked.title_marks)):
                if (cut := self.in_other_case(alias, text, marks)) is not None:
                    return cut
        return self.string(alias, local, titled=True, numbers=numbers)

    def in_other_case(self, alias: str, text: str, marks: Sequence[Mark]) -> str | None:
        """The alias with the words changed that are changed where the text writes it in another case."""
        start = text.lower().find(alias.lower()) if len(text.lower()) == len(text) else -1
        if start < 0 or not alias or text[start - 1 : start].isalnum() or text[start + len(alias) :][:1].isalnum():
            return None
        changed = {one.start - start for one in marks if not one.text.endswith("article}}")}
        own = [self.marker.mark_of(word, alias) for word in words(alias) if word.start in changed]
        years = [one for one in self.marker.year_marks(alias) if one.start in changed]
        return filled(alias, with_articles(alias, sorted(own + years), self.marker.book))

    def occurrences(self, alias: str, text: str, marks: Sequence[Mark]) -> Iterable[str]:
        start = text.find(alias)
        while start >= 0 and alias:
            end = start + len(alias)
            if not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum()):
                cut = sliced(text, marks, start, end)
                if cut is not None:
                    yield cut
            start = text.find(alias, end)

    def evidence(self, piece: Evidence, documents: Mapping[str, Marked]) -> Evidence:
        marked = documents[piece.document_id]
        text, id = marked.source.text, marked.template.id
        if piece.start is None or piece.end is None:
            local = frozenset(self.registry.local.get(piece.document_id, ()))
            return Evidence(document_id=id, quote=self.string(piece.quote, local))
        start = place(text, marked.marks, piece.start, end=False)
        end = place(text, marked.marks, piece.end, end=True)
        return Evidence(document_id=id, quote=marked.template.text[start:end], start=start, end=end)

    def graph(
        self, graph: ReasoningGraph, gold: Sequence[Marked], local: frozenset[str], documents: Mapping[str, Marked]
    ) -> ReasoningGraph:
        ids = {entity.id for entity in graph.entities}

        def part(text: str) -> str:
            return text if text in ids else self.answer(text, gold, local)

        def fact(one: Fact) -> Fact:
            pieces = tuple(self.evidence(piece, documents) for piece in one.evidence)
            relation = self.string(one.relation, local)
            return Fact(subject=part(one.subject), relation=relation, object=part(one.object), evidence=pieces)

        def entity(one: Entity) -> Entity:
            forms = tuple(self.answer(form, gold, local) for form in one.forms)
            return one.model_copy(update={"name": self.answer(one.name, gold, local), "forms": forms})

        return ReasoningGraph(
            entities=tuple(map(entity, graph.entities)), facts=tuple(map(fact, graph.facts)), operation=graph.operation
        )
