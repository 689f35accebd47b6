"""The project keeps its own rules: layers, public names, light imports, documented components, examples that run."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import distribution, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import ragstone
from ragstone.kit import Component, role
from ragstone.plugins import TABLES, create, find
from ragstone.types import Benchmark

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "ragstone"

LAYERS = [
    {"version", "types", "errors", "text"},
    {"files", "gazetteer", "graphs", "matching", "slots", "progress", "prompts", "stats"},
    {"folders"},
    {"kit", "journal", "store"},
    {"parallel"},
    {"llm", "retrieval", "extract", "naming"},
    {"sources", "recipes", "checks", "systems", "metrics"},
    {"plugins", "config"},
    {"load", "run", "score"},
    {"report.table"},
    {"run_folder"},
    {"growing"},
    {"build", "draw", "evaluate", "audit"},
    {"exchange", "review", "report", "__init__"},
    {"terminal", "cli", "__main__"},
]
PLUGIN_FOLDERS = {"sources", "recipes", "checks", "systems", "metrics"}


def layer(module: str) -> int:
    parts = module.removeprefix("ragstone").lstrip(".").split(".")
    for name in (".".join(parts[:2]), parts[0] or "__init__"):
        for level, names in enumerate(LAYERS):
            if name in names:
                return level
    raise AssertionError(f"{module} is in no layer: put it into LAYERS")


def imports() -> Iterator[tuple[str, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        importer = ".".join(("ragstone", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ragstone"):
                for alias in node.names if node.module == "ragstone" else [None]:
                    yield importer, f"ragstone.{alias.name}" if alias else str(node.module)


def test_imports_only_go_down() -> None:
    wrong = [f"{a} imports {b}" for a, b in imports() if layer(b) > layer(a)]
    assert not wrong


def test_plugin_folders_do_not_import_each_other() -> None:
    pairs = [(a.split(".")[1], b.split(".")[1]) for a, b in imports() if a.count(".") and b.count(".")]
    assert not [(a, b) for a, b in pairs if {a, b} <= PLUGIN_FOLDERS and a != b]


def test_public_names_are_listed_and_sorted() -> None:
    assert ragstone.__all__ == sorted(ragstone.__all__, key=lambda name: (name.islower(), name))
    assert all(hasattr(ragstone, name) for name in ragstone.__all__)


COMPONENTS = [(kind, name) for kind, table in TABLES.items() for name in table]


@pytest.mark.parametrize(("kind", "name"), COMPONENTS, ids=[name for _, name in COMPONENTS])
def test_every_listed_component_can_be_made_and_is_documented(kind: type[Component], name: str) -> None:
    component = create(kind, name)
    assert component.name == name
    assert create(kind, repr(component)) == component
    assert (component.__doc__ or "").strip()
    page = (ROOT / "docs" / f"{kind.__name__.lower()}s.md").read_text("utf-8")
    assert f"`{name}`" in page, f"docs/{kind.__name__.lower()}s.md does not tell of `{name}`"


@pytest.mark.parametrize(("kind", "name"), COMPONENTS, ids=[name for _, name in COMPONENTS])
def test_every_field_is_declared_identity_or_runtime_and_says_what_it_is(kind: type[Component], name: str) -> None:
    for field, info in find(kind, name).model_fields.items():
        assert role(info) in ("identity", "runtime"), f"{name}.{field} must be declared identity(…) or runtime(…)"
        assert info.description


# ── a light core ─────────────────────────────────────────────────────────────────────────────────────────────────────


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_import_takes_less_than_half_a_second() -> None:
    code = "import time; t = time.process_time(); import ragstone; print(time.process_time() - t)"
    assert min(float(python(code)) for _ in range(3)) < 0.5


def test_import_opens_no_connection_starts_no_process_and_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "seen = []\n"
        "sys.addaudithook(lambda event, args: seen.append(event))\n"
        "import ragstone\n"
        "calls = ('socket.', 'subprocess.', 'os.system', 'os.posix_spawn', 'os.fork')\n"
        "print([event for event in seen if event.startswith(calls)])\n"
        "print([m for m in ('torch', 'numpy', 'scipy', 'spacy', 'wordllama', 'bm25s', 'httpx') if m in sys.modules])\n"
    )
    assert python(code).splitlines() == ["[]", "[]"]


def closure(name: str, extra: str, seen: set[str]) -> set[str]:
    """The package and all it needs, read off what is installed."""
    if name.lower() not in seen:
        seen.add(name.lower())
        for text in requires(name) or []:
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                closure(needed.name, next(iter(needed.extras), ""), seen)
    return seen


def test_the_core_has_at_most_55_packages_and_no_torch() -> None:
    core = closure("ragstone", "", set())
    with_embedded = closure("ragstone", "embedded", set())
    assert len(core) <= 55
    assert len(with_embedded) <= 55
    assert not {"torch", "litellm", "langchain"} & with_embedded
    assert distribution("ragstone").version == ragstone.__version__


def test_constraints_name_no_index_and_pin_every_package_by_hash() -> None:
    text = (ROOT / "constraints.txt").read_text("utf-8")
    assert "://" not in text
    assert "--index-url" not in text
    pins = re.split(r"\n(?=\S)", re.sub(r"(?m)^\s*#.*\n?", "", text))
    assert all("--hash=sha256:" in pin for pin in pins if "==" in pin)
    assert sum("==" in pin for pin in pins) > 30


# ── words that run ───────────────────────────────────────────────────────────────────────────────────────────────────


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text("utf-8"), re.DOTALL)


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like a user's, with the files that the examples name."""
    sample = ragstone.load("sample")
    replies = [{"when": question.text, "reply": question.answers[0][0]} for question in sample.questions]
    (tmp_path / "replies.jsonl").write_text("".join(json.dumps(reply) + "\n" for reply in replies), "utf-8")
    (tmp_path / "hotpot_dev.json").write_text(json.dumps(as_hotpotqa(sample)), "utf-8")
    (tmp_path / "my_texts").mkdir()
    (tmp_path / "my_texts" / "rivers.md").write_text("# Rivers\n\nThe Nile ends in the Mediterranean Sea.\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    return tmp_path


def as_hotpotqa(benchmark: Benchmark) -> list[dict[str, object]]:
    """A benchmark in HotpotQA's own format: each question with its evidence and a few other passages."""
    documents = {document.id: document for document in benchmark.documents}
    others = {document.title: [document.text] for document in benchmark.documents[:8]}
    records: list[dict[str, object]] = []
    for question in benchmark.questions:
        gold = [documents[group[0].document_id] for group in question.evidence]
        records.append(
            {
                "_id": question.id,
                "question": question.text,
                "answer": question.answers[0][0],
                "type": question.labels["type"],
                "supporting_facts": [[document.title, 0] for document in gold],
                "context": list((others | {document.title: [document.text] for document in gold}).items()),
            }
        )
    return records


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_example_in_the_docs_runs(page: Path, workplace: Path) -> None:
    """The blocks of a page in their order; in shell blocks, the lines that call ragstone."""
    for language, block in re.findall(r"```(bash|python)\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        if language == "python":
            exec(compile(block, page.name, "exec"), {"__name__": "example"})
            continue
        for command in [line for line in block.splitlines() if line.startswith("ragstone ")]:
            done = subprocess.run(command, shell=True, capture_output=True, text=True)
            assert done.returncode == 0, f"{command}\n{done.stderr}"


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_every_example_script_runs(script: Path, workplace: Path) -> None:
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout
