"""Kill -9 at random moments, then the same command: the data files are those of an uninterrupted run."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from ragstone.store import save_benchmark
from ragstone.types import Benchmark, Document, Evidence, Question

RAGSTONE = Path(sys.executable).parent / "ragstone"
KILLS = 10


def two_thousand_questions() -> Benchmark:
    """Made-up words, so that retrieval has something to tell apart and nothing to know."""
    words = random.Random(1)
    syllables = ["ka", "lo", "mi", "ren", "tu", "sha", "bor", "el", "vi", "dun"]
    vocabulary = ["".join(words.choices(syllables, k=3)) for _ in range(900)]
    documents = [
        Document(id=f"d{n}", title=f"T{n}", text=" ".join(words.choices(vocabulary, k=60))) for n in range(500)
    ]
    questions = []
    for n in range(2000):
        gold = documents[n % 500]
        text = " ".join(words.sample(gold.text.split(), 8))
        questions.append(
            Question(id=f"q{n}", text=text, answers=(("x",),), evidence=((Evidence(document_id=gold.id),),))
        )
    return Benchmark(documents=tuple(documents), questions=tuple(questions))


def test_ten_kills_leave_no_trace_in_the_data_files(tmp_path: Path) -> None:
    save_benchmark(two_thousand_questions(), tmp_path / "bench")

    def command(out: str) -> list[str | Path]:
        systems = ["--system", "bm25", "--system", "hybrid", "--metric", "recall@5", "--metric", "ndcg@10"]
        return [RAGSTONE, "eval", tmp_path / "bench", *systems, "--out", tmp_path / out]

    started = time.perf_counter()
    subprocess.run(command("plain"), check=True, capture_output=True)
    takes = time.perf_counter() - started
    kept = []
    for kill in range(KILLS):
        process = subprocess.Popen(command("killed"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.Random(kill).uniform(0.2, 0.9) * takes)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kept.append(sum(path.read_bytes().count(b"\n") for path in (tmp_path / "killed").glob("journal-*")))
    subprocess.run(command("killed"), check=True, capture_output=True)
    assert any(0 < lines < 4000 for lines in kept), f"no kill met the run at work: {kept}"
    for name in ("answers.jsonl", "failures.jsonl", "scores.jsonl", "questions.jsonl", "run.json"):
        assert (tmp_path / "plain" / name).read_bytes() == (tmp_path / "killed" / name).read_bytes(), name
    assert not list((tmp_path / "killed").glob("journal-*"))
    assert len(json.loads((tmp_path / "killed" / "run.json").read_bytes())["systems"]) == 2
