"""Brings the reply cache to another place, where there may be one already."""

import sqlite3
from contextlib import closing
from pathlib import Path

from ragstone.errors import ConfigError
from ragstone.files import about_the_disk
from ragstone.llm.cache import BUSY_SECONDS, FILE, ReplyCache, about_the_cache, opened

MISSING = "SELECT COUNT(*) FROM source.replies WHERE key NOT IN (SELECT key FROM main.replies)"


def move(source: Path, target: Path) -> int:
    """Brings every reply of one folder to another, which may have some already, and returns how many were new there.

    The source goes only when all its replies are safe at the target, so a move that was killed can be done again.
    """
    old, new = source / FILE, target / FILE
    if not old.exists():
        raise ConfigError(f"there is no reply cache in {source}; check the folder")
    if new.exists() and old.samefile(new):
        raise ConfigError(f"the reply cache is in {target} already; choose another folder")
    for folder in (source, target):
        ReplyCache(folder).close()  # is it readable, and of our format?
    with closing(opened(new)) as database:
        with about_the_cache(old):
            taken_over(database, old)
        with about_the_cache(new):
            added = copied(database)
        with about_the_disk(old, "its replies are all in the new place: remove it yourself"):
            old.unlink()
    return added


def taken_over(database: sqlite3.Connection, old: Path) -> None:
    """Attaches the cache that is moved, and keeps everyone else out of it: their replies would be lost."""
    database.execute("ATTACH ? AS source", (str(old),))
    database.execute("PRAGMA source.locking_mode = EXCLUSIVE")
    database.execute("PRAGMA busy_timeout = 1000")
    database.execute("PRAGMA source.journal_mode = DELETE").fetchall()  # refused while another process has it open
    database.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000:.0f}")


def copied(database: sqlite3.Connection) -> int:
    """Copies in one transaction, which is on the disk when this returns."""
    database.execute("PRAGMA main.synchronous = FULL")
    database.execute("BEGIN EXCLUSIVE")
    added = database.execute("INSERT OR IGNORE INTO main.replies SELECT * FROM source.replies").rowcount
    database.execute("INSERT OR IGNORE INTO main.spending SELECT * FROM source.spending")
    [(missing,)] = database.execute(MISSING).fetchall()
    database.execute("COMMIT" if not missing else "ROLLBACK")
    if missing:
        raise ConfigError(f"{missing} replies could not be copied; the source is left as it was")
    return added
