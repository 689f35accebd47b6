"""Folders whose files are replaced together, read together, and worked on by one process at a time."""

import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from ragstone.errors import ConfigError, DataError
from ragstone.files import about_the_disk, first_problem, read_bytes, sha256, write_bytes, write_lines, write_record

if sys.platform != "win32":
    import fcntl

T = TypeVar("T", bound=BaseModel)

FORMAT = 1
STAGE = ".staged"
READS = 20


def manifest_of(data: bytes, path: Path, kind: type[T]) -> T:
    """A manifest of a format that this version knows."""
    try:
        found = orjson.loads(data).get("format")
        if found != FORMAT:
            raise DataError(f"{path} has format {found}, this version reads {FORMAT}; use the ragstone that wrote it")
        return kind.model_validate_json(data)
    except (orjson.JSONDecodeError, AttributeError) as error:
        raise DataError(f"{path} is not a manifest: {error}; make the folder anew") from error
    except ValidationError as error:
        raise DataError(f"{path}: {first_problem(error)}; mend the file or make the folder anew") from error


def write_folder(
    folder: Path,
    files: Mapping[str, Sequence[BaseModel]],
    manifest: BaseModel,
    name: str,
    unhashed: Sequence[str] = (),
    card: str = "",
    without: Collection[str] = (),
) -> None:
    """Replaces data files and manifest together: after a kill at any moment the old files count, or all the new ones.

    They are written into a folder beside their places. Once the manifest is there too, the new files count: whoever
    comes next moves what is still to be moved. Fields of the manifest named in `without` are not written.
    """
    settle(folder, name)
    stage = folder / STAGE
    try:
        hashes = {file: write_lines(stage / file, records) for file, records in files.items()}
        if card:
            write_bytes(stage / "README.md", card.encode())
        kept = {file: digest for file, digest in hashes.items() if file not in unhashed}
        write_record(stage / name, manifest.model_copy(update={"sha256": kept}), without)
    except BaseException:
        shutil.rmtree(stage, ignore_errors=True)
        raise
    settle(folder, name)


def settle(folder: Path, name: str) -> None:
    """Moves staged files into place, the manifest last. Only for whoever holds the folder's lock."""
    stage = folder / STAGE
    with about_the_disk(folder):
        if (stage / name).exists():
            staged = [path for path in stage.rglob("*") if path.is_file() and path != stage / name]
            for path in sorted(staged):
                target = folder / path.relative_to(stage)
                target.parent.mkdir(exist_ok=True)
                os.replace(path, target)
            drop_outdated(folder, hashed(folder / name) - hashed(stage / name))
            os.replace(stage / name, folder / name)
        shutil.rmtree(stage, ignore_errors=True)  # what is left does not count


def hashed(manifest: Path) -> set[str]:
    """The files that a manifest vouches for."""
    try:
        return set(orjson.loads(manifest.read_bytes())["sha256"])
    except (FileNotFoundError, orjson.JSONDecodeError, KeyError, TypeError):
        return set()  # there is none, or it says nothing


def drop_outdated(folder: Path, files: Collection[str]) -> None:
    """Removes files in sub-folders that the earlier manifest vouched for and the next one does not."""
    for path in [path for path in folder.glob("*/*") if path.relative_to(folder).as_posix() in files]:
        path.unlink()
        if not any(path.parent.iterdir()):
            path.parent.rmdir()


def finished(folder: Path, manifest: str) -> bool:
    """Whether the folder holds a command's whole output."""
    return (folder / STAGE / manifest).exists() or (folder / manifest).exists()


def read_current(folder: Path, name: str, file: str) -> bytes:
    """A file as it counts: from the stage, if that is complete and the file is not moved yet."""
    stage = folder / STAGE
    try:
        if (stage / name).exists():
            return (stage / file).read_bytes()
    except FileNotFoundError:
        pass  # moved
    return read_bytes(folder / file)


def read_folder(
    folder: Path,
    name: str,
    kind: type[T],
    files: Sequence[str],
    more: Callable[[T], Sequence[str]] = lambda manifest: (),
) -> tuple[T, dict[str, bytes]]:
    """The manifest and the files that go with it, each read once; starts over if they are replaced meanwhile.

    `more` tells which other files there are by what the manifest says.
    """
    for _ in range(READS):
        data = read_current(folder, name, name)
        manifest = manifest_of(data, folder / name, kind)
        hashes: Mapping[str, str] = manifest.model_dump()["sha256"]
        try:
            found = {file: read_current(folder, name, file) for file in (*files, *more(manifest))}
        except DataError:
            if data == read_current(folder, name, name):
                raise
            continue  # the files went with the manifest that named them
        wrong = [file for file in found if hashes.get(file, "") not in ("", sha256(found[file]))]
        if not wrong:
            return manifest, found
        if data == read_current(folder, name, name):
            raise DataError(f"{folder / wrong[0]} was changed after it was written; restore it or make the folder anew")
    raise DataError(f"{folder} is replaced again and again while it is read; wait until the other command is done")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keeps other processes out of the folder. The lock's file stays as long as there is anything in the folder."""
    lock = folder / ".lock"
    with about_the_disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
        file = lock.open("ab")
    with file:
        try:
            if sys.platform != "win32":  # there, two commands on one folder are not kept apart
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                    raise BlockingIOError  # the folder was removed and made anew in between
        except (BlockingIOError, FileNotFoundError) as error:
            raise ConfigError(f"another command is working in {folder}; wait for it or choose another --out") from error
        try:
            yield
        finally:
            drop_bare(folder)


def drop_bare(folder: Path) -> None:
    """A folder in which there is nothing but the lock is as if nothing had happened."""
    if [path.name for path in folder.iterdir()] == [".lock"]:
        (folder / ".lock").unlink()
        folder.rmdir()
