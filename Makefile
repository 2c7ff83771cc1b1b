# setup: the virtual environment, from the lock files.   check: the inner loop, under a minute.
# test: everything, real brokers included.               lock: resolve the dependencies anew (needs uv).
PYTHON ?= python3
BIN := .venv/bin
QUIET := --no-header -q

.PHONY: setup format lint check test lock clean
setup: .venv/ready
.venv/ready: requirements-dev.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	touch $@

format: setup
	$(BIN)/ruff format . && $(BIN)/ruff check --fix .

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint
	$(BIN)/pytest $(QUIET) -m "not broker"

test: lint
	$(BIN)/pytest $(QUIET)

lock:
	uv pip compile -q --generate-hashes --no-emit-index-url --no-header --python-version 3.11 pyproject.toml -o requirements.lock
	uv pip compile -q --generate-hashes --no-emit-index-url --no-header --python-version 3.11 --extra dev -c requirements.lock pyproject.toml -o requirements-dev.lock

clean:
	rm -rf .venv .build .hypothesis .mypy_cache .ruff_cache .pytest_cache
