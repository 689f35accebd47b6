"""The reply cache: every reply is committed to it before anyone sees it, so what it holds is not paid for again.

One SQLite file, shared by all commands. Each reply is a transaction of its own in the write-ahead log, which survives
kill -9. If two processes ask the same, the first reply to be committed is the reply to both.
"""

import os
import sqlite3
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from pydantic import ValidationError

from ragstone.errors import ConfigError
from ragstone.files import about_the_disk, encode
from ragstone.llm.budget import Spent
from ragstone.types import Call, Record, Reply

FILE = "replies.sqlite"
FORMAT = 1
BUSY_SECONDS = 60.0
DAMAGED = "it is damaged: move it away, or set RAGSTONE_CACHE to another place"
TABLES = (
    # The reply comes last, so that what is known of it can be read without it.
    """CREATE TABLE replies (
        key BLOB PRIMARY KEY, model TEXT NOT NULL, about TEXT NOT NULL, tokens INTEGER NOT NULL, cost REAL,
        at REAL NOT NULL, reply BLOB NOT NULL
    )""",
    # Every call that was paid for, whether its reply was usable, new, or is still there.
    """CREATE TABLE spending (
        id BLOB PRIMARY KEY, purpose TEXT NOT NULL, tokens INTEGER NOT NULL, cost REAL, at REAL NOT NULL
    )""",
    "CREATE INDEX by_purpose ON spending (purpose, tokens, cost)",
    f"PRAGMA user_version = {FORMAT}",
)
ADD = "INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?)"
SPEND = "INSERT INTO spending VALUES (?, ?, ?, ?, ?)"
SPENT = "SELECT COUNT(*), TOTAL(tokens), TOTAL(cost) FROM spending WHERE purpose = ?"
HOLDINGS = """
    SELECT model, COUNT(*), SUM(tokens), CASE WHEN COUNT(cost) = COUNT(*) THEN SUM(cost) END, MIN(at), MAX(at)
    FROM replies GROUP BY model ORDER BY model"""


class Kept(Record):
    """What is known of a reply besides its words."""

    model: str
    about: str = ""  # the end of what was asked
    tokens: int = 0
    cost: float | None = None


class Holding(Record):
    """What the cache holds of one model."""

    model: str
    entries: int
    tokens: int
    cost: float | None  # in US dollars; None: a price was not known
    oldest: float  # in seconds since 1970
    newest: float


class Summary(Record):
    """What the cache holds."""

    entries: int
    bytes: int  # on disk
    models: tuple[Holding, ...]


class Replies(Protocol):
    """Where replies are kept by key."""

    def get(self, key: str) -> Reply | None: ...

    def put(self, key: str, model: str, call: Call, reply: Reply, cost: float | None) -> Reply: ...

    def recall(self, key: str) -> bytes | None: ...

    def commit(self, key: str, data: bytes, kept: Kept) -> bytes: ...

    def spend(self, tokens: int, cost: float | None) -> None: ...

    def forget(self, key: str) -> None: ...


