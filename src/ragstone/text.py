"""Normalising, tokenising and comparing text: Unicode, numbers, dates, scripts written without spaces."""

import hashlib
import re
import string
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff"  # Thai, Lao, Burmese, Khmer, kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
"""Scripts that put no space between words."""

COMBINING = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
"""Accents and vowel signs, which belong to their word although they are no letters; with the Indic scripts whole."""

WORD = rf"[^\W{UNSPACED}]+(?:[{COMBINING}]+[^\W{UNSPACED}]*)*"
TOKEN = re.compile(rf"[{UNSPACED}]|{WORD}")
UNSPACED_CHARACTER = re.compile(rf"[{UNSPACED}]")
TOKEN_RULE = "words * 1.3 + unspaced characters"  # noqa: S105 (a rule, no secret)
"""How budgets count tokens where no model's own tokenizer is at hand."""


def fold(text: str) -> str:
    """The same letters in one form: widths and ligatures made plain, case removed."""
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()


def tokens(text: str) -> list[str]:
    """Words, and single characters of unspaced scripts, folded and without punctuation."""
    return TOKEN.findall(fold(text))


def count_tokens(text: str) -> int:
    """An estimate of a language model's tokens, by `TOKEN_RULE`."""
    characters = 0 if text.isascii() else len(UNSPACED_CHARACTER.findall(text))
    return round((len(TOKEN.findall(text)) - characters) * 1.3) + characters


def is_unspaced(text: str) -> bool:
    """Whether most letters belong to a script without spaces."""
    letters = sum(map(str.isalpha, text))
    return not text.isascii() and 2 * len(UNSPACED_CHARACTER.findall(text)) > letters


def letters_and_digits(text: str) -> str:
    """All but letters and digits removed: for finding a passage whose punctuation and spacing were changed."""
    return re.sub(r"[\W_]+", "", fold(text))


def slug(text: str, length: int = 40) -> str:
    """A short name for ids and files."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:length].strip("-")


def content_id(title: str, text: str) -> str:
    """An id that equal passages share and different ones do not: readable, and stable over files and runs."""
    digest = hashlib.sha256(f"{title}\x1f{text}".encode()).hexdigest()[:10]
    return f"{slug(title or text)}-{digest}".strip("-")


# ── comparing as SQuAD does ──────────────────────────────────────────────────────────────────────────────────────────

ARTICLES = frozenset({"a", "an", "the"})
CONTROLS = "".join(map(chr, (*range(9), *range(14, 28), 127)))  # those that are not white space
LOWER = bytes.maketrans(string.ascii_uppercase.encode(), string.ascii_lowercase.encode())
ASCII_DROPPED = (string.punctuation + CONTROLS).encode()


class Plain(dict[int, str | None]):
    """What becomes of each character, found out when it is first met: most never are."""

    def __missing__(self, code: int) -> str | None:
        character, kind = chr(code), unicodedata.category(chr(code))
        if kind[0] in "PS" or (kind in ("Cc", "Cf") and not character.isspace()):
            self[code] = None
        else:
            self[code] = f" {character} " if UNSPACED_CHARACTER.match(character) else character
        return self[code]


UNICODE_PLAIN = Plain()


def normalised_tokens(text: str) -> list[str]:
    """Words by SQuAD's rules: lower case; punctuation removed, not made a space; no articles.

    Beyond ASCII: folded, every Unicode punctuation mark and symbol removed, and characters as tokens where words are
    not spaced. A text of which nothing would be left ("The The", "+") keeps its words, so it equals only itself.
    """
    if text.isascii():
        words = text.encode().translate(LOWER, ASCII_DROPPED).decode().split()  # bytes: twice as fast as characters
    else:
        # What is removed may have stood between a letter and its accent, so they are composed again.
        words = unicodedata.normalize("NFKC", fold(text).translate(UNICODE_PLAIN)).split()
    return [word for word in words if word not in ARTICLES] or words or fold(text).split()


def normalise(text: str) -> str:
    """The text by SQuAD's rules, one space between tokens."""
    return " ".join(normalised_tokens(text))


# ── comparing names, numbers and dates however they are written ──────────────────────────────────────────────────────

