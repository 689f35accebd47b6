"""Templates: texts with typed slots, bound in one pass from left to right.

A slot is written `{{n3}}`, or `{{n3.upper}}` for a form of its value; a literal `{{` is doubled.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ragstone.errors import DataError
from ragstone.types import Document, Entity, Evidence, Fact, Labels, Question, ReasoningGraph, Slot, Template

MARK = re.compile(r"\{\{\{\{|\{\{([a-z]+\d+)(?:\.([a-z]+))?\}\}")
LETTERS = re.compile(r"[^\W\d_]+")
VOWEL_SOUND = re.compile(r"(?!eu|uni|use|usu|uti|ura|uto|one|once)[aeiou]|hon(?:or|our|est)|hour|heir", re.IGNORECASE)
LETTER_WITH_VOWEL_SOUND = frozenset("AEFHILMNORSX")

NAMES = frozenset({"given", "surname", "place", "organisation", "word", "other", "concept"})
"""Kinds whose value is a new word of its own; no other word of the benchmark is equal to it."""


def article(value: str) -> str:
    """`a` or `an`, as the value is spoken."""
    if value[:1].isdigit():  # an 1812 overture, an 8
        return "an" if value[0] == "8" or (value[:2] in ("11", "18") and len(value) in (2, 4)) else "a"
    spelled = value.isupper() and 1 < len(value) <= 5
    return "an" if (value[0] in LETTER_WITH_VOWEL_SOUND if spelled else VOWEL_SOUND.match(unaccented(value))) else "a"


def unaccented(value: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", value) if not unicodedata.combining(c))


ACCENTS = {"acute": "\u0301", "grave": "\u0300", "circumflex": "\u0302", "diaeresis": "\u0308"}
LAST_VOWEL = re.compile(r"[aeiou](?=[^aeiou]*$)|$", re.IGNORECASE)


def accented(value: str, accent: str) -> str:
    """The value with an accent on its last vowel: another way to write the same name."""
    end = LAST_VOWEL.search(value).end()  # type: ignore[union-attr]
    return unicodedata.normalize("NFC", value[:end] + accent + value[end:])


FORMS: Mapping[str, Callable[[str], str]] = {
    "": str,
    "upper": str.upper,
    "lower": str.lower,
    "capital": lambda value: value[:1].upper() + value[1:],
    "title": str.capitalize,  # of an acronym: `Nato`
    "initial": lambda value: value[:1].upper(),
    "plain": unaccented,
    "article": article,
    "capitalarticle": lambda value: article(value).capitalize(),
    "short": lambda value: value[-2:],  # of a year
    **{name: lambda value, accent=accent: accented(value, accent) for name, accent in ACCENTS.items()},  # type: ignore[misc]
}


def escaped(text: str) -> str:
    """The text as a template without slots."""
    return text.replace("{{", "{{{{")


def slot_ids(template: str) -> list[str]:
    """The slots that a template names, in order, repeats included."""
    return [match[1] for match in MARK.finditer(template) if match[1]]


Fill = Callable[["re.Match[str]"], str]
"""What takes the place of a mark."""


def filling(values: Mapping[str, str]) -> Fill:
    return lambda match: FORMS[match[2] or ""](values[match[1]]) if match[1] else "{{"


def bind(template: str, values: Mapping[str, str]) -> str:
    """The template with every slot filled. What is filled in is never looked at again."""
    return MARK.sub(filling(values), template)


class Bound(NamedTuple):
    """A bound text that knows where each place of its template went."""

    text: str
    before: Sequence[int]  # where each mark of the template begins…
    after: Sequence[int]  # …and ends
    ends: Sequence[int]  # where what was filled in ends

    def place(self, offset: int) -> int:
        """Where an offset of the template is now; the begin of a mark is the begin of its value, its end the end."""
        mark = bisect_right(self.before, offset) - 1
        if mark < 0:
            return offset
        if offset < self.after[mark]:
            return self.begin(mark)
        return self.ends[mark] + offset - self.after[mark]

    def begin(self, mark: int) -> int:
        previous = self.ends[mark - 1] - self.after[mark - 1] if mark else 0
        return self.before[mark] + previous


def bound(template: str, fill: Fill, marks: "re.Pattern[str]" = MARK) -> Bound:
    """Fills every mark and keeps track of places."""
    pieces: list[str] = []
    before: list[int] = []
    after: list[int] = []
    ends: list[int] = []
    position = length = 0
    for match in marks.finditer(template):
        literal = template[position : match.start()]
        filled = fill(match)
        pieces += [literal, filled]
        length += len(literal) + len(filled)
        before.append(match.start())
        after.append(match.end())
        ends.append(length)
        position = match.end()
    return Bound("".join([*pieces, template[position:]]), before, after, ends)


def originals(slots: Iterable[Slot]) -> dict[str, str]:
    """The values that give back the text from which the template was made."""
    return {slot.id: slot.original for slot in slots}


def values(slots: Iterable[Slot]) -> dict[str, str]:
    """The values of the draw that the slots hold."""
    return {slot.id: slot.value for slot in slots}


def resolve(slots: Sequence[Slot], coined: Mapping[str, str], picks: Mapping[str, int]) -> dict[str, str]:
    """The value of every slot: coined, picked, or following from others."""
    known = {slot.id: slot for slot in slots}
    found: dict[str, str] = {}

    def value(id: str, above: tuple[str, ...]) -> str:
        if id in above:
            raise DataError(f"slot {id} of the template follows from itself, by {' and '.join(above)}; mend the slots")
        if id not in found:
            slot = known[id]
            pattern = slot.choices[picks[slot.group]] if slot.choices else slot.template
            parts = {part: value(part, (*above, id)) for part in slot_ids(pattern)}
            found[id] = bind(pattern, parts) if pattern else coined[id]
        return found[id]

    return {slot.id: value(slot.id, ()) for slot in slots}


# ── records with slots ───────────────────────────────────────────────────────────────────────────────────────────────


def change_document(document: Document, fill: Fill, id: str = "") -> tuple[Document, Bound]:
    """The document with every mark filled, and where its places went."""
    text = bound(document.text, fill)
    title, labels = MARK.sub(fill, document.title), change_labels(document.labels, fill)
    return Document(id=id or document.id, title=title, text=text.text, labels=labels), text


def change_labels(labels: Labels, fill: Fill) -> Labels:
    return {name: MARK.sub(fill, it) if isinstance(it, str) else it for name, it in labels.items()}


Places = Mapping[str, tuple[str, Bound]]
"""By the id of a document: its id from now on, and where its places went."""


def change_question(question: Question, fill: Fill, places: Places) -> Question:
    """The question with every mark filled; its evidence follows the documents."""

    def all_of(groups: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(MARK.sub(fill, alias) for alias in group) for group in groups)

    filled = {
        "text": MARK.sub(fill, question.text),
        "answers": all_of(question.answers),
        "choices": tuple(MARK.sub(fill, choice) for choice in question.choices),
        "evidence": tuple(
            tuple(change_evidence(piece, fill, places) for piece in group) for group in question.evidence
        ),
        "graph": question.graph and change_graph(question.graph, fill, places),
        "labels": change_labels(question.labels, fill),
    }
    return question.model_copy(update=filled)


def change_evidence(piece: Evidence, fill: Fill, places: Places) -> Evidence:
    id, place = places[piece.document_id]
    if piece.start is None or piece.end is None:
        return Evidence(document_id=id, quote=MARK.sub(fill, piece.quote))
    start, end = place.place(piece.start), place.place(piece.end)
    return Evidence(document_id=id, quote=place.text[start:end], start=start, end=end)


def change_graph(graph: ReasoningGraph, fill: Fill, places: Places) -> ReasoningGraph:
    def fact(one: Fact) -> Fact:
        pieces = tuple(change_evidence(piece, fill, places) for piece in one.evidence)
        subject, relation, object = (MARK.sub(fill, part) for part in (one.subject, one.relation, one.object))
        return Fact(subject=subject, relation=relation, object=object, evidence=pieces)

    def entity(one: Entity) -> Entity:
        forms = tuple(MARK.sub(fill, form) for form in one.forms)
        told = {"id": MARK.sub(fill, one.id), "name": MARK.sub(fill, one.name), "forms": forms}
        return one.model_copy(update=told)

    return ReasoningGraph(
        entities=tuple(map(entity, graph.entities)), facts=tuple(map(fact, graph.facts)), operation=graph.operation
    )


def bind_all(template: Template, values: Mapping[str, str]) -> tuple[tuple[Document, ...], tuple[Question, ...]]:
    """The documents and questions of a draw."""
    fill = filling(values)
    documents = [change_document(document, fill) for document in template.documents]
    places = {document.id: (document.id, place) for document, place in documents}
    questions = tuple(change_question(question, fill, places) for question in template.questions)
    return tuple(document for document, _ in documents), questions


# ── the way back ─────────────────────────────────────────────────────────────────────────────────────────────────────


def restored(text: str, slots: Iterable[Slot]) -> str:
    """The text with every coined name changed back, found in the text itself and not by the template.

    One pass over whole words. Equal to the original, it proves that nothing but names was changed.
    """
    return restorer(slots)(text)


def restorer(slots: Iterable[Slot]) -> Callable[[str], str]:
    """What changes names back, for many texts. An ending may follow a name, and its article goes along."""
    names = [slot for slot in slots if slot.kind in NAMES and slot.value and not slot.choices]
    back = {form(slot.value): (form(slot.original), slot) for form in PLAIN_FORMS for slot in names}

    def known(word: str) -> tuple[str, Slot] | None:
        for ending in ENDINGS:
            if word.endswith(ending) and (found := back.get(word[: len(word) - len(ending)])):
                return found[0] + ending, found[1]
        return None

    def change(match: re.Match[str]) -> str:
        found = known(match["word"])
        if not found:
            return match[0]
        said, between = match["article"] or "", match["between"] or ""
        if said and said.lower() == article(found[1].value):
            said = article(found[1].original).capitalize() if said[0] == "A" else article(found[1].original)
        return f"{said}{between}{found[0]}"

    return lambda text: ARTICLE_AND_WORD.sub(change, text)


ARTICLE_AND_WORD = re.compile(rf"(?:(?<!\w)(?P<article>[Aa]n?)(?P<between>\s+[\"'“‘(]?))?(?P<word>{LETTERS.pattern})")
ENDINGS = (
    "",
    *(
        it
        for plain in ("s", "e", "d", "y", "es", "ed", "er", "ies", "ied", "ing", "ly", "an", "ian", "ans", "ians")
        for it in (plain, plain.upper())
    ),
)
"""What may follow a name in the same word, the shortest first."""
PLAIN_FORMS: Sequence[Callable[[str], str]] = (FORMS["capital"], str.lower, str.upper, str)
"""Where two forms look alike, the later counts."""


def template_words(template: Template) -> Iterator[str]:
    """Every word that stands in a template or stood in its slots: what a coined name must differ from."""
    for document in template.documents:
        yield from literal_words(f"{document.title} {document.text}")
    for question in template.questions:
        spoken = (question.text, *question.choices, *(alias for group in question.answers for alias in group))
        yield from literal_words(" ".join(spoken))
    for slot in template.slots:
        yield from LETTERS.findall(slot.original)
        yield from literal_words(" ".join((slot.template, *slot.choices)))


def literal_words(template: str) -> list[str]:
    return LETTERS.findall(MARK.sub(" ", template))
