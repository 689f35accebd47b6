"""Normalising, tokenising and comparing text: Unicode, numbers, dates, scripts written without spaces."""

import hashlib
import re
import unicodedata
from functools import lru_cache

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff"  # Thai, Lao, Burmese, Khmer, kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
"""Scripts that put no space between words."""

TOKEN = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
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

FUNCTION_WORDS = {
    "en": "the of and to in is was that for with his on as by it from are were which this",
    "de": "der die und das ist nicht mit von dem den ein eine zu auf für sich auch wird als im",
    "fr": "le la les et est des une dans pour que qui sur pas avec du au aux par ce cette",
    "es": "el la los las y es una en para que por con del su se como más lo este fue",
    "it": "il la che di è una per non con del della gli le nel sono anche si da come alla",
    "pt": "o a os as e é uma em para que por com do da se como mais ao foi não",
    "nl": "de het een en van is dat op te niet met zijn voor in werd die aan door ook bij",
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
