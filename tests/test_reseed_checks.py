"""The checks of renamed questions: what they catch, what they let through, and that luck is not taken for knowledge."""

import hashlib
import json
import random
import re
import time
from collections.abc import Callable, Sequence
from math import comb, sqrt
from pathlib import Path

import pytest

import ragstone
from ragstone.checks.answer_found import AnswerFound
from ragstone.checks.collisions import Collisions
from ragstone.checks.familiarity import Familiarity
from ragstone.checks.hop_probes import hop_probes
from ragstone.checks.leakage import Leakage
from ragstone.checks.name_dependent import NameDependent
from ragstone.checks.open_names import has_name
from ragstone.checks.residual import Residual
from ragstone.errors import ConfigError, Waiting
from ragstone.kit import Check, Kit
from ragstone.llm.model import LanguageModel
from ragstone.plugins import create
from ragstone.types import (
    Benchmark,
    Call,
    Document,
    Draft,
    Entity,
    Evidence,
    Fact,
    Question,
    ReasoningGraph,
    Reply,
    Verdict,
)

MODEL_FREE: tuple[Check, ...] = (Residual(), AnswerFound(), Collisions(), NameDependent())


class Probe:
    """Replies by a function of the prompt and the sample number, and remembers how it was asked."""

    name = "probe"
    keeps = False

    def __init__(self, say: Callable[[str, int], str]) -> None:
        self.say = say
        self.calls: list[Call] = []

    def complete(self, call: Call) -> Reply:
        self.calls.append(call)
        return Reply(text=self.say(call.messages[-1].content, call.sample))


def probed(say: Callable[[str, int], str]) -> tuple[Kit, Probe]:
    probe = Probe(say)
    return Kit(probe=LanguageModel(probe)), probe


def graph(*facts: tuple[str, str, str], types: Sequence[str] = ()) -> ReasoningGraph:
    names = list(dict.fromkeys(name for subject, _, object in facts for name in (subject, object) if name))
    ids = {name: f"e{number}" for number, name in enumerate(names)}
    kinds = [*types, *[""] * len(names)]
    return ReasoningGraph(
        entities=tuple(Entity(id=ids[name], name=name, type=kind) for name, kind in zip(names, kinds, strict=False)),
        facts=tuple(
            Fact(subject=ids.get(subject, subject), relation=relation, object=ids[object])
            for subject, relation, object in facts
        ),
    )


FILMS = graph(
    ("Stormglass Night", "director", "Tamsin Velmark"),
    ("The Brindle Gate", "director", "Ulric Dassone"),
    ("Tamsin Velmark", "country of citizenship", "France"),
    ("Ulric Dassone", "date of birth", "12 March 1947"),
)


def compared(text: str = "Which film has the younger director, Stormglass Night or The Brindle Gate?") -> Draft:
    return Draft(
        question=Question(
            id="q1", text=text, answers=(("The Brindle Gate",),), labels={"answer_kind": "option"}, graph=FILMS
        )
    )


# ── leakage: the steps of a closed question ──────────────────────────────────────────────────────────────────────────


def test_each_step_of_a_closed_question_becomes_an_open_one_unless_its_answer_can_be_guessed() -> None:
    assert [(hop.text, hop.answers[0][0]) for hop, _ in hop_probes(compared().question)] == [
        ("What is the director of Stormglass Night?", "Tamsin Velmark"),
        ("What is the director of The Brindle Gate?", "Ulric Dassone"),
        ("What is the date of birth of Ulric Dassone?", "12 March 1947"),
    ]


def test_steps_in_words_are_asked_with_the_answers_of_earlier_ones_filled_in() -> None:
    steps = graph(
        ("", "who published the Velmark Gazette", "Ulric Dassone"),
        ("Ulric Dassone", "#1 >> spouse", "Tamsin Dassone"),
        ("Tamsin Dassone", "Where did #2 meet #1?", "Oskerby"),
        ("Ulric Dassone", "Where did #2 meet #1?", "Oskerby"),
    )
    asked = [hop.text for hop, _ in hop_probes(Question(id="q", text="?", graph=steps))]
    assert asked == [
        "who published the Velmark Gazette",
        "What is the spouse of Ulric Dassone?",
        "Where did Tamsin Dassone meet Ulric Dassone?",
    ]


