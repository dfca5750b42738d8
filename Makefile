# Every target sets up what it needs and may be run again at any time.
SHELL := /bin/bash
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
export LOOM_HOME ?= $(CURDIR)/data
export DAGSTER_HOME := $(LOOM_HOME)/dagster
export HF_HUB_OFFLINE ?= 1
# With compiled modules each command starts a second sooner.
export PYTHONDONTWRITEBYTECODE :=

ifdef CORPUS
export LOOM_CORPUS := $(abspath $(CORPUS))
endif
ifdef PROFILE
export LOOM_PROFILE := $(PROFILE)
endif

.DEFAULT_GOAL := help
.PHONY: help setup demo run dry-run sql ui calls review offline-server test test-all \
	test-nightly test-orders test-load test-faults durations golden pictures test-label-studio test-mediawiki strangers check bench-gateway bench-ingest \
	bench-cluster bench-duplicates bench-overlap bench-edits bench-review bench-statistics bench-evaluate \
	lock backup restore \
	ledger-check ledger-salvage import-release import-predictions remove-predictions import-scores releases diff \
	ask check-model ask-anew clean task-map learning-difficulty image-limits dialogue-shape

help: ## This list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18

setup: $(VENV)/.ready ## A virtual environment with the locked dependencies

$(VENV)/.ready: requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "vlm-loom needs Python 3.11: install it or set PYTHON=/path/to/python3.11."; exit 2; }
	@echo "Setting up $(VENV) (some minutes the first time) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: setup ## From WIT rows to a leaderboard on the sample corpus (CORPUS=folder, PROFILE=openai)
	@$(BIN)/python -m dagster_project.demo

run: setup ## One job on the home there is (JOB=build, cluster, ..., release, evaluate; PROFILE=openai)
	@$(BIN)/python -m dagster_project.run $(call said,JOB,job)

dry-run: setup ## What the main job would ask models, and what it would cost; asks nothing
	@$(BIN)/python -m dagster_project.dry_run

ui: setup ## The Dagster UI with daemon and code location, on loopback
	@$(BIN)/python -m dagster_project.ui

sql: setup ## A prompt on a copy of the tables, or one query (Q="SELECT ..."); runs go on meanwhile
	@$(BIN)/python -m dagster_project.sql $(if $(Q),-- "$$Q")

calls: setup ## What was asked of models, what came and what it cost, in a browser (PORT=8095)
	@$(BIN)/python -m dagster_project.calls

review: setup ## The review app on what the demo made, with accounts to try it (PORT=8090)
	@$(BIN)/python -m review demo --port $(or $(PORT),8090)

offline-server: setup ## The offline model server by itself (PORT=8099)
	@$(BIN)/python -m resources.offline --port $(or $(PORT),8099)

check: setup ## Lint, types, import direction
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

# A worker more than there are cores uses what another waits for; their linear algebra has one thread each.
PYTEST := env OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
  $(BIN)/python -m pytest -n $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) --maxprocesses 4

test: check ## All checks, the fast tests and the main job (about 5 minutes on 2 cores)
	@$(PYTEST) --tier=fast

test-all: check ## All checks and all tests but the exhaustive ones, as CI runs them (about 15 minutes)
	@$(PYTEST) --tier=all

test-nightly: check ## Every case of each law, the tests on Label Studio and MediaWiki, the newest Dagster (hours)
	@$(PYTEST) --tier=nightly
	@$(BIN)/python -m tests.label_studio
	@$(BIN)/python -m tests.mediawiki
	@$(BIN)/python -m tests.newest_dagster

test-orders: setup ## All tests in three random orders (SEEDS="1 2 3", TIER=fast)
	@set -e; for seed in $(or $(SEEDS),$$RANDOM $$RANDOM $$RANDOM); do \
	  $(PYTEST) --tier=$(or $(TIER),all) --random-order --random-order-seed=$$seed; done

test-load: setup ## All tests while three busy processes a core run beside them (TIER=fast)
	@$(BIN)/python -m tests.busy 3 $(PYTEST) --tier=$(or $(TIER),all)

test-faults: setup ## Plant each fault of tests/faults, and see which test notices it (about 1 hour)
	@$(BIN)/python -m tests.faults cover
	@$(BIN)/python -m tests.faults run

