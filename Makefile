# Setting up, testing and measuring. What is done with the project itself is `vlm-loom --help`.
SHELL := /bin/bash
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
export HF_HUB_OFFLINE ?= 1
# With compiled modules each command starts a second sooner.
export PYTHONDONTWRITEBYTECODE :=

LOCKED = $(VENV)-lock/bin/python -m pip freeze --all --exclude vlm-loom --exclude pip \
  | sed -E 's/^(torch==[0-9.]+)[+@ ].*/\1/'

.DEFAULT_GOAL := help
.PHONY: help setup demo ui check test test-all test-nightly test-peers test-real mutants strangers bench docs pictures lock

help: ## This list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18

setup: $(VENV)/.ready ## A virtual environment with the locked dependencies and the command .venv/bin/vlm-loom (2 GB)

# The lock files have all packages, so pip need not resolve what they depend on: a third of its time.
PIP_LOCKED = $(BIN)/python -m pip install --quiet --no-compile --no-deps --disable-pip-version-check

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "vlm-loom needs Python 3.11: install it or set PYTHON=/path/to/python3.11."; exit 2; }
	@echo "Setting up $(VENV) (some minutes the first time) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.ready: requirements.lock pyproject.toml | $(BIN)/python
	@$(PIP_LOCKED) -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# What tests and checks need as well. CI runs both at once, as pip uses one core.
$(VENV)/.developer-packages: requirements-dev.lock | $(BIN)/python
	@echo "Adding what tests and checks need to $(VENV) ..."
	@$(PIP_LOCKED) -r <(grep -v '^-r ' requirements-dev.lock)
	@touch $@

$(VENV)/.developer: $(VENV)/.ready $(VENV)/.developer-packages
	@touch $@

demo: setup ## From WIT rows to a leaderboard on the sample corpus; the same as vlm-loom demo
	@$(BIN)/vlm-loom demo

ui: setup ## The Dagster UI with daemon and code location, on loopback; the same as vlm-loom ui
	@$(BIN)/vlm-loom ui

check: $(VENV)/.developer ## Lint, types, import direction
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

# Two workers more than there are cores use what others wait for; their linear algebra has one thread each.
PYTEST := env OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
  $(BIN)/python -m pytest -n $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2) --maxprocesses 4 --dist worksteal

test: check ## All checks, the fast tests and the main job (about 5 minutes on 2 cores)
	@$(PYTEST) -m "not slow and not nightly" --hypothesis-profile=quick $(ARGS)

# A test that fails is run once more, and the summary lists it as RERUN: one in a thousand must not
# hold up a build, and must be seen. `make test` and `make test-nightly` run a test once.
# The checks run beside the tests, which leave a tenth of the cores idle.
test-all: $(VENV)/.developer ## All checks and all tests but the nightly ones, as CI runs them
	@$(MAKE) --no-print-directory check & checks=$$!; \
	$(PYTEST) -m "not nightly" --reruns 1 -r aR $(ARGS); tested=$$?; \
	wait $$checks && exit $$tested

test-nightly: check ## Every case of each law, and the tests on Label Studio, MediaWiki, llama.cpp and the newest Dagster (hours)
	@$(PYTEST) --hypothesis-profile=nightly $(ARGS)
	@$(BIN)/python -m tests.extras.label_studio
	@$(BIN)/python -m tests.mediawiki
	@$(BIN)/python -m tests.real
	@$(BIN)/python -m tests.newest_dagster

mutants: $(VENV)/.developer ## Which faults on the lines that differ from BASE, such as main, do TESTS, files or folders, let pass
	@$(BIN)/python -m tests.mutants $(BASE) $(TESTS)

strangers: $(VENV)/.developer ## The main job on real corpora and odd models that it was not made for (ONLY=stamps; about 15 minutes)
	@$(BIN)/python -m tests.strangers $(ONLY)

test-peers: $(VENV)/.developer ## Exports, run and read by the tools that they are for, in an environment of their own
	@test -d $(VENV)-peers || $(PYTHON) -m venv $(VENV)-peers
	@$(VENV)-peers/bin/python -m pip install --quiet --disable-pip-version-check inspect_ai==0.3.285 openai
	@test -d $(VENV)-peers/lmms-eval || $(BIN)/python -m pip install --quiet --no-deps \
	  --disable-pip-version-check --target $(VENV)-peers/lmms-eval -r tests/resources/exports/peer_lmms_eval.txt
	@test -d $(VENV)-peers/readers || $(BIN)/python -m pip install --quiet --no-deps \
	  --disable-pip-version-check --target $(VENV)-peers/readers -r tests/resources/exports/peer_readers.txt
	@PEERS=$(VENV)-peers $(BIN)/python -m pytest tests/resources/exports/peer_tasks.py \
	  tests/resources/exports/peer_readers.py

test-real: $(VENV)/.developer ## A real Ray cluster; the gateway with a real llama.cpp server and LiteLLM proxy, in an environment of their own
	@$(BIN)/python -m tests.real $(ARGS)

bench: $(VENV)/.developer ## A measurement, such as NAME=gateway: a table, and its figures as JSON (without NAME: which there are)
	@$(BIN)/python -m tests.bench $(NAME) $(ARGS)

docs: $(VENV)/.developer ## The documentation as a site in site/, with a reference of commands, settings and tables
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

pictures: $(VENV)/.developer ## Every picture of docs/pictures again, from a fresh demo home (Chromium; about 5 minutes)
	@$(BIN)/python -m tests.pictures

lock: ## Resolve dependencies again into requirements.lock (users) and requirements-dev.lock (tests and checks, too)
	@rm -rf $(VENV)-lock
	@$(PYTHON) -m venv $(VENV)-lock
	@$(VENV)-lock/bin/python -m pip install --quiet --disable-pip-version-check setuptools ".[build,shared]"
	@{ echo "# Made by 'make lock'; every version that building, evaluating and sharing run on."; \
	   $(LOCKED); } > requirements.lock
	@$(VENV)-lock/bin/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock ".[dev]"
	@{ echo "# Made by 'make lock'; what tests, checks and the other extras need beside it."; \
	   echo "-r requirements.lock"; $(LOCKED) | grep -vxFf requirements.lock; \
	   } > requirements-dev.lock
	@rm -rf $(VENV)-lock
