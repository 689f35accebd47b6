"""Every noun that Ragstone reads or writes. Records hold data and no logic."""

from collections.abc import Mapping
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, NonNegativeFloat, NonNegativeInt, PositiveInt

T = TypeVar("T")


class Record(BaseModel):
    """A value that never changes and has no field that is not listed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Labels = Mapping[str, str | int]
"""What reports slice by: `level`, `hops`, `domain`, `answer_kind`, …"""


# ── what a benchmark is made of ──────────────────────────────────────────────────────────────────────────────────────


class Document(Record):
    """A text that systems may retrieve from."""

    id: str
    title: str = ""
    text: str
    labels: Labels = {}


class Evidence(Record):
    """A place in a document; without a quote, the whole document. Offsets count characters of its text."""

    document_id: str
    quote: str = ""
    start: NonNegativeInt | None = None
    end: NonNegativeInt | None = None


class Entity(Record):
    """A thing that facts are about."""

    id: str
    name: str
    type: str = ""
    forms: tuple[str, ...] = ()  # the other ways in which a text writes it
    gender: Literal["m", "f", ""] = ""


class Fact(Record):
    """One edge of a reasoning graph; subject and object are entity ids or literal values."""

    subject: str
    relation: str
    object: str
    evidence: tuple[Evidence, ...] = ()


class ReasoningGraph(Record):
    """How the answer follows from facts."""

    entities: tuple[Entity, ...] = ()
    facts: tuple[Fact, ...] = ()
    operation: str = ""


class Question(Record):
    """A question with all that scoring needs. Systems see only its `Query`."""

    id: str
    text: str
    answers: tuple[tuple[str, ...], ...] = ()  # all of (any of)
    choices: tuple[str, ...] = ()
    answerable: bool = True  # if not, `answers` holds what is withheld
    evidence: tuple[tuple[Evidence, ...], ...] = ()  # all of (any of)
    graph: ReasoningGraph | None = None
    labels: Labels = {}
    parent: str = ""  # the question that this one was made from
    scope: tuple[str, ...] = ()  # the only documents it may search; empty: all
    hidden: tuple[str, ...] = ()  # documents it may not see
    remembered: tuple[tuple[str, ...], ...] = ()  # the answers before names were changed: what memory would say


# ── how a benchmark is made ──────────────────────────────────────────────────────────────────────────────────────────


class Slot(Record):
    """A place in a template that every draw fills anew.

    Its value is coined by its kind; or follows from other slots (`template`); or is one of `choices`, which are
    templates too. In one draw, slots of one group pick the same choice, and years of one group move together.
    """

    id: str  # letters, then digits
    kind: str  # what may stand there: given, surname, place, word, year, …
    original: str = ""  # what stood there
    value: str = ""  # what stands there in this draw
    template: str = ""
    choices: tuple[str, ...] = ()
    group: str = ""
    traits: Mapping[str, str] = {}  # what the value must agree with: gender, culture, …
    tried: NonNegativeInt = 0  # names that a check turned down before this one


class Template(Record):
    """Documents and questions with slots, from which a benchmark can be drawn again."""

    documents: tuple[Document, ...] = ()
    questions: tuple[Question, ...] = ()
    slots: tuple[Slot, ...] = ()
    style: str = "invented"  # of the names


class Draft(Record):
    """A proposed question with the documents it brings along."""

    question: Question
    documents: tuple[Document, ...] = ()


class Verdict(Record):
    """What a check says of a draft."""

    passed: bool
    reason: str = ""


class Rejection(Record):
    """A draft that a check turned down: kept, never dropped."""

    check: str
    reason: str
    draft: Draft


class Review(Record):
    """What a person decided about a question."""

    reviewer: str
    decision: Literal["accept", "edit", "discard"]
    note: str = ""
    edited: Question | None = None
    seconds: NonNegativeFloat = 0.0
    at: str = ""


# ── what happens when a system runs ──────────────────────────────────────────────────────────────────────────────────


class Query(Record):
    """All that a system sees of a question."""

    id: str
    text: str
    choices: tuple[str, ...] = ()
    scope: tuple[str, ...] | None = None  # the documents it may use; None: all of them, (): none
    repeat: NonNegativeInt = 0  # which time it is asked


class Passage(Record):
    """A piece of a document that a system retrieved; without offsets, the whole document."""

    document_id: str
    start: NonNegativeInt | None = None
    end: NonNegativeInt | None = None
    score: FiniteFloat | None = None


class Usage(Record):
    """What an answer took. Tokens of the context are counted by the rule named in the run."""

    calls: NonNegativeInt = 0
    input_tokens: NonNegativeInt = 0
    output_tokens: NonNegativeInt = 0
    context_tokens: NonNegativeInt = 0
    truncated_tokens: NonNegativeInt = 0  # context that did not fit the budget
    cost: NonNegativeFloat | None = 0.0  # in US dollars, at list prices; None: a price is not known


class Answer(Record):
    """What a system said. An error is a `Failure`, never an answer."""

    text: str | None = None  # None: the system only retrieved
    raw: str = ""
    declined: bool = False  # refused or asked back
    confidence: FiniteFloat | None = None
    support: tuple[str, ...] | None = None  # documents the system says it used
    retrieved: tuple[Passage, ...] | None = None  # None: not told, (): nothing
    usage: Usage = Usage()


class Score(Record):
    """How good an answer is, from 0 to 1. Not-a-number cannot be written."""

    value: float = Field(ge=0, le=1, allow_inf_nan=False)
    reason: str = ""


class Failure(Record):
    """An item that could not be worked on, and why. Counted apart, never as wrong."""

    item_id: str
    stage: str
    error: str
    so_far: Answer | None = None  # what was done before: what was retrieved can be scored although the reader failed


class Timing(Record):
    """How long an answer took. Kept apart from answers, which must not depend on it."""

    seconds: NonNegativeFloat


AskedKey = tuple[str, int]
"""The id of a question, and which time it was asked."""


class Entry(Record, Generic[T]):
    """The one envelope: who said what about which question."""

    question_id: str
    by: str
    of: str = ""  # for a score: the system whose answer it values
    repeat: NonNegativeInt = 0  # which time the question was asked
    value: T


# ── what is asked of a model ─────────────────────────────────────────────────────────────────────────────────────────


class Message(Record):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class Call(Record):
    """All that a reply depends on besides the model."""

    messages: tuple[Message, ...]
    temperature: FiniteFloat | None = 0.0  # None: the model's own
    max_tokens: PositiveInt = 1024
    reply_schema: Mapping[str, Any] | None = None  # the JSON schema that the reply must follow
    logprobs: bool = False
    sample: NonNegativeInt = 0  # the same question asked again is another call


class Reply(Record):
    """What a model said. A call without a usable reply is a `ModelError`."""

    text: str  # without the thought
    thought: str = ""
    cut: bool = False  # the limit of tokens ended it
    input_tokens: NonNegativeInt = 0
    output_tokens: NonNegativeInt = 0  # the thought counts
    logprobs: tuple[FiniteFloat, ...] | None = None  # of the tokens of the text; None: not told
    tries: PositiveInt = 1  # requests that it took


# ── what lies on disk ────────────────────────────────────────────────────────────────────────────────────────────────


class About(Record):
    """Where a benchmark comes from and what may be done with it."""

    name: str = ""
    language: str = ""
    sources: tuple[str, ...] = ()
    licences: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what loading or building did to the data, with counts


class Made(Record):
    """What made something: a component with every identity field, and the models and prompts that it used."""

    component: Mapping[str, object]
    models: Mapping[str, str] = {}  # role → name
    prompts: Mapping[str, str] = {}  # name → sha256


class Step(Record):
    """One recipe of the chain that made a benchmark."""

    recipe: str
    made: Made
    ragstone: str
    input: str  # fingerprint of the benchmark it was made from
    draw: int = 0
    attempts: int = 1
    checks: Mapping[str, Made] = {}
    not_run: Mapping[str, str] = {}  # checks left out, and why
    counts: Mapping[str, int] = {}  # planned = jobs with a question + exhausted + failed; drafted = kept + rejected


class Manifest(Record):
    """What a benchmark folder holds. Written last, so its existence means that the folder is complete."""

    format: int = 1
    ragstone: str
    canary: str
    about: About = About()
    steps: tuple[Step, ...] = ()
    template: Mapping[str, str] = {}  # how it is drawn again; not in the file of a benchmark that cannot be
    counts: Mapping[str, int] = {}
    sha256: Mapping[str, str] = {}


class Benchmark(Record):
    """Documents and the questions about them. A corpus is a benchmark without questions."""

    documents: tuple[Document, ...] = ()
    questions: tuple[Question, ...] = ()
    about: About = About()
    steps: tuple[Step, ...] = ()
    rejected: tuple[Entry[Rejection], ...] = ()
    failures: tuple[Failure, ...] = ()
    template: Template | None = None  # where it can be drawn again


class RunManifest(Record):
    """What a run folder holds: enough to say whether the same command would give the same files."""

    format: int = 1
    ragstone: str
    benchmark: str  # fingerprint of its documents and questions
    source: str = ""  # where it was read from
    about: About = About()
    corpus: Literal["scoped", "pooled"] = "scoped"
    draw: int = 0
    limit: int | None = None
    repeats: PositiveInt = 1  # how often each question was asked
    timed: bool = False  # one call at a time and no cache: only then are seconds worth publishing
    hardware: str = ""  # what a timed run ran on
    questions: int
    token_rule: str
    systems: Mapping[str, Made] = {}
    metrics: Mapping[str, Made] = {}
    sha256: Mapping[str, str] = {}
