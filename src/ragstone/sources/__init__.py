"""Formats that benchmarks and corpora come in."""
