"""Progress for people: on stderr, so that data on stdout stays clean."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from ragstone.parallel import Done
from ragstone.progress import Tick, nothing

talk = Console(stderr=True, highlight=False, soft_wrap=True)


class Rate(ProgressColumn):
    """Items a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "–/s")


@contextmanager
def shown(stage: str, total: int, spent: Callable[[], str] = nothing) -> Iterator[Tick]:
    """A bar with counts, rate, cost and time left on a terminal; elsewhere one line when the stage is done."""
    started, failed, finished, recalled = time.perf_counter(), 0, 0, 0
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    told = (TextColumn("{task.fields[spent]}"), TextColumn("{task.fields[failed]}"))
    with Progress(*columns, *told, console=talk, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(stage.replace("[", "\\["), total=total, failed="", spent="")

        def tick(item: Done[Any], has_failed: bool) -> None:
            nonlocal failed, finished, recalled
            finished += 1
            recalled += item.recalled
            failed += has_failed
            if not bar.disable:
                bar.update(task, advance=1, failed=f"[red]{failed} failed" if failed else "", spent=spent())

        yield tick
    if not sys.stderr.isatty():
        took = time.perf_counter() - started
        before = f" ({recalled} of them before)" if recalled else ""
        cost = f", {spent()}" if spent() else ""
        talk.print(f"{stage}: {finished} of {total}{before} in {took:.1f} s, {failed} failed{cost}", markup=False)
