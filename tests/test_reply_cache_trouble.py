"""Every reply that was committed is there: after a kill, beside other processes, on a bad disk."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from ragstone.errors import ConfigError
from ragstone.files import sha256
from ragstone.llm.cache import FILE, Kept, ReplyCache
from ragstone.llm.moving import move


def key(name: object) -> str:
    return sha256(str(name).encode())


def filled(folder: Path, replies: int, size: int = 100) -> Path:
    with closing(ReplyCache(folder)) as cache:
        for name in range(replies):
            cache.commit(key(name), b"x" * size, Kept(model="m"))
    return folder


# ── trouble ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_file_that_is_no_database_is_told_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("my diary, " * 1000)
    with pytest.raises(ConfigError, match=r"replies\.sqlite: file is not a database; it is damaged") as raised:
        ReplyCache(tmp_path)
    assert "\n" not in str(raised.value)
    assert (tmp_path / FILE).read_text() == "my diary, " * 1000


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    data = bytearray((filled(tmp_path, 2000) / FILE).read_bytes())
    data[8192:] = b"\xa5" * (len(data) - 8192)
    (tmp_path / FILE).write_bytes(data)
    with closing(ReplyCache(tmp_path)) as cache:
        with pytest.raises(ConfigError, match="it is damaged"):
            all(cache.recall(key(name)) for name in range(2000))
        with pytest.raises(ConfigError, match="it is damaged"):
            cache.summary()


def test_a_damaged_reply_is_told(tmp_path: Path) -> None:
    with closing(ReplyCache(tmp_path)) as cache:
        cache.commit(key("a"), b'{"text": 5', Kept(model="m"))
        with pytest.raises(ConfigError, match="it is damaged"):
            cache.get(key("a"))


def test_a_cache_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    filled(tmp_path, 5)
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(ConfigError, match="newer Ragstone; update"):
        ReplyCache(tmp_path)


def test_a_folder_that_may_not_be_written_is_told() -> None:
    folder = Path(tempfile.mkdtemp())  # not in tmp_path, which only its owner may enter
    root = os.geteuid() == 0
    folder.chmod(0o555)
    try:
        if root:
            os.seteuid(65534)  # to root everything is allowed
        with pytest.raises(ConfigError, match="RAGSTONE_CACHE"):
            ReplyCache(folder)
        with pytest.raises(ConfigError, match="permission denied"):
            ReplyCache(folder / "inner")
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)
        shutil.rmtree(folder)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", place], capture_output=True)
    if mounted.returncode:
        pytest.skip("needs the right to mount a small disk")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_is_told_and_loses_nothing_that_was_committed(small_disk: Path) -> None:
    kept = 0
    with closing(ReplyCache(small_disk)) as cache:

        def fill() -> None:
            nonlocal kept
            while True:
                cache.commit(key(kept), b"x" * 2000, Kept(model="m"))
                kept += 1

        with pytest.raises(ConfigError, match=r"replies\.sqlite: .*; make room") as raised:
            fill()
        assert "\n" not in str(raised.value)
        assert kept > 200
        assert all(cache.recall(key(name)) for name in range(kept))
    with closing(ReplyCache(small_disk)) as again:
        assert again.summary().entries == kept


def test_a_move_to_a_full_disk_leaves_the_source_alone(small_disk: Path, tmp_path: Path) -> None:
    source = filled(tmp_path / "source", 1000, size=10_000)
    with pytest.raises(ConfigError, match="make room"):
        move(source, small_disk)
    with closing(ReplyCache(source)) as cache:
        assert cache.summary().entries == 1000


# ── several at once ──────────────────────────────────────────────────────────────────────────────────────────────────


def started(code: str) -> "subprocess.Popen[bytes]":
    """A process that has said that it is ready."""
    command, pipe = [sys.executable, "-c", code], subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    return process


def let_go(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin
    process.stdin.write(b"\n")


def finish(process: "subprocess.Popen[bytes]") -> tuple[str, str]:
    out, err = process.communicate(timeout=120)
    return out.decode(), err.decode()


WRITING = """
from pathlib import Path
from ragstone.files import sha256
from ragstone.llm.cache import Kept, ReplyCache

cache = ReplyCache(Path({folder!r}), purpose={name!r})
print("ready", flush=True)
input()
for number in range({begin}, {end}):
    data = cache.commit(sha256(str(number).encode()), b"{name} " + str(number).encode() + b"." * 2000, Kept(model="m"))
    print(number, data.split()[0].decode(), flush=True)
"""


def writing(folder: Path, name: str, begin: int, end: int) -> "subprocess.Popen[bytes]":
    return started(WRITING.format(folder=str(folder), name=name, begin=begin, end=end))


def test_of_two_processes_that_commit_the_same_the_first_counts_for_both(tmp_path: Path) -> None:
    both = [writing(tmp_path, name, 0, 500) for name in ("one", "two")]
    told = []
    for process in both:
        let_go(process)
    for process in both:
        out, err = finish(process)
        assert (process.returncode, err) == (0, "")
        told.append(dict(line.split() for line in out.splitlines()))
    assert told[0] == told[1]
    assert len(told[0]) == 500
    with closing(ReplyCache(tmp_path)) as cache:
        assert cache.summary().entries == 500
        assert all((cache.recall(key(number)) or b"").split()[0].decode() == by for number, by in told[0].items())


def test_many_may_create_the_same_cache_at_the_same_moment(tmp_path: Path) -> None:
    for attempt in range(20):
        ready = threading.Barrier(8)

        def one(name: int, folder: Path = tmp_path / str(attempt), ready: threading.Barrier = ready) -> None:
            ready.wait()
            with closing(ReplyCache(folder)) as cache:
                cache.commit(key(name), b"x", Kept(model="m"))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(one, range(8)))
        with closing(ReplyCache(tmp_path / str(attempt))) as cache:
            assert cache.summary().entries == 8


def test_what_was_committed_survives_kills(tmp_path: Path) -> None:
    begin = 0
    for kill in range(5):
        process = writing(tmp_path, f"life{kill}", begin, begin + 100_000)
        let_go(process)
        assert process.stdout
        first = process.stdout.readline().decode()
        time.sleep(0.05 * kill)
        process.kill()
        out, _ = finish(process)
        told = [line.split()[0] for line in (first + out).splitlines(keepends=True) if line.endswith("\n")]
        with closing(ReplyCache(tmp_path)) as cache:
            assert all(cache.recall(key(number)) for number in told)
            assert begin + len(told) <= cache.summary().entries <= begin + len(told) + 1
            begin = cache.summary().entries


MOVING = """
from pathlib import Path
from ragstone.llm.moving import move

print("ready", flush=True)
move(Path({source!r}), Path({target!r}))
"""


def test_a_move_that_was_killed_can_be_done_again(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    for moment in (0.0, 0.02, 0.05, 0.1, 0.2):
        filled(source, 2000)
        process = started(MOVING.format(source=str(source), target=str(target)))
        time.sleep(moment)
        process.kill()
        finish(process)
        if (source / FILE).exists():
            move(source, target)
        with closing(ReplyCache(target)) as cache:
            assert cache.summary().entries == 2000
        shutil.rmtree(target)
