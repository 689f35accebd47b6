"""Measures the model layer on a server of our own that takes 100 ms for every answer.

Calls a second beside the plain `openai` SDK, with the cache off; replies from the cache; memory over 100,000 calls; and
`ragstone eval` itself on 1,000 questions of one call each. The server and each contestant have a process of their own;
contestants take turns, because a machine may be busy, and a figure is the median over rounds after a warm-up. The ideal
rate is concurrency / 100 ms. Run it with `python benchmarks/llm.py [SECTION…]`; it prints Markdown. If the SDK is in
another environment, OPENAI_PYTHON names that environment's Python.
"""

import importlib
import itertools
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

SERVER = Path(__file__).parents[1] / "tests" / "fault_server.py"
LATENCY = 0.1
ROUNDS = 3
SECONDS = 4  # that a round would take at the ideal rate
REQUIRED = {64: 0.85, 256: 0.60}
PROMPT = "word " * 200


def main(sections: list[str]) -> None:
    print(f"{machine()}\n")
    for name in sections or ["clients", "cache", "memory", "eval"]:
        {"clients": clients, "cache": cached, "memory": memory, "eval": evaluation}[name]()
        print()


def machine() -> str:
    return f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}, {versions()}"


def versions() -> str:
    from importlib.metadata import version

    return ", ".join(f"{name} {version(name)}" for name in ("ragstone", "pydantic", "orjson"))


