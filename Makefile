# `make demo` runs the main job, `make test` the tests; both set up .venv first. Python 3.11 or newer is all they need.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-all lint bench clean
.DELETE_ON_ERROR:

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; try make PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: .venv/installed
	$(BIN)/ace-checkers demo

test: .venv/installed
	$(BIN)/python -m pytest -n auto

test-all: .venv/installed
	$(BIN)/python -m pytest -n auto -m ''

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/installed
	$(BIN)/ace-checkers bench

clean:
	rm -rf .venv build *.egg-info demo-out
