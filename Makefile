# Every command of the project. `make` alone lists them.

PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
BOARD ?=
WORKERS ?= 2
# A python that was asked for by name replaces a .venv made by another; a default never does.
ASKED := $(if $(filter file default undefined,$(origin PYTHON)),,$(PYTHON))
SETUP := sh tests/tools/setup/setup.sh "$(PYTHON)" "$(ASKED)"

TIMED := --junit-xml=.times.xml
# What make test takes, by kinds of tests (tests/README.md); tests/nightly reads this line, and draws
# in CI from all else. make quick takes no smoke test, either.
TEST_IS := smoke or not (process or browser or ros or micropython or fit or exhaustive or soak)
QUICK_IS := $(subst smoke or ,,$(TEST_IS))
# Logic too, and left out of make quick: whole drives of virtual cars, and what is dear by itself
DEAR := bench calibration hardware mutants nightly proof safety sim_mock soak studies tools firmware/drivers \
  firmware/test_driving.py host_bridge/cars host_bridge/deploy/hil
# What pytest may end with besides 0: .ci/run gives 75, "nothing failed, something was not measured"
MAY_END ?= 0

# Tests start programs by the hundred, each of which would compile anew all that it imports
test quick nightly studies soak: export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup ready ready-to-check ready-to-compile ready-to-drive demo test quick times check format docs release bench fast soak nightly studies mutants proof size hardware lock clean

help:  ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | \
	  awk -F ':.*## ' '{ printf "  make %-8s %s\n", $$1, $$2 }'

setup:  ## virtual environment, locked dependencies, a MicroPython (tries again for that)
	@$(SETUP) test --again
	@sh tests/tools/setup/colcon_setup.sh --again
	@sh tests/tools/setup/mavproxy_setup.sh --again

# Each has what the ones below it have. `ready` alone has a ROS 2 and what else only tests need.
ready:
	@$(SETUP) test
	@sh tests/tools/setup/colcon_setup.sh
	@sh tests/tools/setup/mavproxy_setup.sh

ready-to-check:
	@$(SETUP) check

ready-to-compile:
	@$(SETUP) fast

ready-to-drive:
	@$(SETUP) drive

demo: ready-to-drive  ## two cars drive and stop, with numbers (ARGS="...", BOARD=/dev/ttyACM0)
	@$(BIN)/tandem demo $(if $(BOARD),--board $(BOARD)) $(ARGS)

test: ready check  ## check, all of logic and safety, one of each other kind (ARGS="-k name")
	@$(BIN)/python -m tests.tools.running.measured -n $(WORKERS) --dist loadgroup -m "$(TEST_IS)" $(TIMED) $(ARGS) || \
	  { code=$$?; [ $$code = $(MAY_END) ] || exit $$code; }

quick: ready-to-check  ## the tests of logic, which start no program (ARGS="-k name")
	@$(BIN)/pytest -n $(WORKERS) -m "$(QUICK_IS)" $(DEAR:%=--ignore=tests/%) $(TIMED) $(ARGS)

times:  ## where the time of the last make test or make quick went, and the slowest tests
	@$(BIN)/python tests/tools/running/times.py

check: ready-to-check  ## format, lint, types of host and car, calls of studies and bench, import rules, dialect, evidence, children, raw names, docstrings, constants, folders, small files, words, citations, metres
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target check-host-types check-the-rest

.PHONY: check-host-types check-the-rest
check-host-types:  # takes as long as all the rest
	$(BIN)/mypy $(dir $(wildcard host_bridge/__init__.py sim_mock/__init__.py calibration/__init__.py hardware/__init__.py))

check-the-rest:
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/mypy --config-file tests/tools/rules/program/firmware_mypy.ini
	$(BIN)/mypy --config-file tests/tools/rules/program/programs_mypy.ini
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tests/tools/rules/program/dialect.py
	$(BIN)/python tests/tools/rules/program/evidence_rule.py
	$(BIN)/python tests/tools/rules/program/children_rule.py
	$(BIN)/python tests/tools/rules/program/raw_names_rule.py
	$(BIN)/python tests/tools/rules/writing/docstring_rule.py
	$(BIN)/python tests/tools/rules/writing/constants_rule.py
	$(BIN)/python tests/tools/rules/writing/folders_rule.py
	$(BIN)/python tests/tools/rules/writing/small_files_rule.py
	$(BIN)/python tests/tools/rules/writing/class_names_rule.py
	$(BIN)/python tests/tools/rules/writing/retired_words.py
	$(BIN)/python tests/tools/rules/writing/citations.py
	$(BIN)/python tests/tools/rules/program/unaided.py

format: ready-to-check  ## put the files into the house style
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

docs: ready-to-check  ## the site, from the pages of the folders, into build/docs/site (offline; Python 3.10 or newer)
	@$(BIN)/python -m tests.tools.docs.build $(ARGS)

release: ready-to-check  ## build sdist and wheel, try them on 3.10 to 3.13, make the tag (ARGS="--no-tag --python 3.12")
	@$(BIN)/python -m tests.tools.release.release $(ARGS)

bench: ready  ## how fast: cars, link, frames
	@for bench in tests/bench/bench_*.py tests/bench/*/bench_*.py; do $(BIN)/python $$bench $(ARGS) || exit 1; done

fast: ready-to-compile  ## the virtual car as machine code, which campaigns and lockstep use (minutes, and a C compiler)
	@env -u TANDEM_FAST $(BIN)/python -m sim_mock.runtime.compiled

soak: ready  ## the long tests
	@$(BIN)/pytest -n $(WORKERS) --dist loadgroup -m soak --timeout=7200 $(ARGS)

nightly: ready  ## everything, in parts, within ten hours; goes on where it was (ARGS="--list")
	@$(BIN)/python -m tests.nightly $(ARGS)

studies: ready  ## what takes longer than a part of a night, where its code changed
	@$(BIN)/python -m tests.nightly --studies $(ARGS)

mutants: ready-to-check  ## would the tests notice? small mistakes in what a change touches (ARGS="--all")
	@$(BIN)/python -m tests.mutants $(ARGS)

proof: ready-to-check  ## search all sequences of inputs for a broken promise (ARGS="--list", "NAME --json")
	@$(BIN)/python -m tests.proof $(ARGS)

size: ready-to-check  ## size of the car's program per chip, heap after start (ARGS=--write keeps it)
	@$(BIN)/python tests/tools/size/size.py $(ARGS)

hardware: ready-to-check  ## draw harnesses, runstop circuit and guide where they changed (needs graphviz)
	@$(BIN)/python -m hardware.drawing

lock: ready-to-drive  ## renew the lock files from pyproject.toml (needs the network)
	@sh tests/tools/setup/lock.sh

clean:  ## remove all that was set up or built
	rm -rf demo-out .times.xml .venv .micropython .devkit .fast .mavproxy .mutants .nightly .ros .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -rf .import_linter_cache .coverage build dist out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
