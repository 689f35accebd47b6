"""Texts read in several processes, because spaCy keeps one core busy.

They are started as programs of their own, not forked: that is safe beside threads, and a script that calls this needs
no guard.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from queue import SimpleQueue
from typing import IO

import orjson

from ragstone.errors import ConfigError
from ragstone.extract.reading import HALF_CHARACTER, Text, read, together
from ragstone.files import encode

BATCH = 80_000  # characters that a process is given at once
PER_PROCESS = 4  # batches at least, so that all are done at about the same time
SHORT = 100  # characters that any text counts for besides its own
WORTH_PROCESSES = 60
"""Texts from which on more processes than this one are quicker, for each must load spaCy first."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def read_all(texts: Sequence[Text], workers: int | None) -> Iterator[tuple[list[Text], list[bytes]]]:
    """Batch after batch, in order, with their graphs as JSON."""
    wanted = workers or os.cpu_count() or 1
    even = sum(map(length, texts)) // (PER_PROCESS * wanted)
    many = list(together(texts, length, min(BATCH, even)))
    count = min(wanted, len(many))
    if count < 2 or (workers is None and len(texts) < WORTH_PROCESSES):
        yield from ((batch, [encode(graph) for graph in read(batch)]) for batch in many)
        return
    with ExitStack() as stack:
        idle: SimpleQueue[Reader] = SimpleQueue()
        for _ in range(count):
            idle.put(stack.enter_context(Reader()))
        threads = stack.enter_context(ThreadPoolExecutor(count))
        stack.callback(threads.shutdown, cancel_futures=True)
        yield from zip(many, threads.map(lambda batch: borrowed(idle, batch), many), strict=True)


def length(text: Text) -> int:
    return len(text.text) + SHORT


def borrowed(idle: "SimpleQueue[Reader]", batch: Sequence[Text]) -> list[bytes]:
    reader = idle.get()
    try:
        return reader.read(batch)
    finally:
        idle.put(reader)


class Reader:
    """A process that reads batches until it is left."""

    def __enter__(self) -> "Reader":
        self._complaints = tempfile.TemporaryFile()
        environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ragstone.extract.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            env=environment,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        for end in (self._process.stdin, self._process.stdout, self._complaints):
            closed(end)
        self._process.wait()

    def read(self, batch: Sequence[Text]) -> list[bytes]:
        request = orjson.dumps([[HALF_CHARACTER.sub("?", part) for part in text] for text in batch])
        try:
            self._process.stdin.write(request + b"\n")  # type: ignore[union-attr]
            self._process.stdin.flush()  # type: ignore[union-attr]
            answer = self._process.stdout.readline()  # type: ignore[union-attr]
        except BrokenPipeError:
            answer = b""
        if not answer:
            raise ConfigError(self._reason())
        return [graph.encode() for graph in orjson.loads(answer)]

    def _reason(self) -> str:
        self._complaints.seek(0)
        said = self._complaints.read().decode(errors="replace").strip().splitlines()
        told = said[-1] if said else f"status {self._process.wait()}"
        return f"a process that reads texts has ended ({told}); free some memory, or use fewer workers"


def closed(end: IO[bytes] | None) -> None:
    try:
        if end:
            end.close()
    except BrokenPipeError:  # what was not yet written is not wanted any more
        pass
