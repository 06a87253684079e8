# Everything runs in .venv, which the first call makes. `make help` lists the targets.
.DEFAULT_GOAL := help
.PHONY: help reproduce docs test soak check fuzz mutants claims lint types format floors examples pin dist clean again
BIN := .venv/bin
WORKERS := -n auto --maxprocesses 8 --dist worksteal
# Every Python that the classifiers promise.
PYTHONS := $(shell sed -n 's/.*Python :: \(3\.[0-9]*\)".*/\1/p' pyproject.toml)
RECIPE := pyproject.toml constraints.txt tools/setup.sh
# Another Python was asked for, or the folder was moved: look at the environment again.
RECIPE += $(if $(PYTHON),again) $(if $(wildcard .venv/.where),$(if $(filter-out $(shell cat .venv/.where),$(CURDIR)),again))
# Matplotlib keeps its font cache here rather than in a home folder that may not be writable.
export MPLCONFIGDIR := $(CURDIR)/.venv/matplotlib
# The tests start hundreds of processes, each of which would read every source file anew.
unexport PYTHONDONTWRITEBYTECODE

help: ## this list
	@grep -hE '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

reproduce: .venv/.ready-run ## the figures of the paper, into results/
	@$(BIN)/grbp reproduce --out results

docs: .venv/.ready-docs ## the documentation as a site, into site/
	@rm -rf site && $(BIN)/python -m sphinx -qEW --keep-going -d .venv/doctrees docs site
	@echo "The site is built: open site/index.html."

test: .venv/.ready-test ## the tests: every promise once
	@$(BIN)/python -m pytest $(WORKERS) -m "not soak"
	@echo "Every promise held once. To look for what is rare, too: make soak"

soak: .venv/.ready-soak ## the tests that look for rare things, and more examples for those that draw any
	@GRBP_EXAMPLES=many $(BIN)/python -m pytest $(WORKERS) -m "soak or hypothesis"

check: .venv/.ready-dev ## before a commit: formatting, lint, floors, types, the fast tests
	@$(MAKE) --no-print-directory lint
	@echo "== fast tests"
	@GRBP_EXAMPLES=few $(BIN)/python -m pytest $(WORKERS) -m "not slow and not soak"

fuzz: .venv/.ready-dev ## the tests that draw examples, with fresh draws and ten times as many
	@GRBP_EXAMPLES=fresh $(BIN)/python -m pytest $(WORKERS) -m hypothesis

mutants: .venv/.ready-dev ## change the source line by line, and see whether the tests notice
	@$(BIN)/python tools/mutants.py $(if $(JOBS),--jobs $(JOBS)) \
	    $(if $(RANDOM),--random $(RANDOM)) $(if $(SEED),--seed $(SEED)) $(ONLY)

claims: .venv/.ready-dev ## repeat a drawn sample of what the documents claim in numbers
	@$(BIN)/python tools/claims.py $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only $(ONLY)) $(if $(LIMIT),--limit $(LIMIT))

lint: .venv/.ready-dev ## formatting, lint, floors, and types for the Python that is here
	@echo "== formatting and lint"
	@$(BIN)/ruff format --check --quiet . || { echo "run: make format" >&2; exit 1; }
	@$(BIN)/ruff check --quiet .
	@echo "== floors"
	@$(BIN)/lint-imports --no-logo
	@echo "== types"
	@$(BIN)/mypy

types: .venv/.ready-dev ## types for every Python that is promised
	@for version in $(PYTHONS); do \
	    echo "== types for Python $$version"; $(BIN)/mypy --python-version $$version || exit 1; done

format: .venv/.ready-dev ## rewrite the files in the house's formatting
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

floors: .venv/.ready-dev ## the map of the floors and its picture, from the contract in pyproject.toml
	@$(BIN)/python tools/floors.py

examples: .venv/.ready-docs ## run the gallery and the notebooks, and store what they show
	@$(BIN)/python tools/examples.py gallery && $(BIN)/python tools/examples.py notebook

pin: .venv/.ready-soak ## write the versions now installed to constraints.txt
	@$(BIN)/python tools/pin.py

dist: .venv/.ready-dev ## a wheel and a source archive, into dist/, and a trial of the wheel
	@$(BIN)/python tools/dist.py

clean: ## remove the environment, results and caches
	rm -rf .venv results site dist .mypy_cache .pytest_cache .ruff_cache .hypothesis \
	    .import_linter_cache

.venv/.ready-%: $(RECIPE)
	@tools/setup.sh $*
