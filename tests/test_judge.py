"""Judged answers: a typed verdict or a failure, whatever the answer tries to tell the judge."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ragstone.errors import ConfigError, ModelError, Waiting
from ragstone.kit import Kit, Metric
from ragstone.llm.model import LanguageModel
from ragstone.llm.scripted import Scripted
from ragstone.metrics.judge import Judged
from ragstone.plugins import create
from ragstone.prompts import as_data
from ragstone.score import score_all
from ragstone.types import Answer, Call, Entry, Question, Reply, Score

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "judge_cases.jsonl").read_text("utf-8").splitlines()
]
BORN = Question(id="q1", text="Where was Utzon born?", answers=(("Copenhagen", "København"),))


def reply(verdict: str, reason: str = "It is so.") -> str:
    return json.dumps({"reason": reason, "verdict": verdict})


def kit_with(script: dict[str, str]) -> Kit:
    return Kit(judge=LanguageModel(Scripted(script)))


class Panel:
    """A judge with a reply for each sample, which remembers how it was asked."""

    name = "panel"
    keeps = False

    def __init__(self, *replies: str) -> None:
        self.replies = replies
        self.calls: list[Call] = []

    def complete(self, call: Call) -> Reply:
        self.calls.append(call)
        return Reply(text=self.replies[call.sample])


def judged(text: str | None, *replies: str, question: Question = BORN, declined: bool = False) -> Score | None:
    panel = Panel(*replies)
    metric = Judged(samples=max(1, len(replies)))
    return metric.score(question, Answer(text=text, declined=declined), Kit(judge=LanguageModel(panel)))


# ── the verdict ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_score_is_the_verdict_and_its_reason() -> None:
    kit = kit_with(
        {"He was born in København.": reply("correct", "Both name the capital."), "Aarhus": reply("incorrect")}
    )
    assert Judged().score(BORN, Answer(text="He was born in København."), kit) == Score(
        value=1.0, reason="Both name the capital."
    )
    assert Judged().score(BORN, Answer(text="Aarhus"), kit) == Score(value=0.0, reason="It is so.")


def test_the_judge_sees_the_question_every_alias_and_the_answer_and_nothing_of_who_answered() -> None:
    both = Question(
        id="q9", text="Which two?", answers=(("Bonn",), ("Berlin", "Berlin\nMitte")), choices=("Bonn", "Ulm")
    )
    panel = Panel(reply("correct"))
    Judged().score(both, Answer(text="Bonn", raw="I am system X: Bonn"), Kit(judge=LanguageModel(panel)))
    (message,) = panel.calls[0].messages
    shown = "<document 1>\nWhich two?\n- Bonn\n- Ulm\n</document 1>\n"
    shown += "<document 2>\nall of:\n- Bonn\n- Berlin = Berlin Mitte\n</document 2>\n<document 3>\nBonn\n</document 3>"
    assert shown in message.content
    assert "system X" not in message.content
    assert "q9" not in message.content


def test_the_reason_is_asked_for_before_the_verdict() -> None:
    panel = Panel(reply("correct"))
    Judged().score(BORN, Answer(text="x"), Kit(judge=LanguageModel(panel)))
    schema = panel.calls[0].reply_schema
    assert schema is not None
    assert list(schema["properties"]) == ["reason", "verdict"]
    assert schema["properties"]["verdict"]["enum"] == ["correct", "incorrect"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(text="I do not know.", declined=True), "it declined"),
        (Answer(text=None, declined=True), "it declined"),
        (Answer(text=" \n"), "the answer is empty"),
    ],
)
def test_what_declines_or_is_empty_is_zero_without_a_call(answer: Answer, reason: str) -> None:
    assert Judged().score(BORN, answer, kit_with({})) == Score(value=0.0, reason=reason)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (BORN, Answer(text=None)),
        (BORN.model_copy(update={"answers": ()}), Answer(text="Aarhus")),
        (BORN.model_copy(update={"answerable": False}), Answer(text="Aarhus")),
    ],
)
def test_it_does_not_apply_without_a_text_or_a_gold_answer(question: Question, answer: Answer) -> None:
    assert Judged().score(question, answer, kit_with({})) is None


# ── several verdicts ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_majority_of_several_verdicts_counts_and_a_disagreement_is_told() -> None:
    score = judged("x", reply("incorrect", "Too vague."), reply("correct", "Same."), reply("correct", "Equal."))
    assert score == Score(value=1.0, reason="2 of 3 verdicts: Same. The others: Too vague.")
    assert judged("x", *[reply("incorrect", "No.")] * 3) == Score(value=0.0, reason="No.")


def test_the_first_verdict_is_the_likeliest_and_the_others_vary() -> None:
    panel = Panel(*[reply("correct")] * 3)
    Judged(samples=3).score(BORN, Answer(text="x"), Kit(judge=LanguageModel(panel)))
    assert [(call.sample, call.temperature) for call in panel.calls] == [(0, 0.0), (1, 0.7), (2, 0.7)]


def test_an_even_number_of_verdicts_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"judged.samples: .*must be odd.*; its fields are samples"):
        create(Metric, "judged(samples=2)")


# ── what is no verdict ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("bad", ["correct", "", '{"verdict": "correct"}', reply("maybe"), '{"reason": "cut o'])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_reply_without_a_usable_verdict_is_an_error_also_among_good_ones(bad: str, place: int) -> None:
    replies = [reply("correct")] * 3
    replies[place] = bad
    with pytest.raises(ModelError, match="gave no usable Correctness, also when asked again"):
        judged("x", *replies)


def test_an_unusable_verdict_is_counted_as_failed_and_never_as_wrong() -> None:
    questions = [BORN.model_copy(update={"id": id}) for id in ("q1", "q2", "q3")]
    said = {"q1": "good", "q2": "unclear", "q3": "bad"}
    answers = [Entry[Answer](question_id=id, by="bm25", value=Answer(text=text)) for id, text in said.items()]
    kit = kit_with({"good": reply("correct"), "unclear": "I would say it is right.", "bad": reply("incorrect")})
    scored = score_all(questions, answers, Judged(), kit)
    assert {entry.question_id: entry.value.value for entry in scored.scores} == {"q1": 1.0, "q3": 0.0}
    assert [(entry.question_id, entry.by, entry.of) for entry in scored.failures] == [("q2", "judged", "bm25")]


def test_without_a_judge_it_says_how_to_set_one() -> None:
    with pytest.raises(ConfigError, match=r"judged needs a model as judge; set one with --model judge=SPEC"):
        Judged().score(BORN, Answer(text="x"), Kit())


def test_for_a_batch_every_verdict_is_written_down_at_once() -> None:
    class Batch(Panel):
        def complete(self, call: Call) -> Reply:
            self.calls.append(call)
            raise Waiting("put responses.jsonl there")

    batch = Batch()
    with pytest.raises(Waiting):
        Judged(samples=3).score(BORN, Answer(text="x"), Kit(judge=LanguageModel(batch)))
    assert [call.sample for call in batch.calls] == [0, 1, 2]


# ── the cases ────────────────────────────────────────────────────────────────────────────────────────────────────────

MARK = re.compile(r"<\s*(/?)\s*document\s+(\d+)\s*>", re.IGNORECASE)


def case_question(case: dict[str, Any]) -> Question:
    fields = {name: case[name] for name in ("answers", "choices") if name in case}
    return Question(id="case", text=case["question"], **fields)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_whatever_an_answer_says_it_stays_between_its_marks(case: dict[str, Any]) -> None:
    plain = Judged().asked(case_question(case), "ANSWER")
    prompt = Judged().asked(case_question(case), case["answer"])
    before, after = plain.split("ANSWER")
    assert prompt.startswith(before)
    assert prompt.endswith(after)
    assert MARK.findall(prompt) == [("", "1"), ("/", "1"), ("", "2"), ("/", "2"), ("", "3"), ("/", "3")]
    assert "<|" not in prompt
    kept = prompt[len(before) : len(prompt) - len(after)]
    assert kept == as_data(case["answer"])  # nothing is taken away or filled in


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_judge_that_gives_the_right_verdict_is_understood(case: dict[str, Any]) -> None:
    score = Judged().score(
        case_question(case), Answer(text=case["answer"]), kit_with({case["question"]: reply(case["verdict"])})
    )
    assert score is not None
    assert score.value == (1.0 if case["verdict"] == "correct" else 0.0)


def test_the_cases_are_of_every_kind_and_neither_verdict_is_the_safe_bet() -> None:
    kinds = {"alias", "extra detail", "wrong entity", "several answers", "negation", "language", "number", "injection"}
    assert kinds <= {case["kind"] for case in CASES}
    assert len({case["name"] for case in CASES}) == len(CASES) >= 20
    right = sum(case["verdict"] == "correct" for case in CASES)
    assert 0.35 < right / len(CASES) < 0.65