@pytest.mark.parametrize(
    ("answer", "counted"),
    [
        ("Tamsin Velmark", True),
        ("Oskerby", True),
        ("12 March 1947", True),
        ("March 1947", True),
        ("北京", True),
        ("1947", True),
        ("France", False),
        ("French", False),
        ("American and Canadian", False),
        ("yes", False),
        ("no", False),
        ("heart attack", False),
        ("3", False),
        ("March", False),
        ("Stormglass", False),  # said by the step itself
    ],
)
def test_a_step_counts_only_if_its_answer_cannot_be_guessed(answer: str, counted: bool) -> None:
    facts = (Fact(subject="Stormglass Night", relation="director", object=answer),)
    hops = hop_probes(Question(id="q", text="?", graph=ReasoningGraph(facts=facts)))
    assert bool(hops) is counted


def test_of_other_forms_of_a_name_only_those_of_several_words_are_right() -> None:
    told = ReasoningGraph(
        entities=(Entity(id="e", name="Tamsin Ada Velmark", forms=("Velmark", "Tamsin Velmark")),),
        facts=(Fact(subject="Stormglass Night", relation="director", object="e"),),
    )
    (hop, _), *_ = hop_probes(Question(id="q", text="?", graph=told))
    assert hop.answers == (("Tamsin Ada Velmark", "Tamsin Velmark"),)


def test_one_right_reply_to_a_step_rejects_the_question_and_the_reason_names_the_step() -> None:
    def say(prompt: str, sample: int) -> str:
        return "It was Ulric Dassone." if "director of The Brindle Gate" in prompt and sample == 2 else "UNKNOWN"

    kit, _ = probed(say)
    assert Leakage().check(compared(), kit) == Verdict(
        passed=False,
        reason=(
            "a step, 'What is the director of The Brindle Gate?', is known without any document: "
            "1 of 3 replies are right, for instance 'It was Ulric Dassone.'"
        ),
    )


def test_a_probe_that_knows_no_step_and_guesses_badly_passes_after_every_question_was_asked() -> None:
    kit, probe = probed(lambda prompt, sample: "UNKNOWN")
    assert Leakage().check(compared(), kit).passed
    assert len(probe.calls) == 8 + 3 * 3


def test_an_open_question_is_asked_alone_whatever_its_graph_says() -> None:
    kit, probe = probed(lambda prompt, sample: "UNKNOWN")
    question = compared().question.model_copy(update={"labels": {"answer_kind": "open"}})
    assert Leakage().check(Draft(question=question), kit).passed
    assert len(probe.calls) == 3


def test_a_year_takes_more_right_replies_than_one_for_it_may_be_guessed() -> None:
    year = (Fact(subject="Stormglass Night", relation="publication date", object="1947"),)
    question = compared().question.model_copy(update={"graph": ReasoningGraph(facts=year)})

    def right(times: int) -> Kit:
        return probed(lambda prompt, sample: "1947" if "publication" in prompt and sample < times else "UNKNOWN")[0]

    assert Leakage().check(Draft(question=question), right(1)).passed
    assert not Leakage().check(Draft(question=question), right(2)).passed


def test_for_a_batch_the_question_and_all_its_steps_are_written_down_at_once() -> None:
    def wait(prompt: str, sample: int) -> str:
        raise Waiting("put responses.jsonl there")

    kit, probe = probed(wait)
    with pytest.raises(Waiting):
        Leakage().check(compared(), kit)
    assert len(probe.calls) == 8 + 3 * 3


# ── leakage: both ways of asking ─────────────────────────────────────────────────────────────────────────────────────


def pressed(prompt: str) -> bool:
    """Whether the probe is not told that it may decline."""
    return "UNKNOWN" not in prompt


def test_asked_both_ways_what_is_said_only_under_pressure_is_found_out() -> None:
    draft = Draft(question=Question(id="q", text="Where was Velmark born?", answers=(("Oskerby",),)))

    def kit() -> Kit:
        return probed(lambda prompt, sample: "Oskerby" if pressed(prompt) else "UNKNOWN")[0]

    assert Leakage().check(draft, kit()).passed
    assert not Leakage(refusal="none").check(draft, kit()).passed
    assert not Leakage(refusal="both").check(draft, kit()).passed


def test_both_is_a_way_to_ask_for_leakage_alone() -> None:
    assert repr(create(Check, "leakage(refusal=both)")) == "leakage(refusal=both)"
    with pytest.raises(ConfigError, match="refusal"):
        create(Check, "answerable(refusal=both)")


