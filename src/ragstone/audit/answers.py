"""What models know without the documents and with them, before and after."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ragstone.audit.records import Accuracy, Baseline, Figure, Found, Part, Said, Side, Split, figure
from ragstone.audit.runs import column, failed, scores
from ragstone.matching import chance, says_answer
from ragstone.run_folder import Run
from ragstone.stats import above_chance, luck, mcnemar, paired_difference, resampled, wilson
from ragstone.text import normalise
from ragstone.types import Answer, Question

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

GUESS, DECLINE, GOLD = SYSTEMS = ("closed_book", "closed_book(refusal=allowed)", "oracle")
MEMORY = "memory"
SIGNIFICANCE = 0.05
KINDS: tuple[Part, ...] = ("open", "closed")


def parts_of(questions: Sequence[Question]) -> dict[Part, list[Question]]:
    """Open and closed questions apart, and all of them where there are both."""
    asked = [question for question in questions if question.answers and question.answerable]
    found = {part: mine for part in KINDS if (mine := [q for q in asked if (chance(q) > 0) == (part == "closed")])}
    return {"all": asked, **found} if len(found) > 1 else found


# ── one benchmark ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Asked:
    """What one model answered to the questions of one benchmark."""

    run: Run
    reader: str
    metric: str

    def values(self, system: str, questions: Sequence[Question]) -> dict[str, float]:
        known = scores(self.run, column(self.run, system, self.reader), self.metric)
        return {question.id: known[question.id] for question in questions if question.id in known}

    def accuracy(self, system: str, questions: Sequence[Question]) -> Accuracy | None:
        right = self.values(system, questions)
        lost = failed(self.run, column(self.run, system, self.reader)) - right.keys()
        return accuracy(right, questions, len(lost & {question.id for question in questions}))

    def side(self, questions: Sequence[Question]) -> Side:
        by_heart, read = self.values(GUESS, questions), self.values(GOLD, questions)
        both = [id for id in by_heart if id in read]
        gained = figure(paired_difference([by_heart[id] for id in both], [read[id] for id in both]))
        return Side(
            guessing=guessing(questions),
            leakage=self.accuracy(GUESS, questions),
            may_decline=self.accuracy(DECLINE, questions),
            gold=self.accuracy(GOLD, questions),
            answerability=gained,
            answerability_corrected=beyond_chance([(by_heart[id], read[id]) for id in both], mean_chance(questions)),
        )

    def kinds(self, questions: Sequence[Question]) -> dict[str, str]:
        """What kind of answer it gave to each question, where it may decline."""
        name = column(self.run, DECLINE, self.reader)
        right, recalled = (scores(self.run, name, metric) for metric in (self.metric, MEMORY))
        wanted = {question.id for question in questions}
        told = {e.question_id: e.value for e in self.run.answers if e.by == name and e.question_id in wanted}
        return {id: kind(told[id], right[id], recalled.get(id, 0.0)) for id in told if id in right}

    def said(self, questions: Sequence[Question], familiar: Collection[str] = ()) -> Said:
        """How often it gave which kind of answer; who knows the names does not make it up."""
        found = self.kinds(questions).items()
        return Said(**Counter("inconsistent" if k == "confabulated" and id in familiar else k for id, k in found))


def kind(answer: Answer, right: float, recalled: float) -> str:
    """What an answer from memory is."""
    if answer.declined or not (answer.text or "").strip():
        return "none"
    if right > 0.5:
        return "leak"
    return "inconsistent" if recalled > 0.5 else "confabulated"


def accuracy(right: Mapping[str, float], questions: Sequence[Question], lost: int = 0) -> Accuracy | None:
    """The share of right answers, raw and above chance."""
    rate = wilson(list(right.values()))
    guess = mean_chance([question for question in questions if question.id in right])
    if rate is None:
        return None
    raw, corrected = Figure(**rate._asdict()), figure(above_chance(rate, guess))
    return Accuracy(raw=raw, corrected=corrected, chance=guess, failed=lost)


def beyond_chance(pairs: Sequence[tuple[float, float]], guess: float) -> Figure | None:
    """What the evidence adds, above chance: who gets less than chance without it knows nothing, and not less."""
    if guess >= 1:
        return None

    def added(means: "NDArray[float64]") -> "NDArray[float64]":
        above = (means - guess) / (1 - guess)
        gained: NDArray[float64] = above[:, 1] - above[:, 0].clip(0, 1)
        return gained.clip(-1, 1)

    return figure(resampled(pairs, added))


# ── without knowing anything ─────────────────────────────────────────────────────────────────────────────────────────


class Commonest(NamedTuple):
    """The answer that most questions have, and to which questions it is right."""

    answer: str
    right: dict[str, float]


def mean_chance(questions: Sequence[Question]) -> float:
    return sum(map(chance, questions)) / max(1, len(questions))


def commonest(questions: Sequence[Question]) -> Commonest:
    told = Counter(normalise(" ".join(group[0] for group in question.answers)) for question in questions)
    answer = told.most_common(1)[0][0]
    return Commonest(answer, {question.id: float(says_answer(answer, question)) for question in questions})


def guessing(questions: Sequence[Question]) -> float:
    """How many are right without knowing anything: by chance, or by the commonest answer if that is better."""
    return max(mean_chance(questions), sum(commonest(questions).right.values()) / len(questions))


def baselines(after: Sequence[Question], before: Sequence[Question]) -> tuple[Baseline, ...]:
    """The commonest answer of each part."""
    earlier = {part: commonest(questions) for part, questions in parts_of(before).items()}
    found = []
    for part, questions in parts_of(after).items():
        now, then = commonest(questions), earlier.get(part)
        share = figure(wilson(list(now.right.values())))
        told = {"before_answer": then.answer, "before": figure(wilson(list(then.right.values())))} if then else {}
        found += [Baseline(part=part, answer=now.answer, after=share, **told)] if share else []
    return tuple(found)


# ── before and after ─────────────────────────────────────────────────────────────────────────────────────────────────


def split(
    part: Part, questions: Sequence[Question], after: Asked, before: Asked | None, familiar: Collection[str] = ()
) -> Split:
    """One part of the questions, as the benchmark has them and as the original had them."""
    now = Split(part=part, after=after.side(questions), said=after.said(questions, familiar))
    if before is None:
        return now.model_copy(update={"why": "there is no original to show what the model knows"})
    ids = {question.id for question in questions}
    originals = [question for question in before.run.questions if question.id in ids]
    then = before.side(originals)
    leaked, read = (pairs(before.values(s, originals), after.values(s, questions)) for s in (GUESS, GOLD))
    found, why = verdict(then, now.after)
    return now.model_copy(
        update={
            "before": then,
            "said_before": before.said(originals),
            "leakage_change": figure(paired_difference(*leaked)),
            "gold_change": figure(paired_difference(*read)),
            "gold_p": mcnemar(*read).p if read[0] else None,
            "reduction": reduction(*leaked, mean_chance(originals), mean_chance(questions)),
            "found": found,
            "why": why,
        }
    )


def pairs(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[list[float], list[float]]:
    both = [id for id in before if id in after]
    return [before[id] for id in both], [after[id] for id in both]


def reduction(before: Sequence[float], after: Sequence[float], chance: float, chance_now: float) -> Figure | None:
    """By how much of itself the leakage above chance has fallen; None where there was none for certain."""
    rate = wilson(before)
    known = above_chance(rate, chance) if rate else None
    if known is None or known.low <= 0 or chance_now >= 1:
        return None

    def fallen(means: "NDArray[float64]") -> "NDArray[float64]":
        then, now = (means[:, 0] - chance) / (1 - chance), (means[:, 1] - chance_now) / (1 - chance_now)
        left: NDArray[float64] = now.clip(0, 1) / then.clip(known.low, 1)  # no sample may say that nothing was known
        return 1 - left

    return figure(resampled(list(zip(before, after, strict=True)), fallen))


def verdict(before: Side, after: Side) -> tuple[Found, str]:
    """What the model shows. Only a model that knows the original can show that it does not know the benchmark."""
    if before.leakage is None or after.leakage is None:
        return "no evidence", "nothing could be scored"
    if not beyond_guessing(before.leakage, before.guessing):
        return "no evidence", "on the original the model is no better than guessing, so it cannot show a leak"
    if beyond_guessing(after.leakage, after.guessing):
        return "leaks", "the model is better than guessing without any document"
    bound = after.leakage.corrected
    return "certified", f"at most {max(0.0, bound.high):.1%} is known above chance (95 %)" if bound else ""


def beyond_guessing(leakage: Accuracy, guess: float) -> bool:
    """Whether guessing so many right would be rare."""
    right = round(leakage.raw.value * leakage.raw.n)
    return luck(right, leakage.raw.n, guess) < SIGNIFICANCE


WORST: tuple[Found, ...] = ("leaks", "no evidence", "certified")


def together(parts: Sequence[Split]) -> tuple[Split, ...]:
    """The parts, where all questions have the worse verdict of the others: one may not make up for the other."""
    worst = min(parts[1:], key=lambda part: WORST.index(part.found), default=None)
    if worst is None:
        return tuple(parts)
    found = {"found": worst.found, "why": f"as the {worst.part} ones: {worst.why}"}
    return (parts[0].model_copy(update=found), *parts[1:])
