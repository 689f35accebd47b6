"""Measures the answer metrics against the common implementations: rates by CPU time, and whether the values are equal.

Every pair of texts is new, so nothing can be remembered from one call to the next, and both sides see the same pairs in
the same process. Run it with `python benchmarks/metrics.py`; it prints Markdown.
"""

import platform
import random
import re
import string
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import TypeVar

from rouge import Rouge
from rouge_score.rouge_scorer import RougeScorer

from ragstone.kit import Kit, Metric
from ragstone.metrics.answer import F1, Covered, rouge_l, summary_rouge_l, token_f1
from ragstone.text import normalised_tokens
from ragstone.types import Answer, Question

LENGTHS = {8: 6000, 17: 3000, 58: 600, 113: 300}
"""Tokens of a text (mean answer lengths of HawkBench's four levels), and how many pairs are measured."""

ROUNDS = 5
A = TypeVar("A")
B = TypeVar("B")
Pair = tuple[str, str]
Measure = Callable[[str, str], float]


def main() -> None:
    print(f"{machine()}. Rates are pairs per CPU-second, ratios those of one run; medians of {ROUNDS} rounds.\n")
    print("| metric | tokens | ragstone | alternative | | ratio | max difference |")
    print("|---|---:|---:|---:|---|---:|---:|")
    for length, number in LENGTHS.items():
        sample = pairs(length, number)
        compare("ROUGE-L", length, sample, rouge_l, google_rouge_l, "`rouge_score`")
        compare("ROUGE-L, variant `rouge`", length, sample[: number // 3], summary_rouge_l, pltrdy_rouge_l, "`rouge`")
        compare("token F1", length, sample, ragstone_f1, plain_f1, "straightforward SQuAD code")
        for metric in (F1(), Covered()):
            print(f"| `{metric}`, record to record | {length} | {scoring_rate(metric, sample):,.0f} | | | | |")


def compare(name: str, length: int, sample: Sequence[Pair], ours: Measure, theirs: Measure, alternative: str) -> None:
    """One row: both rates, taken in turns as the machine may be busy, and the greatest difference between values."""
    rounds = [(rate(ours, sample), rate(theirs, sample)) for _ in range(ROUNDS)]
    fast, slow = median(fast for fast, _ in rounds), median(slow for _, slow in rounds)
    ratio = median(fast / slow for fast, slow in rounds)
    difference = max(abs(ours(*pair) - theirs(*pair)) for pair in sample)
    print(f"| {name} | {length} | {fast:,.0f} | {slow:,.0f} | {alternative} | {ratio:.1f} × | {difference:.0e} |")


def rate(measure: Callable[[A, B], object], sample: Sequence[tuple[A, B]]) -> float:
    """Pairs per CPU-second."""
    start = time.process_time()
    for one, other in sample:
        measure(one, other)
    return len(sample) / (time.process_time() - start)


def scoring_rate(metric: Metric, sample: Sequence[Pair]) -> float:
    """What a run does for each answer. The gold answer is the last three words of the other text."""
    golds = [" ".join(gold.split()[-3:]) for _, gold in sample]
    questions = [Question(id=str(number), text="?", answers=((gold,),)) for number, gold in enumerate(golds)]
    records = list(zip(questions, (Answer(text=text) for text, _ in sample), strict=True))
    return median(rate(partial(metric.score, kit=Kit()), records) for _ in range(ROUNDS))


def pairs(length: int, number: int) -> list[Pair]:
    """Made-up sentences and changed copies of them, with capitals, articles, marks, numbers and dates."""
    rng = random.Random(length)
    words = ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 10))) for _ in range(3000)]
    words += ["the", "The", "a", "of", "and", "in"] * 120 + ["12,000", "May", "1786", "3.50", "U.S."] * 12
    words += [word.title() + mark for word in words[:600] for mark in (",", ".")]

    def changed(text: list[str]) -> list[str]:
        return [word if rng.random() < 0.7 else rng.choice(words) for word in text]

    golds = [rng.choices(words, k=length) for _ in range(number)]
    return [(" ".join(changed(gold)), " ".join(gold)) for gold in golds]


# ── ours ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def ragstone_f1(text: str, gold: str) -> float:
    return token_f1(normalised_tokens(text), normalised_tokens(gold))


# ── the alternatives ─────────────────────────────────────────────────────────────────────────────────────────────────

GOOGLE = RougeScorer(["rougeL"], use_stemmer=False)
PLTRDY = Rouge(metrics=["rouge-l"], stats=["f"])


def google_rouge_l(text: str, gold: str) -> float:
    return float(GOOGLE.score(gold, text)["rougeL"].fmeasure)


def pltrdy_rouge_l(text: str, gold: str) -> float:
    return float(PLTRDY.get_scores(text, gold)[0]["rouge-l"]["f"])


def plain_tokens(text: str) -> list[str]:
    """SQuAD's rules step by step: lower case, marks out, articles out, split."""
    marks = set(string.punctuation)
    kept = "".join(character for character in text.lower() if character not in marks)
    return re.sub(r"\b(a|an|the)\b", " ", kept).split()


def plain_f1(text: str, gold: str) -> float:
    said, meant = plain_tokens(text), plain_tokens(gold)
    same = sum((Counter(said) & Counter(meant)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(said), same / len(meant)
    return 2 * precision * recall / (precision + recall)


def machine() -> str:
    """What the figures were measured on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cpu = f"{len(models)} × {models[0]}" if models else platform.processor() or "unknown processor"
    packages = ", ".join(f"{name} {version(name)}" for name in ("ragstone", "rapidfuzz", "rouge-score", "rouge"))
    return f"{cpu}, {platform.system()}, Python {platform.python_version()}, {packages}"


if __name__ == "__main__":
    main()
