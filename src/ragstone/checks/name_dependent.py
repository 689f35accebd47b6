"""Questions about a name as a word, which do not survive another name."""

import re
from collections.abc import Iterable, Mapping

from ragstone.kit import Check, Kit
from ragstone.types import Document, Draft, Question, Verdict

WORDS = r"(?:sur|nick)?(?:name|word|term|title|phrase)s?"
COMMON_KINDS = (
    r"(?:animal|bird|fish|insect|plant|flower|tree|fruit|food|colou?r|gem(?:stone)?|metal|mineral|word|phrase|planet|star"
    r"|constellation|weekday|month|season|number|letter|tool|weapon|instrument)"
)
NOT_A_NAME = r"(?! (?:the )?(?-i:[A-Z\"“]))"  # names that are shared are changed alike, common nouns are not

STANDS_FOR = (
    r"\bwhat (?:does|do|did|is|the)\b[^?]*\bstand(?:s|ing)? for\b(?! (?:\w+ )?(?:election|parliament|office))"
    r"|\bshort for\b"
)

RULES: Mapping[str, str] = {
    "what a name means": (
        rf"\bmeaning\b[^?]*\b{WORDS}\b|\b{WORDS} (?:\S+ ){{0,2}}(?:means?|meant)\b"
        r"|\bwhat (?:does|do|did)\b[^?]*\bmean\b|\betymolog\w*"
    ),
    "how a name is translated": (
        r"\btranslates? (?:roughly |loosely |literally )?(?:as|to|into)\b|\bwhat is the (?:\w+ )?translation of\b"
        rf"|\btranslat(?:ion|ed)\b[^?]*\bof the {WORDS}\b|\b{WORDS} (?:\S+ ){{0,2}}(?:is|was|be) translated\b"
    ),
    "where a name comes from": (
        rf"\b{WORDS} (?:\S+ ){{0,3}}(?:originat\w+|deriv\w+|comes? from|came from)\b|\borigins? of the {WORDS}\b"
        rf"|\b(?:what|which) language (?:is|was|are|does|do)\b[^?]*\b{WORDS}\b"
        rf"|\b(?:what|which) (?:\w+ of )?{COMMON_KINDS}\b[^?]*\bnamed (?:after|for)\b"
    ),
    "the letters of a name": (
        r"\b(?:start|begin|end)(?:s|ning|ing)? with (?:\S+ ){0,3}(?:letter|initial|vowel|consonant|syllable)\b"
        r"|\b(?:first|last|second|third|final|same|single) (?:letter|syllable|vowel)s? (?:of|in|as|represents|is)\b"
        r"|\binitials\b|\binitial (?:of\b|['\"‘“])|\bhow many (?:syllables|vowels|consonants)\b"
        rf"|\bhow many letters\b[^?]*\b(?:{WORDS}|alphabet)\b|\balphabetical\w*"
    ),
    "how a name is spelled or sounds": (
        r"\b(?:spelled|spelt|spelling|misspell\w*|pronounced|pronunciation|rhym(?:es?|ing) with|anagram\w*|palindrom\w*"
        r"|homo(?:nym|phone)s?|portmanteau|play on words|wordplay|pun on)\b"
    ),
    "a word within a name": (
        r"\b(?:contain(?:s|ing)?|includ(?:es?|ing)|has|have|with) the (?:word|letter|syllable)s?\b"
        r"|\bnames? (?:contains?|includes?)\b"
    ),
    "a name that a common thing has too": (
        r"\b(?:same name as|shares? (?:its|a|the|his|her|their) name with|name is (?:also )?(?:given to|that of))"
        + NOT_A_NAME
    ),
    "a shortened name": (r"\b(?:acronym|abbreviation|initialism) (?:of|for)\b|\bhow is\b[^?]*\babbreviated\b"),
}
PATTERNS = {what: re.compile(pattern, re.IGNORECASE) for what, pattern in RULES.items()}
ASKS_FOR_LONG_FORM = re.compile(STANDS_FOR, re.IGNORECASE)
LETTERS = re.compile(r"\b[^\W\d_]\w*")


class NameDependent(Check):
    """Rejects an English question about a name itself: what it means, how it is spelled, what it stands for.

    Full names, real names, stage names, nicknames and whom something is named after stay sound, since every word of a
    name is changed alike. What an acronym stands for does too, where its letters still are those of the answer.
    """

    def check(self, draft: Draft, kit: Kit) -> Verdict:
        question = draft.question
        for what, pattern in PATTERNS.items():
            if match := pattern.search(question.text):
                return Verdict(passed=False, reason=f"it depends on {what}: {match[0]!r}")
        match = ASKS_FOR_LONG_FORM.search(question.text)
        if match and not spells_out(question, gold(question, kit.documents)):
            return Verdict(passed=False, reason=f"it depends on what letters stand for: {match[0]!r}")
        return Verdict(passed=True)


def gold(question: Question, documents: Mapping[str, Document]) -> list[str]:
    ids = dict.fromkeys(piece.document_id for group in question.evidence for piece in group)
    return [f"{documents[id].title} {documents[id].text}" for id in ids if id in documents]


def spells_out(question: Question, texts: Iterable[str]) -> bool:
    """Whether the question or a gold document has the initials of an answer as a word."""
    said = {word.casefold() for text in (question.text, *texts) for word in LETTERS.findall(text)}
    return any(initials in said for group in question.answers for alias in group for initials in acronyms(alias))


def acronyms(name: str) -> set[str]:
    """The initials of all words, and of those in capitals; a single letter is no acronym."""
    words = LETTERS.findall(name)
    made = ("".join(word[0] for word in chosen) for chosen in (words, [w for w in words if w[0].isupper()]))
    return {letters.casefold() for letters in made if len(letters) > 1}
