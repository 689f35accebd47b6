"""Measures indexing and searching 100,000 passages beside bm25s alone and numpy alone.

Each contestant has its own process, so that its peak memory is its own; this one only starts them and stays small. All
begin with the same documents in memory and answer the same queries, one at a time, ten hits each. A build includes
making words or vectors of the passages, a query making words of it; vectors of queries are made beforehand. Contestants
take turns in the same minute on one thread, because a machine may be busy; a ratio is the median over rounds.
Run it with `python benchmarks/retrieval.py [PASSAGES]`; it prints Markdown. Real sentences and questions are used if
RAGSTONE_DATA names the folder of samples, else made-up words.
"""

import json
import os
import platform
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

DATA = Path(os.environ.get("RAGSTONE_DATA", Path(__file__).parents[2] / "shared" / "data"))
PASSAGES = 100_000
QUERIES = 400
ROUNDS = 7
K = 10

Search = Callable[[str], object]
Documents = Sequence[Any]


class Result(NamedTuple):
    build: float  # CPU seconds
    rates: list[float]  # queries per CPU-second, a round each
    memory: float  # MB at the peak


def main(passages: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = json.loads(subprocess.check_output([sys.executable, __file__, "make", folder, str(passages)]))
        print(
            f"{machine()}\n\n{passages:,} passages of {made['words']:.0f} words, {made['kind']}; {QUERIES} queries.\n"
        )
        print("| | build, CPU s | queries per CPU-s | ratio | peak memory, MB | ratio |")
        print("|---|---:|---:|---:|---:|---:|")
        for names in (("bm25s", "bm25s_same_words", "ragstone_bm25"), ("numpy", "ragstone_dense")):
            results = compete(names, folder)
            for name, result in zip(names, results, strict=True):
                print(row(name, result, results[0]))


def compete(names: Sequence[str], folder: str) -> list[Result]:
    """Builds one after another, then lets each have a round in turn."""
    players, builds, rates = [], [], []
    for name in names:
        players.append(start(name, folder))
        builds.append(said(players[-1]))
    for _ in range(ROUNDS):
        rates.append([said(player, "round\n") for player in players])
    columns = zip(players, builds, zip(*rates, strict=True), strict=True)
    return [Result(build, list(rounds), finish(player)) for player, build, rounds in columns]


def start(name: str, folder: str) -> subprocess.Popen[str]:
    one_thread = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "MKL", "OMP", "VECLIB", "RAYON")}
    command = [sys.executable, __file__, name, folder]
    environment = os.environ | one_thread
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def said(player: subprocess.Popen[str], order: str = "") -> float:
    assert player.stdin
    assert player.stdout
    player.stdin.write(order)
    player.stdin.flush()
    return float(player.stdout.readline())


def finish(player: subprocess.Popen[str]) -> float:
    return float(player.communicate()[0])


def row(name: str, result: Result, baseline: Result) -> str:
    ratio = median(ours / theirs for ours, theirs in zip(result.rates, baseline.rates, strict=True))
    return (
        f"| {NAMES[name]} | {result.build:.1f} | {median(result.rates):,.0f} | {ratio:.2f} "
        f"| {result.memory:,.0f} | {result.memory / baseline.memory:.2f} |"
    )


def machine() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "bm25s", "tokenizers"))
    return f"Python {platform.python_version()}, {packages}; {os.cpu_count()} cores, {platform.machine()}."


# ── the passages ─────────────────────────────────────────────────────────────────────────────────────────────────────


def make(folder: Path, passages: int) -> dict[str, object]:
    rng = random.Random(7)
    sentences, queries, kind = real() if DATA.is_dir() else made_up(rng)
    texts = [" ".join(rng.choices(sentences, k=3)) for _ in range(passages)]
    (folder / "passages.json").write_text(json.dumps(texts))
    (folder / "queries.json").write_text(json.dumps(rng.sample(queries, QUERIES)))
    return {"kind": kind, "words": sum(len(text.split()) for text in texts[:1000]) / min(1000, passages)}


def real() -> tuple[list[str], list[str], str]:
    """Sentences of long texts, and the questions of two benchmarks."""
    sentences: list[str] = []
    for path in sorted((DATA / "corpora").glob("*/*.txt")):
        sentences += re.findall(r"[A-Z][^.!?]{30,250}[.!?]", " ".join(path.read_text().split()))
    hotpot = json.loads((DATA / "hotpotqa/hotpot_dev_distractor_sample.json").read_text())
    wiki = json.loads((DATA / "2wikimultihopqa/dev_sample.json").read_text())
    return sentences, [record["question"] for record in (*hotpot, *wiki)], "three real sentences each"