durations: setup ## What each test takes, anew: tests/durations.json and the figures of the testing guide
	@$(PYTEST) --tier=all
	@$(BIN)/python -m tests.plugins.timings

golden: setup ## Write the golden files anew, to be read in the diff
	@$(BIN)/python -m pytest tests/golden --regenerate-golden

pictures: setup ## Every picture of docs/pictures anew, from a fresh demo home (Chromium; about 5 minutes)
	@$(BIN)/python -m tests.pictures

test-label-studio: setup ## Forms and round trips on a real Label Studio, in an environment of its own (about 6 minutes)
	@$(BIN)/python -m tests.label_studio

test-mediawiki: setup ## Pages of a real MediaWiki, with PHP and SQLite (Debian's packages; RECORD=yes writes its replies down)
	@$(BIN)/python -m tests.mediawiki

strangers: setup ## The main job on real corpora and odd models that it was not made for (ONLY="sky flags"; about 15 minutes)
	@$(BIN)/python -m tests.strangers $(ONLY)

bench-gateway: setup ## What the gateway costs against the plain client and the ideal (about 5 minutes)
	@$(BIN)/python -m tests.bench.gateway

image-limits: setup ## What the limits on pictures leave out of real ones: docs/guides/image-limits.md (about 1 minute)
	@$(BIN)/python -m tests.bench.image_limits

bench-ingest: setup ## What ingestion costs against unpacking and decoding alone (about 5 minutes)
	@$(BIN)/python -m tests.bench.ingest

bench-cluster: setup ## What clustering costs against sentence-transformers and FAISS (about 8 minutes); N=1000000 for so many
	@$(BIN)/python -m tests.bench.cluster $(if $(N),--grown="$$N")

bench-duplicates: setup ## How many planted copies of real pictures are found, and how many that are none; fetches 500 MB once (about 5 minutes)
	@$(BIN)/python -m tests.bench.duplicates

bench-overlap: setup ## How many planted leaks of real texts are found, and what is named that is none (about 2 minutes)
	@$(BIN)/python -m tests.bench.overlap

bench-edits: setup ## What small edits of captions cost: places in groups and clusters, image sets (about 2 minutes)
	@$(BIN)/python -m tests.bench.edits

bench-review: setup ## Twenty annotators on 5,000 items for a minute, and a killed server (about 3 minutes)
	@$(BIN)/python -m tests.bench.review

bench-statistics: setup ## What a leaderboard's intervals and comparisons cost against scipy (about 2 minutes)
	@$(BIN)/python -m tests.bench.statistics

bench-evaluate: setup ## What evaluation costs against the time that models take: choices and dialogues; imported responses (about 15 minutes)
	@$(BIN)/python -m tests.bench.evaluate

lock: ## Resolve dependencies anew into requirements.lock
	@rm -rf $(VENV)-lock
	@$(PYTHON) -m venv $(VENV)-lock
	@$(VENV)-lock/bin/python -m pip install --quiet --disable-pip-version-check setuptools ".[dev]"
	@{ echo "# Made by 'make lock'; every version the project runs on."; \
	   $(VENV)-lock/bin/python -m pip freeze --all --exclude vlm-loom --exclude pip \
	   | sed -E 's/^(torch==[0-9.]+)[+@ ].*/\1/'; } > requirements.lock
	@rm -rf $(VENV)-lock

# What a path has in it is the shell's to see as it is: make hands its command line on as variables.
backup: setup ## Copy the home while it is in use (TO=folder; backups/<time> beside the home)
	@$(BIN)/python -m dagster_project.home backup $(if $(TO),--to="$$TO")

restore: setup ## Make a backup the home (FROM=folder; OVERWRITE=yes puts an earlier home aside)
	@$(BIN)/python -m dagster_project.home restore --from="$$FROM" $(if $(OVERWRITE),--overwrite="$$OVERWRITE")

ledger-check: setup ## Read every page and row of the ledger; says what is wrong with it
	@$(BIN)/python -m dagster_project.home ledger-check

ledger-salvage: setup ## Make a new ledger of what can be read of a damaged one, which is kept
	@$(BIN)/python -m dagster_project.home ledger-salvage