def test_two_ways_of_asking_give_luck_no_second_chance() -> None:
    draft = Draft(question=Question(id="q", text="Is it?", answers=(("yes",),)))

    def right(times: int) -> Kit:
        return probed(lambda prompt, sample: "yes" if sample < times else "no")[0]

    assert not Leakage().check(draft, right(7)).passed
    assert Leakage(refusal="both").check(draft, right(7)).passed  # 7 of 8 twice is no longer rare enough
    assert not Leakage(refusal="both").check(draft, right(8)).passed


# ── leakage: luck ────────────────────────────────────────────────────────────────────────────────────────────────────


def blind(prompt: str, sample: int, *options: str) -> str:
    seed = hashlib.sha256(f"{sample} {prompt}".encode()).digest()
    return random.Random(seed).choice(options)


def at_least(k: int, n: int, chance: float) -> float:
    return sum(comb(n, i) * chance**i * (1 - chance) ** (n - i) for i in range(k, n + 1))


EIGHT = ("alder", "birch", "cedar", "elm", "hazel", "larch", "oak", "willow")


@pytest.mark.parametrize(
    ("check", "options", "choices", "expected"),
    [
        (Leakage(), ("yes", "no"), (), at_least(7, 8, 1 / 2)),
        (Leakage(refusal="both"), ("yes", "no"), (), 1 - (1 - at_least(8, 8, 1 / 2)) ** 2),
        (Leakage(refusal="none"), EIGHT, EIGHT, at_least(4, 8, 1 / 8)),
    ],
    ids=["yes or no", "yes or no, both ways", "eight choices"],
)
def test_a_guessing_probe_rejects_closed_questions_with_steps_at_the_rate_that_statistics_predict(
    check: Leakage, options: tuple[str, ...], choices: tuple[str, ...], expected: float
) -> None:
    """It also makes names up for the steps; a name is never guessed."""
    n = 500
    made_up = ("Ada Brome", "Lute Harrow")
    kit, _ = probed(lambda prompt, sample: blind(prompt, sample, *(made_up if "What is the" in prompt else options)))
    rejected = 0
    for i in range(n):
        answers = ((options[i % len(options)],),)
        question = Question(id=f"q{i}", text=f"Question {i}?", answers=answers, choices=choices, graph=FILMS)
        rejected += not check.check(Draft(question=question), kit).passed
    assert abs(rejected / n - expected) < 3 * sqrt(expected * (1 - expected) / n)
    assert expected <= 0.05


def test_any_of_three_passes_an_eighth_of_yes_or_no_questions_by_luck_alone_and_ours_nearly_all() -> None:
    n = 500
    kit, _ = probed(lambda prompt, sample: blind(prompt, sample, "yes", "no"))
    drafts = [Draft(question=Question(id=f"q{i}", text=f"Question {i}?", answers=(("yes",),))) for i in range(n)]
    by_any = sum(all(blind(f"Question {i}?", sample, "yes", "no") == "no" for sample in range(3)) for i in range(n)) / n
    ours = sum(Leakage().check(draft, kit).passed for draft in drafts) / n
    assert abs(by_any - 1 / 8) < 3 * sqrt(1 / 8 * 7 / 8 / n)
    assert ours > 0.94


# ── residual ─────────────────────────────────────────────────────────────────────────────────────────────────────────

GOLD = Document(id="d-1", title="Stormglass Night", text="Stormglass Night was directed by Tamsin Velmark in 1954.")


def renamed(
    *answers: str,
    was: Sequence[str],
    text: str = "Who directed Stormglass Night?",
    documents: Sequence[Document] = (GOLD,),
    kind: str = "open",
    **more: object,
) -> Draft:
    """A question as renaming leaves it, with the answers that it had before."""
    question = Question(
        id="q1",
        text=text,
        answers=(answers,),
        remembered=(tuple(was),),
        evidence=tuple((Evidence(document_id=document.id),) for document in documents),
        labels={"answer_kind": kind},
        parent="q0",
    )
    return Draft(question=question.model_copy(update=more), documents=tuple(documents))


def seeing(draft: Draft, *kept: Question) -> Kit:
    return Kit(documents={document.id: document for document in draft.documents}, kept=kept)


def said(text: str, title: str = "", id: str = "d-1") -> tuple[Document, ...]:
    return (Document(id=id, title=title, text=f"{text} Tamsin Velmark."),)


