"""A benchmark folder that Ragstone itself wrote."""

from pathlib import Path

from ragstone.kit import BadRecords, Source
from ragstone.sources.reading import keys
from ragstone.store import load_benchmark
from ragstone.types import Benchmark


class BenchmarkFolder(Source):
    """A folder with `documents.jsonl`, `questions.jsonl` and `manifest.json`."""

    def recognises(self, path: Path) -> bool:
        """A folder whose manifest is missing is recognised too, so that the reader is told it is not complete."""
        data = (path / "documents.jsonl").is_file() and (path / "questions.jsonl").is_file()
        return data or {"ragstone", "canary"} <= keys(path / "manifest.json")

    def load(self, path: Path, bad: BadRecords) -> Benchmark:
        return load_benchmark(path)
