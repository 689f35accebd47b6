"""Embedders: what turns texts into vectors. A spec is `wordllama`, `sentence-transformers:MODEL`, `fastembed:MODEL` or
`openai:MODEL`, the last for any server with an embeddings endpoint of that form (`endpoint.py`).
"""

import importlib
import importlib.util
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import ConfigError
from ragstone.kit import Embedder
from ragstone.llm.options import read_spec, refuse_options, shown_spec
from ragstone.retrieval.dense import unit

Vectors = NDArray[np.float32]
Role = Literal["query", "passage"]

PROMPTS = {"query": ("query",), "passage": ("passage", "document", "corpus")}
"""The names that models give to their prompts for each role."""


def open_embedder(text: str) -> Embedder:
    """The embedder in this process that a spec names. Its model is loaded when it is first used."""
    spec = read_spec(text)
    refuse_options(spec, spec.options.told)
    if spec.kind == "wordllama" and spec.rest in ("", WordLlama.model):
        return WordLlama()
    if spec.kind in LOCAL and spec.rest:
        return LOCAL[spec.kind](spec.rest)
    known = ", ".join(["wordllama", *(f"{name}:MODEL" for name in (*LOCAL, "openai"))])
    raise ConfigError(f"no embedder {shown_spec(text)!r}; there are {known}")


def needed(package: str, extra: str) -> ConfigError:
    return ConfigError(f"this embedder needs the package {package}, which is not here; pip install 'ragstone[{extra}]'")


class WordLlama:
    """Static vectors of 256 numbers, from the files inside the package `wordllama`: English, offline, fast.

    The package itself is not imported: it would set up logging, and does not find its own tokenizer without a network.
    """

    model = "l2_supercat_256"
    name = f"wordllama:{model}"
    languages = ("en",)
    batch = 256

    def __init__(self) -> None:
        self._lock = Lock()  # one load, whichever thread comes first

    @cached_property
    def _loaded(self) -> tuple[Any, Vectors]:
        """The tokenizer, and a vector for each of its tokens."""
        package = importlib.util.find_spec("wordllama")
        if package is None or package.origin is None:
            raise needed("wordllama", "embedded")
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        folder = Path(package.origin).parent
        tokenizer, weights = folder / "tokenizers/l2_supercat_tokenizer_config.json", folder / f"weights/{self.model}"
        if not tokenizer.is_file() or not weights.with_suffix(".safetensors").is_file():
            raise ConfigError(f"the package wordllama in {folder} has no {self.model}; install its version 0.4")
        vectors = load_file(weights.with_suffix(".safetensors"))["embedding.weight"]
        return Tokenizer.from_file(str(tokenizer)), vectors.astype(np.float32)

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """The mean of the tokens' vectors; the same for queries and passages."""
        with self._lock:
            tokenizer, vectors = self._loaded
        means = np.zeros((len(texts), vectors.shape[1]), dtype=np.float32)
        for start in range(0, len(texts), self.batch):
            batch = tokenizer.encode_batch_fast(texts[start : start + self.batch], add_special_tokens=False)
            for row, found in enumerate(batch, start):
                if found.ids:
                    means[row] = vectors[found.ids].mean(axis=0)
            means[start : start + self.batch] = unit(means[start : start + self.batch])
        return means


class Local:
    """A model that another package runs in this process."""

    package = ""
    languages: tuple[str, ...] = ()  # only its users know

    def __init__(self, model: str) -> None:
        self.model = model
        self._lock = Lock()

    @property
    def name(self) -> str:
        return f"{self.package}:{self.model}"

    @cached_property
    def _loaded(self) -> Any:
        try:
            module = importlib.import_module(self.package.replace("-", "_"))
        except ModuleNotFoundError as error:
            raise needed(error.name or self.package, self.package) from error
        try:
            return self.load(module)
        except (OSError, ValueError) as error:
            reason = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
            raise ConfigError(f"cannot load the embedder {self.name}: {reason}; check its name or path") from error

    def load(self, module: Any) -> Any:
        raise NotImplementedError

    def vectors(self, model: Any, texts: list[str], role: Role) -> Any:
        raise NotImplementedError

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        with self._lock:
            model = self._loaded
        return unit(np.asarray(self.vectors(model, list(texts), role), dtype=np.float32))


class SentenceTransformers(Local):
    """Uses the prompt that the model names for queries or passages, where it names one."""

    package = "sentence-transformers"

    def load(self, module: Any) -> Any:
        return module.SentenceTransformer(self.model)

    def vectors(self, model: Any, texts: list[str], role: Role) -> Any:
        prompt = next((name for name in PROMPTS[role] if name in model.prompts), None)
        return model.encode(texts, prompt_name=prompt, show_progress_bar=False, convert_to_numpy=True)


class FastEmbed(Local):
    """ONNX models without torch."""

    package = "fastembed"

    def load(self, module: Any) -> Any:
        return module.TextEmbedding(model_name=self.model)

    def vectors(self, model: Any, texts: list[str], role: Role) -> Any:
        return list(model.query_embed(texts) if role == "query" else model.passage_embed(texts))


LOCAL: dict[str, type[Local]] = {kind.package: kind for kind in (SentenceTransformers, FastEmbed)}
