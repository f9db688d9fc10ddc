# Each target makes the .venv that it needs. PYTHON=python3.12 chooses another interpreter.
PYTHON ?= python3
BIN := .venv/bin
# The tests' own torch, by one version: whatever is newest may be a CUDA build of many gigabytes.
TORCH ?= torch==2.13.0
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check
# What an installed copy is made of: a change of any means installing again.
SOURCES := pyproject.toml setup.py $(wildcard retrokit/host/*.c retrokit/host/*.h retrokit/host/*.py)

.DELETE_ON_ERROR:
.PHONY: demo test check bench clean

# A game nobody described goes in, a proven integration comes out; the truth only judges it. Then
# three builds of the game with other addresses and encodings.
demo: .venv/demo.stamp
	@mkdir -p runs
	$(BIN)/retrokit ramsearch games/burrow/burrow.zip --out runs/burrow.yaml --force
	$(BIN)/retrokit verify runs/burrow.yaml games/burrow/burrow.zip
	@$(BIN)/python games/judge.py runs/burrow.yaml games/burrow.toml
	@for name in burrow2 burrow3 burrow4; do \
	  echo "$(BIN)/retrokit ramsearch games/variants/$$name.zip --out runs/$$name.yaml --force"; \
	  $(BIN)/retrokit ramsearch games/variants/$$name.zip --out runs/$$name.yaml --force && \
	  $(BIN)/python games/judge.py runs/$$name.yaml games/variants/$$name.toml || exit 1; done

test: .venv/dev.stamp
	$(BIN)/pytest -n 2 --dist loadfile

# What CI runs. Games and benchmarks are style-checked too; types are retrokit's promise alone.
check: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2 --dist loadfile

bench: .venv/dev.stamp
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/host.py

clean:
	rm -rf .venv build retrokit/_host.* *.egg-info

.venv/demo.stamp: $(SOURCES) | .venv/bin/pip
	@echo "Installing retrokit, emulator cores and Atari ROMs into .venv: about a minute, 500 MB."
	@$(INSTALL) -e '.[cores,atari]'
	@touch $@

.venv/dev.stamp: $(SOURCES) | .venv/bin/pip
	@echo "Installing retrokit, emulator cores, Atari ROMs and the test tools into .venv."
	@$(INSTALL) '$(TORCH)' -e '.[cores,atari,dev]'
	@touch .venv/demo.stamp $@

missing = { echo "retrokit: error: $(1). On Debian or Ubuntu: apt-get install $(2)" >&2; exit 1; }

.venv/bin/pip:
	@command -v $(PYTHON) >/dev/null || $(call missing,there is no $(PYTHON),python3)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "retrokit: error: $$($(PYTHON) --version) is too old; wanted 3.11 or newer: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  $(call missing,$(PYTHON) cannot make virtual environments,$(notdir $(PYTHON))-venv)
	@command -v $${CC:-gcc} >/dev/null || $(call missing,there is no C compiler,gcc)
	@$(PYTHON) -c 'import os, sysconfig as s; open(os.path.join(s.get_path("include"), "Python.h"))' 2>/dev/null || \
	  $(call missing,the headers of $(PYTHON) are not installed,$(notdir $(PYTHON))-dev)
	@$(PYTHON) -m venv .venv
