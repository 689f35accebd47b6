"""Journals: what is finished so far, so that a killed command goes on where it was.

A journal is the only file that grows: a line for each finished item, written at once; a line that a kill left torn is
dropped. It lies in the folder of the command's output until that holds all that the journal does.
"""

import os
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel

from ragstone.errors import ConfigError, DataError
from ragstone.files import PARTIAL, about_the_disk, encode, sha256, write_bytes
from ragstone.folders import finished, locked, settle


class Journal:
    """Finished items by id: in memory, and in a file that survives kill -9 where a path is given.

    Written from several threads, and by one process at a time (see `claim`).
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._known: dict[str, Any] = {}  # what other files tell
        self._written: dict[str, Any] = {}
        self._lock = threading.Lock()  # one file, many threads
        self._file: FileIO | None = None
        if path:
            with about_the_disk(path):
                self._file = path.open("a+b", buffering=0)  # nothing waits in memory
            self._written = self._recover(self._file)

    def _recover(self, file: FileIO) -> dict[str, Any]:
        """Reads the finished items and cuts off a line that a kill left torn."""
        file.seek(0)
        data = file.readall()
        whole = data[: data.rfind(b"\n") + 1]
        file.truncate(len(whole))
        try:
            rows = [orjson.loads(line) for line in whole.splitlines()]
            return {row["id"]: row["value"] for row in rows}
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise DataError(f"{self.path} is damaged: {error}; delete it to start this stage anew") from error

    def __contains__(self, item_id: str) -> bool:
        return item_id in self._written or item_id in self._known

    def get(self, item_id: str) -> Any:
        return self._written[item_id] if item_id in self._written else self._known.get(item_id)

    def know(self, item_id: str, value: Mapping[str, Any]) -> None:
        """Takes in what the final files of an earlier command tell; not written again."""
        self._known[item_id] = value

    def add(self, item_id: str, value: Mapping[str, Any]) -> None:
        line = encode_item(item_id, value)
        with self._lock:
            if self._file and self.path:
                with about_the_disk(self.path):
                    append(self._file, line)
            self._written[item_id] = value

    def forget(self, item_ids: Collection[str] | None = None) -> None:
        """Called when the final files hold these items, or all of them; with the last item the file goes."""
        gone = self._written.keys() if item_ids is None else set(item_ids)
        left = {id: value for id, value in self._written.items() if id not in gone}
        self._written = left
        if self.path and left:
            write_bytes(self.path, b"".join(encode_item(id, value) for id, value in left.items()))
        elif self.path:
            self.path.unlink(missing_ok=True)

    def close(self) -> None:
        if self._file:
            self._file.close()


def encode_item(item_id: str, value: Mapping[str, Any]) -> bytes:
    return orjson.dumps({"id": item_id, "value": value}) + b"\n"


def append(file: FileIO, line: bytes) -> None:
    """Adds the whole line or, on a full disk, nothing."""
    end = file.seek(0, os.SEEK_END)
    try:
        while line:
            line = line[file.write(line) :]
    except OSError:
        file.truncate(end)
        raise


# ── folders ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def claim(folder: Path | None, order: BaseModel, manifest: str = "manifest.json") -> Iterator[Journal]:
    """Takes a folder for the output of an order, or goes on where the same order was interrupted.

    A folder that holds something else is left alone. Without a folder the journal is in memory. What lies in the folder
    must be read inside the claim: only there nobody else changes it.
    """
    if folder is None:
        yield Journal()
        return
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is a file; choose a folder as --out")
    mine = f"journal-{sha256(encode(order))[:12]}.jsonl"
    check_contents(folder, mine, manifest)
    with locked(folder):
        check_contents(folder, mine, manifest)
        settle(folder, manifest)
        for partial in folder.glob(f"{PARTIAL}*"):
            partial.unlink()  # left by a kill
        journal = Journal(folder / mine)
        try:
            yield journal
        finally:
            journal.close()
            drop_empty(folder / mine)


def check_contents(folder: Path, mine: str, manifest: str) -> None:
    """Refuses a folder in which something else lies or is under way."""
    there = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if any(name.startswith("journal-") and name != mine for name in there) and not finished(folder, manifest):
        raise ConfigError(f"{folder} holds unfinished work with other settings; finish it, remove it or change --out")
    if any(not name.startswith(".") for name in there) and mine not in there and not finished(folder, manifest):
        raise ConfigError(f"{folder} is not empty and holds nothing of this kind; choose another --out")


def drop_empty(journal: Path) -> None:
    """A journal in which nothing was written says nothing."""
    if journal.exists() and journal.stat().st_size == 0:
        journal.unlink()
