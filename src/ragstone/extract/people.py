"""The gender of persons, from the words beside their names, the names themselves, and pronouns."""

import re
from collections.abc import Sequence
from typing import Literal

from ragstone.gazetteer import HONORIFICS, ROLES, given_gender

Gender = Literal["m", "f", ""]
HE = re.compile(r"\b(?:he|him|his|himself)\b", re.IGNORECASE)
SHE = re.compile(r"\b(?:she|her|hers|herself)\b", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
OWN = re.compile(r"\W*(?:\([^()]*\)\W*)?(?:is|was),?\s(?:an?|the)\s([^.;,]{2,90})")
AROUND = 40


def gender(text: str, forms: Sequence[str], spans: Sequence[tuple[int, int]], is_title: bool) -> Gender:
    """What the text says of a person; of the one it is about, its pronouns say most."""
    told = by_roles(text, spans[:5])
    named = by_name(forms)
    spoken = by_pronouns(text) if is_title else ""
    if told or (spoken and spoken != named):
        return told or spoken
    return named or spoken or (by_pronouns(after(text, spans[0])) if spans else "")


def by_roles(text: str, spans: Sequence[tuple[int, int]]) -> Gender:
    """`actress Emma Stone`, `his wife Mary`, `Sir Elton John`, `Ann Lee was an American actress`."""
    for start, end in spans:
        before = WORD.findall(text[max(0, start - AROUND) : start])[-2:]
        own = OWN.match(text, end)
        for word in (*reversed(before[-1:]), *(WORD.findall(own[1]) if own else ())):
            if found := ROLES.get(word.lower()):
                return "m" if found == "m" else "f"
    return ""


def by_name(forms: Sequence[str]) -> Gender:
    for form in forms:
        words = form.split()
        if ROLES.get(words[0].lower()):
            return "m" if ROLES[words[0].lower()] == "m" else "f"
        while len(words) > 1 and words[0].lower().rstrip(".") in HONORIFICS:
            words.pop(0)
        if len(words) > 1 and (found := given_gender(words[0])):
            return "m" if found == "m" else "f"
    return ""


def by_pronouns(text: str) -> Gender:
    he, she = len(HE.findall(text)), len(SHE.findall(text))
    if he > 2 * she:
        return "m"
    return "f" if she > 2 * he else ""


def after(text: str, span: tuple[int, int]) -> str:
    """The rest of the sentence, roughly."""
    return text[span[1] : span[1] + 120].split(". ")[0]
