"""Ragstone: a touchstone for retrieval-augmented generation.

import ragstone as rs

benchmark = rs.build("sample", "hotpot_dev.json", n=50)
run = rs.evaluate(benchmark, systems=["bm25", "dense"], metrics=["recall@5"])
run.table()
"""

from ragstone.build import build
from ragstone.config import Settings
from ragstone.errors import ConfigError, DataError, ModelError, RagstoneError
from ragstone.evaluate import evaluate, rescore
from ragstone.kit import Answerer, Check, Kit, Metric, Recipe, Source, System, identity, runtime
from ragstone.load import load
from ragstone.run_folder import Run
from ragstone.store import save
from ragstone.types import (
    Answer,
    Benchmark,
    Document,
    Draft,
    Entity,
    Evidence,
    Fact,
    Failure,
    Passage,
    Query,
    Question,
    ReasoningGraph,
    Rejection,
    Score,
    Usage,
    Verdict,
)
from ragstone.version import __version__

__all__ = [
    "Answer",
    "Answerer",
    "Benchmark",
    "Check",
    "ConfigError",
    "DataError",
    "Document",
    "Draft",
    "Entity",
    "Evidence",
    "Fact",
    "Failure",
    "Kit",
    "Metric",
    "ModelError",
    "Passage",
    "Query",
    "Question",
    "RagstoneError",
    "ReasoningGraph",
    "Recipe",
    "Rejection",
    "Run",
    "Score",
    "Settings",
    "Source",
    "System",
    "Usage",
    "Verdict",
    "__version__",
    "build",
    "evaluate",
    "identity",
    "load",
    "rescore",
    "runtime",
    "save",
]
