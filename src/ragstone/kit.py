"""What plug-ins are (`Component`) and what they may use (`Kit`)."""

import hashlib
import random
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ragstone.prompts import Prompt, prompt
from ragstone.types import (
    Answer,
    Benchmark,
    Call,
    Document,
    Draft,
    Made,
    Query,
    Question,
    Rejection,
    Reply,
    Score,
    Template,
    Verdict,
)

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray


T = TypeVar("T", bound=BaseModel)


def identity(default: Any, says: str, **limits: Any) -> Any:
    """A component's field that changes results, so it is part of the component's identity."""
    return Field(default, description=says, json_schema_extra={"role": "identity"}, **limits)


def runtime(default: Any, says: str, **limits: Any) -> Any:
    """A component's field that only changes how results are reached: speed, places, patience."""
    return Field(default, description=says, json_schema_extra={"role": "runtime"}, **limits)


class Component(BaseModel):
    """A value: its fields are its whole configuration.

    `repr(Recall(k=5))` is `recall@5` and `repr(Bm25(k1=0.9))` is `bm25(k1=0.9)`: the name and what differs from the
    defaults, for tables and flags. In files it is known by `Kit.made_by`: class, identity fields, models, prompts.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: ClassVar[str] = "component"
    at: ClassVar[str] = ""  # the field that `name@value` sets
    needs: ClassVar[tuple[str, ...]] = ()  # model roles without which it cannot work
    uses: ClassVar[tuple[str, ...]] = ()  # model roles that it uses where they are set
    prompts: ClassVar[tuple[str, ...]] = ()  # the `.md` files beside its module that it fills in

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()

    def settings(self) -> dict[str, object]:
        """Every identity field with its value."""
        fields = type(self).model_fields
        return {name: value for name, value in self.model_dump(mode="json").items() if role(fields[name]) != "runtime"}

    def described(self) -> dict[str, object]:
        """All that is needed to make the component again, whoever wrote it."""
        return {**self.settings(), "component": f"{type(self).__module__}:{type(self).__qualname__}"}

    def prompt(self, name: str) -> Prompt:
        """One of the prompts that it names in `prompts`."""
        return prompt(Path(str(sys.modules[type(self).__module__].__file__)).parent, name)

    def __repr__(self) -> str:
        fields = type(self).model_fields
        changed = {
            name: value
            for name, value in self.settings().items()
            if name != self.at and getattr(self, name) != fields[name].default
        }
        at = f"@{getattr(self, self.at)}" if self.at else ""
        inner = ", ".join(f"{name}={value}" for name, value in changed.items())
        return f"{self.name}{at}" + (f"({inner})" if inner else "")

    __str__ = __repr__


def role(info: Any) -> str:
    """`identity` or `runtime`, as the field was declared; empty if it was not."""
    extra = info.json_schema_extra
    return str(extra.get("role", "")) if isinstance(extra, dict) else ""


# ── the plug-ins ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Source(Component):
    """Reads one format of benchmark or corpus."""

    def recognises(self, path: Path) -> bool:
        """Whether `path` looks like this format; reads no more than it must."""
        raise NotImplementedError

    def load(self, path: Path, bad: "BadRecords") -> Benchmark:
        """The benchmark at `path`; records that cannot be used go to `bad`."""
        raise NotImplementedError


class Recipe(Component):
    """Maps a benchmark to a benchmark."""

    checks: ClassVar[tuple[str, ...]] = ()  # checks that run unless told otherwise
    attempts: ClassVar[int] = 3  # how often a question is made, unless told otherwise

    def plan(self, benchmark: Benchmark, kit: "Kit") -> Mapping[str, Any]:
        """Decides what to make, as jobs by id. Calls no model."""
        raise NotImplementedError

    def make(self, job: Any, kit: "Kit", rejections: Sequence[Rejection]) -> Iterable[Draft]:
        """Carries out one job; called again with what was rejected, up to the allowed attempts."""
        raise NotImplementedError

    def first(self, kit: "Kit") -> "Sequence[Recipe]":
        """The recipes whose output it takes instead of the source, given the models that are set."""
        return ()

    def replan(
        self, jobs: Mapping[str, Any], rejected: Mapping[str, Sequence[Rejection]], kit: "Kit"
    ) -> Mapping[str, Any]:
        """The jobs to carry out again, changed, because of what was rejected; for recipes whose jobs share something.

        `rejected` holds the jobs of which no draft was kept, with all their rejections.
        """
        return {}

    def template(self, jobs: Mapping[str, Any], kept: Sequence[Question], kit: "Kit") -> Template | None:
        """What the kept questions can be drawn from again, if anything."""
        return None

    def corpus(
        self, benchmark: Benchmark, jobs: Mapping[str, Any], kept: Sequence[Question], kit: "Kit"
    ) -> Iterable[Document]:
        """The documents of the output, by default all of the input; the drafts' own documents are added to them."""
        return benchmark.documents


