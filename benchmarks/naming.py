"""Measures how fast names are coined, and how their lengths hold up in a large corpus.

The slots are like those of 1,000 questions with 10 passages each. Run it with `python benchmarks/naming.py`; it prints
Markdown.
"""

import random
import time
from typing import get_args

from ragstone.naming import SLICES, Style, coin
from ragstone.types import Slot

KINDS = {"given": 8000, "surname": 16000, "place": 10000, "organisation": 3000, "other": 8000, "word": 5000}
LETTERS = {3: 3, 4: 9, 5: 17, 6: 22, 7: 19, 8: 13, 9: 8, 10: 5, 11: 2, 12: 1, 13: 1}
"""How many of 100 name words have so many letters."""


def main() -> None:
    slots = like_a_corpus(random.Random(0))
    print(f"{len(slots):,} slots in one call; {SLICES} slices.\n")
    print("| style | seconds | letters more than originals | over 30 % and 2 letters more | shared with next draw |")
    print("|---|---|---|---|---|")
    for style in get_args(Style):
        coin(slots[:100], draw=1, style=style)  # loads the word lists
        begin = time.process_time()
        values = coin(slots, draw=1, style=style)
        seconds = time.process_time() - begin
        grown = [len(values[slot.id]) - len(slot.original) for slot in slots]
        long = [slot for slot in slots if len(values[slot.id]) > max(1.3 * len(slot.original), len(slot.original) + 2)]
        shared = set(values.values()) & set(coin(slots, draw=2, style=style).values())
        mean = sum(grown) / len(slots)
        print(f"| {style} | {seconds:.2f} | {mean:+.1f} | {len(long) / len(slots):.0%} | {len(shared)} |")


def like_a_corpus(rng: random.Random) -> list[Slot]:
    kinds = [kind for kind, count in KINDS.items() for _ in range(count)]
    rng.shuffle(kinds)
    lengths = rng.choices(list(LETTERS), list(LETTERS.values()), k=len(kinds))
    genders: tuple[dict[str, str], ...] = ({"gender": "m"}, {"gender": "f"}, {})
    return [
        Slot(id=f"n{i}", kind=kind, original="x" * length, traits=genders[i % 3] if kind == "given" else {})
        for i, (kind, length) in enumerate(zip(kinds, lengths, strict=True))
    ]


if __name__ == "__main__":
    main()
