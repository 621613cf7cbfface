# Everything that is done with this tree. `make demo` and `make test` need nothing but Python 3.11, make and a network.

PYTHON ?= python3
export PYTHON
# Files of bytecode spare every start of a server, and every run of the tests, seconds.
export PYTHONDONTWRITEBYTECODE :=
BIN := .venv/bin
# Three workers, each with servers of its own: two leave a sixth of two cores unused while they wait. The tests of one file stay together, and those that need Spark in their own process.
# A worker that a test holds for longer than any test may take ends with the stacks of its threads: pytest-timeout cannot end a wait for a thread.
SHARED := -n 3 --max-worker-restart 0 --dist loadfile --no-loadscope-reorder -o faulthandler_timeout=900 -o faulthandler_exit_on_timeout=true

.PHONY: help setup venv demo test check golden test-long load durability ring stream-relation view-memory queue race lock format clean

help:
	@echo "make demo       set up .venv, start a server and stream a year of flights through three views"
	@echo "make test       set up .venv and run the tests, but for those marked long and those whose turn is another one"
	@echo "make setup      set up .venv alone"
	@echo "make check      format, lint, types, import contracts, house rules, fast tests"
	@echo "make golden     write what is made today into the tests' data files: trees, printed text, rights, catalog rows, plans"
	@echo "make test-long  the whole suite of SQLAlchemy, small runs of the benchmarks, the parameters of which make test takes a share, the random tests with 10,000 cases, every fault at every event, writers and readers of one ring, a million wrong messages, the soak with 200 kills; writes tests/evidence/*.json"
	@echo "make load       locust against a server of its own, 30 s, without a browser"
	@echo "make race       Antumbra beside PostgreSQL, ClickHouse, DuckDB and others, part by part, for some hours; what was cut off goes on where it was"
	@echo "make durability what the log, checkpoints and restarts cost, PostgreSQL beside them in the same run; half an hour"
	@echo "make ring       append and scan of a ring beside memcpy, and how their cost grows"
	@echo "make stream-relation  TPC-H over a stream that COPY fills, Spark over the same CSV beside it; half an hour"
	@echo "make view-memory, queue  what continuous views cost: memory, waiting"
	@echo "make format     rewrite the sources in the house format"
	@echo "make lock       write requirements.lock anew after a change of pyproject.toml"
	@echo "make clean      remove what the tools leave behind, but not .venv"

setup:
	@docker/setup.sh java
	@docker/setup.sh venv

venv:
	@docker/setup.sh venv

demo: setup
	@$(BIN)/antumbra demo

test: setup
	@docker/setup.sh postgres
	@$(BIN)/python -m pytest $(SHARED)

check: venv
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --check --cases 100

golden: setup
	@$(BIN)/python -m pytest -m golden --rewrite -q

test-long: setup
	@docker/setup.sh postgres
	@$(BIN)/python -m pytest $(SHARED) -m long --long
	@$(BIN)/python -m pytest tests/randomized --cases 10000 --seconds 57600 --timeout 60000 --write-evidence
	@$(BIN)/python -m pytest tests/views/codegen/test_hostile_names.py --cases 10000 --timeout 15000
	@$(BIN)/python -m pytest tests/end_to_end/test_protocol.py tests/end_to_end/test_random_conditions.py --cases 2000 --timeout 15000
	@$(BIN)/python -m pytest tests/end_to_end/test_compilation.py -k leave_nothing --cases 35000 --timeout 15000 --write-evidence
	@$(BIN)/python -m pytest tests/engine/spark/test_spark_prepared.py -k planned_anew --cases 2000 --timeout 15000 --write-evidence
	@$(BIN)/python -m pytest tests/faults --cases 4000 --seconds 57600 --timeout 60000 --write-evidence
	@$(BIN)/python -m pytest tests/stress --write-evidence
	@$(BIN)/python -m pytest tests/fuzz --timeout 15000 --write-evidence
	@$(BIN)/python -m pytest tests/soak --cases 1400 --seconds 57600 --write-evidence

load: setup
	@$(BIN)/python -m bench.load

durability: setup
	@docker/setup.sh postgres
	@$(BIN)/python -m bench.durability

ring: setup
	@$(BIN)/python -m bench.ring

stream-relation: setup
	@$(BIN)/python -m bench.stream_relation

view-memory: setup
	@$(BIN)/python -m bench.view_memory

queue: setup
	@$(BIN)/python -m bench.queue

race: setup
	@docker/setup.sh postgres
	@$(BIN)/python -m bench.race all

format: setup
	@$(BIN)/ruff check --quiet --fix . || true
	@$(BIN)/ruff format .

lock: setup
	@$(BIN)/uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --generate-hashes \
	    --no-emit-package pandas --no-emit-package python-dateutil --no-config --no-emit-index-url --no-annotate --no-header --quiet --output-file requirements.lock

clean:
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache build dist spark-warehouse artifacts metastore_db derby.log
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
