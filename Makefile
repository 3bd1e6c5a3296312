# make build | test | test-long | integration | docs | site | proof | notebook | bench | cluster-demo | cluster-faults | cluster-nights | servers | wheels; DBT_ARGS is passed on to dbt, PYTHON names the interpreter (3.10 or newer).
# ENGINE=sail builds with Sail in place of Spark (docs/reference/engines.md).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DBT_ARGS ?=
ENGINE ?=
export DBT_PROFILES_DIR ?= $(CURDIR)
# Of builds: failures, warnings and progress; `info` shows every step, as plain dbt does. logs/dbt.log has it all.
DBT_LOG_LEVEL ?= warn
DBT = DBT_LOG_LEVEL=$(DBT_LOG_LEVEL) DBT_LOG_LEVEL_FILE=debug $(BIN)/dbt

ifeq ($(ENGINE),sail)
export TANGLES_TARGET := sail
READY = $(VENV)/sail
else ifneq ($(ENGINE),)
$(error ENGINE is sail, or nothing for Spark)
else
READY = $(VENV)/installed
endif

.PHONY: build test test-long integration docs site proof notebook bench cluster-demo cluster-faults cluster-nights servers wheels lint clean

# Unit tests are for development: `make test` runs them.
build: $(READY)
	$(DBT) build --exclude-resource-type unit_test $(DBT_ARGS)

# `test` is for each change: lint, proofs, tests without an engine and on Sail, and the fixtures on Spark. `test-long` has
# the other tests: on Spark, nights and kills, table formats, an object store, and longer searches (tests/run.sh).
test: lint proof
test test-long: $(VENV)/installed
	@$(MAKE) --no-print-directory $(VENV)/sail || echo "no Sail here: all tests run on Spark"
	tests/run.sh $(if $(filter test-long,$@),long,quick)

# The project that installs this one, as docs/how-to/package.md has it; its tables go to integration_tests/target/warehouse.
integration: export TANGLES_WAREHOUSE := target/warehouse
integration: $(READY)
	cd integration_tests && for step in deps seed build; do \
	  DBT_PROFILES_DIR=. DBT_LOG_LEVEL=$(DBT_LOG_LEVEL) ../$(BIN)/dbt $$step || exit; \
	done

# One file that opens without a server: target/static_index.html.
docs: $(READY)
	$(BIN)/dbt docs generate --static $(DBT_ARGS)
	@echo "docs: target/static_index.html"

# The pages of docs/ as a website that opens from disk; ends with an error if a link is broken or a page loads from elsewhere.
site: $(VENV)/installed requirements-docs.lock
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-docs.lock
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "site: target/site/index.html"

# The lemmas of docs/explanation/convergence.md, proved by an SMT solver.
proof: $(VENV)/proof
	$(BIN)/pytest -q tests/proofs

$(VENV)/proof: $(VENV)/installed requirements-proof.lock
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-proof.lock
	@touch $@

# Builds the log that docs/notebook.ipynb is about, and keeps what its cells answer. With another log, as in
# `make notebook NOTEBOOK_LOG=tests/data/ssb/small.jsonl`, the answers go to target/notebook.ipynb.
NOTEBOOK_LOG = tests/data/ssb/medium.jsonl.gz
notebook: export TANGLES_TARGET := sail
notebook: export TANGLES_WAREHOUSE := $(CURDIR)/target/notebook
notebook: $(VENV)/sail
	$(DBT) run --vars '{ssb_log: $(NOTEBOOK_LOG), log_timeline: full, ancestor_limit: 1000}'
	$(BIN)/python docs/run_notebook.py $(if $(filter file,$(origin NOTEBOOK_LOG)),,target/notebook.ipynb)

bench: $(VENV)/installed
	$(BIN)/python -m bench $(BENCH_ARGS)

# A cluster on this machine and servers on it: whether each builds the tables of `local`, from DEMO_LOG or a small log.
cluster-demo: $(VENV)/installed
	$(BIN)/python -m tests.cluster $(if $(DEMO_LOG),--log '$(DEMO_LOG)') $(DEMO_ARGS)

# Builds there while parts of the cluster fail: all faults, or those that FAULTS names.
cluster-faults: $(VENV)/installed
	$(BIN)/python -m tests.cluster faults $(FAULTS)

# Nights of a growing log on a cluster there, on tables of Iceberg or, with --format delta in NIGHTS, of Delta Lake: all
# stages, or those that NIGHTS names.
cluster-nights: $(VENV)/installed
	tests/formats/run.sh nights $(NIGHTS)

# What the target `thrift`, and Spark Connect, need besides.
servers: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-servers.lock

# What the target `sail` needs besides.
$(VENV)/sail: $(VENV)/installed requirements-sail.lock
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-sail.lock
	@touch $@

# dist/: dbt-tangles with the dbt project in it, and the plugin; built in an environment of its own.
wheels: .venv-build/installed
	for place in plugin .; do .venv-build/bin/python -m build --wheel --no-isolation --outdir dist $$place || exit; done

.venv-build/installed: requirements-build.lock
	$(PYTHON) -m venv .venv-build
	.venv-build/bin/python -m pip install --quiet --no-deps --require-hashes -r requirements-build.lock
	@touch $@

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/sqlfluff lint --processes 1 models tests/singular

# The lock names every package with its hash, so pip need not resolve anything.
$(VENV)/installed: requirements.lock pyproject.toml plugin/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "tangles needs Python 3.10 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable plugin --editable .
	@touch $@

clean:
	rm -rf target logs warehouse