VELMARK = ("Tamsin Velmark",)
CAMPION = ("Jane Campion",)
RESIDUAL = [  # a draft, and where the original is left; nowhere: it is clean
    ("nothing is left", renamed(*VELMARK, was=CAMPION), ""),
    ("in the question", renamed(*VELMARK, was=CAMPION, text="Was it Jane Campion's?"), "the question"),
    ("in a choice", renamed(*VELMARK, was=CAMPION, choices=("JANE CAMPION",)), "choice 'JANE CAMPION'"),
    ("in a title", renamed(*VELMARK, was=CAMPION, documents=said("", "jane campion")), "the title of document d-1"),
    ("in a text", renamed(*VELMARK, was=CAMPION, documents=said("By Jane Campion.")), "document d-1"),
    ("in an id", renamed(*VELMARK, was=CAMPION, documents=said("", id="jane-campion-3")), "the id jane-campion-3"),
    ("an alias", renamed("Velm City", "Big Apple", was=["New York City", "Big Apple"]), "an accepted answer"),
    ("another alias", renamed("Velm", "V", was=["NYC", "New York"], documents=said("in new york")), "document d-1"),
    ("one word as it is written", renamed("Velm", was=["Rush"], documents=said("Rush played.")), "document d-1"),
    ("one word with a possessive", renamed("Velm", was=["Rush"], documents=said("It was Rush's.")), "document d-1"),
    ("a concept", renamed("velmeth", was=["erosion"], documents=said("It is erosion.")), "document d-1"),
    ("another word in small letters", renamed("Velm", was=["Rush"], documents=said("in a rush")), ""),
    ("a longer word", renamed("Velm", was=["Rush"], documents=said("Rushmore")), ""),
    ("a part of the name", renamed(*VELMARK, was=CAMPION, documents=said("Jane")), ""),
    ("the answer was kept", renamed("Jane Campion", was=CAMPION, documents=said("Jane Campion")), ""),
    ("yes", renamed("yes", was=["yes"], documents=said("yes")), ""),
    ("a country that took another's place", renamed("Peru", was=["France"], documents=said("France")), ""),
    ("a year that took another's place", renamed("1964", was=["1954"], documents=said("1954")), ""),
    ("a date that took another's place", renamed("2 May 1964", was=["2 May 1954"], documents=said("2 May 1954")), ""),
    ("a code of a country", renamed("Constitution of Velm", "PL", was=["Constitution of Lodz", "PL"]), ""),
    ("a country beside a name", renamed("Velm of England", "England", was=["James of England", "England"],
     documents=said("England")), ""),
]  # fmt: skip


@pytest.mark.parametrize(("draft", "place"), [item[1:] for item in RESIDUAL], ids=[item[0] for item in RESIDUAL])
def test_of_planted_leftovers_every_one_is_found_and_nothing_else(draft: Draft, place: str) -> None:
    verdict = Residual().check(draft, seeing(draft))
    assert verdict.passed is not bool(place)
    assert verdict.reason.endswith(place)


def test_a_document_that_the_question_may_search_is_looked_at_although_the_draft_does_not_bring_it() -> None:
    draft = renamed(*VELMARK, was=["Jane Campion"], scope=("old",))
    old = Document(id="old", text="Jane Campion directed it.")
    kit = Kit(documents={"old": old, GOLD.id: GOLD})
    assert Residual().check(draft, kit).reason == "the original answer 'Jane Campion' is still in document old"


# ── answer_found ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("draft", "passed"),
    [
        (renamed(*VELMARK, was=["Jane Campion"]), True),
        (renamed("TAMSIN VELMARK", was=["Jane Campion"]), True),
        (renamed("Stormglass Night", was=["The Piano"]), True),
        (renamed("the year 1954", "1954", was=["1944"], kind="date"), True),
        (renamed("12,000", was=["11,000"], documents=said("12000 people"), kind="number"), True),
        (renamed("yes", was=["no"], kind="yes_no"), True),
        (renamed("brome", was=["air"], kind="choice", choices=("brome", "lute")), True),
        (renamed("American", was=["American"]), True),  # it was not in the documents before
        (renamed("Ulric Dassone", was=["Jane Campion"]), False),
        (renamed("Velmark", was=["Campion"], documents=(Document(id="d-1", text="The Velmarks"),)), False),
        (renamed("1955", was=["1945"], kind="date"), False),
        (renamed(*VELMARK, was=["Jane Campion"], documents=()), False),
    ],
)
def test_a_new_answer_must_be_in_the_evidence_and_one_that_was_kept_need_not(draft: Draft, passed: bool) -> None:
    assert AnswerFound().check(draft, seeing(draft)).passed is passed


