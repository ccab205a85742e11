# Two commands on a fresh machine: `make demo` and `make test`. Each sets up `.venv` by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Tests on real data look here; where the folder is absent they skip and say so.
NETWRIGHT_DATA ?= $(abspath $(wildcard ../shared/data))
export NETWRIGHT_DATA

.PHONY: demo test test-slow test-changed mutants bench lint types style pictures sentences catalogue clean

demo: $(READY)
	$(BIN)/netwright train

# One thread a worker: workers with two threads each get in each other's way. Three of them on two
# cores: tests that wait for a process of theirs leave a core idle, which takes more of the time than
# to collect the tests once more. A worker that has nothing left to do takes tests from the others.
PYTEST := $(BIN)/python -m pytest -n 3 --dist worksteal -q -rs
test test-slow test-changed: export OMP_NUM_THREADS = 1
# Compiled once, also where the shell tells Python to keep nothing: else each of the workers, and each
# process that a test starts, compiles all of netwright anew.
test test-slow test-changed: export PYTHONDONTWRITEBYTECODE =
test: lint
	$(PYTEST)

# `make test-slow SLOW="slow and not long"` leaves out what takes minutes by its nature.
SLOW := slow
test-slow: $(READY)
	$(PYTEST) -m "$(SLOW)"

# For the inner loop: only what the changes since `main` can reach by imports.
test-changed: $(READY)
	mkdir -p build
	$(BIN)/python -m tests.changed_tests > build/changed-tests
	xargs -r $(PYTEST) < build/changed-tests

# Small bugs planted one by one, and those listed that no test sees; it takes hours. Which tests
# run which functions is noted in one run of the suite, and kept.
MUTANT_MAP := build/mutant-map
mutants: export OMP_NUM_THREADS = 1
mutants: $(MUTANT_MAP)
	$(BIN)/python -m tests.mutants --map $(MUTANT_MAP) --json build/mutants.json

$(MUTANT_MAP): $(READY)
	$(BIN)/python -m pytest -n 2 -q -p tests.mutants.map_plugin --mutant-map=$@

# Types on one core, all else on the other.
lint: $(READY)
	$(MAKE) --no-print-directory -j2 types style

types: $(READY)
	$(BIN)/mypy

style: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python benchmarks/cli_start.py
	$(BIN)/python benchmarks/checkpoint_cost.py
	$(BIN)/python benchmarks/training_loop.py
	$(BIN)/python benchmarks/data_loader.py
	$(BIN)/python benchmarks/mnist_table.py
	$(BIN)/python benchmarks/linear.py
	$(BIN)/python benchmarks/tables.py
	$(BIN)/python benchmarks/estimators.py
	$(BIN)/python benchmarks/augmentation.py
	$(BIN)/python benchmarks/vision_training.py
	$(BIN)/python benchmarks/image_folder.py
	$(BIN)/python benchmarks/torchvision_parity.py
	$(BIN)/python benchmarks/optimizers.py
	$(BIN)/python benchmarks/scan.py
	$(BIN)/python benchmarks/text_training.py
	$(BIN)/python benchmarks/generation.py
	$(BIN)/python benchmarks/transformers_parity.py
	$(BIN)/python benchmarks/attention_parity.py
	$(BIN)/python benchmarks/serving.py

pictures: $(READY)
	$(BIN)/python -m docs.make_pictures

# What `netwright list` says, from the cards.
sentences: $(READY)
	$(BIN)/python -m netwright.apps.cli.sentences

# With the slow tests: some rows are checked by them alone.
catalogue: export OMP_NUM_THREADS = 1
catalogue: $(READY)
	$(PYTEST) -m '' --catalogue ../shared/catalogue/catalogue.json

# torch first and alone: any other order may pull a CUDA build of several gigabytes.
$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -c constraints.txt torch
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache
