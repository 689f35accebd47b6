"""What several tests share. Real data is found by RAGSTONE_DATA; what is skipped for lack of it is printed."""

import os
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

from ragstone.config import Settings
from ragstone.types import Benchmark, Document, Evidence, Question

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("RAGSTONE_DATA", ROOT.parent / "shared" / "data"))

hypothesis_settings.register_profile("unhurried", deadline=None)  # a busy machine is no fault of the code
hypothesis_settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real benchmark samples."""
    if not DATA.is_dir():
        pytest.skip(f"needs the real data samples, and {DATA} is not there; set RAGSTONE_DATA")
    return DATA


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings that leave the user's own cache alone."""
    return Settings(cache=tmp_path / "cache")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a test calls, it does not touch the user's settings."""
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))
    for name in [name for name in os.environ if name.startswith("RAGSTONE_MODEL_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def rivers() -> Benchmark:
    """Three documents and three questions, small enough to work out by hand."""
    texts = {
        "nile": ("Nile", "The Nile flows through Egypt. It ends in the Mediterranean Sea."),
        "rhine": ("Rhine", "The Rhine flows through Germany. It ends in the North Sea."),
        "volga": ("Volga", "The Volga flows through Russia. It ends in the Caspian Sea."),
    }
    documents = tuple(Document(id=id, title=title, text=text) for id, (title, text) in texts.items())
    asked = {"nile": "Mediterranean Sea", "rhine": "North Sea", "volga": "Caspian Sea"}
    return Benchmark(documents=documents, questions=tuple(river(id, sea, texts[id][1]) for id, sea in asked.items()))


def river(id: str, sea: str, text: str) -> Question:
    start = text.index("It ends")
    quote = Evidence(document_id=id, quote=text[start:], start=start, end=len(text))
    return Question(
        id=f"q-{id}",
        text=f"In which sea does the {id.title()} end?",
        answers=((sea,),),
        evidence=((quote,),),
        labels={"hops": 1, "type": "long" if id == "nile" else "short"},
    )