class ReplyCache:
    """Replies by key, from several threads and processes."""

    def __init__(self, folder: Path, purpose: str = "") -> None:
        self.path = folder / FILE
        self._purpose = purpose  # what the replies are asked for, so that it is known what that has cost
        self._lock = Lock()  # one connection, many threads
        with about_the_disk(folder, "it is the reply cache: make room, or set RAGSTONE_CACHE to another place"):
            folder.mkdir(parents=True, exist_ok=True)
        self._database = opened(self.path)
        self._close = weakref.finalize(self, self._database.close)

    def get(self, key: str) -> Reply | None:
        found = self.recall(key)
        return None if found is None else self._read(found)

    def put(self, key: str, model: str, call: Call, reply: Reply, cost: float | None) -> Reply:
        """Commits the reply and returns the one that counts: that of another process, if it was faster."""
        tokens = reply.input_tokens + reply.output_tokens
        about = call.messages[-1].content[-200:]
        data = encode(reply)
        first = self.commit(key, data, Kept(model=model, about=about, tokens=tokens, cost=cost))
        return reply if first == data else self._read(first)

    def recall(self, key: str) -> bytes | None:
        rows = self._rows("SELECT reply FROM replies WHERE key = ?", bytes.fromhex(key))
        return rows[0][0] if rows else None

    def commit(self, key: str, data: bytes, kept: Kept) -> bytes:
        """Keeps the data under the key, unless there is some already; returns what is there then."""
        row = (bytes.fromhex(key), kept.model, kept.about, kept.tokens, kept.cost, time.time(), data)
        with about_the_cache(self.path), self._lock, in_one(self._database) as database:
            added = database.execute(ADD, row)
            database.execute(SPEND, self._spending(kept.tokens, kept.cost))
        return data if added.rowcount else self.recall(key) or data

    def spend(self, tokens: int, cost: float | None) -> None:
        """Notes what a call took that gave nothing to keep."""
        with about_the_cache(self.path), self._lock:
            self._database.execute(SPEND, self._spending(tokens, cost))

    def forget(self, key: str) -> None:
        with about_the_cache(self.path), self._lock:
            self._database.execute("DELETE FROM replies WHERE key = ?", (bytes.fromhex(key),))

    def _spending(self, tokens: int, cost: float | None) -> tuple[object, ...]:
        return os.urandom(16), self._purpose, tokens, cost, time.time()

    def spent(self, purpose: str) -> Spent:
        """What the calls that were made for this purpose have cost, those that failed too."""
        [(calls, tokens, money)] = self._rows(SPENT, purpose)
        return Spent(int(calls), int(tokens), money)

    def summary(self) -> Summary:
        rows = self._rows(HOLDINGS)
        holdings = [Holding.model_validate(dict(zip(Holding.model_fields, row, strict=True))) for row in rows]
        size = sum(path.stat().st_size for path in self.path.parent.glob(f"{FILE}*"))
        return Summary(entries=sum(holding.entries for holding in holdings), bytes=size, models=tuple(holdings))

    def prune(self, older_than: float | None = None, model: str | None = None) -> int:
        """Removes the replies older than so many seconds, those of a model, or both together; returns how many."""
        if older_than is None and model is None:
            raise ConfigError("nothing says which replies to remove; give their age, their model or both")
        latest = float("inf") if older_than is None else time.time() - older_than
        chosen = "at <= ?1 AND (?2 IS NULL OR model = ?2)"
        with about_the_cache(self.path), self._lock:
            gone = self._database.execute(f"DELETE FROM replies WHERE {chosen}", (latest, model)).rowcount  # noqa: S608
            [(unused,)] = self._database.execute("PRAGMA freelist_count").fetchall()
            if unused:
                self._database.execute("VACUUM")
                self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return gone

    def close(self) -> None:
        with self._lock:
            self._close()

    def _rows(self, query: str, *values: object) -> list[Any]:
        with about_the_cache(self.path), self._lock:
            return self._database.execute(query, values).fetchall()

    def _read(self, data: bytes) -> Reply:
        try:
            return Reply.model_validate_json(data)
        except ValidationError as error:
            raise ConfigError(f"cannot use the reply cache {self.path}: a reply is no reply; {DAMAGED}") from error


class KeptOnly:
    """Recalls nothing, because what is measured must be made; what was paid for is kept all the same."""

    def __init__(self, cache: ReplyCache) -> None:
        self._cache = cache

    def get(self, key: str) -> Reply | None:
        return None

    def put(self, key: str, model: str, call: Call, reply: Reply, cost: float | None) -> Reply:
        self._cache.put(key, model, call, reply, cost)
        return reply

    def recall(self, key: str) -> bytes | None:
        return None

    def commit(self, key: str, data: bytes, kept: Kept) -> bytes:
        self._cache.commit(key, data, kept)
        return data

    def spend(self, tokens: int, cost: float | None) -> None:
        self._cache.spend(tokens, cost)

    def forget(self, key: str) -> None:
        self._cache.forget(key)


# ── the database ─────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def in_one(database: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """All that is done inside is one transaction."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield database
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def opened(path: Path) -> sqlite3.Connection:
    with about_the_cache(path):
        database = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            made_ready(database, path)
        except BaseException:
            database.close()
            raise
        return database


def made_ready(database: sqlite3.Connection, path: Path) -> None:
    """Creates what is not there yet, and leaves alone what is not ours."""
    [(version,)] = database.execute("PRAGMA user_version").fetchall()
    if version > FORMAT:
        raise ConfigError(f"{path} was written by a newer Ragstone; update, or set RAGSTONE_CACHE to another place")
    if version == 0:
        database.execute("BEGIN IMMEDIATE")
        [(version,)] = database.execute("PRAGMA user_version").fetchall()
        if version == 0:  # unless another process was faster
            for statement in TABLES:
                database.execute(statement)
        database.execute("COMMIT")
    use_the_log(database)
    database.execute("PRAGMA synchronous = NORMAL")


def use_the_log(database: sqlite3.Connection) -> None:
    """Switches to the write-ahead log. If others do at the same moment, SQLite does not wait by itself."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL").fetchall()
            return
        except sqlite3.OperationalError as error:
            if not busy(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)


@contextmanager
def about_the_cache(path: Path) -> Iterator[None]:
    """Whatever is wrong with the file is one line that names it."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # ours, not the file's
    except sqlite3.DatabaseError as error:
        raise ConfigError(f"cannot use the reply cache {path}: {error}; {remedy(error)}") from error


def remedy(error: sqlite3.DatabaseError) -> str:
    if not isinstance(error, sqlite3.OperationalError) or error.sqlite_errorcode == sqlite3.SQLITE_ERROR:
        return DAMAGED
    if busy(error):
        return "another process uses it: try again when that is done"
    return "make room, or set RAGSTONE_CACHE to another place"


def busy(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
