"""Coins what fills the slots of a template: names, years, numbers, countries.

Everything goes by key: a value depends on the draw, the salt and the slot, never on other state.
"""

from ragstone.naming.coining import Style, coin
from ragstone.naming.cultures import CULTURES, guess_culture
from ragstone.naming.known import word_list
from ragstone.naming.moulds import SLICES, slice_of

__all__ = ["CULTURES", "SLICES", "Style", "coin", "guess_culture", "slice_of", "word_list"]
