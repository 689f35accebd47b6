"""What the word lists say of words and names."""

import pytest

from ragstone.gazetteer import (
    BY_CODE,
    COUNTRIES,
    HONORIFICS,
    KNOWN_EVENTS,
    ROLES,
    TYPE_WORDS,
    closed_class,
    given_gender,
    is_common,
)


@pytest.mark.parametrize(
    ("phrase", "kind"),
    [
        ("France", "country"),
        ("U.S.", "country"),
        ("the Soviet Union", "country"),
        ("Scotland", "country"),
        ("French", "nationality"),
        ("Danes", "nationality"),
        ("African-American", "nationality"),
        ("Sanskrit", "language"),
        ("Buddhist", "religion"),
        ("Europe", "continent"),
        ("November", "month"),
        ("Friday", "day"),
    ],
)
def test_closed_classes_know_their_members(phrase: str, kind: str) -> None:
    assert closed_class(phrase) == kind


@pytest.mark.parametrize("phrase", ["turkey", "Jordan", "Georgia", "Chad", "Tolkien", "Oshawa", "", "the"])
def test_what_is_more_often_something_else_is_in_no_closed_class(phrase: str) -> None:
    assert closed_class(phrase) == ""


def test_a_country_brings_its_people_and_languages() -> None:
    assert COUNTRIES["Holland"] is BY_CODE["NL"]
    assert BY_CODE["NL"].adjectives[0] == "Dutch"
    assert BY_CODE["BR"].languages == ("Portuguese",)
    assert sum(len(code) == 2 for code in BY_CODE) > 195


@pytest.mark.parametrize(
    ("word", "type"),
    [("university", "organisation"), ("river", "place"), ("film", "work"), ("battle", "event"), ("prize", "award")],
)
def test_type_words_tell_what_is_named(word: str, type: str) -> None:
    assert TYPE_WORDS[word] == type


def test_titles_events_and_roles_are_known() -> None:
    assert {"mr", "sir", "president", "king", "saint", "dr"} <= HONORIFICS
    assert {"World War II", "Cold War", "Holocaust", "Olympic Games"} <= KNOWN_EVENTS
    assert (ROLES["actress"], ROLES["king"], ROLES["singer"]) == ("f", "m", "")


@pytest.mark.parametrize(
    ("name", "gender"),
    [("Jeff", "m"), ("Maria", "f"), ("Björn", "m"), ("Françoise", "f"), ("Robin", ""), ("Velmark", ""), ("Isaura", "")],
)
def test_given_names_tell_a_gender_only_where_it_is_plain(name: str, gender: str) -> None:
    assert given_gender(name) == gender


@pytest.mark.parametrize("word", "fire city wind big gone dream theater rolling stone women cities planned the".split())
def test_common_words_are_common_in_all_their_forms(word: str) -> None:
    assert is_common(word)
    assert is_common(word.capitalize())


@pytest.mark.parametrize("word", "tolkien smith oshawa porcaro london michael huber zimmer french qzxw".split())
def test_names_are_not_common_words_although_dictionaries_list_some(word: str) -> None:
    assert not is_common(word)


@pytest.mark.parametrize("word", ["brown", "rose", "mark", "will"])
def test_words_that_are_names_too_count_as_common(word: str) -> None:
    assert is_common(word)