def test_evidence_that_does_not_exist_is_named() -> None:
    draft = renamed(*VELMARK, was=["Jane Campion"])
    assert AnswerFound().check(draft, Kit()).reason == "its evidence names document d-1, which does not exist"


# ── collisions ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("draft", "given"),
    [
        (renamed(*VELMARK, was=["Jane Campion"], text="Who is Tamsin Velmark's teacher?"), True),
        (renamed(*VELMARK, was=["Jane Campion"], text="Who taught Velmark?"), False),
        (
            renamed(*VELMARK, was=["Jane Campion"], text="Who is older, Tamsin Velmark or Ada Brome?", kind="option"),
            False,
        ),
        (renamed(*VELMARK, "Who", was=["Jane Campion", "Who"]), False),  # another alias, a junk one
        (renamed("yes", was=["yes"], text="Yes or no?"), False),
        (renamed("French", was=["French"], text="Is the French painter French or not?"), False),
    ],
)
def test_a_question_must_not_say_its_own_answer_unless_it_offers_it(draft: Draft, given: bool) -> None:
    verdict = Collisions().check(draft, seeing(draft))
    assert verdict.passed is not given
    assert not given or verdict.reason == "its answer 'Tamsin Velmark' is in the question"


@pytest.mark.parametrize(
    ("answers", "was", "kind", "collides"),
    [
        (("Tamsin Velmark",), ("Jane Campion",), "open", False),  # the same thing asked for twice
        (("tamsin velmark",), ("Jane CAMPION",), "open", False),
        (("Tamsin Velmark",), ("Jané Campion",), "open", False),  # only an accent
        (("Tamsin Velmark",), ("Agnès Varda",), "open", True),
        (("Ada Brome", "Tamsin Velmark"), ("Orlando Bloom", "Agnès Varda"), "open", True),
        (("Tamsin Velmark",), ("Agnès Varda",), "option", False),  # another draw may choose the other option
        (("Ulric Dassone",), ("Agnès Varda",), "open", False),
    ],
)
def test_one_new_name_must_not_stand_for_two_things(
    answers: tuple[str, ...], was: tuple[str, ...], kind: str, collides: bool
) -> None:
    kept = renamed(*answers, was=was, kind=kind).question.model_copy(update={"id": "other"})
    draft = renamed(*VELMARK, was=["Jane Campion"])
    verdict = Collisions().check(draft, seeing(draft, kept))
    assert verdict.passed is not collides
    told = "'tamsin velmark' is the new name of 'jane campion', and of 'agnes varda' in question other"
    assert not collides or verdict.reason == told


def test_years_may_stand_for_different_ones_where_each_question_has_its_own_shift() -> None:
    kept, draft = (renamed("1964", was=[year], kind="date") for year in ("1954", "1944"))
    assert Collisions().check(draft, seeing(draft, kept.question)).passed


# ── name_dependent ───────────────────────────────────────────────────────────────────────────────────────────────────

ABOUT_THE_NAME = [
    "What does the name of the river that flows through Oskerby mean?",
    "What is the meaning of the surname of the director of Stormglass Night?",
    "Which mountain, whose name means white rock, is the highest in Velmark?",
    "What is the English translation of the title of the album by Ada Brome?",
    "The title of which Brome album translates as 'silent water'?",
    "In which city was the painter born whose surname derives from a trade?",
    "What is the origin of the name Velmark?",
    "In what language is the title of the first novel of Ada Brome?",
    "What is the etymology of Oskerby?",
    "What bird is the home town of Ada Brome named after?",
    "What is the first letter of the capital of Velmark?",
    "Which member of the band has a name that begins with the letter T?",
    "How many letters are in the last name of the director?",
    "How many syllables has the name of the capital?",
    "Which of the two cities comes first alphabetically?",
    "What are the initials of the author of Stormglass Night?",
    "How is the surname of the pianist spelled in Polish?",
    "Which city rhymes with the name of the river?",
    "Whose stage name is an anagram of Velmark?",
    "Which song with the word fire in its title did Ada Brome write?",
    "Which state shares its name with a kind of bread?",
    "What does the acronym OVB stand for?",
    "What is the abbreviation of the party that Ada Brome leads?",
    "What is OVB short for?",
]
SOUND = [
    "What is the full name of the director of Stormglass Night?",
    "What is the real name of the singer known as Velm?",
    "What is the middle name of the actress in Stormglass Night?",
    "Under which stage name did the singer of the song called Velm perform?",
    "Who is the man that Velmark County is named after?",
    "What is the name of the man who translated the Bible?",
    "Who translated the book by Ada Brome into English?",
    "In which language did Ada Brome write?",
    "Who wrote the last letter to the king of Velmark?",
    "How many letters did Ada Brome write to her brother?",
    "What title did the winner of the race receive?",
    "In which seat did Ada Brome stand for election?",
    "What was the initial budget of Stormglass Night?",
    "Which basilica is named after the same saint as the church in Oskerby?",
    "Which city has the same name as Oskerby in Velmark?",
    "Which witch cast a spell on the king?",
    "What is the largest city in the state known for its meandering rivers?",
    "What was the town in which Ada Brome was born formerly called?",
    "By what means did the director of Stormglass Night travel?",
    "Which actor played the same character as Ada Brome?",
]