@contextmanager
def serving(latency: float = LATENCY) -> Iterator[str]:
    command = [sys.executable, str(SERVER), "--latency", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


# ── clients ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def clients() -> None:
    print(f"### Calls to a server of {LATENCY * 1000:.0f} ms, prompts of {len(PROMPT.split())} words, cache off\n")
    print("| client | concurrency | calls/s | share of the ideal rate | required | CPU-ms a call |")
    print("|---|---:|---:|---:|---:|---:|")
    pythons = {"ragstone": sys.executable} | ({"openai": found} if (found := sdk_python()) else {})
    with serving() as url:
        for concurrency, required in REQUIRED.items():
            rounds = [{name: raced(name, pythons[name], url, concurrency) for name in pythons} for _ in range(ROUNDS)]
            for name in pythons:
                rate, cpu = (median(result[name][part] for result in rounds) for part in (0, 1))
                wanted = f"{required:.0%}" if name == "ragstone" else ""
                share = rate / (concurrency / LATENCY)
                label = name if name == "ragstone" else f"openai SDK {sdk_version(pythons[name])}, threads"
                print(f"| {label} | {concurrency} | {rate:,.0f} | {share:.0%} | {wanted} | {cpu:.2f} |")
    if "openai" not in pythons:
        print("\nThe `openai` SDK is not here: `python -m venv DIR && DIR/bin/pip install openai`, and set ", end="")
        print("OPENAI_PYTHON=DIR/bin/python to measure it as well.")


def sdk_python() -> str | None:
    python = os.environ.get("OPENAI_PYTHON", sys.executable)
    return python if subprocess.run([python, "-c", "import openai"], capture_output=True).returncode == 0 else None


def sdk_version(python: str) -> str:
    return subprocess.check_output([python, "-c", "import openai; print(openai.__version__)"], text=True).strip()


def raced(name: str, python: str, url: str, concurrency: int) -> tuple[float, float]:
    """Calls a second and CPU milliseconds a call, in a process of its own."""
    found = subprocess.check_output([python, __file__, "race", name, url, str(concurrency)], text=True)
    rate, cpu = json.loads(found)
    return rate, cpu


def race(name: str, url: str, concurrency: int) -> None:
    ask = {"ragstone": by_ragstone, "openai": by_sdk}[name](url, concurrency)
    in_threads(ask, concurrency, (f"warm-up {n} {PROMPT}" for n in range(5 * concurrency)))
    start, cpu = time.perf_counter(), cpu_seconds()
    prompts = int(concurrency / LATENCY * SECONDS * (1.0 if name == "ragstone" else 0.2))  # the SDK is slower
    in_threads(ask, concurrency, (f"{n} {PROMPT}" for n in range(prompts)))
    seconds = time.perf_counter() - start
    print(json.dumps([prompts / seconds, (cpu_seconds() - cpu) / prompts * 1000]))


def by_ragstone(url: str, concurrency: int) -> Callable[[str], object]:
    from ragstone.llm.client import Chat
    from ragstone.llm.model import LanguageModel, asked
    from ragstone.llm.options import Options
    from ragstone.llm.transport import Server

    model = LanguageModel(Chat("test", Server(url, concurrency=concurrency), Options()))
    return lambda prompt: model.ask(asked(prompt))


def by_sdk(url: str, concurrency: int) -> Callable[[str], object]:
    openai = importlib.import_module("openai")
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    create: Callable[..., object] = client.chat.completions.create
    return lambda prompt: create(
        model="test", messages=[{"role": "user", "content": prompt}], temperature=0.0, max_tokens=1024
    )


def in_threads(ask: Callable[[str], object], concurrency: int, prompts: Iterator[str]) -> None:
    """Every prompt once; a thread takes the next as soon as it is free."""
    lock = threading.Lock()

    def taken() -> Iterator[str]:
        while True:
            with lock:
                prompt = next(prompts, None)
            if prompt is None:
                return
            yield prompt

    def work() -> None:
        for prompt in taken():
            ask(prompt)

    threads = [threading.Thread(target=work) for _ in range(concurrency)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


# ── the cache ────────────────────────────────────────────────────────────────────────────────────────────────────────


def cached() -> None:
    from ragstone.llm.cache import ReplyCache
    from ragstone.llm.client import Chat
    from ragstone.llm.model import LanguageModel, asked
    from ragstone.llm.options import Options
    from ragstone.llm.transport import Server

    print("### Replies from the cache\n")
    print("| threads | replies/s | required | CPU-µs a reply |")
    print("|---:|---:|---:|---:|")
    with serving(0.0) as url, tempfile.TemporaryDirectory() as folder:
        cache = ReplyCache(Path(folder))
        model = LanguageModel(Chat("test", Server(url, concurrency=16), Options()), cache)
        calls = {f"{n}": asked(f"{n} {PROMPT}") for n in range(5000)}

        def took(threads: int) -> tuple[float, float]:
            start, cpu = time.perf_counter(), cpu_seconds()
            in_threads(lambda n: model.ask(calls[n]), threads, iter(calls))
            return time.perf_counter() - start, cpu_seconds() - cpu

        took(16)  # these are asked for
        for threads in (1, 8):
            seconds, cpu = map(median, zip(*(took(threads) for _ in range(5)), strict=True))
            rate, cost = len(calls) / seconds, cpu / len(calls) * 1e6
            print(f"| {threads} | {rate:,.0f} | {'20,000' if threads == 1 else ''} | {cost:.0f} |")
        cache.close()


# ── memory ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def memory() -> None:
    """On a server that answers at once, in a process of its own."""
    print("### Memory over 100,000 calls at concurrency 64\n")
    print("| calls | resident MB |")
    print("|---:|---:|")
    with serving(0.0) as url:
        found = subprocess.check_output([sys.executable, __file__, "remember", url], text=True)
    for calls, megabytes in json.loads(found):
        print(f"| {calls:,} | {megabytes:.0f} |")


def remember(url: str) -> None:
    ask, found, done = by_ragstone(url, 64), [], 0
    numbers = itertools.count()
    for calls in (10_000, 50_000, 100_000):
        in_threads(ask, 64, (f"{next(numbers)} {PROMPT}" for _ in range(calls - done)))
        done = calls
        found.append((calls, resident_megabytes()))
    print(json.dumps(found))


def resident_megabytes() -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # the peak, in bytes on macOS


# ── the whole command ────────────────────────────────────────────────────────────────────────────────────────────────


def evaluation(count: int = 1000, concurrency: int = 64) -> None:
    print(f"### `ragstone eval`: {count:,} questions of one call each at concurrency {concurrency}\n")
    with serving() as url, tempfile.TemporaryDirectory() as folder:
        whole = evaluate(url, Path(folder), count, concurrency)
        with urllib.request.urlopen(url.removesuffix("/v1") + "/counts") as answer:
            told = json.loads(answer.read())
    assert told["requests"] == count, told
    seconds = told["last"] - told["first"] + LATENCY  # from the first request to the last answer
    print("| questions/s after start-up | required | ideal | whole command, s |")
    print("|---:|---:|---:|---:|")
    print(f"| {count / seconds:,.0f} | 500 | {concurrency / LATENCY:,.0f} | {whole:.1f} |")


def evaluate(url: str, folder: Path, count: int, concurrency: int) -> float:
    """The seconds that the command takes."""
    from ragstone.store import save
    from ragstone.types import Benchmark, Question

    questions = tuple(Question(id=f"q{n}", text=f"Who is number {n}?", answers=((f"{n}",),)) for n in range(count))
    save(Benchmark(questions=questions), folder / "bench")
    command: list[Any] = [Path(sys.executable).parent / "ragstone", "eval", folder / "bench", "--out", folder / "run"]
    command += ["--system", "closed_book", "--metric", "covered", "--model", "openai:test", "--base-url", url]
    start = time.perf_counter()
    subprocess.run(
        [*command, "--concurrency", str(concurrency)],
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"RAGSTONE_CACHE": str(folder / "cache")},
    )
    return time.perf_counter() - start


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["race", name, url, concurrency]:
            race(name, url, int(concurrency))
        case ["remember", url]:
            remember(url)
        case sections:
            main(sections)
