"""Reasoning graphs: their shape, their likeness, what follows from them, and how they are rewired."""

from ragstone.graphs.alignment import Alignment, aligned, noise_floor
from ragstone.graphs.execution import Plan, answer_of, carry_out, execute, on_path, plan, reasoning
from ragstone.graphs.rewiring import Rewired, rewire
from ragstone.graphs.shape import Statistics, drift, isomorphic, mean_drift, roles, statistics

__all__ = [
    "Alignment",
    "Plan",
    "Rewired",
    "Statistics",
    "aligned",
    "answer_of",
    "carry_out",
    "drift",
    "execute",
    "isomorphic",
    "mean_drift",
    "noise_floor",
    "on_path",
    "plan",
    "reasoning",
    "rewire",
    "roles",
    "statistics",
]
