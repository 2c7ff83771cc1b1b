# setup: the virtual environment, from the lock files.   check: the inner loop, under a minute.
# test: everything, real brokers included.               try: a rolling migration to watch, no Java needed.
# codec: write kafka_protocol/messages anew.             docs: write what is printed from code.
# differences: docs/differences.md, from a broker's own translation and ours on the same frames (needs Java).
# simulate SEEDS=n: random groups with everything failing.   mutants: all broken in many ways, each noticed.
# matrix: every client through everything, docs/clients.md.   chaos: real clients, and all around them fails in turn.
# wild: clients by hand do at random what the protocol allows, before a real broker.
# bench: every table of docs/benchmarks.md.              lock: resolve the dependencies anew (needs uv).
PYTHON ?= python3
BIN := .venv/bin
QUIET := --no-header -q

.PHONY: setup format lint check test try codec docs differences bench simulate mutants matrix chaos wild lock clean
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

# Whole programs and a browser: `make test` runs them too.
LONGER := tests/demo tests/proxy/page $(wildcard tests/proxy/test_cli_*.py) \
	tests/proxy/test_lifecycle.py tests/proxy/test_processes.py
# Random walks: the other tests cover every branch without them, and under coverage they take three times as long.
WALKS := tests/translation/test_walks.py tests/translation/test_any_order.py
.PHONY: check-translation check-others
check: lint
	$(MAKE) --no-print-directory --output-sync --jobs 2 check-translation check-others
check-translation:
	$(BIN)/coverage run -m pytest $(QUIET) tests/translation $(WALKS:%=--ignore=%)
	$(BIN)/coverage report --fail-under=100 -m --skip-covered
	$(BIN)/pytest $(QUIET) $(WALKS)
check-others:
	$(BIN)/pytest $(QUIET) -m "not broker" $(LONGER:%=--ignore=%) --ignore=tests/translation -n 3

test: lint
	$(BIN)/pytest $(QUIET) -n 4 --dist loadfile --no-loadscope-reorder --durations 25

try: setup
	$(BIN)/python -m demo

CLIENTS = .build/clients/$(1)/kafka-clients-$(1).jar
codec: setup
	$(BIN)/python -c "from tests.kafka.jars import client_jars; client_jars('4.4.0'); client_jars('3.9.1')"
	$(BIN)/python -m kafka_protocol.generator kafka_protocol/messages $(call CLIENTS,4.4.0) $(call CLIENTS,3.9.1)

docs: setup
	$(BIN)/python -m proxy.settings_reference > docs/settings.md
	$(BIN)/python -m translation.protocol_page > docs/protocol.md

differences: setup
	$(BIN)/python -m tests.proxy.differences > docs/differences.md

SEEDS ?= 1000
simulate: setup
	$(BIN)/python -m simulation --seeds $(SEEDS) --jobs 2

mutants: setup
	$(BIN)/python -m tests.mutants
	$(BIN)/python -m tests.mutants.hosting

matrix: setup
	$(BIN)/python -m tests.matrix --markdown

chaos: setup
	$(BIN)/python -m tests.chaos

wild: setup
	$(BIN)/python -m tests.wild

bench: setup
	$(BIN)/python -m bench.codec.run --markdown
	$(BIN)/python -m bench.dataplane.run --markdown
	$(BIN)/python -m bench.dataplane.tls --markdown
	$(BIN)/python -m bench.rebalance.run --markdown
	$(BIN)/python -m bench.libraries.run --markdown
	$(BIN)/python -m bench.commits.run --markdown
	$(BIN)/python -m bench.members.run --markdown
	$(BIN)/python -m bench.large.run --markdown
	$(BIN)/python -m bench.simulation.run --markdown
	$(BIN)/python -m bench.pipeline.run --markdown
	$(BIN)/python -m bench.pipeline.stream --markdown

lock:
	uv pip compile -q --generate-hashes --no-emit-index-url --no-header --python-version 3.11 --extra otlp pyproject.toml -o requirements.lock
	uv pip compile -q --generate-hashes --no-emit-index-url --no-header --python-version 3.11 --extra dev -c requirements.lock pyproject.toml -o requirements-dev.lock

clean:
	rm -rf .venv .build .hypothesis .mypy_cache .ruff_cache .pytest_cache
