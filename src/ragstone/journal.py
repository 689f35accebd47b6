"""Journals: what is finished so far, so that a killed command goes on where it was.

A journal is the only file that grows: a line for each finished item, written at once; a line that a kill left torn is
dropped. It lies in the folder of the command's output and goes away when that is complete.
"""

import os
import sys
import threading
from collections.abc import Mapping
from io import FileIO
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel

from ragstone.errors import ConfigError, DataError
from ragstone.store import PARTIAL, about_the_disk, encode, sha256

if sys.platform != "win32":
    import fcntl


class Journal:
    """What is finished so far, by item id: in memory, and in a file that survives kill -9 where a path is given.

    Written from several threads; locked against a second process.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._done: dict[str, Any] = {}
        self._lock = threading.Lock()  # one file, many threads
        self._file = open_locked(path) if path else None
        if self._file:
            self._done = self._recover(self._file)

    def _recover(self, file: FileIO) -> dict[str, Any]:
        """Reads the finished items and cuts off a line that a kill left torn."""
        file.seek(0)
        data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        file.truncate(len(whole))
        try:
            rows = [orjson.loads(line) for line in whole.splitlines()]
            return {row["id"]: row["value"] for row in rows}
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise DataError(f"{self.path} is damaged: {error}; delete it to start this stage anew") from error

    def __contains__(self, item_id: str) -> bool:
        return item_id in self._done

    def get(self, item_id: str) -> Any:
        return self._done.get(item_id)

    def add(self, item_id: str, value: Mapping[str, Any]) -> None:
        line = orjson.dumps({"id": item_id, "value": value}) + b"\n"
        with self._lock:
            if self._file and self.path:
                with about_the_disk(self.path):
                    append(self._file, line)
            self._done[item_id] = value

    def remove(self) -> None:
        """Called when the final files are in place."""
        if self.path:
            self.path.unlink(missing_ok=True)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            self._file.close()


def append(file: FileIO, line: bytes) -> None:
    """Adds the whole line or, on a full disk, nothing."""
    end = file.seek(0, os.SEEK_END)
    try:
        while line:
            line = line[file.write(line) :]
    except OSError:
        file.truncate(end)
        raise


def open_locked(path: Path) -> FileIO:
    """The file for reading and appending, held by this process alone where the system can lock."""
    with about_the_disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b", buffering=0)  # nothing waits in memory
    try:
        if sys.platform != "win32":  # there, two commands on one folder are not kept apart
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise ConfigError(
            f"another command is working in {path.parent}; wait for it or choose another --out"
        ) from error
    return file


def claim(folder: Path | None, order: BaseModel, manifest: str = "manifest.json") -> Journal:
    """Takes a folder for the output of an order, or goes on where the same order was interrupted.

    A folder that holds something else is left alone. Without a folder the journal is in memory.
    """
    if folder is None:
        return Journal()
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is a file; choose a folder as --out")
    mine = f"journal-{sha256(encode(order))[:12]}.jsonl"
    there = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if any(name.startswith("journal-") and name != mine for name in there):
        raise ConfigError(f"{folder} holds unfinished work with other settings; finish it, remove it or change --out")
    if there and mine not in there and manifest not in there:
        raise ConfigError(f"{folder} is not empty and holds nothing of this kind; choose another --out")
    journal = Journal(folder / mine)
    for name in there:
        if name.startswith(PARTIAL):
            (folder / name).unlink(missing_ok=True)  # left by a kill; nobody else writes here while we hold the lock
    return journal
