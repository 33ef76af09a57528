# `make demo` and `make test` set up everything they need in .venv, from Python and make alone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TORCH := $(VENV)/.torch
DOCS := $(VENV)/.docs
# At the versions of constraints.txt, the build backend in its own environment included: older and newer pips read one of these each.
INSTALL := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-full fuzz faults golden lint api docs wheel licences pins bench bench-full study format hooks clean

# The paper's 1-D reference, and data with a small peak hidden in its tail.
demo: $(READY)
	$(BIN)/lanner generate one-dimensional --events 200000 --seed 1 --output demo/reference.parquet
	$(BIN)/lanner generate one-dimensional --events 2000 --signal tail --signal-events 25 --poisson --seed 2 \
		--output demo/data.parquet
	$(BIN)/lanner search --reference demo/reference.parquet --data demo/data.parquet --expected 2000 --seed 1 \
		--output demo/search

# A test process on each core, each on one thread; one that has run out of tests takes some from the others.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal

test: lint $(TORCH)
	$(PYTEST) -m "not full and not faults" --cov --cov-report=
	@echo "Least covered modules, and the total:"
	@$(BIN)/coverage report --sort cover | sed -n '3,12p;$$p'

test-full: lint $(TORCH)
	$(PYTEST)

# Damaged files, odd configurations and flags; a case that fails is kept in fuzz-failures (tests/fuzz/__init__.py).
CASES ?= 5000
SEED ?= 1
fuzz: $(READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --cases $(CASES) --seed $(SEED)

# Runs killed at every write and KILLS times at random, full disks, no locks, swapped files, foreign workers.
KILLS ?= 200
faults: $(READY)
	FAULTS_KILLS=$(KILLS) $(PYTEST) tests/faults tests/run/execution/test_delivery.py

# The record of numbers that tests/test_golden.py compares with: only where a change is meant to move them.
golden: $(READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.golden.record
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.run.pinned

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

# The page of Python names, docs/api.md, from the docstrings.
api: $(READY)
	$(BIN)/python docs/make_api.py

# The site of the documentation in site/, the notebooks of its gallery run anew (minutes). A broken link is an error.
docs: api $(DOCS)
	NO_MKDOCS_2_WARNING=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m mkdocs build --quiet
	@echo "open site/index.html"

# The wheel, built twice: the same bytes, or an error; and its SHA-256.
wheel: $(READY)
	rm -rf dist
	$(BIN)/python -m hatchling build -t wheel -d dist
	$(BIN)/python -m hatchling build -t wheel -d dist/again
	cmp dist/*.whl dist/again/*.whl
	rm -rf dist/again
	$(BIN)/python -m pip --disable-pip-version-check hash dist/*.whl

# docs/licences.md, from what is installed.
licences: $(TORCH) $(DOCS)
	$(BIN)/python docs/make_licences.py

# constraints.txt of the newest versions that pyproject.toml allows, and the table of their licences. Nothing is installed to choose
# them; then .venv is brought to them.
pins:
	$(PYTHON) docs/make_pins.py
	rm -rf $(VENV)-pins
	$(PYTHON) -m venv $(VENV)-pins
	$(VENV)-pins/bin/python -m pip install --quiet --disable-pip-version-check --dry-run --ignore-installed \
		--report $(VENV)-pins/report.json --only-binary pythia8mc,fastjet ".[dev,physics,dask,network,gpu,docs]"
	$(PYTHON) docs/make_pins.py $(VENV)-pins/report.json
	rm -rf $(VENV)-pins
	$(MAKE) licences

# What people run, first second to verdict; then the engine beside what one would use instead. A tenth of the paper's sizes.
bench: $(READY)
	$(BIN)/python benchmarks/bench_search.py --size quick
	$(BIN)/python benchmarks/bench_engine.py --size quick

bench-full: $(READY)
	$(BIN)/python benchmarks/bench_search.py --size full --write docs/bench-search.md
	$(BIN)/python benchmarks/bench_engine.py --size full --write docs/benchmarks.md

study: $(READY) $(TORCH)
	$(BIN)/python benchmarks/calibration_study.py
	$(BIN)/python benchmarks/scales_study.py
	$(BIN)/python benchmarks/tests_study.py

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The quick checks of .pre-commit-config.yaml before each commit, mypy before each push.
hooks: $(READY)
	$(BIN)/pre-commit install

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Lanner needs Python 3.11 or newer; give one as PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --only-binary pythia8mc,fastjet -e ".[dev,physics,dask]"
	touch $(READY)

# Torch is large, and only the neural network that Lanner is compared with needs it.
$(TORCH): $(READY)
	$(INSTALL) -e ".[network]"
	touch $(TORCH)

# What the site of the documentation is made with, Jupyter among it.
$(DOCS): $(READY)
	$(INSTALL) -e ".[docs]"
	touch $(DOCS)

clean:
	rm -rf site $(VENV) $(VENV)-pins dist demo fuzz-failures .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
