# Everything runs in .venv, which the first call makes. `make help` lists the targets.
.DEFAULT_GOAL := help
.PHONY: help reproduce test check fuzz format pin clean lint again
BIN := .venv/bin
RECIPE := pyproject.toml constraints.txt tools/setup.sh
# Another Python was asked for, or the folder was moved: look at the environment again.
RECIPE += $(if $(PYTHON),again) $(if $(wildcard .venv/.where),$(if $(filter-out $(shell cat .venv/.where),$(CURDIR)),again))
# Matplotlib keeps its font cache here rather than in a home folder that may not be writable.
export MPLCONFIGDIR := $(CURDIR)/.venv/matplotlib

help: ## this list
	@grep -hE '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

reproduce: .venv/.ready-run ## the figures of the paper, into results/
	@$(BIN)/grbp reproduce --out results

test: .venv/.ready-test ## lint, types and all tests
	@$(MAKE) --no-print-directory lint
	@echo "== tests"
	@$(BIN)/python -m pytest -n auto

check: .venv/.ready-test ## before a commit: formatting, lint, types, the fast tests
	@$(MAKE) --no-print-directory lint
	@echo "== fast tests"
	@$(BIN)/python -m pytest -n auto -m "not slow"

fuzz: .venv/.ready-test ## the tests that draw examples, with fresh draws and ten times as many
	@GRBP_EXAMPLES=fresh $(BIN)/python -m pytest -n auto -m hypothesis

lint: .venv/.ready-test
	@echo "== formatting and lint"
	@$(BIN)/ruff format --check --quiet . || { echo "run: make format" >&2; exit 1; }
	@$(BIN)/ruff check --quiet .
	@echo "== floors"
	@$(BIN)/lint-imports --no-logo
	@echo "== types"
	@$(BIN)/mypy

format: .venv/.ready-test ## rewrite the files in the house's formatting
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

pin: .venv/.ready-test ## write the versions now installed to constraints.txt
	@$(BIN)/python tools/pin.py

clean: ## remove the environment, results and caches
	rm -rf .venv results .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

.venv/.ready-%: $(RECIPE)
	@tools/setup.sh $*
