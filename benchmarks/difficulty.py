"""Does changing names change how hard retrieval is? recall@5 over the pooled corpus before and after, by name style.

Needs the real samples: RAGSTONE_DATA=FOLDER python benchmarks/difficulty.py
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from ragstone import build, evaluate
from ragstone.config import Settings
from ragstone.load import load
from ragstone.stats import equivalence
from ragstone.types import Benchmark

DATA = Path(os.environ.get("RAGSTONE_DATA", Path(__file__).parents[2] / "shared" / "data"))
SETS = {
    "HotpotQA": "hotpotqa/hotpot_dev_distractor_sample.json",
    "2WikiMultihopQA": "2wikimultihopqa/dev_sample.json",
    "MuSiQue": "musique/musique_ans_v1.0_dev_sample.jsonl",
    "QASC": "qasc/dev_sample.jsonl",
}
STYLES = ("invented", "word_made", "cultural")
SYSTEMS = ("bm25", "dense")


def recall(bench: Benchmark, settings: Settings) -> dict[str, dict[str, float]]:
    """recall@5 of each system by question; a reseeded question goes by its parent's id."""
    parents = {question.id: question.parent or question.id for question in bench.questions}
    run = evaluate(bench, SYSTEMS, ["recall@5"], corpus="pooled", settings=settings)
    found: dict[str, dict[str, float]] = {system: {} for system in SYSTEMS}
    for score in run.scores:
        found[score.of][parents[score.question_id]] = score.value.value
    return found


def shown(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def main() -> None:
    print("| set | names | system | n | before | after | difference (90 %) | equal within ± 5 points |")
    print("|---|---|---|---:|---:|---:|---:|---|")
    with TemporaryDirectory() as folder:
        settings = Settings(cache=Path(folder))
        for name, file in SETS.items():
            source = load(DATA / file)
            for style in STYLES:
                made = build("reseed", source, settings=settings, style=style)
                kept = {question.parent for question in made.questions}
                same = source.model_copy(
                    update={"questions": tuple(question for question in source.questions if question.id in kept)}
                )
                before, after = recall(same, settings), recall(made, settings)
                for system in SYSTEMS:
                    ids = [id for id in before[system] if id in after[system]]
                    told = equivalence([before[system][id] for id in ids], [after[system][id] for id in ids])
                    if told:
                        means = [sum(run[system][id] for id in ids) / len(ids) for run in (before, after)]
                        print(
                            f"| {name} | {style} | {system} | {told.n} | {means[0]:.3f} | {means[1]:.3f} | "
                            f"{told.value:+.3f} [{told.low:+.3f}, {told.high:+.3f}] | "
                            f"{'yes' if told.equivalent else 'not shown'} ({shown(told.p)}) |",
                            flush=True,
                        )


if __name__ == "__main__":
    main()
