"""Finds a component by its name in one literal table for each folder. To add one: write the class, add its line.

A spec is `name`, `name@k`, `name(field=value, …)`, or `module:Class` for a component of the user's own.
"""

import importlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from ragstone.errors import ConfigError
from ragstone.kit import Check, Component, Kit, Metric, Recipe, Source, System
from ragstone.types import Made

SOURCES = {
    "benchmark_folder": "ragstone.sources.benchmark:BenchmarkFolder",
    "hotpotqa": "ragstone.sources.hotpotqa:Hotpotqa",
    "two_wiki": "ragstone.sources.two_wiki:TwoWiki",
    "musique": "ragstone.sources.musique:Musique",
    "qasc": "ragstone.sources.qasc:Qasc",
    "multihop_rag": "ragstone.sources.multihop_rag:MultihopRag",
    "hawkbench": "ragstone.sources.hawkbench:Hawkbench",
    "beir": "ragstone.sources.beir:Beir",
    "facts": "ragstone.sources.facts:Facts",
    "folder": "ragstone.sources.folder:Folder",
}
"""In the order in which formats are tried: the strict ones first."""

RECIPES = {
    "sample": "ragstone.recipes.sample:Sample",
    "reseed": "ragstone.recipes.reseed.recipe:Reseed",
    "annotate": "ragstone.recipes.annotate:Annotate",
    "regenerate": "ragstone.recipes.regenerate:Regenerate",
    "direct": "ragstone.recipes.direct:Direct",
    "verify": "ragstone.recipes.verify:Verify",
    "rewire": "ragstone.recipes.rewire:Rewire",
}

CHECKS = {
    "duplicates": "ragstone.checks.duplicates:Duplicates",
    "grounding": "ragstone.checks.grounding:Grounding",
    "leakage": "ragstone.checks.leakage:Leakage",
    "answerable": "ragstone.checks.answerable:Answerable",
    "residual": "ragstone.checks.residual:Residual",
    "answer_found": "ragstone.checks.answer_found:AnswerFound",
    "structure": "ragstone.checks.structure:Structure",
    "collisions": "ragstone.checks.collisions:Collisions",
    "name_dependent": "ragstone.checks.name_dependent:NameDependent",
    "familiarity": "ragstone.checks.familiarity:Familiarity",
}

SYSTEMS = {
    "closed_book": "ragstone.systems.closed_book:ClosedBook",
    "oracle": "ragstone.systems.oracle:Oracle",
    "long_context": "ragstone.systems.long_context:LongContext",
    "bm25": "ragstone.systems.retrieve_read:Bm25",
    "dense": "ragstone.systems.retrieve_read:Dense",
    "hybrid": "ragstone.systems.retrieve_read:Hybrid",
}

METRICS = {
    "exact_match": "ragstone.metrics.answer:ExactMatch",
    "f1": "ragstone.metrics.answer:F1",
    "covered": "ragstone.metrics.answer:Covered",
    "rouge_l": "ragstone.metrics.answer:RougeL",
    "judged": "ragstone.metrics.judge:Judged",
    "memory": "ragstone.metrics.memory:Memory",
    "recall": "ragstone.metrics.retrieval:Recall",
    "all_recall": "ragstone.metrics.retrieval:AllRecall",
    "precision": "ragstone.metrics.retrieval:Precision",
    "mrr": "ragstone.metrics.retrieval:Mrr",
    "ndcg": "ragstone.metrics.retrieval:Ndcg",
    "map": "ragstone.metrics.retrieval:Map",
}

TABLES: Mapping[type[Component], Mapping[str, str]] = {
    Source: SOURCES,
    Recipe: RECIPES,
    Check: CHECKS,
    System: SYSTEMS,
    Metric: METRICS,
}

C = TypeVar("C", bound=Component)

SPEC = re.compile(r"(?P<name>[\w.]+(?::\w+)?)(?:@(?P<at>\w+))?(?:\((?P<fields>.*)\))?")


