"""The audit driver: measures what a benchmark promises, beside the original that it was made from."""

from ragstone.audit.driver import audit, foresee_audit, place_for
from ragstone.audit.records import Audit

__all__ = ["Audit", "audit", "foresee_audit", "place_for"]