def made_up(rng: random.Random) -> tuple[list[str], list[str], str]:
    """Words as frequent as in language: the nth is n times as rare as the first."""
    words = ["".join(rng.choices("aeioulnrst", k=rng.randint(3, 9))) for _ in range(50_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    sentences = [" ".join(rng.choices(words, weights, k=20)) for _ in range(20_000)]
    return sentences, [" ".join(rng.choices(words, weights, k=14)) for _ in range(QUERIES)], "made-up words"


# ── the contestants: each builds what it needs and gives a function that answers a query ─────────────────────────────


def bm25s_alone(documents: Documents, queries: Sequence[str]) -> Search:
    import bm25s

    index = bm25s.BM25()
    index.index(bm25s.tokenize([d.text for d in documents], stopwords="en", show_progress=False), show_progress=False)

    def search(query: str) -> object:
        words = bm25s.tokenize(query, stopwords="en", return_ids=False, show_progress=False)
        return index.retrieve(words, k=K, show_progress=False)

    return search


def bm25s_same_words(documents: Documents, queries: Sequence[str]) -> Search:
    import bm25s

    from ragstone.retrieval.bm25 import words

    index = bm25s.BM25()
    index.index([words(document.text) for document in documents], show_progress=False)
    return lambda query: index.retrieve([words(query)], k=K, show_progress=False)


def ragstone_bm25(documents: Documents, queries: Sequence[str]) -> Search:
    from ragstone.retrieval.bm25 import Bm25Index
    from ragstone.retrieval.chunks import chunk

    index = Bm25Index(chunk(documents, 512))
    return lambda query: index.search(query, K)


def numpy_alone(documents: Documents, queries: Sequence[str]) -> Search:
    import numpy as np

    from ragstone.retrieval.embedders import open_embedder

    embedder = open_embedder("wordllama")
    table = embedder.embed([document.text for document in documents], "passage")
    known = dict(zip(queries, embedder.embed(queries, "query"), strict=True))

    def search(query: str) -> object:
        scores = table @ known[query]
        best = np.argpartition(scores, -K)[-K:]
        order = best[np.argsort(-scores[best])]
        return order.tolist(), scores[order].tolist()

    return search


def ragstone_dense(documents: Documents, queries: Sequence[str]) -> Search:
    from ragstone.retrieval.chunks import chunk
    from ragstone.retrieval.dense import DenseIndex
    from ragstone.retrieval.embedders import WordLlama

    class Prepared(WordLlama):
        """Has the vectors of the queries ready."""

        def embed(self, texts: Sequence[str], role: Any) -> Any:
            return known[texts[0]] if role == "query" else super().embed(texts, role)

    embedder = Prepared()
    index = DenseIndex(chunk(documents, 512), embedder)
    known = {query: WordLlama.embed(embedder, [query], "query") for query in queries}
    return lambda query: index.search(query, K)


CONTESTANTS: dict[str, Callable[[Documents, Sequence[str]], Search]] = {
    "bm25s": bm25s_alone,
    "bm25s_same_words": bm25s_same_words,
    "ragstone_bm25": ragstone_bm25,
    "numpy": numpy_alone,
    "ragstone_dense": ragstone_dense,
}
NAMES = {
    "bm25s": "bm25s alone, its own tokens",
    "bm25s_same_words": "bm25s alone, ragstone's words",
    "ragstone_bm25": "**ragstone BM25**",
    "numpy": "numpy alone",
    "ragstone_dense": "**ragstone dense**",
}


def measure(contestant: str, folder: Path) -> None:
    """Builds, then answers all queries each time it is told to, and last says how much memory it took."""
    from ragstone.types import Document

    texts = json.loads((folder / "passages.json").read_text())
    queries: list[str] = json.loads((folder / "queries.json").read_text())
    documents = [Document(id=f"d{row}", text=text) for row, text in enumerate(texts)]
    start = time.process_time()
    search = CONTESTANTS[contestant](documents, queries)
    print(time.process_time() - start, flush=True)
    for _ in sys.stdin:
        print(queries_per_second(search, queries), flush=True)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << (20 if sys.platform == "darwin" else 10)))


def queries_per_second(search: Search, queries: Sequence[str]) -> float:
    start = time.process_time()
    for query in queries:
        search(query)
    return len(queries) / (time.process_time() - start)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", folder, passages]:
            print(json.dumps(make(Path(folder), int(passages))))
        case [contestant, folder]:
            measure(contestant, Path(folder))
        case rest:
            main(int(rest[0]) if rest else PASSAGES)
