"""Text is compared by what it says, not by how it is typed."""

import datetime
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text import (
    MONTHS,
    canonical_tokens,
    contains_run,
    content_id,
    count_tokens,
    date_parts,
    fold,
    is_unspaced,
    language,
    letters_and_digits,
    normalise,
    normalised_tokens,
    slug,
    tokens,
)

WORDS = st.text(string.ascii_lowercase, min_size=2, max_size=8).filter(lambda word: word not in ("and", "the", "an"))
DAYS = st.dates(datetime.date(1000, 1, 1), datetime.date(2999, 12, 31))


# ── the basics ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_folding_makes_width_ligature_and_case_plain() -> None:
    assert fold("ＡＢＣ ﬁn STRASSE Straße") == "abc fin strasse strasse"


def test_tokens_are_words_or_single_characters_where_words_are_not_spaced() -> None:
    assert tokens("It's 北京, in 2024!") == ["it", "s", "北", "京", "in", "2024"]


def test_tokens_of_a_language_model_are_estimated_by_the_named_rule() -> None:
    assert count_tokens("ten words " * 5) == 13
    assert count_tokens("北京大学") == 4


def test_a_text_is_unspaced_when_most_of_its_letters_are() -> None:
    assert is_unspaced("北京大学在 Beijing 哪里呢请告诉我吧") is True
    assert is_unspaced("the capital 北京") is False
    assert is_unspaced("plain") is False


def test_letters_and_digits_find_a_passage_whose_spacing_was_changed() -> None:
    assert letters_and_digits("U.S. GDP — 3 %") == letters_and_digits("us g d p 3")


def test_a_slug_is_short_and_plain_and_an_id_tells_contents_apart() -> None:
    assert slug("Élan  Vital (1907)!") == "elan-vital-1907"
    assert len(slug("word " * 50)) <= 40
    assert content_id("Title", "one") == content_id("Title", "one")
    assert content_id("Title", "one") != content_id("Title", "two")
    assert content_id("", "北京").strip("-")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the cat sat on the mat and it was happy that the dog was in the garden with the bird by the tree", "en"),
        ("der Hund und die Katze sind nicht mit dem Mann auf der Straße und das ist für die Frau auch nicht zu", "de"),
        ("北京大学是一所著名的大学", "zh"),
        ("これはペンです", "ja"),
        ("Paris", ""),
    ],
)
def test_a_language_is_named_only_when_it_is_plain(text: str, expected: str) -> None:
    assert language(text) == expected


# ── SQuAD's rules ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_normalising_drops_case_marks_articles_and_spacing() -> None:
    assert normalise("  The  Cat,\tand an AT&T-phone! ") == "cat and attphone"
    assert normalise("theatre an-other a.") == "theatre another"


def test_normalising_beyond_ascii_folds_and_drops_every_mark_and_symbol() -> None:
    assert normalise("«Ｔhe Été» — 5 €") == "été 5"
    assert normalise("soft\u00adhyphen zero\u200bwidth") == "softhyphen zerowidth"
    assert normalise("cafe\u200b\u0301") == "café"


def test_characters_are_tokens_where_words_are_not_spaced() -> None:
    assert normalised_tokens("北京，中国 NBA") == ["北", "京", "中", "国", "nba"]
    assert normalise("北 京") == normalise("北京")


def test_a_text_of_articles_or_marks_alone_keeps_its_words() -> None:
    assert normalise("The The") == "the the"
    assert normalise("+") == "+"
    assert normalise("A") == "a"
    assert normalised_tokens(" \n") == []


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


# ── names, numbers and dates ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12,000", "12000"),
        ("12\u00a0000", "12000"),
        ("12\u2009000", "12000"),
        ("12\u202f000", "12,000"),
        ("１２，０００", "12000"),
        ("1,234,567.80", "1234567.8"),
        ("3.50", "3.5"),
        ("3.0", "3"),
        (".5", "0.50"),
        ("9th", "9"),
        ("\u22125", "-5"),
        ("1914\u20131918", "1914-1918"),
        ("5%", "5 per cent"),
        ("5 %", "5 percent"),
        ("Einstein\u2019s", "Einstein"),
        ("1974's", "1974"),
        ("the 1990's", "the 1990s"),
        ("O\u2019Brien", "O'Brien"),
        ("Hawai\u2018i", "Hawaii"),
        ("U.S.", "US"),
        ("J. R. R. Tolkien", "J.R.R. Tolkien"),
        ("Simon & Garfunkel", "Simon and Garfunkel"),
        ("Paris (France)", "Paris,   France"),
        ("well\u2010known", "well-known"),
        ("STRASSE", "Straße"),
    ],
)
def test_the_same_thing_in_two_spellings_is_equal(one: str, other: str) -> None:
    assert canonical_tokens(one) == canonical_tokens(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5", "-5"),
        ("5", "5.1"),
        ("12", "12,5"),
        ("1.2", "1.20.3"),
        ("10:30", "10:03"),
        ("1/2", "12"),
        ("007", "7"),
        ("AT&T", "AT T"),
        ("C", "C++"),
        ("C#", "C"),
        ("$5", "€5"),
        ("5'10", "510"),
        ("1990s", "1990"),
        ("São", "Sao"),
        ("हिन्दी", "हिन्द"),
    ],
)
def test_different_things_stay_different(one: str, other: str) -> None:
    assert canonical_tokens(one) != canonical_tokens(other)


