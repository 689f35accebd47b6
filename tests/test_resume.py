"""Kill -9 at random moments, then the same command: the data files are those of an uninterrupted run."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path

from ragstone.store import save
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


def kill_when(command: list[str | Path], folder: Path, written: float) -> bool:
    """Starts the command and kills it when its journal has so many bytes; False if it was done before."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        if sum(path.stat().st_size for path in folder.glob("journal-*")) > written:
            process.kill()
            process.wait()
            return True
        time.sleep(0.002)
    return False


def test_ten_kills_leave_no_trace_in_the_data_files(tmp_path: Path) -> None:
    save(two_thousand_questions(), tmp_path / "bench")

    def command(out: str) -> list[str | Path]:
        systems = ["--system", "bm25", "--system", "hybrid", "--metric", "recall@5", "--metric", "ndcg@10"]
        return [RAGSTONE, "eval", tmp_path / "bench", *systems, "--out", tmp_path / out]

    subprocess.run(command("plain"), check=True, capture_output=True)
    size = (tmp_path / "plain" / "answers.jsonl").stat().st_size
    moments = sorted(random.Random(2).uniform(0, 1) for _ in range(KILLS))
    met = [kill_when(command("killed"), tmp_path / "killed", moment * size) for moment in moments]
    assert sum(met) >= 8, f"too few kills met the run at work: {met}"
    subprocess.run(command("killed"), check=True, capture_output=True)
    for name in ("answers.jsonl", "failures.jsonl", "scores.jsonl", "questions.jsonl", "run.json"):
        assert (tmp_path / "plain" / name).read_bytes() == (tmp_path / "killed" / name).read_bytes(), name
    assert not list((tmp_path / "killed").glob("journal-*"))
    assert len(json.loads((tmp_path / "killed" / "run.json").read_bytes())["systems"]) == 2
