# make demo    three minutes: trains six small models on a built-in text, compares them, writes with each, reads denials, rewrites dates
# make test    checks and tests, what CI runs
# Both do all set-up themselves on a machine with Python 3.11 or newer.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# one thread for each test worker: two workers on two cores
TEST_ENV := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
INTERPRETER := .venv/interpreter
KERNELS := tests/kernels tests/encode/test_transformer.py tests/models/word_vectors/test_gpu.py
COMPILED := tests/counts tests/kernels/ngram tests/output/trees tests/kernels/test_numbers.py tests/kernels/word_vectors tests/models/word_vectors/test_plain.py tests/models/word_vectors/test_learn.py tests/kernels/test_chain.py

.PHONY: demo test coverage test-kernels interpreted kenlm uncompiled check format bench docs product clean

demo: $(READY)
	$(BIN)/foresay demo

test: $(READY)
	$(MAKE) --no-print-directory --jobs 3 --output-sync=target check kenlm uncompiled
	$(TEST_ENV) $(BIN)/python -m pytest -n 2 --dist worksteal --durations=25 --durations-min=1

# the same with every line counted, which takes twice as long; below 90 % it fails
coverage: $(READY) kenlm
	NUMBA_DISABLE_JIT=1 $(TEST_ENV) $(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report= $(COMPILED)
	$(TEST_ENV) $(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-append --cov-report=term:skip-covered --cov-fail-under=90

# it has no wheel; without a C++ compiler the tests against it are skipped
kenlm: $(READY)
	@$(BIN)/python -c "import kenlm" 2> /dev/null || $(BIN)/pip install --quiet kenlm > /dev/null 2>&1 || echo "kenlm cannot be built here"

# what numba compiles, as the plain Python it is; in one process, as the checks take the other core
uncompiled: $(READY)
	NUMBA_DISABLE_JIT=1 $(TEST_ENV) $(BIN)/python -m pytest $(COMPILED)

# every kernel and every cell alone; on a machine with a GPU its kernels too
test-kernels: $(READY)
	$(TEST_ENV) $(BIN)/python -m pytest -n 2 --dist worksteal tests/kernels tests/encode tests/contracts/test_cells.py

# a GPU's kernels without a GPU, number by number in Triton's interpreter, which is for Linux and asks for an older numpy
interpreted: $(READY)
	@test -d $(INTERPRETER) || $(BIN)/pip install --quiet --no-deps --target $(INTERPRETER) 'triton==3.6.0' 'numpy==2.3.5'
	TRITON_INTERPRET=1 PYTHONPATH=$(INTERPRETER) $(TEST_ENV) $(BIN)/python -m pytest -n 2 --dist worksteal -m interpreted \
	  -W 'ignore:Conversion of an array:DeprecationWarning' -W 'ignore:invalid value:RuntimeWarning' $(KERNELS)

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

product: $(READY)
	$(BIN)/python -m pytest -n 2 --product tests/test_product.py
	$(BIN)/python -m pytest -n 2 --slow -m slow

bench: $(READY)
	for name in start lstm_lm; do $(BIN)/python -m bench.$$name || exit 1; done

docs: $(READY)
	$(BIN)/pip install --quiet --use-pep517 --constraint constraints.txt --editable '.[docs]'
	$(BIN)/zensical build --clean
	@echo "docs are in site/index.html"

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --use-pep517 --constraint constraints.txt --editable '.[dev]'
	touch $(READY)

clean:
	rm -rf .venv site .pytest_cache .ruff_cache .hypothesis .coverage*
