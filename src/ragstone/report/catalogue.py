"""What there is: every component with what it does and its fields, read off the classes themselves."""

from collections.abc import Mapping
from typing import Any

from ragstone.errors import ConfigError
from ragstone.kit import Component, role
from ragstone.plugins import TABLES, find

KINDS = {f"{kind.__name__.lower()}s": kind for kind in TABLES}


def catalogue(kind: str = "") -> dict[str, dict[str, Any]]:
    """Kind → name → what it says and its fields."""
    if kind and kind not in (*KINDS, "models"):
        raise ConfigError(f"nothing is listed under {kind!r}; there are {', '.join(KINDS)}, models")
    chosen = {plural: found for plural, found in KINDS.items() if kind in ("", plural)}
    listed = {
        plural: {name: described(find(found, name)) for name in TABLES[found]} for plural, found in chosen.items()
    }
    return listed if kind not in ("", "models") else {**listed, "models": models()}


def models() -> dict[str, Any]:
    """How the specs of models are written."""
    from ragstone.llm.opening import KINDS as SPECS

    return {spec: {"says": says, "fields": {}} for spec, says in SPECS.items()}


def described(component: type[Component]) -> dict[str, Any]:
    says = (component.__doc__ or "").strip().splitlines()[0]
    fields = {
        name: {"default": info.default, "role": role(info), "says": info.description}
        for name, info in component.model_fields.items()
    }
    return {"says": says, "fields": fields}


def catalogue_text(found: Mapping[str, Mapping[str, Any]]) -> str:
    lines = []
    for plural, components in found.items():
        lines += [plural.upper()]
        for name, about in components.items():
            lines += [f"  {name:<16} {about['says']}"]
            lines += [
                f"      {key}={shown(value['default'])}  {value['says']}" for key, value in about["fields"].items()
            ]
        lines += [""]
    return "\n".join(lines).rstrip()


def shown(default: Any) -> str:
    """A default as one would type it."""
    return "none" if default is None else str(default)
