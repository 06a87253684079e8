# Everything runs in .venv, which the first call makes. `make help` lists the targets.
.DEFAULT_GOAL := help
.PHONY: help reproduce docs test check fuzz mutants format floors examples pin dist clean lint again
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

docs: .venv/.ready-docs ## the documentation as a site, into site/
	@rm -rf site && $(BIN)/python -m sphinx -qEW --keep-going -d .venv/doctrees docs site
	@echo "The site is built: open site/index.html."

test: .venv/.ready-test ## lint, types and all tests
	@$(MAKE) --no-print-directory lint
	@echo "== tests"
	@$(BIN)/python -m pytest -n auto

check: .venv/.ready-test ## before a commit: formatting, lint, types, the fast tests
	@$(MAKE) --no-print-directory lint
	@echo "== fast tests"
	@GRBP_EXAMPLES=few $(BIN)/python -m pytest -n auto -m "not slow"

fuzz: .venv/.ready-test ## the tests that draw examples, with fresh draws and ten times as many
	@GRBP_EXAMPLES=fresh $(BIN)/python -m pytest -n auto -m hypothesis

mutants: .venv/.ready-test ## change the source line by line, and see whether the tests notice
	@$(BIN)/python tools/mutants.py $(if $(JOBS),--jobs $(JOBS)) $(ONLY)

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

floors: .venv/.ready-test ## the map of the floors and its picture, from the contract in pyproject.toml
	@$(BIN)/python tools/floors.py

examples: .venv/.ready-docs ## run the gallery and the notebooks, and store what they show
	@$(BIN)/python tools/examples.py gallery && $(BIN)/python tools/examples.py notebook

pin: .venv/.ready-test ## write the versions now installed to constraints.txt
	@$(BIN)/python tools/pin.py

dist: .venv/.ready-test ## a wheel and a source archive, into dist/, and a trial of the wheel
	@$(BIN)/python tools/dist.py

clean: ## remove the environment, results and caches
	rm -rf .venv results site dist .mypy_cache .pytest_cache .ruff_cache .hypothesis \
	    .import_linter_cache

.venv/.ready-%: $(RECIPE)
	@tools/setup.sh $*
