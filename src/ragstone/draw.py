"""The draw driver: fills a benchmark's template with new names and values. Asks no model, unless told to verify."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ragstone import plugins
from ragstone.build import already_built, foresee_build, fulfilled, of_the_source, place_order
from ragstone.config import Settings, load_settings, open_models
from ragstone.errors import ConfigError, DataError
from ragstone.files import encode, sha256
from ragstone.journal import claim
from ragstone.kit import Check, Recipe
from ragstone.load import load
from ragstone.progress import Progress, silent
from ragstone.recipes.verify import Verify
from ragstone.slots import bind_all, template_words
from ragstone.store import problems, write_benchmark
from ragstone.types import Benchmark, Made, Step, Template
from ragstone.version import __version__

if TYPE_CHECKING:
    from ragstone.llm.forecast import Foreseen
    from ragstone.naming import Style

SHORTEST_SALT = 16
UNVERIFIED = "not verified: no check has run on these names"


@dataclass(frozen=True)
class Drawing:
    """What is to be drawn: equal drawings give equal files."""

    source: Benchmark
    template: Template
    step: Step
    salt: str


def draw(
    source: str | Path | Benchmark,
    *,
    draw: int,
    out: str | Path | None = None,
    salt: str = "",
    verify: bool = False,
    checks: Sequence[str | Check] | None = None,
    settings: Settings | None = None,
    retry_failed: bool = False,
    progress: Progress = silent,
) -> Benchmark:
    """The benchmark with the names of another draw, in seconds and without a model; with `out` it is written there.

    The same draw and salt give the same files. A `salt` is a secret without which nobody can make the draw. With
    `verify`, the checks that the benchmark was made with, or else `checks`, run with the models that are set.
    """
    drawing = planned(source, draw, salt)
    folder = Path(out) if out is not None else None
    if verify:
        return verified(filled(drawing), checks, folder, settings or load_settings(), retry_failed, progress)
    with claim(folder, drawing.step):
        found = already_built(folder, drawing.step)
        drawn = found or filled(drawing)
        if folder and not found:
            write_benchmark(drawn, folder)
    return drawn


def foresee_draw(
    source: str | Path | Benchmark,
    *,
    draw: int,
    salt: str = "",
    checks: Sequence[str | Check] | None = None,
    settings: Settings | None = None,
) -> "list[Foreseen]":
    """What `draw` would ask of models in order to verify. Nothing is asked or kept."""
    drawn = filled(planned(source, draw, salt))
    wanted = checks if checks is not None else checks_of(drawn)
    return foresee_build(Verify(), drawn, checks=wanted, draw=draw, settings=settings, lenient=checks is None)


def secret(file: Path | None) -> str:
    """The salt in a file, else in RAGSTONE_SALT, else none."""
    if file is None:
        return os.environ.get("RAGSTONE_SALT", "").strip()
    try:
        found = file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read a salt in {file}; name a text file that holds nothing else") from error
    if not found:
        raise ConfigError(f"{file} is empty; write a long random text into it")
    return found


def planned(source: str | Path | Benchmark, draw: int, salt: str) -> Drawing:
    if salt and len(salt) < SHORTEST_SALT:
        raise ConfigError(f"a salt of {len(salt)} characters can be guessed; take {SHORTEST_SALT} or more, at random")
    loaded = source if isinstance(source, Benchmark) else load(source)
    if not loaded.template:
        named = "this benchmark" if isinstance(source, Benchmark) else str(source)
        making = [name for name in plugins.RECIPES if plugins.find(Recipe, name).template is not Recipe.template]
        raise ConfigError(f"{named} has no template to draw from; build one with {' or '.join(making) or 'a recipe'}")
    return Drawing(loaded, loaded.template, step_of(loaded.template, draw, salt), salt)


def step_of(template: Template, draw: int, salt: str) -> Step:
    """How the manifest tells of the draw: made from the template, whichever draw that came with."""
    told = [encode(record) for record in (*template.documents, *template.questions)]
    told += [slot.model_dump_json(exclude={"value"}, exclude_defaults=True).encode() for slot in template.slots]
    made = {"component": "ragstone.draw:draw", "style": template.style, "salt": sha256(salt.encode()) if salt else ""}
    return Step(recipe="draw", made=Made(component=made), ragstone=__version__, input=sha256(b"".join(told)), draw=draw)


def filled(drawing: Drawing) -> Benchmark:
    """The template with new values. Of the source, which may be another draw, only its origin is taken over."""
    from ragstone.naming import coin

    template, step = drawing.template, drawing.step
    avoid = {word.casefold() for word in set(template_words(template))}
    style = cast("Style", template.style)
    try:
        coined = coin(template.slots, draw=step.draw, style=style, salt=drawing.salt, avoid=avoid)
        documents, questions = bind_all(template, coined)
    except KeyError as error:
        raise DataError(f"the template names {error}, which is no slot, form or document of it; mend it") from error
    counts = {"documents": len(documents), "questions": len(questions), "slots": len(template.slots)}
    slots = tuple(slot.model_copy(update={"value": coined[slot.id]}) for slot in template.slots)
    notes = (*notes_before(drawing.source), f"draw {step.draw}: {UNVERIFIED}")
    drawn = Benchmark(
        documents=documents,
        questions=questions,
        about=drawing.source.about.model_copy(update={"notes": notes}),
        steps=(*steps_before(drawing.source), step.model_copy(update={"counts": counts})),
        template=template.model_copy(update={"slots": slots}),
    )
    for problem in problems(drawn):
        raise DataError(f"draw {step.draw} makes a benchmark in which {problem}; mend the template")
    return drawn


def is_draw(benchmark: Benchmark) -> bool:
    """Whether nothing was done with the benchmark since it was drawn."""
    return bool(benchmark.steps) and benchmark.steps[-1].recipe == "draw"


def steps_before(benchmark: Benchmark) -> tuple[Step, ...]:
    """The steps that made the template: a draw added nothing to it."""
    return benchmark.steps[:-1] if is_draw(benchmark) else benchmark.steps


def notes_before(benchmark: Benchmark) -> tuple[str, ...]:
    """What was noted while the template was made."""
    of_the_draw = f"draw {benchmark.steps[-1].draw}: {UNVERIFIED}" if is_draw(benchmark) else ""
    return of_the_source([note for note in benchmark.about.notes if note != of_the_draw])


# ── verifying ────────────────────────────────────────────────────────────────────────────────────────────────────────


def verified(
    drawn: Benchmark,
    checks: Sequence[str | Check] | None,
    folder: Path | None,
    settings: Settings,
    retry_failed: bool,
    progress: Progress,
) -> Benchmark:
    """The draw with the questions that pass; the others are kept apart."""
    number, language = drawn.steps[-1].draw, drawn.about.language
    models = open_models(settings, number, language=language, purpose=folder, retry_failed=retry_failed)
    kit = models.kit_with_reader
    wanted = checks if checks is not None else checks_of(drawn)
    order = place_order(Verify(), drawn, wanted, kit, attempts=1, lenient=checks is None)
    if not order.checks:
        missing = "; ".join(f"{check}: {why}" for check, why in order.step.not_run.items()) or "none is named"
        raise ConfigError(f"no check can run ({missing}); set models by --model ROLE=SPEC or name checks by --check")
    told = partial(progress, spent=models.spent)
    return fulfilled(order, kit, folder, settings.concurrency, retry_failed, told, partial(as_verified, drawn))


def checks_of(drawn: Benchmark) -> list[Check]:
    """The checks that the template was made with, also those that had no model then."""
    making = steps_before(drawn)[-1:]
    checks = [remade(made) for step in making for made in step.checks.values()]
    checks += [plugins.create(Check, name) for step in making for name in step.not_run]
    if not checks:
        raise ConfigError("this benchmark was made without checks; name those that should run by --check")
    return checks


def remade(made: Made) -> Check:
    fields: dict[str, Any] = {name: value for name, value in made.component.items() if name != "component"}
    return plugins.create(Check, str(made.component["component"]), **fields)


def as_verified(drawn: Benchmark, built: Benchmark) -> Benchmark:
    """What the checks left, with its template, and a note that tells which they were."""
    step, kept = built.steps[-1], {question.id for question in built.questions}
    note = (
        f"draw {step.draw}: verified by {', '.join(step.checks)}; {len(kept)} of {len(drawn.questions)} questions kept"
    )
    note += f", {len(built.failures)} could not be checked" if built.failures else ""
    note += f"; not run: {', '.join(step.not_run)}" if step.not_run else ""
    template = drawn.template and drawn.template.model_copy(
        update={"questions": tuple(question for question in drawn.template.questions if question.id in kept)}
    )
    about = built.about.model_copy(update={"notes": (*notes_before(drawn), note)})
    return built.model_copy(update={"about": about, "template": template})
