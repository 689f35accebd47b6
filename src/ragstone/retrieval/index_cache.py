"""Keeps indexes on disk, so that the next run over the same chunks opens them at once.

An index is a folder of arrays, named by the hash of all that it was made from. It is written beside its final place
and renamed into it, so it is there as a whole or not at all, and of two processes that make it at once either may win.
"""

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import orjson
from numpy.typing import NDArray

from ragstone.errors import DataError
from ragstone.files import about_the_disk
from ragstone.retrieval.chunks import Chunk

Arrays = Mapping[str, NDArray[Any]]

FORMAT = 1
META = "meta.json"
REMEDY = "it is the index cache: make room, or set RAGSTONE_CACHE to another place"
ABANDONED = 24 * 3600
"""Seconds after which an index in the making was left by a kill."""


def kept(
    cache: Path | None, kind: str, settings: Mapping[str, object], chunks: Sequence[Chunk], make: Callable[[], Arrays]
) -> Arrays:
    """The index of these chunks: from the cache if it is there, else made now and kept. Without a cache, just made."""
    if cache is None:
        return make()
    folder = cache / "indexes" / key(kind, settings, chunks)
    with about_the_disk(folder, REMEDY):
        there = folder.exists()
    if not there:
        keep(folder, make)
    return load(folder)


def key(kind: str, settings: Mapping[str, object], chunks: Sequence[Chunk]) -> str:
    """Differs whenever the index would."""
    digest = hashlib.sha256(orjson.dumps([FORMAT, kind, settings], option=orjson.OPT_SORT_KEYS))
    for chunk in chunks:
        digest.update(f"\x1e{len(chunk.text)}\x1f{chunk.text}".encode())
    return f"{kind}-{digest.hexdigest()}"


def keep(folder: Path, make: Callable[[], Arrays]) -> None:
    """Makes the folder or leaves nothing; tries the place first, so that no work is done in vain."""
    with about_the_disk(folder, REMEDY):
        folder.parent.mkdir(parents=True, exist_ok=True)
        for left in folder.parent.glob(".making-*"):
            if time.time() - left.stat().st_mtime > ABANDONED:
                shutil.rmtree(left, ignore_errors=True)
        partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".making-"))
    try:
        arrays = make()
        with about_the_disk(folder, REMEDY):
            hashes = {f"{name}.npy": write(partial / f"{name}.npy", array) for name, array in arrays.items()}
            (partial / META).write_bytes(orjson.dumps({"format": FORMAT, "sha256": hashes}))
            partial.chmod(0o755)
            move(partial, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def move(partial: Path, folder: Path) -> None:
    """Renames into place, unless another process was there first with the same index."""
    try:
        os.rename(partial, folder)
    except OSError:
        if not folder.exists():
            raise


class Hashing:
    """A file that is hashed as it is written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return self._file.write(data)


def write(path: Path, array: NDArray[Any]) -> str:
    with path.open("wb") as file:
        hashing = Hashing(file)
        np.lib.format.write_array(hashing, array, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    return hashing.digest.hexdigest()


def load(folder: Path) -> Arrays:
    """Maps the arrays into memory after comparing every file with its hash."""
    try:
        meta = orjson.loads((folder / META).read_bytes())
        if meta["format"] != FORMAT:
            raise ValueError(f"format {meta['format']}, not {FORMAT}")
        return {name.removesuffix(".npy"): read(folder / name, expected) for name, expected in meta["sha256"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = (error.strerror or "").lower() if isinstance(error, OSError) else error
        raise DataError(f"index cache {folder} is damaged ({reason}); delete it and run again") from error


def read(path: Path, expected: str) -> NDArray[Any]:
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != expected:
            raise ValueError(f"{path.name} is not what was written")
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