def test_of_planted_questions_about_a_name_all_are_found_and_no_sound_one() -> None:
    def rejected(texts: Sequence[str]) -> list[str]:
        return [text for text in texts if not NameDependent().check(renamed("x", was=["y"], text=text), Kit()).passed]

    assert rejected(ABOUT_THE_NAME) == ABOUT_THE_NAME
    assert rejected(SOUND) == []


def test_what_an_acronym_stands_for_may_be_asked_if_its_letters_are_those_of_the_answer() -> None:
    text = "What does the name of the agency, OVB, stand for?"
    good = renamed("Oskerby and Velmark Board", was=["National Space Board"], text=text)
    bad = renamed("Dassone Water Board", was=["National Space Board"], text=text)
    assert NameDependent().check(good, seeing(good)).passed
    assert NameDependent().check(bad, seeing(bad)).reason == (
        "it depends on what letters stand for: 'What does the name of the agency, OVB, stand for'"
    )


# ── familiarity ──────────────────────────────────────────────────────────────────────────────────────────────────────


def acquaintance(what: str = "") -> str:
    return json.dumps({"what": what, "knows": bool(what)})


FAMILIAR = Draft(
    question=Question(
        id="q",
        text="Who directed it?",
        answers=(("Tamsin Velmark",),),
        graph=graph(
            ("Stormglass Night", "director", "Tamsin Velmark"),
            ("Tamsin Velmark", "country of citizenship", "France"),
            types=("work", "person", "country"),
        ),
    )
)


def test_each_new_name_is_asked_about_twice_with_its_kind_and_what_is_no_new_name_is_not() -> None:
    kit, probe = probed(lambda prompt, sample: acquaintance())
    assert Familiarity().check(FAMILIAR, kit) == Verdict(passed=True)
    names = [(re.findall(r"<document 1>\n(.*)\n", call.messages[-1].content)[0], call) for call in probe.calls]
    assert [(name, call.sample, call.temperature) for name, call in names] == [
        ("Stormglass Night, a work", 0, 0.0),
        ("Stormglass Night, a work", 1, 0.7),
        ("Tamsin Velmark, a person", 0, 0.0),
        ("Tamsin Velmark, a person", 1, 0.7),
    ]


def test_a_name_of_which_the_probe_knows_something_at_any_time_rejects_the_question() -> None:
    kit, _ = probed(lambda prompt, sample: acquaintance("A poet of\nOslo." if "Velmark" in prompt and sample else ""))
    assert Familiarity().check(FAMILIAR, kit) == Verdict(
        passed=False, reason="'Tamsin Velmark' is known: A poet of Oslo."
    )


def test_for_a_batch_every_name_is_written_down_at_once() -> None:
    def wait(prompt: str, sample: int) -> str:
        raise Waiting("put responses.jsonl there")

    kit, probe = probed(wait)
    with pytest.raises(Waiting):
        Familiarity().check(FAMILIAR, kit)
    assert len(probe.calls) == 4


def test_without_a_graph_there_is_no_name_to_ask_about_and_without_a_probe_nobody_to_ask() -> None:
    plain = Draft(question=FAMILIAR.question.model_copy(update={"graph": None}))
    assert Familiarity().check(plain, Kit()).passed
    with pytest.raises(ConfigError, match="familiarity needs a model as probe; set one with --model probe=SPEC"):
        Familiarity().check(FAMILIAR, Kit())