@pytest.mark.parametrize(
    "written",
    [
        "November 9, 1786",
        "November 9th, 1786",
        "november 9 1786",
        "Nov. 9, 1786",
        "November 9,1786",
        "9 November 1786",
        "9 Nov 1786",
        "9th of November, 1786",
        "9. November 1786",
        "9-Nov-1786",
        "1786-11-09",
        "1786/11/9",
        "1786年11月9日",
        "１７８６年１１月９日",
        "1786년 11월 9일",
    ],
)
def test_a_date_is_one_token_however_it_is_written(written: str) -> None:
    assert canonical_tokens(written) == ["1786november09"]


def test_parts_of_dates_are_read_too() -> None:
    assert canonical_tokens("November 1786") == canonical_tokens("1786年11月") == ["1786november"]
    assert canonical_tokens("November 9") == canonical_tokens("9th of November") == ["november09"]
    assert canonical_tokens("1786年") == ["1786"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the best 4 may enter", ["the", "best", "4", "may", "enter"]),
        ("May 5% do so", ["may", "5", "percent", "do", "so"]),
        ("in November. 9 people", ["in", "november", "9", "people"]),
        ("in March, 9,000 people", ["in", "march", "9000", "people"]),
        ("March 5, 9,000 people", ["march05", "9000", "people"]),
        ("32 December", ["32", "december"]),
        ("1786-13-09", ["1786", "13", "09"]),
        ("2010-11 season", ["2010", "11", "season"]),
        ("November 9-11, 1786", ["november", "9", "11", "1786"]),
        ("9–11 November 1786", ["9", "11", "1786november"]),
        ("November 17865", ["november", "17865"]),
        ("November 1786-1790", ["november", "1786", "1790"]),
        ("31786年", ["31786", "年"]),
    ],
)
def test_what_only_looks_like_a_date_is_none(text: str, expected: list[str]) -> None:
    assert canonical_tokens(text) == expected


def test_the_parts_of_dates_are_listed_and_a_bare_month_is_no_date() -> None:
    assert date_parts(["on", "1786november09"]) == {"1786", "november", "1786november", "november09"}
    assert date_parts(["1786november"]) == {"1786", "november", "1786november"}
    assert date_parts(["november", "1786", "9"]) == set()


@pytest.mark.parametrize(
    ("text", "part", "said"),
    [
        ("9 November 1786", "1786", True),
        ("9 November 1786", "November 1786", True),
        ("9 November 1786", "Nov. 9", True),
        ("9 November 1786", "November", True),
        ("9 November 1786", "9", False),
        ("9 November 1786", "in 1786", False),
        ("9 November 1786", "1787", False),
        ("November 1786", "9 November", False),
        ("November 1786", "9 November 1786", False),
        ("9 November", "1786", False),
        ("1786", "November 1786", False),
    ],
)
def test_a_date_says_its_parts_and_not_more(text: str, part: str, said: bool) -> None:
    assert contains_run(canonical_tokens(text), canonical_tokens(part)) is said


def forms(day: datetime.date) -> list[str]:
    """Ways to write one date."""
    month = MONTHS[day.month - 1].title()
    return [
        f"{month} {day.day}, {day.year}",
        f"{day.day} {month[:3]} {day.year}",
        day.isoformat(),
        f"{day.year}年{day.month}月{day.day}日",
    ]


@given(DAYS, DAYS)
def test_two_dates_are_equal_exactly_when_they_are_the_same_day(one: datetime.date, other: datetime.date) -> None:
    for left in forms(one):
        for right in forms(other):
            assert (canonical_tokens(left) == canonical_tokens(right)) == (one == other)


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_number_is_found_only_where_the_whole_number_is(one: int, other: int) -> None:
    text = canonical_tokens(f"There were {one:,} of them.")
    assert contains_run(text, canonical_tokens(str(other))) == (one == other)
    assert contains_run(text, canonical_tokens(str(one)))


@given(st.lists(WORDS, min_size=1, max_size=5), st.lists(WORDS, min_size=1, max_size=3))
def test_a_run_is_found_at_token_boundaries_only(text: list[str], run: list[str]) -> None:
    expected = any(text[start : start + len(run)] == run for start in range(len(text)))
    assert contains_run(canonical_tokens(", ".join(text)), canonical_tokens(" ".join(run))) == expected


@given(st.text())
def test_nothing_contains_an_empty_run_and_tokens_have_no_space(text: str) -> None:
    found = canonical_tokens(text)
    assert not contains_run(found, [])
    assert all(token and not any(map(str.isspace, token)) for token in found)
    assert not found or contains_run(found, found)


def test_vowel_signs_belong_to_their_word() -> None:
    assert tokens("हिन्दी भाषा") == ["हिन्दी", "भाषा"]
    assert count_tokens("हिन्दी भाषा") == 3


def test_a_list_of_english_nouns_is_not_taken_for_another_language() -> None:
    assert language("a rock as a wall do moss a tree as a mast do fern a lake as a sea do reed a hill as a cliff") in (
        "",
        "en",
    )
    assert (
        language(
            "O rio nasce nas montanhas e não seca no verão, mas os campos em volta são secos e foi por isso que "
            "uma parte da água é guardada para as cidades pelo governo."
        )
        == "pt"
    )
