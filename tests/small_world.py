"""A small world of invented people and places, for tests of `reseed`: six documents and four questions."""

from ragstone.types import Benchmark, Document, Entity, Evidence, Fact, Question, ReasoningGraph

TEXTS = {
    "film": (
        "The Salt Orchard",
        "The Salt Orchard is a 1964 drama film directed by Edmund Pellworth. It was shot in Tarnham.",
    ),
    "director": (
        "Edmund Pellworth",
        "Edmund Pellworth (12 May 1921 – 3 June 1990) was an English film director. He was born in Tarnham and studied "
        "at Tarnham College. Pellworth married the singer Alice Varrow in 1950.",
    ),
    "singer": (
        "Alice Varrow",
        "Alice Varrow (born 1927) was an English singer. She was born in Osmerby. Varrow recorded nine albums.",
    ),
    "rival": (
        "Gilbert Staveley",
        "Gilbert Staveley (born 1930) was an English film director. He was born in Cawthwick near the Brindle River.",
    ),
    "town": ("Osmerby", "Osmerby is a market town in England. It lies on the Brindle River and has 9,450 inhabitants."),
    "aside": ("Walter Pellworth", "Walter Pellworth (born 1951) is an English actor. He is a son of Edmund Pellworth."),
}


def documents(*ids: str) -> tuple[Document, ...]:
    return tuple(Document(id=id, title=TEXTS[id][0], text=TEXTS[id][1]) for id in ids or TEXTS)


def sentence(id: str, says: str) -> tuple[Evidence, ...]:
    """The sentence of the document that says this."""
    text = TEXTS[id][1]
    at = text.index(says)
    start = text.rfind(". ", 0, at) + 2 if ". " in text[:at] else 0
    end = text.find(".", at) + 1
    return (Evidence(document_id=id, quote=text[start:end], start=start, end=end),)


def question(id: str, text: str, answer: str, evidence: tuple[tuple[Evidence, ...], ...], **more: object) -> Question:
    return Question(id=id, text=text, answers=((answer,),), evidence=evidence).model_copy(update=more)


def questions() -> tuple[Question, ...]:
    directed = sentence("film", "directed by")
    return (
        question(
            "q-birth",
            "Where was the director of The Salt Orchard born?",
            "Tarnham",
            (directed, sentence("director", "born in")),
            scope=("film", "director", "rival", "aside"),
            labels={"hops": 2, "type": "bridge"},
            graph=triples(
                ("The Salt Orchard", "director", "Edmund Pellworth"), ("Edmund Pellworth", "birthplace", "Tarnham")
            ),
        ),
        question(
            "q-wife",
            "Which singer did the director of The Salt Orchard marry?",
            "Alice Varrow",
            (directed, sentence("director", "married")),
            scope=("film", "director", "singer", "rival"),
            labels={"hops": 2, "type": "bridge"},
        ),
        question(
            "q-river",
            "On which river does the town lie in which Alice Varrow was born?",
            "Brindle River",
            (sentence("singer", "born in"), sentence("town", "lies on")),
            scope=("singer", "town", "rival"),
            labels={"hops": 2, "type": "bridge"},
        ),
        question(
            "q-older",
            "Who was born first, Alice Varrow or Gilbert Staveley?",
            "Alice Varrow",
            (sentence("singer", "born 1927"), sentence("rival", "born 1930")),
            scope=("singer", "rival", "town"),
            labels={"hops": 1, "type": "comparison", "answer_kind": "option"},
        ),
    )


def triples(*facts: tuple[str, str, str]) -> ReasoningGraph:
    """A graph of these facts; a year stands for itself."""
    ends = dict.fromkeys(end for subject, _, object in facts for end in (subject, object))
    ids = {end: f"e{number}" for number, end in enumerate(ends) if not end.isdigit()}
    return ReasoningGraph(
        entities=tuple(Entity(id=id, name=name) for name, id in ids.items()),
        facts=tuple(Fact(subject=ids[s], relation=relation, object=ids.get(o, o)) for s, relation, o in facts),
    )


def small_world() -> Benchmark:
    return Benchmark(documents=documents(), questions=questions())