APOSTROPHES = "\u2018\u2019\u201b\u02bc\u2032\u00b4"
DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
TYPOGRAPHY = str.maketrans(APOSTROPHES + DASHES, "'" * len(APOSTROPHES) + "-" * len(DASHES), INVISIBLE)
DIGIT_GROUPING = re.compile("(?<=\\d)[\u00a0\u2007\u2009\u202f](?=\\d{3}(?!\\d))")  # the narrow space of 12 000
DIGIT = re.compile(r"\d")
PER_CENT = re.compile(r"\bper cent\b")
POSSESSIVE = re.compile(r"(?<=[^\W0_])'s\b")  # 1974's is 1974, 1990's is the 1990s
APOSTROPHE = re.compile(r"'(?!\d)|(?<!\d)'")  # that of 5'10 parts two numbers
SECOND_INITIAL = re.compile(r"\. ?[^\W\d_]\.")
INITIALS = re.compile(r"\b(?:[^\W\d_]\. ?){2,}")


def token_pattern(letter: str) -> str:
    """Numbers, words, signed numbers, fractions, currencies. Each begins with a plain character class: that is fast."""
    return (
        rf"\d+(?:[.,:/]\d+)+|{letter}+(?:&{letter}+)*(?:(?<=\D)[+#]+)?"  # 3.50, 10:30; AT&T, C++
        r"|-(?<![\w.,:/)\]-]-)(?:\d+(?:[.,:/]\d+)*|\.\d+)|\.(?<![\w.]\.)\d+|[$€£¥₩₹₽₺₴₫¢]"
    )


ASCII_TOKEN = re.compile(token_pattern("[a-z0-9]"))
UNICODE_TOKEN = re.compile(f"[{UNSPACED}]|" + token_pattern(rf"(?:[^\W_{UNSPACED}]|[{COMBINING}])"))
NUMBER = re.compile(r"(-?)(\d{1,3}(?:,\d{3})+|\d*)(?:\.(\d+))?(?:st|nd|rd|th)?")
NUMERIC = frozenset("0123456789.-")

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
MONTH_NUMBERS = {name[:3]: number for number, name in enumerate(MONTHS, 1)}
SHORT_MONTHS = "jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
MONTH = rf"(?=[adfjmnosADFJMNOS])(?P<month>(?i:(?:{'|'.join(MONTHS)})\b|(?:{SHORT_MONTHS})\b\.?))"
ORDINAL = "(?:st|nd|rd|th)?"
YEAR = r"(?P<year>[12]\d{3})(?!\w|[.,/-]\d)"
DATES = tuple(
    re.compile(form)
    for form in (
        r"(?P<year>[12](?<![a-zA-Z\d-].)\d{3})([-/.])(?P<month>\d{1,2})\2(?P<day>\d{1,2})(?![\d-])",  # 1786-11-09
        r"(?P<year>[12](?<!\d.)\d{3}) ?[年년] ?(?:(?P<month>\d{1,2}) ?[月월] ?(?:(?P<day>\d{1,2}) ?[日号일])?)?",
        rf"(?P<day>\d(?<![\w.,/-].)\d?){ORDINAL}\.?(?: of )?[ -]?\b{MONTH}(?:(?:,? |-| of ){YEAR})?",  # 9 November
        rf"\b{MONTH}(?: (?:the )?(?P<day>\d\d?){ORDINAL}(?![\w:/%]|[.-]\d|,\d{{3}}(?!\d)))?(?:(?:,? ?| of ){YEAR})?",
    )
)
VERBS = ("may", "march")  # "the best 4 may enter": without a year, these are months only when capitalised
YEAR_ALONE = re.compile(r"[12]\d{3}")
DATE_TOKEN = re.compile(rf"([12]\d{{3}})?({'|'.join(MONTHS)})(\d\d)?")


