# Two commands: `make run` starts Traitbench, `make test` checks everything. The rest is for those who change it.

# The first Python on this machine that is new enough; `make PYTHON=...` names another.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.14; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps

.PHONY: run test install browser strace clock check bench soak licences advisories lock clean

run: install
	@exec $(BIN)/traitbench

test: install browser strace clock check
	@$(BIN)/python -m pytest -n auto --dist loadfile

install: .venv/installed

.venv/installed: requirements.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "Traitbench needs Python 3.11 or newer: install it, or name it with make PYTHON=..." >&2; exit 1; }
	@echo "Installing into .venv, once; this takes a minute or two."
	@$(PYTHON) -m venv .venv
	@$(PIP) --require-hashes -r requirements.txt
	@$(PIP) --no-build-isolation -e .
	@touch $@

# Debian's Chromium, for the tests that walk through the workbench as a person does.
browser:
	@command -v chromium >/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "Installing Chromium for the browser tests."; \
			apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends -y chromium >/dev/null; \
		else \
			echo "The browser tests need Chromium: run 'sudo apt-get install chromium', then 'make test' again." >&2; exit 1; \
		fi; }

# Debian's strace, for the tests that watch every connection and every file.
strace:
	@command -v strace >/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "Installing strace for the tests of what leaves the machine."; \
			apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends -y strace >/dev/null; \
		else \
			echo "The tests of what leaves the machine need strace: run 'sudo apt-get install strace', then 'make test' again." >&2; exit 1; \
		fi; }

# Debian's libfaketime, for the tests that set the clock of a running service.
clock:
	@ls /usr/lib/*/faketime/libfaketimeMT.so.1 >/dev/null 2>&1 || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "Installing libfaketime for the tests that set clocks."; \
			apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends -y libfaketime >/dev/null; \
		else \
			echo "The tests that set clocks need libfaketime: run 'sudo apt-get install libfaketime', then 'make test' again." >&2; exit 1; \
		fi; }

check: install
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy --no-error-summary

# How good it is, a first idea in some minutes: DATA=folder of the sets for quality, OUT=page.md, WHOLE=1 for all of it.
bench: install
	@$(BIN)/python -m tests.benchmarks $(if $(DATA),--data "$(DATA)") $(if $(OUT),--out "$(OUT)") $(if $(WHOLE),--whole)

# Every locked package with its version and licence; fails when one is unknown or not accepted.
licences: install
	@$(BIN)/python -m tests.supply.licences

# Known advisories against the locked packages, offline; tests/supply/advisories.toml says what that can see.
advisories: install
	@$(BIN)/python -m tests.supply.advisories
# Kills and load for a long time, bounded: SOAK_KILLS=500 kills, then SOAK_MINUTES=10 of mixed load. OUT=report.md keeps it.
soak: install
	@$(BIN)/python -m tests.faults.soak --kills $(or $(SOAK_KILLS),500) --minutes $(or $(SOAK_MINUTES),10) $(if $(OUT),--out "$(OUT)")

# Pins everything anew from pyproject.toml, with hashes and without naming where it came from.
lock: install
	@$(BIN)/python -m pip install -qq uv
	@$(BIN)/uv pip compile --quiet --universal --upgrade --generate-hashes --no-emit-index-url --no-header --no-annotate \
		--python-version 3.11 --extra dev pyproject.toml -o requirements.txt

clean:
	@rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
