# `make test` and `make demo` need Python 3.11 or later and nothing else: each sets up what it uses.
# PYTHON names another interpreter; it gets an environment of its own, .venv-3.13 say.

PYTHON ?= python3
VERSION = $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
VENV := $(if $(filter python3,$(PYTHON)),.venv,.venv-$(VERSION))
BIN := $(VENV)/bin
TOOLS := .venv-tools/bin
DOCS := .venv-docs/bin
LOWEST := .venv-lowest/bin
DEMO := demo-ladder

# Quick where uv is installed; pip does the same in a minute. pip compiles what it installs, and uv
# when it is told to: without, each command of the arena starts in 1.3 s of CPU and not in 0.5.
UV ?= $(shell sh -c 'command -v uv')
install = $(if $(UV),$(UV) pip install --quiet --compile-bytecode --python $(1)/python,$(1)/python -m pip install --quiet --disable-pip-version-check)

# An environment knows its folder by heart, so a stamp is good for one place only.
STAMP := installed-$(shell pwd | cksum | cut -d' ' -f1)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help environment test test-postgres fuzz demo bench coverage zoo club soak kills shuffles env-games endings check format lint types wire generate lock test-lowest docs clean

help: ## say what there is
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

environment: $(VENV)/$(STAMP) ## make what the tests need, and run nothing

test: $(VENV)/$(STAMP) ## run the tests; ARGS='-k trick' goes to pytest
	$(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)

test-postgres: $(VENV)/$(STAMP) ## run the ladder's tests with its rows on a PostgreSQL server, made for them alone
	HOKM_TEST_DATABASE=postgresql $(BIN)/python -m pytest tests/arena/ladder tests/arena/service -n 2 --dist loadfile $(ARGS)

fuzz: $(VENV)/$(STAMP) ## feed nonsense to all that reads from outside, for some ten minutes; FUZZ=100 for longer
	FUZZ_FACTOR=$(or $(FUZZ),30) $(BIN)/python -m pytest tests/fuzz -n 2 --dist worksteal --timeout 0 $(ARGS)

demo: $(VENV)/$(STAMP) ## play a small ladder of sample bots, half a minute on two cores, and print its standings
	@if [ -e $(DEMO) ]; then echo "Removing $(DEMO)/, left by an earlier demo"; rm -rf $(DEMO); fi
	$(BIN)/arena ladder init $(DEMO) --boards 16 --tick 0
	$(BIN)/arena ladder add $(DEMO) house house-10 house-30 greedy
	$(BIN)/arena ladder run $(DEMO) --cycles 3 --no-sandbox # all of its bots are the arena's own

bench: $(VENV)/$(STAMP) ## measure the speed of everything (docs/speed.md); ARGS=--quick for a first look
	$(BIN)/python -m benchmarks $(ARGS)

coverage: $(VENV)/$(STAMP) ## see on leagues whose truth is known what the statistics promise, and write the tables
	$(BIN)/python -m simulations coverage --page $(ARGS)
	$(BIN)/python -m simulations sequential --page $(ARGS)

zoo: $(VENV)/$(STAMP) ## see every broken bot of the zoo three times and write docs/zoo.md; a few minutes
	$(BIN)/python -m tests.zoo $(ARGS)

club: $(VENV)/$(STAMP) ## see a ladder that stands: three owners, eight bots, a server that is killed; a few minutes
	$(BIN)/python -m tests.club $(ARGS)

soak: $(VENV)/$(STAMP) ## play 1,000 matches with the zoo among good bots; memory, and what is left; 20 minutes
	$(BIN)/python -m tests.zoo.soak --page $(ARGS)

kills: $(VENV)/$(STAMP) ## kill a ladder 200 times (KILLS) at random moments (KILLS_SEED) and compare its end
	KILLS=$(or $(KILLS),200) $(BIN)/python -m pytest tests/system/test_kills.py -s $(ARGS)

