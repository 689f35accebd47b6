"""What kind of thing a name names, by its words, its title, what its text says it is, and spaCy's label."""

import re

from ragstone.gazetteer import KNOWN_EVENTS, ROLES, TYPE_WORDS, closed_class, given_gender

LABELS = {
    "PERSON": "person",
    "ORG": "organisation",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "NORP": "nationality",
    "LANGUAGE": "language",
    "WORK_OF_ART": "work",
    "LAW": "work",
    "EVENT": "event",
    "PRODUCT": "product",
}
"""spaCy's labels of names; those of dates and numbers name no thing."""

SURNAMES_TOO = frozenset(
    "banks bridge brook castle church cross day field forest glen hall hill hills house king lake lane march marsh "
    "park place pond post ridge rivers sound spring star story street tower town ward wood woods page book".split()
)
FIRST = {
    **dict.fromkeys(
        "lake mount mt river fort port cape isle loch gulf bay camp castle château palace villa".split(), "place"
    ),
    **dict.fromkeys("rio monte hotel".split(), "place"),
    **dict.fromkeys("operation hurricane typhoon cyclone tropical".split(), "event"),
}
TEAMS_TOO = frozenset({"city", "villa", "county", "town", "forest", "palace", "state", "park", "heights"})
INITIALS_AND_SURNAME = re.compile(r"(?:[A-Z]\.\s?)+[A-Z][\w'’-]+")
RANKS = frozenset(
    "mr mrs ms dr sir dame prof professor archduke archduchess prince princess emperor empress baron baroness count "
    "countess duchess senator bishop archbishop pope colonel lieutenant sergeant captain admiral sheikh".split()
)
CLOSED = {"month": "date", "day": "date"}
HEAD_END = re.compile(r"\s+(?:of|for|at|in|on|by|from|and the|de|du|des|della|di|[–—-])\s+|[,:]")
ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)
ASIDE = re.compile(r"\s*\(([^()]*)\)\s*$")
SAYS = re.compile(
    r"\b(?:is|was|are|were|refers to)\s+(?:(?:both|also|considered)\s+)?(?:an?|the|one of(?: the)?)\s+([^.;:]{2,200})"
)
PHRASE_END = re.compile(
    r",|\s(?:in|of|by|from|for|at|on|to|with|that|which|who|whose|where|when|as|about|set|based|located|situated|written"
    r"|directed|produced|formed|founded|released|published|held|fought|created|developed|recorded|played|owned)\s"
)
DEFINED = {
    "capital": "place",
    "character": "person",
    "brand": "product",
    "franchise": "organisation",
    "duo": "organisation",
}
OTHER = frozenset(
    {"genus", "species", "family", "genre", "language", "term", "breed", "type", "name", "concept", "style"}
)


def without_aside(title: str) -> str:
    """The title without what stands in brackets after it: `Fire (film)` is `Fire`."""
    return ASIDE.sub("", title).strip() or title.strip()


def title_type(title: str, text: str) -> str:
    """What the bracket of a title or the first sentences of its text say it is; empty where neither does."""
    aside = ASIDE.search(title)
    return (word_type(aside[1]) if aside else "") or defined_type(without_aside(title), text[:1000])


def defined_type(name: str, text: str) -> str:
    """`Oshawa is a city in…`: a place. Only where the sentence speaks of the name itself."""
    said = SAYS.search(text)
    last = name.split(" ")[-1] if name else ""
    if not said or last.lower() not in text[: said.start()].lower():
        return ""
    head, *rest = PHRASE_END.split(said[1], maxsplit=2)
    return word_type(head) or ("person" if "person" in map(word_type, rest) else "")


def word_type(phrase: str) -> str:
    """The type that the last telling word of a phrase has: `debut studio album` is a work."""
    for word in reversed(re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", phrase.lower())):
        for form in (word, word.removesuffix("s"), word.split("-")[-1]):
            if form in ROLES:
                return "person"
            if found := DEFINED.get(form) or TYPE_WORDS.get(form):
                return found
            if form in OTHER:
                return "other"
    return ""


def is_person(words: list[str]) -> bool:
    """Whether the words look like a given name with more after it."""
    named = 2 <= len(words) <= 4 and given_gender(words[0]) and all(word[:1].isupper() for word in words)
    return bool(named) and (words[-1].lower() not in TYPE_WORDS or words[-1].lower() in SURNAMES_TOO)


def name_type(name: str, label: str = "") -> str:
    """The type of a name by its own words, else by spaCy's label, else `other`."""
    plain = ARTICLE.sub("", name)
    closed = closed_class(plain)
    if closed and not (label == "PERSON" and closed in ("month", "day", "religion")):
        return CLOSED.get(closed, closed)
    if plain in KNOWN_EVENTS:
        return "event"
    words = plain.split()
    if is_person(words) or INITIALS_AND_SURNAME.fullmatch(plain):
        return "person"
    found = by_words(plain, words, label)
    if not found and len(words) > 1 and words[0].lower().rstrip(".") in RANKS:
        return "person"
    return found or ("organisation" if label == "NORP" and len(words) > 1 else LABELS.get(label, "other"))


def by_words(plain: str, words: list[str], label: str) -> str:
    """The type that a telling word at the head of the name gives: `Battle of Hastings`, `Hudson River`, `Lake Erie`."""
    if len(words) < 2:
        return ""
    if label != "PERSON" and (found := FIRST.get(words[0].lower())):
        return found
    head = HEAD_END.split(plain)[0].split()
    for word in (head[-1], words[-1]):
        lower = word.lower()
        if word[:1].isupper() and (found := TYPE_WORDS.get(lower) or TYPE_WORDS.get(lower.rstrip("."))):
            return corrected(found, lower, label)
    return ""


def corrected(found: str, word: str, label: str) -> str:
    """Some telling words are surnames too, and some places give their name to clubs: there spaCy knows better."""
    if label == "PERSON" and word in SURNAMES_TOO:
        return "person"
    return "organisation" if label == "ORG" and word in TEAMS_TOO else found
