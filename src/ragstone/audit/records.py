"""What an audit finds. Every figure has its interval and its n."""

from collections.abc import Mapping
from typing import Literal

from pydantic import FiniteFloat, NonNegativeInt

from ragstone.stats import Interval
from ragstone.types import Record

Part = Literal["all", "open", "closed"]
"""All questions, those whose answers cannot be listed, and those with choices, yes or no, this or that."""

Found = Literal["certified", "leaks", "no evidence"]


class Figure(Record):
    """A value with its 95 % interval over `n` questions."""

    value: FiniteFloat
    low: FiniteFloat
    high: FiniteFloat
    n: NonNegativeInt


class Accuracy(Record):
    """How many answers are right, and how many more than guessing explains."""

    raw: Figure
    corrected: Figure | None = None  # (raw − chance) / (1 − chance); None: every guess is right
    chance: float = 0.0  # of a blind guess, the mean over the questions
    failed: NonNegativeInt = 0


class Side(Record):
    """What one model does with the questions of one benchmark."""

    guessing: float  # right without knowing anything: the better of chance and the commonest answer
    leakage: Accuracy | None = None  # closed book, a best guess wanted
    may_decline: Accuracy | None = None  # closed book, told that it may decline
    gold: Accuracy | None = None  # with the evidence
    answerability: Figure | None = None  # gold − leakage, on the same questions
    answerability_corrected: Figure | None = None


class Said(Record):
    """What closed-book answers are, of a model that may decline."""

    leak: NonNegativeInt = 0  # right
    inconsistent: NonNegativeInt = 0  # wrong from knowledge: the original answer, or about names that it knows
    confabulated: NonNegativeInt = 0  # wrong and made up
    none: NonNegativeInt = 0  # declined, or empty


class Split(Record):
    """One model on one part of the questions, before and after."""

    part: Part
    after: Side
    before: Side | None = None
    leakage_change: Figure | None = None  # after − before, on the same questions
    gold_change: Figure | None = None
    gold_p: float | None = None  # McNemar, exact
    reduction: Figure | None = None  # of the corrected leakage, relative to before
    said: Said = Said()
    said_before: Said | None = None
    found: Found = "no evidence"
    why: str = ""


class ModelRow(Record):
    """What one model shows, on the day when it was first asked."""

    model: str
    at: str
    metric: str
    parts: tuple[Split, ...] = ()
    names_only: Accuracy | None = None  # closed book, from nothing but the names in the question
    memory: Figure | None = None  # the original answer in place of the new one, with the evidence at hand
    familiarity: bool = False  # whether it was asked which names it knows


class Baseline(Record):
    """The commonest answer, given to every question."""

    part: Part
    answer: str
    after: Figure
    before_answer: str = ""
    before: Figure | None = None


class Retrieval(Record):
    """How hard the evidence is to find, before and after, over all documents."""

    system: str
    metric: str
    after: Figure
    before: Figure | None = None
    difference: Figure | None = None  # after − before, with a 90 % interval
    margin: float = 0.05
    p: float | None = None
    equivalent: bool | None = None


class Structure(Record):
    """How far graphs differ from the original ones: mean relative deviation of each statistic."""

    of: Literal["question graphs", "evidence documents"]
    label: Literal["by construction", "re-extracted"]
    n: NonNegativeInt
    before: Mapping[str, float] = {}
    after: Mapping[str, float] = {}
    drift: Mapping[str, float] = {}


class Funnel(Record):
    """What became of the drafts of one recipe."""

    recipe: str
    counts: Mapping[str, int] = {}
    rejected: Mapping[str, Mapping[str, int]] = {}  # check → reason → drafts
    not_run: Mapping[str, str] = {}


class Stability(Record):
    """One figure over several draws."""

    system: str
    metric: str
    values: Mapping[str, float]  # draw → mean
    mean: float
    sd: float
    n: NonNegativeInt


class Told(Record):
    """A question as an example shows it."""

    question: str
    answer: str
    evidence: tuple[str, ...] = ()


class Example(Record):
    """One question in all its forms."""

    id: str
    reseeded: Told
    original: Told | None = None
    direct: Told | None = None


class Audit(Record):
    """The quality card of a benchmark."""

    format: int = 1
    ragstone: str
    benchmark: str  # fingerprint
    original: str = ""  # where the original comes from; empty: there is none
    at: str
    questions: NonNegativeInt
    baselines: tuple[Baseline, ...] = ()
    models: tuple[ModelRow, ...] = ()
    retrieval: tuple[Retrieval, ...] = ()
    structure: tuple[Structure, ...] = ()
    funnel: tuple[Funnel, ...] = ()
    stability: tuple[Stability, ...] = ()
    fixed_outcomes: NonNegativeInt | None = None  # closed questions that end alike in every draw; None: no draws
    examples: tuple[Example, ...] = ()
    missing: tuple[str, ...] = ()  # what could not be measured, why, and how to get it

    def __str__(self) -> str:
        from ragstone.audit.card import in_terminal

        return in_terminal(self)

    def _repr_markdown_(self) -> str:
        from ragstone.audit.card import markdown

        return markdown(self)


def figure(interval: Interval | None) -> Figure | None:
    return interval and Figure(**interval._asdict())