shuffles: $(VENV)/$(STAMP) ## shuffle a million decks (SHUFFLES) and see each card everywhere as chance would have it
	SHUFFLES=$(or $(SHUFFLES),1000000) $(BIN)/python -m pytest tests/hokm/test_deck.py -k case_51 -s --timeout 0 $(ARGS)

endings: $(VENV)/$(STAMP) ## solve ten thousand endings (ENDINGS) of each game and compare with brute force; three minutes
	ENDINGS=$(or $(ENDINGS),10000) $(BIN)/python -m pytest tests/hokm/solver -n 2 --timeout 0 $(ARGS)

env-games: $(VENV)/$(STAMP) ## play 100,000 random games (GAMES) of each variant in the vectorised environment and by the rules
	GAMES=$(or $(GAMES),100000) $(BIN)/python -m pytest tests/hokm/env/test_vector.py -k move_for_move -s --timeout 0 $(ARGS)

check: lint types wire ## everything but the tests: format, lint, types, generated code

format: $(VENV)/$(STAMP) ## format the code, and mend what lint can mend
	$(BIN)/python -m ruff check --fix-only .
	$(BIN)/python -m ruff format .

lint: $(VENV)/$(STAMP) ## compare the format and look for mistakes
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m ruff check .

types: $(VENV)/$(STAMP) ## check the types
	$(BIN)/python -m mypy

wire: .venv-tools/$(STAMP) ## lint proto/ and compare the generated code with it
	$(TOOLS)/buf lint
	$(TOOLS)/python tools/generate.py --check

generate: .venv-tools/$(STAMP) ## make the code of the wire from proto/
	$(TOOLS)/buf lint
	$(TOOLS)/python tools/generate.py

lock: ## write constraints.txt anew (needs uv)
	$(or $(UV),uv) pip compile --quiet --upgrade --universal --python-version 3.11 --extra dev \
	    --custom-compile-command 'make lock' --no-annotate --no-emit-index-url --no-emit-package hokm-sdk \
	    --output-file constraints.txt pyproject.toml

test-lowest: .venv-lowest/$(STAMP) ## run the SDK's tests with the oldest grpcio and protobuf it allows
	$(LOWEST)/python -m pytest tests/hokm $(ARGS)

docs: .venv-docs/$(STAMP) ## build the documentation site into site/, with warnings as errors
	$(DOCS)/python -m tools.documentation

clean: ## remove the environments and what tools and the demo left
	rm -rf .venv .venv-* .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis build site $(DEMO)

# Both files, because an interpreter may go (then its link is dead) and its date says nothing.
%/bin/python %/pyvenv.cfg:
	tools/new-venv $(PYTHON) $*

$(VENV)/$(STAMP): $(BIN)/python $(VENV)/pyvenv.cfg pyproject.toml sdk/python/pyproject.toml constraints.txt
	@echo "Installing into $(VENV): a few seconds with uv, about a minute with pip"
	$(call install,$(BIN)) -c constraints.txt -e sdk/python -e '.[dev]'
	@touch $@

.venv-tools/$(STAMP): $(TOOLS)/python .venv-tools/pyvenv.cfg tools/requirements.txt
	$(call install,$(TOOLS)) -r tools/requirements.txt
	@touch $@

.venv-docs/$(STAMP): $(DOCS)/python .venv-docs/pyvenv.cfg tools/requirements-docs.txt
	$(call install,$(DOCS)) -r tools/requirements-docs.txt
	@touch $@

.venv-lowest/$(STAMP): $(LOWEST)/python .venv-lowest/pyvenv.cfg constraints.txt tools/lowest.txt
	grep -Ev '^(grpcio|protobuf)==' constraints.txt >.venv-lowest/constraints.txt
	$(call install,$(LOWEST)) -c .venv-lowest/constraints.txt -r tools/lowest.txt -e sdk/python \
	    hypothesis jsonschema pytest pytest-timeout pytest-trio trustme
	@touch $@