# ── real questions ───────────────────────────────────────────────────────────────────────────────────────────────────

SETS = {  # with the number of questions about a name
    "hotpotqa/hotpot_dev_distractor_sample.json": 1,
    "2wikimultihopqa/dev_sample.json": 0,
    "musique/musique_ans_v1.0_dev_sample.jsonl": 5,
    "qasc/dev_sample.jsonl": 0,
}


def coined(benchmark: Benchmark, question: Question) -> Draft:
    """The question with a new name for its answer wherever its documents and its text say it: a renaming of sorts."""
    names = sorted({alias for group in question.answers for alias in group}, key=len, reverse=True)
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names), re.IGNORECASE)
    by_id = {document.id: document for document in benchmark.documents}
    new = {
        id: Document(
            id=f"d-{number}", title=pattern.sub("Velmark", by_id[id].title), text=pattern.sub("Velmark", by_id[id].text)
        )
        for number, id in enumerate(question.scope)
    }
    update = {
        "text": pattern.sub("Velmark", question.text),
        "answers": tuple(("Velmark",) for _ in question.answers),
        "remembered": question.answers,
        "scope": tuple(document.id for document in new.values()),
        "evidence": tuple(
            tuple(Evidence(document_id=new[piece.document_id].id) for piece in group) for group in question.evidence
        ),
    }
    return Draft(question=question.model_copy(update=update), documents=tuple(new.values()))


@pytest.mark.parametrize("place", SETS)
def test_on_real_questions_as_they_are_only_those_about_a_name_are_rejected(data: Path, place: str) -> None:
    benchmark = ragstone.load(data / place)
    kit = Kit(documents={document.id: document for document in benchmark.documents})
    drafts = [Draft(question=question) for question in benchmark.questions]
    rejected = {check.name: sum(not check.check(draft, kit).passed for draft in drafts) for check in MODEL_FREE}
    assert rejected == {"residual": 0, "answer_found": 0, "collisions": 0, "name_dependent": SETS[place]}


def open_ones(data: Path, place: str) -> tuple[Benchmark, list[Question]]:
    benchmark = ragstone.load(data / place)
    return benchmark, [question for question in benchmark.questions if question.labels["answer_kind"] == "open"]


NAMED = [place for place in SETS if "qasc" not in place]


@pytest.mark.parametrize("place", NAMED)
@pytest.mark.parametrize("check", [Residual(), AnswerFound(), NameDependent(), Collisions()], ids=str)
def test_on_real_questions_whose_answer_was_renamed_it_takes_less_than_a_millisecond(
    data: Path, check: Check, place: str
) -> None:
    benchmark, asked = open_ones(data, place)
    drafts = [coined(benchmark, question) for question in asked]
    kits = [seeing(draft, *benchmark.questions) for draft in drafts]

    def taken() -> float:
        begun = time.process_time()
        for draft, kit in zip(drafts, kits, strict=True):
            check.check(draft, kit)
        return (time.process_time() - begun) / len(drafts)

    assert min(taken() for _ in range(3)) < 0.001


@pytest.mark.parametrize("place", NAMED)
def test_on_real_questions_a_renamed_answer_is_found_and_nothing_is_left_of_the_original(
    data: Path, place: str
) -> None:
    benchmark, asked = open_ones(data, place)
    for draft in (coined(benchmark, question) for question in asked):
        assert Residual().check(draft, seeing(draft)).passed
        if any("Velmark" in document.text for document in draft.documents):
            assert AnswerFound().check(draft, seeing(draft)).passed


@pytest.mark.parametrize("place", NAMED)
def test_on_real_questions_an_original_answer_in_one_document_is_found_out_and_so_is_one_that_is_lost(
    data: Path, place: str
) -> None:
    benchmark, asked = open_ones(data, place)
    for question in (question for question in asked if has_name(question.answers[0][0])):
        draft = coined(benchmark, question)
        first, *others = draft.documents
        told = first.model_copy(update={"text": f"{first.text} ({question.answers[0][0]})"})
        lost = [document.model_copy(update={"text": "Nothing.", "title": ""}) for document in draft.documents]
        left = draft.model_copy(update={"documents": (told, *others)})
        without = draft.model_copy(update={"documents": tuple(lost)})
        assert not Residual().check(left, seeing(left)).passed
        assert not AnswerFound().check(without, seeing(without)).passed
