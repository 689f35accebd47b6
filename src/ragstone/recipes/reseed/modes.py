"""Corpus modes: one naming for the whole corpus, or one for each question with its own copies of the documents."""

from string import ascii_lowercase

from ragstone.errors import ConfigError
from ragstone.files import sha256
from ragstone.recipes.reseed.seeds import slots_in, used
from ragstone.slots import MARK, Fill, change_document, change_question
from ragstone.store import evidence_ids
from ragstone.types import Document, Question, Slot, Template


def separated(template: Template, *, pooled: bool) -> Template:
    """A copy of each question's documents with slots of its own; pooled, every question may search all copies."""
    if unscoped := [question.id for question in template.questions if not question.scope]:
        raise ConfigError(
            f"{len(unscoped)} questions, {unscoped[0]} first, may search all documents, so none are their own; "
            "use names=global"
        )
    documents: list[Document] = []
    questions: list[Question] = []
    slots: list[Slot] = []
    originals = {document.id: document for document in template.documents}
    for number, question in enumerate(template.questions):
        own = [originals[id] for id in dict.fromkeys((*question.scope, *evidence_ids(question)))]
        copied, asked = copy(question, own, f"q{letters(number)}", sha256(question.id.encode())[:8])
        documents += copied
        questions.append(asked.model_copy(update={"scope": () if pooled else tuple(one.id for one in copied)}))
        needed = used(template.slots, slots_in((*own, question)))
        slots += [copy_slot(slot, f"q{letters(number)}") for slot in needed]
    return template.model_copy(
        update={"documents": tuple(documents), "questions": tuple(questions), "slots": tuple(slots)}
    )


def copy(question: Question, own: list[Document], mark: str, suffix: str) -> tuple[list[Document], Question]:
    """The question and its documents with the mark before every slot and the suffix after every document's id."""
    fill = marking(mark)
    changed = {document.id: change_document(document, fill, f"{document.id}-{suffix}") for document in own}
    places = {id: (document.id, place) for id, (document, place) in changed.items()}
    hidden = tuple(places[id][0] for id in question.hidden if id in places)
    asked = change_question(question, fill, places).model_copy(update={"hidden": hidden})
    copies = [
        document.model_copy(update={"labels": {**document.labels, "origin": id}})
        for id, (document, _) in changed.items()
    ]
    return copies, asked


def marking(mark: str) -> Fill:
    """Puts the mark before the id of every slot; a literal stays as it is."""
    return lambda match: f"{{{{{mark}{match[0][2:]}" if match[1] else match[0]


def copy_slot(slot: Slot, mark: str) -> Slot:
    fill = marking(mark)
    changed = {
        "id": mark + slot.id,
        "template": MARK.sub(fill, slot.template),
        "choices": tuple(MARK.sub(fill, choice) for choice in slot.choices),
        "group": f"{slot.group}-{mark}" if slot.group else "",
    }
    return slot.model_copy(update=changed)


def letters(number: int) -> str:
    """0, 1, … as a, b, …, z, ba, …: a slot's id begins with letters."""
    found = ascii_lowercase[number % 26]
    return letters(number // 26) + found if number >= 26 else found