# Shells and systems have a NAME and a LANGUAGE of their own: these count only if they are given to make.
said = $(if $(filter command,$(origin $(1))),--$(2)="$$$(1)")
import-release: setup ## A release's folder (FROM=folder), or BENCHMARK=mmdu FILE=file (IMAGES=folder NAME= SPLIT= LANGUAGE=)
	@$(BIN)/python -m $(if $(filter command,$(origin BENCHMARK) $(origin FILE)),dagster_project.releases import $(foreach name,BENCHMARK FILE IMAGES NAME SPLIT LANGUAGE,$(call said,$(name),$(shell echo $(name) | tr A-Z a-z))),dagster_project.home import-release --from="$$FROM")

import-predictions: setup ## Predictions made elsewhere (RELEASE=name FILE=preds.xlsx MODEL=name), scored by evaluate
	@$(BIN)/python -m dagster_project.predictions import $(call said,RELEASE,release) $(call said,FILE,file) $(if $(MODEL),--model="$$MODEL")

remove-predictions: setup ## Take them out again (RELEASE=name MODEL=name)
	@$(BIN)/python -m dagster_project.predictions remove $(call said,RELEASE,release) $(if $(MODEL),--model="$$MODEL")

import-scores: setup ## Scores of answers that people gave elsewhere (RELEASE=name FILE=scores.csv)
	@$(BIN)/python -m dagster_project.human_scores $(call said,RELEASE,release) $(call said,FILE,file)

releases: setup ## List releases (CMD="show ID", "diff A B", "pin ID", "unpin NAME", "retire NAME", "clean ID")
	@$(BIN)/python -m dagster_project.releases $(or $(CMD),list)

diff: setup ## Two releases side by side (A=release B=release: ids or names; A alone: with its parent)
	@$(BIN)/python -m dagster_project.releases diff $(foreach name,A B,"$(if $(filter command,$(origin $(name))),$$$(name))")

# The same without make's own reading of what stands behind a dollar sign.
$(foreach name,MODEL IMAGE Q,$(if $(value $(name)),$(eval override export $(name) := $$(value $(name)))))

ask: setup ## Ask a model one question (MODEL=name IMAGE=path Q="question"); paid for like any call
	@$(BIN)/python -m dagster_project.models ask $(if $(IMAGE),--image="$$IMAGE") -- "$$MODEL" "$$Q"

check-model: setup ## What a model can do, and the setting for what it cannot (MODEL=name); paid for, too
	@$(BIN)/python -m dagster_project.models check -- "$$MODEL"

ask-anew: setup ## Ask models anew what they have answered (MODEL=name STAGE=evaluate/answers PROMPT=mmdu/judge UNREAD=yes)
	@$(BIN)/python -m dagster_project.ask_anew $(if $(MODEL),--model="$$MODEL") $(if $(STAGE),--stage="$$STAGE") $(if $(PROMPT),--prompt="$$PROMPT") $(if $(UNREAD),--unread="$$UNREAD")

export-critic: setup ## What a critic is trained on, as files (RELEASE=name)
	@$(BIN)/python -m dagster_project.critic $(call said,RELEASE,release)

train-critic: setup ## Train a critic on them (CONFIG=file.yaml; ARGS="--data_folder ... --model_name_or_path ...")
	@$(BIN)/python docs/guides/critic/train.py --config $(or $(CONFIG),docs/guides/critic/config.yaml) $(ARGS)

task-map: setup ## A map of tasks from fine-tuned weights (VECTORS=folder BASE=folder OUT=file.html)
	@$(BIN)/python -m dagster_project.task_map weights $(if $(BASE),--base="$$BASE") $(if $(OUT),--out="$$OUT") -- "$$VECTORS"

learning-difficulty: setup ## Accuracies after fine-tuning beside models' scores, by task (ACCURACY=file.csv RELEASE=name)
	@$(BIN)/python -m dagster_project.task_map difficulty -- "$$ACCURACY" "$$RELEASE"

dialogue-shape: setup ## What dialogues at the paper's shape are like and would cost (CORPUS=folder PROFILE=openai OUT=file.md)
	@$(BIN)/python -m dagster_project.dialogue_shape $(call said,SETTINGS,settings) $(call said,OUT,out)

clean: setup ## Remove what can be made again: reports, downloads, caches (ALL=yes: the whole home)
	@$(BIN)/python -m dagster_project.home clean $(if $(ALL),--all="$$ALL")