class Check(Component):
    """Passes or rejects a draft."""

    across: ClassVar[bool] = False  # compares with the questions kept before it (`kit.kept`), in the order of the plan

    def check(self, draft: Draft, kit: "Kit") -> Verdict:
        raise NotImplementedError


Answerer = Callable[[Query], Answer]
"""Takes a query and nothing else: a system cannot see what it is scored on."""


class System(Component):
    """Answers queries over documents."""

    sees: ClassVar[Literal["scope", "evidence", "nothing"]] = "scope"  # which documents the driver puts in the query

    def open(self, documents: Sequence[Document], kit: "Kit") -> Answerer:
        """Makes ready to answer, for instance by indexing."""
        raise NotImplementedError


class Metric(Component):
    """Scores one answer."""

    reads: ClassVar[Literal["text", "retrieved"]] = "text"  # the part of an answer without which it cannot score

    def applies(self, question: Question) -> bool:
        """Whether the question can be scored at all; where not, even a failed answer is none of its failures."""
        return True

    def score(self, question: Question, answer: Answer, kit: "Kit") -> Score | None:
        """The score, or None where the metric does not apply."""
        raise NotImplementedError


# ── what they may use ────────────────────────────────────────────────────────────────────────────────────────────────


class BadRecords(Protocol):
    """Where a source reports a record that it cannot use: raises, or counts when told to skip."""

    def __call__(self, where: str, problem: str) -> None: ...


class Model(Protocol):
    """A language model, behind the reply cache and the budget."""

    @property
    def name(self) -> str:
        """What replied: part of the identity of everything made with it."""
        ...

    def ask(self, call: Call) -> Reply: ...

    def ask_for(
        self, kind: type[T], prompt: str, *, sample: int = 0, temperature: float = 0.0, max_tokens: int = 1024
    ) -> T:
        """The reply as a value of this type, else a `ModelError`; never a default."""
        ...


NONE_IS_A_WORD = BeforeValidator(lambda value: "none" if value is None else value)
"""In `name(field=none)` none stands for None; for a field of this kind it is one of the words that it takes."""

Refusal = Literal["none", "allowed", "required"]
"""Whether a reader is told nothing about declining, that it may, or that it must where the documents do not say."""


class Reader(Protocol):
    """Answers from passages; the last step of most systems."""

    @property
    def name(self) -> str:
        """What answered: part of the identity of every run."""
        ...

    @property
    def prompts(self) -> Mapping[str, str]:
        """The prompts that it uses, as name → sha256."""
        ...

    def read(self, query: Query, passages: Sequence[str], refusal: Refusal = "none") -> Answer: ...


class Embedder(Protocol):
    """Turns texts into unit vectors, one row each."""

    @property
    def name(self) -> str:
        """What made the vectors: part of the identity of every index and run."""
        ...

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that it knows; empty: any."""
        ...

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> "NDArray[float32]": ...


ROLES = ("reader", "generator", "probe", "judge", "embedder")
"""`reader` answers, `generator` writes questions and texts, `probe` tries to answer what it should not or should be
able to, `judge` gives verdicts, `embedder` makes vectors."""


@dataclass(frozen=True)
class Kit:
    """All that a plug-in may use besides its own fields."""

    draw: int = 0
    language: str = ""  # of the benchmark, where it is known
    cache: Path | None = None  # where indexes are kept; None: nowhere
    reader: Reader | None = None
    generator: Model | None = None
    probe: Model | None = None
    judge: Model | None = None
    embedder: Embedder | None = None
    documents: Mapping[str, Document] = field(default_factory=dict)  # what checks may look up
    kept: Sequence[Question] = ()  # for checks that compare with earlier questions

    def has(self, role: str) -> bool:
        """Whether a model is set for the role."""
        return role in ROLES and getattr(self, role) is not None

    def limited_to(self, component: Component) -> "Kit":
        """The kit with just the models that the component says it uses: what it does not name, it does not get."""
        roles = (*component.needs, *component.uses)
        given: dict[str, Any] = {role: getattr(self, role) if role in roles else None for role in ROLES}
        return replace(self, **given)

    def made_by(self, component: Component) -> Made:
        """The component with the models and prompts that it would use now."""
        models = [(role, getattr(self, role)) for role in (*component.needs, *component.uses) if self.has(role)]
        prompts = {name: sha256 for _, model in models for name, sha256 in getattr(model, "prompts", {}).items()}
        if models:
            prompts |= {name: component.prompt(name).sha256 for name in component.prompts}
        return Made(
            component=component.described(), models={role: model.name for role, model in models}, prompts=prompts
        )

    def rng(self, *key: str) -> random.Random:
        """Randomness by key, never by order: the same key gives the same numbers whatever else happens."""
        digest = hashlib.sha256("\x1f".join((str(self.draw), *key)).encode()).digest()
        return random.Random(digest)
