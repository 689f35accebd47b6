"""Turns a benchmark into one with the same reasoning and new names."""