def canonical_tokens(text: str) -> list[str]:
    """Tokens that are equal for the same name, number or date however it is typed.

    12,000 = 12000, 3.50 = 3.5, 9th = 9, 5% = 5 percent, U.S. = US, & = and, Einstein's = Einstein; a date is one token.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", DIGIT_GROUPING.sub("", text).translate(TYPOGRAPHY))
    text = " ".join(text.split())
    if DIGIT.search(text):
        for form in DATES:
            text = form.sub(date_token, text)
    text = text.casefold().replace("%", " percent ").replace(" & ", " and ")
    if "per cent" in text:
        text = PER_CENT.sub("percent", text)
    if "'" in text:
        text = APOSTROPHE.sub("", POSSESSIVE.sub("", text))
    if SECOND_INITIAL.search(text):
        text = INITIALS.sub(lambda match: match[0].replace(".", "").replace(" ", "") + " ", text)
    pattern = ASCII_TOKEN if text.isascii() else UNICODE_TOKEN
    return [number(token) if token[0] in NUMERIC else token for token in pattern.findall(text)]


def number(token: str) -> str:
    """A number without grouping, idle zeros and ordinal ending; any other token as it is."""
    match = NUMBER.fullmatch(token)
    if not match:
        return token
    fraction = (match[3] or "").rstrip("0")
    return match[1] + (match[2].replace(",", "") or "0") + (f".{fraction}" if fraction else "")


def date_token(match: re.Match[str]) -> str:
    """`1786november09`, `1786november` or `november09`; what turns out to be no date stays as it is."""
    year, month, day = (match[part] or "" for part in ("year", "month", "day"))
    if year and not month:
        return f" {year} "
    which = int(month) if month.isdigit() else MONTH_NUMBERS[month[:3].lower()]
    if (not year and (not day or month in VERBS)) or not 1 <= which <= 12 or not 1 <= int(day or 1) <= 31:
        return match[0]
    return f" {year}{MONTHS[which - 1]}{day and day.zfill(2)} "


def contains_run(tokens: Sequence[str], run: Sequence[str]) -> bool:
    """Whether canonical tokens say a run of them: whole tokens in a row. Nothing contains an empty run.

    A date also says its parts: 9 November 1786 says 1786, November, November 1786 and 9 November.
    """
    if not run or f" {' '.join(run)} " in f" {' '.join(tokens)} ":
        return bool(run)
    part = run[0] if len(run) == 1 else ""
    return bool(YEAR_ALONE.fullmatch(part) or DATE_TOKEN.fullmatch(part)) and part in date_parts(tokens)


def date_parts(tokens: Sequence[str]) -> set[str]:
    """All that the dates among canonical tokens say; a bare month is no date."""
    dates = [match.groups(default="") for token in tokens if (match := DATE_TOKEN.fullmatch(token))]
    parts = {part for year, month, day in dates if year or day for part in (year, month, year + month, month + day)}
    return parts - {""}


# ── languages ────────────────────────────────────────────────────────────────────────────────────────────────────────

SCRIPTS = {
    "zh": "\u4e00-\u9fff",
    "ja": "\u3040-\u30ff",
    "ko": "\uac00-\ud7af",
    "ru": "\u0400-\u04ff",
    "ar": "\u0600-\u06ff",
    "he": "\u0590-\u05ff",
    "hi": "\u0900-\u097f",
    "th": "\u0e00-\u0e7f",
    "el": "\u0370-\u03ff",
}

FUNCTION_WORDS = {  # none that English has too
    "en": "the of and to in is was that for with his on as by it from are were which this",
    "de": "der die und das ist nicht mit von dem den ein eine zu auf für sich auch wird als im",
    "fr": "le la les et est des une dans pour que qui sur pas avec du au aux par ce cette",
    "es": "el la los las y es una en para que por con del su se como más lo este fue",
    "it": "il la che di è una per non con del della gli le nel sono anche si da come alla",
    "pt": "os é uma em para que por com da dos das se como mais ao foi não são pelo pela também",
    "nl": "de het een en van dat op te niet met zijn voor werd die aan ook bij naar heeft deze",
}


@lru_cache(maxsize=512)
def language(text: str) -> str:
    """The language of a text by script and function words; empty where neither says enough.

    Meant for refusing what a component does not know, so it names a language only when that is plain.
    """
    letters = sum(map(str.isalpha, text)) or 1
    if len(re.findall(rf"[{SCRIPTS['ja']}]", text)) > 0.05 * letters:
        return "ja"
    for code, characters in SCRIPTS.items():
        if len(re.findall(f"[{characters}]", text)) > 0.4 * letters:
            return code
    words = tokens(text)
    shares = {code: share(words, known) for code, known in FUNCTION_WORDS.items()}
    best = max(shares, key=shares.__getitem__)
    rest = max(value for code, value in shares.items() if code != best)
    return best if len(words) >= 20 and shares[best] > 0.12 and shares[best] > 1.5 * rest else ""


def share(words: list[str], known: str) -> float:
    among = set(known.split())
    return sum(word in among for word in words) / max(1, len(words))
