"""Measures how long another draw takes: reading a benchmark of 1,000 questions with 10 passages each, coining a name
for every slot, filling every text, and writing the new folder, in one process on one core.

The template is made from real HotpotQA questions if RAGSTONE_DATA names the folder of samples, else from made-up ones:
every capitalised word is a slot. Where there are too few questions, copies of them get slots and ids of their own, so
that no work is saved. Run it with `python benchmarks/redraw.py [QUESTIONS]`; it prints Markdown.
"""

import os
import platform
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from string import ascii_lowercase

from ragstone.draw import draw
from ragstone.load import load
from ragstone.slots import bind_all, escaped, originals
from ragstone.store import evidence_ids, save
from ragstone.types import Benchmark, Document, Evidence, Question, Slot, Template

DATA = Path(os.environ.get("RAGSTONE_DATA", Path(__file__).parents[2] / "shared" / "data"))
QUESTIONS = 1000
PASSAGES = 10
ROUNDS = 3
NAME = re.compile(r"\b[A-Z][a-z]+\b")


def main(number: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "made")
        benchmark, kind = template_benchmark(number)
        save(benchmark, made)
        slots = len(benchmark.template.slots) if benchmark.template else 0
        print(f"{machine()}\n")
        print(f"{number:,} {kind} questions, {len(benchmark.documents):,} passages, {slots:,} slots; one core.\n")
        print("| draw | seconds | questions/s | MB written | peak memory, MB |")
        print("|---|---:|---:|---:|---:|")
        seconds, memory = zip(*(in_a_process(made, Path(folder, str(n)), n) for n in range(1, ROUNDS + 1)), strict=True)
        size = sum(path.stat().st_size for path in Path(folder, "1").rglob("*") if path.is_file()) / 1e6
        took = median(seconds)
        print(f"| median of {ROUNDS} | {took:.1f} | {number / took:,.0f} | {size:.0f} | {max(memory):.0f} |")


def in_a_process(made: Path, out: Path, number: int) -> tuple[float, float]:
    """Seconds and megabytes of one draw; the time to start Python and import is part of it."""
    start = time.perf_counter()
    done = subprocess.check_output([sys.executable, __file__, "draw", str(made), str(out), str(number)])
    return time.perf_counter() - start, float(done)


def draw_once(made: str, out: str, number: str) -> None:
    os.sched_setaffinity(0, {0})
    draw(made, draw=int(number), out=out)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


# ── the template ─────────────────────────────────────────────────────────────────────────────────────────────────────


def template_benchmark(number: int) -> tuple[Benchmark, str]:
    """A benchmark of so many questions with a template, and what its texts are."""
    sample = DATA / "hotpotqa" / "hotpot_dev_distractor_sample.json"
    source = load(sample) if sample.exists() else made_up(number)
    whole = [question for question in source.questions if len(question.scope) == PASSAGES]
    documents = {document.id: document for document in source.documents}
    parts = [
        separate(question, [documents[id] for id in question.scope], letters(copy // len(whole)))
        for copy, question in enumerate(islice(cycle(whole), number))
    ]
    template = Template(
        documents=tuple({document.id: document for part in parts for document in part.documents}.values()),
        questions=tuple(question for part in parts for question in part.questions),
        slots=tuple({slot.id: slot for part in parts for slot in part.slots}.values()),
    )
    filled, asked = bind_all(template, originals(template.slots))
    about = source.about.model_copy(update={"notes": ()})
    kind = "HotpotQA" if sample.exists() else "made-up"
    return Benchmark(documents=filled, questions=asked, about=about, template=template), kind


KINDS = ("given", "surname", "surname", "place", "place", "organisation", "word", "word", "other")
NUMBERS: dict[str, int] = {}


def separate(question: Question, own: Sequence[Document], copy: str) -> Template:
    """One question and its documents with every capitalised word as a slot of this copy."""
    slots: dict[str, Slot] = {}

    def slotted(text: str) -> str:
        def mark(match: re.Match[str]) -> str:
            id = f"{copy}n{NUMBERS.setdefault(match[0], len(NUMBERS))}"
            slots[id] = Slot(id=id, kind=KINDS[NUMBERS[match[0]] % len(KINDS)], original=match[0])
            return f"{{{{{id}}}}}"

        return NAME.sub(mark, escaped(text))

    documents = tuple(
        Document(id=f"{document.id}-{copy}", title=slotted(document.title), text=slotted(document.text))
        for document in own
    )
    changed = {
        "id": f"{question.id}-{copy}",
        "text": slotted(question.text),
        "answers": tuple(tuple(map(slotted, group)) for group in question.answers),
        "evidence": tuple((whole_document(id, documents, own),) for id in evidence_ids(question)),
        "scope": tuple(document.id for document in documents),
        "graph": None,
    }
    return Template(documents=documents, questions=(question.model_copy(update=changed),), slots=tuple(slots.values()))


def whole_document(id: str, documents: Sequence[Document], own: Sequence[Document]) -> Evidence:
    document = next(new for new, old in zip(documents, own, strict=True) if old.id == id)
    return Evidence(document_id=document.id, quote=document.text, start=0, end=len(document.text))


def made_up(number: int) -> Benchmark:
    """Questions over passages of 100 words, a fifth of them names."""
    rng = random.Random(0)
    words = ["".join(rng.choices(ascii_lowercase, k=rng.randint(2, 9))) for _ in range(20_000)]

    def sentence(length: int) -> str:
        return " ".join(word.title() if rng.random() < 0.2 else word for word in rng.choices(words, k=length))

    documents = [Document(id=f"d{n}", title=sentence(2), text=sentence(100)) for n in range(number * PASSAGES)]
    questions = []
    for n in range(number):
        own = documents[n * PASSAGES : (n + 1) * PASSAGES]
        gold = tuple((Evidence(document_id=document.id),) for document in own[:2])
        scope = tuple(document.id for document in own)
        asked = f"{sentence(15)}?"
        questions.append(Question(id=f"q{n}", text=asked, answers=((own[1].title,),), evidence=gold, scope=scope))
    return Benchmark(documents=tuple(documents), questions=tuple(questions))


def letters(number: int) -> str:
    return ascii_lowercase[number % 26] + (letters(number // 26 - 1) if number >= 26 else "")


def machine() -> str:
    """What the figures were measured on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    processor = f"{len(models)} × {models[0]}" if models else platform.processor()
    return f"{processor}, {platform.system()}, Python {platform.python_version()}."


if __name__ == "__main__":
    if sys.argv[1:2] == ["draw"]:
        draw_once(*sys.argv[2:])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else QUESTIONS)
