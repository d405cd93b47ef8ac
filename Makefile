# What a developer or an operator asks for; README.md shows the first two.
# Everything lives in .venv, made anew only where a lock file has changed.

# The packages have wheels for these versions of Python.
SUITS := import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))
PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11,$(shell \
	$(name) -c '$(SUITS)' 2>/dev/null && echo $(name))))
VENV := .venv
BIN := $(VENV)/bin
ORACLES := tests/oracles/requirements
LITELLM := bench/forwarding/litellm
PEERS := bench/pruning/peers
# A lock is complete, so that nothing is to be resolved; Python compiles what it comes to use.
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-compile \
	--require-hashes --only-binary :all: --requirement

# What Python compiles it keeps there, whatever the environment says of that: the tests start hundreds
# of processes, and each would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/bytecode

.DEFAULT_GOAL := help
.PHONY: help run meaning test lint style types imports drift format snapshot oracles bench soak run-environment test-environment oracles-environment litellm-environment peers-environment chromium

help:  ## Say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: run-environment  ## Serve on http://127.0.0.1:8000 (HOST, PORT), until Ctrl+C
	@exec $(BIN)/python manage.py serve

meaning: run-environment  ## Install what search by meaning needs (docs/search.md)
	@$(INSTALL) requirements-meaning.lock

test: test-environment chromium  ## Run all tests, on PostgreSQL and Redis too where they answer
	@$(BIN)/python -m tests

lint: style types imports drift  ## Check style, types, import contracts, migrations and the API's snapshot

style: test-environment
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

# mypy's workers have three seconds to start; on a busy machine it ends with 2 and checks alone.
types: test-environment
	$(BIN)/mypy || { [ $$? = 2 ] && $(BIN)/mypy --num-workers 0; }

imports: test-environment
	$(BIN)/lint-imports

drift: test-environment
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python -m tests.snapshots --check

format: test-environment  ## Bring the code into shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

snapshot: test-environment  ## Take the API as it is for its description from now on
	$(BIN)/python -m tests.snapshots

oracles: run-environment oracles-environment  ## Count the samples with readers of others too
	@$(BIN)/python -m tests.oracles

bench: test-environment peers-environment litellm-environment  ## Measure; docs/performance.md says what and how
	@$(BIN)/python -m bench

soak: test-environment chromium  ## Measure what takes long
	@$(BIN)/python -m bench --soak

# The lock that was installed is kept beside what was installed from it.

run-environment: $(VENV)/pyvenv.cfg
	@cmp -s requirements.lock $(VENV)/requirements.lock || { \
		echo "Installing what ContextStudio needs …" && \
		$(INSTALL) requirements.lock && \
		cp requirements.lock $(VENV)/requirements.lock; }

test-environment: run-environment
	@cmp -s tests/requirements.lock $(VENV)/tests-requirements.lock || { \
		echo "Installing what the tests need …" && \
		$(INSTALL) tests/requirements.lock && \
		cp tests/requirements.lock $(VENV)/tests-requirements.lock; }

# The readers of others bring versions of their own, so they live apart.
oracles-environment: run-environment
	@cmp -s $(ORACLES).lock $(VENV)-oracles/requirements.lock || { \
		echo "Installing the readers to compare with …" && \
		$(BIN)/python -m venv $(VENV)-oracles && \
		$(subst $(BIN),$(VENV)-oracles/bin,$(INSTALL)) $(ORACLES).lock && \
		cp $(ORACLES).lock $(VENV)-oracles/requirements.lock; }

litellm-environment: run-environment
	@cmp -s $(LITELLM).lock $(VENV)-litellm/requirements.lock || { \
		echo "Installing the proxy to compare with …" && \
		$(BIN)/python -m venv $(VENV)-litellm && \
		$(subst $(BIN),$(VENV)-litellm/bin,$(INSTALL)) $(LITELLM).lock && \
		cp $(LITELLM).lock $(VENV)-litellm/requirements.lock; }

# Where it can't be installed, the measurement says so.
peers-environment: run-environment
	@cmp -s $(PEERS).lock $(VENV)-peers/requirements.lock || { \
		echo "Installing the methods to compare with …" && \
		$(BIN)/python -m venv $(VENV)-peers && \
		$(subst $(BIN),$(VENV)-peers/bin,$(INSTALL)) $(PEERS).lock && \
		cp $(PEERS).lock $(VENV)-peers/requirements.lock; } || rm -rf $(VENV)-peers

$(VENV)/pyvenv.cfg:
	@test -n "$(PYTHON)" || { \
		echo "ContextStudio needs Python 3.11 to 3.14; name one with: make PYTHON=/path/to/python" >&2; \
		exit 1; }
	@$(PYTHON) -c '$(SUITS)' || { \
		echo "ContextStudio needs Python 3.11 to 3.14, and $(PYTHON) is another." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { \
		echo "$(PYTHON) can't make virtual environments; on Debian: apt install python3-venv" >&2; \
		exit 1; }

chromium: test-environment
	@if command -v chromium-headless-shell || command -v chromium; then exit 0; fi >/dev/null; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing chromium …"; \
		apt-get -qq update && { apt-get -qq install --yes chromium-headless-shell || \
			apt-get -qq install --yes chromium; } >/dev/null && exit 0; fi; \
	$(BIN)/playwright install chromium || { \
		echo "The tests drive a browser: install chromium, or give playwright network access." >&2; \
		exit 1; }