def create(kind: type[C], spec: str, /, **fields: Any) -> C:
    """The component that `spec` names; `fields` override those in the spec."""
    match = SPEC.fullmatch(spec.strip())
    if not match:
        raise ConfigError(f"cannot read {spec!r}; write name, name@k, name(field=value) or module:Class")
    found = find(kind, match["name"])
    values = dict(pair(part, spec) for part in split(match["fields"] or ""))
    if match["at"]:
        if not found.at:
            raise ConfigError(f"{match['name']} takes no '@{match['at']}'; write {match['name']}")
        values[found.at] = match["at"]
    return make(found, {**values, **fields})


def find(kind: type[C], name: str) -> type[C]:
    """The class behind a name, imported only now."""
    table = TABLES[kind]
    what = kind.__name__.lower()
    if ":" not in name and name not in table:
        raise ConfigError(f"no {what} named {name!r}; there are {', '.join(table)} (or module:Class of your own)")
    module, _, attribute = table.get(name, name).partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, SyntaxError, TypeError, ValueError) as error:
        raise ConfigError(f"cannot import {what} {name!r}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, kind)):
        raise ConfigError(f"{name!r} is not a {what}: it must be a subclass of ragstone.{kind.__name__}")
    return found


def make(found: type[C], values: Mapping[str, Any]) -> C:
    """The component with these fields; a wrong field is an error that lists the right ones."""
    try:
        return found(**values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        known = ", ".join(found.model_fields) or "none"
        raise ConfigError(f"{found.name}.{where}: {first['msg'].lower()}; its fields are {known}") from error


def check_components(components: Sequence[Component], kit: Kit) -> None:
    """Each has the models that it needs and a name of its own."""
    made: dict[str, Made] = {}
    for component in components:
        for role in component.needs:
            if not kit.has(role):
                raise ConfigError(f"{component!r} needs a model as {role}; set one with --model {role}=SPEC")
        check_same(made, {repr(component): kit.made_by(component)}, "results")
        made[repr(component)] = kit.made_by(component)


def check_same(known: Mapping[str, Made], made: Mapping[str, Made], what: str) -> None:
    """Refuses to take one thing for another because it has the same name."""
    for name, mine in made.items():
        if name in known and known[name] != mine:
            theirs = [part for part, value in known[name] if value != getattr(mine, part)]
            raise ConfigError(f"there are {what} of another {name} (other {', '.join(theirs)}); choose another --out")


def configure(wanted: Mapping[type[Any], Sequence[str]], sets: Sequence[str]) -> list[list[Any]]:
    """The components that the specs name, kind by kind, with `--set` values applied.

    `KEY=VALUE` is for components of the first kind that have such a field, `NAME.KEY=VALUE` for those of that name.
    """
    main, unused = next(iter(wanted)), dict.fromkeys(sets)
    made: list[list[Any]] = []
    for kind, specs in wanted.items():
        made.append([])
        for spec in specs:
            name = name_in(spec)
            fits = {text: field for text in sets if (field := field_for(text, name, find(kind, name), kind is main))}
            made[-1].append(create(kind, spec, **dict(fits.values())))
            unused = {text: None for text in unused if text not in fits}
    if unused:
        names = ", ".join(spec for specs in wanted.values() for spec in specs)
        raise ConfigError(
            f"--set {next(iter(unused))} fits none of {names}; write NAME.KEY=VALUE with one of their fields"
        )
    return made


def name_in(spec: str) -> str:
    return re.split(r"[@(]", spec)[0].strip()


def field_for(text: str, name: str, found: type[Component], is_main: bool) -> tuple[str, Any] | None:
    """The field and value that a `--set` gives to this component, if it is meant."""
    key, value = pair(text, "--set")
    target, _, field = key.rpartition(".")
    meant = target in (name, found.name) if target else is_main and field in found.model_fields
    return (field, value) if meant else None


def split(fields: str) -> Sequence[str]:
    return [part.strip() for part in fields.split(",") if part.strip()]


def pair(text: str, where: str) -> tuple[str, Any]:
    """`key=value` as a key and a value; `none` is None, the rest is left for the field's own type to read."""
    key, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"cannot read {text!r} in {where!r}; write field=value")
    return key.strip(), None if value.strip().lower() == "none" else value.strip()
