"""The runs that an audit rests on: ordinary ones, kept so that a second audit asks nothing again."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ragstone.build import fulfilled, place_order
from ragstone.config import Models, Settings, open_models
from ragstone.evaluate import evaluate
from ragstone.files import sha256
from ragstone.kit import System
from ragstone.plugins import create
from ragstone.progress import Progress, Tick, nothing, silent
from ragstone.recipes.verify import Verify
from ragstone.run import Corpus
from ragstone.run_folder import Run
from ragstone.store import fingerprint
from ragstone.types import Benchmark


@dataclass(frozen=True)
class Runs:
    """Runs systems on benchmarks, each in a folder of its own; all of them share their models, budget and batch."""

    settings: Settings
    language: str = ""
    place: Path | None = None  # None: nothing is kept
    retry_failed: bool = False
    progress: Progress = silent

    @cached_property
    def models(self) -> Models:
        return open_models(self.settings, language=self.language, purpose=self.place, retry_failed=self.retry_failed)

    @cached_property
    def readers(self) -> dict[str, str]:
        """The models that answer: name → spec."""
        named = self.settings.models.get("reader") or ()
        specs = dict.fromkeys([named] if isinstance(named, str) else named)
        return dict(zip((reader.name for reader in self.models.readers), specs, strict=True))

    def answers(self, what: str, benchmark: Benchmark, systems: Sequence[str], metrics: Sequence[str]) -> Run:
        """What the readers answer."""
        return self._run(what, benchmark, systems, metrics, "scoped", self.models)

    def rankings(self, what: str, benchmark: Benchmark, systems: Sequence[str], metrics: Sequence[str]) -> Run:
        """What systems retrieve from all documents; no reader is asked."""
        return self._run(what, benchmark, systems, metrics, "pooled", self.models._replace(readers=()))

    def _run(
        self,
        what: str,
        benchmark: Benchmark,
        systems: Sequence[str],
        metrics: Sequence[str],
        corpus: Corpus,
        models: Models,
    ) -> Run:
        return evaluate(
            benchmark,
            systems,
            metrics,
            out=self._folder(what, benchmark),
            corpus=corpus,
            settings=self.settings,
            models=models,
            retry_failed=self.retry_failed,
            progress=named(what, self.progress),
        )

    def familiar(self, benchmark: Benchmark, reader: str) -> set[str]:
        """The questions in which this model knows a name, by the check `familiarity`."""
        spec = self.readers[reader]
        kit = replace(self.models.kit, probe=self.models.opener.model(spec))
        folder = self._folder(f"familiar-{sha256(spec.encode())[:6]}", benchmark)
        order = place_order(Verify(), benchmark, ["familiarity"], kit, attempts=1, lenient=False)
        found = fulfilled(
            order, kit, folder, self.settings.concurrency, self.retry_failed, named("familiar", self.progress)
        )
        return {entry.question_id for entry in found.rejected}

    def _folder(self, what: str, benchmark: Benchmark) -> Path | None:
        return self.place / f"{what}-{fingerprint(benchmark)[:12]}" if self.place else None


def named(what: str, progress: Progress) -> Progress:
    """Progress that tells which run it is of."""

    def told(stage: str, total: int, spent: Callable[[], str] = nothing) -> AbstractContextManager[Tick]:
        return progress(f"{what}: {stage}", total, spent)

    return told


def column(run: Run, system: str, reader: str = "") -> str:
    """The name under which a run has a system with this reader."""
    wanted = create(System, system).described()
    return next(
        (
            name
            for name, made in run.manifest.systems.items()
            if made.component == wanted and made.models.get("reader", "") == reader
        ),
        "",
    )


def scores(run: Run, of: str, by: str) -> dict[str, float]:
    """The scores of a system by a metric, question by question."""
    return {entry.question_id: entry.value.value for entry in run.scores if entry.of == of and entry.by == by}


def failed(run: Run, of: str) -> set[str]:
    """The questions on which a system, or a metric after it, failed."""
    return {failure.question_id for failure in run.failures if of in (failure.of, failure.by)}
