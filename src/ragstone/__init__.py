"""Ragstone: a touchstone for retrieval-augmented generation.

import ragstone as rs

benchmark = rs.build("sample", "hotpot_dev.json", n=50)
run = rs.evaluate(benchmark, systems=["bm25", "dense"], metrics=["recall@5"])
run.table()
"""

from ragstone.audit import Audit, audit
from ragstone.build import build
from ragstone.config import Settings
from ragstone.draw import draw
from ragstone.errors import BudgetReached, ConfigError, DataError, ModelError, RagstoneError, Waiting
from ragstone.evaluate import evaluate, foresee, rescore
from ragstone.kit import Answerer, Check, Kit, Metric, Recipe, Source, System, identity, runtime
from ragstone.llm.model import LanguageModel
from ragstone.llm.scripted import Scripted
from ragstone.load import load
from ragstone.run_folder import Run
from ragstone.store import save
from ragstone.types import (
    Answer,
    Benchmark,
    Call,
    Document,
    Draft,
    Entity,
    Evidence,
    Fact,
    Failure,
    Message,
    Passage,
    Query,
    Question,
    ReasoningGraph,
    Rejection,
    Reply,
    Score,
    Slot,
    Template,
    Usage,
    Verdict,
)
from ragstone.version import __version__

__all__ = [
    "Answer",
    "Answerer",
    "Audit",
    "Benchmark",
    "BudgetReached",
    "Call",
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
    "LanguageModel",
    "Message",
    "Metric",
    "ModelError",
    "Passage",
    "Query",
    "Question",
    "RagstoneError",
    "ReasoningGraph",
    "Recipe",
    "Rejection",
    "Reply",
    "Run",
    "Score",
    "Scripted",
    "Settings",
    "Slot",
    "Source",
    "System",
    "Template",
    "Usage",
    "Verdict",
    "Waiting",
    "__version__",
    "audit",
    "build",
    "draw",
    "evaluate",
    "foresee",
    "identity",
    "load",
    "rescore",
    "runtime",
    "save",
]
