"""What was read before: graphs by the hash of their text and of the rules that read it, in one SQLite file.

Nothing in it is dear, for all can be read again: where the file is damaged or cannot be used, it is gone without.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeVar

from ragstone import gazetteer
from ragstone.errors import ConfigError
from ragstone.extract.reading import Text

T = TypeVar("T")

FILE = "readings.sqlite"
BUSY_SECONDS = 60.0
MAKE = "CREATE TABLE IF NOT EXISTS readings (key BLOB PRIMARY KEY, graph BLOB NOT NULL) WITHOUT ROWID"
AT_ONCE = 500


@cache
def rules() -> bytes:
    """Differs whenever the same text might be read otherwise: spaCy's pipeline, our code, our word lists."""
    try:
        digest = hashlib.sha256(version(gazetteer.PIPELINE).encode())
    except PackageNotFoundError as error:
        raise ConfigError(gazetteer.NEEDED) from error
    files = [*Path(__file__).parent.glob("*.py"), Path(gazetteer.__file__), *gazetteer.DATA.iterdir()]
    for path in sorted(path for path in files if path.is_file()):
        digest.update(path.read_bytes())
    return digest.digest()


def key(text: Text) -> bytes:
    said = f"{text.title}\x1f{text.text}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(rules() + said).digest()


def recall(folder: Path | None, keys: Iterable[bytes]) -> dict[bytes, bytes]:
    """The graphs that are there, as JSON."""
    wanted = list(dict.fromkeys(keys))

    def fetch(database: sqlite3.Connection) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for start in range(0, len(wanted), AT_ONCE):
            some = wanted[start : start + AT_ONCE]
            marks = ",".join("?" * len(some))
            found.update(database.execute(f"SELECT key, graph FROM readings WHERE key IN ({marks})", some))  # noqa: S608
        return found

    return used(folder, fetch) or {}


def keep(folder: Path | None, graphs: Mapping[bytes, bytes]) -> None:
    def add(database: sqlite3.Connection) -> None:
        with database:
            database.executemany("INSERT OR REPLACE INTO readings VALUES (?, ?)", graphs.items())

    used(folder, add)


def used(folder: Path | None, work: Callable[[sqlite3.Connection], T]) -> T | None:
    """What the work gives; None without a folder, and where the file cannot be used. A damaged one is begun anew."""
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(folder / FILE, timeout=BUSY_SECONDS)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute(MAKE)
            return work(database)
    except (OSError, sqlite3.OperationalError):  # no right, no room, held by another process
        return None
    except sqlite3.DatabaseError:
        with suppress(OSError):
            for path in folder.glob(f"{FILE}*"):
                path.unlink()
        return None
