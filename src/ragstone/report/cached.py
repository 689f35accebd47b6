"""The reply cache for people: what it holds, what to throw away, where to put it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from ragstone.errors import ConfigError
from ragstone.llm.cache import FILE, ReplyCache
from ragstone.llm.moving import move
from ragstone.report.table import Table

Told = tuple[dict[str, Any], str]
"""A record for machines and a text for people."""


def cache_action(
    folder: Path | None,
    action: Literal["show", "prune", "move"],
    place: Path | None = None,
    older_than_days: int | None = None,
    model: str | None = None,
) -> Told:
    if folder is None:
        raise ConfigError("the cache is off; set RAGSTONE_CACHE to a folder")
    if action == "move" and place is None:
        raise ConfigError("move needs a place; write ragstone cache move FOLDER")
    if action == "prune" and older_than_days is None and model is None:
        raise ConfigError("prune needs to know what; give --older-than DAYS, --model NAME or both")
    if action == "move" and place:
        moved = move(folder, place)
        told = f"{moved} replies are new in {place}; set RAGSTONE_CACHE={place} to use them"
        return {"moved": moved, "to": str(place)}, told
    if not (folder / FILE).exists():
        return {"replies": 0, "folder": str(folder)}, f"{folder} holds no replies yet"
    cache = ReplyCache(folder)
    if action == "prune":
        gone = cache.prune(None if older_than_days is None else older_than_days * 86400.0, model)
        return {"pruned": gone}, f"{gone} replies removed from {cache.path}"
    return shown(cache)


def shown(cache: ReplyCache) -> Told:
    found = cache.summary()
    lines = [
        (
            one.model,
            f"{one.entries:,}",
            f"{one.tokens:,}",
            "–" if one.cost is None else f"${one.cost:,.4f}",
            day(one.oldest),
            day(one.newest),
        )
        for one in found.models
    ]
    table = Table(("model", "replies", "tokens", "cost", "from", "to"), tuple(lines))
    head = f"{cache.path}: {found.entries:,} replies, {found.bytes / 1e6:,.1f} MB"
    return {"path": str(cache.path), **found.model_dump(mode="json")}, f"{head}\n{table}"


def day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
