# Every target sets up what it needs: a fresh clone needs Python 3.11 to 3.13 and make, nothing else.
#
#   make reference   prove and cross-check every theorem; write each derivation as LaTeX and Markdown to build/reference/
#   make docs        build the site to build/site, and check it: every theorem proved, every link resolved
#   make test        run the tests               make test TESTS=tests/layering PYTEST_ARGS=-x
#   make claims      prove or refute the claims in tests/claims, and print the table   make claims CLAIMS=other/folder
#   make bench       measure, and write the table
#   make lint        ruff on the sources, mypy on the built wheel
#   make clean       remove what was built; `make distclean` removes .venv too
#
# JOBS is the number of processes (JOBS=0 runs the tests in one process). PYTHON chooses the interpreter for a new .venv.

JOBS ?= 2
TESTS ?=
PYTEST_ARGS ?=
CLAIMS ?= tests/claims
CLAIMS_ARGS ?=

BIN := .venv/bin
CORE := .venv/.installed
DOCS := .venv/.installed-docs
DEV := .venv/.installed-dev
# An editable install follows the sources, so only a change of these asks for a new one.
METADATA := pyproject.toml setup.py
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input

.DEFAULT_GOAL := reference
.PHONY: reference docs test claims bench lint clean distclean
.DELETE_ON_ERROR:

reference: $(CORE)
	$(BIN)/lemmata reference --output build/reference --jobs $(JOBS)

docs: $(DOCS)
	$(BIN)/python docs/_ext/build_site.py docs build/site --jobs $(JOBS)

test: $(DEV)
	$(BIN)/pytest -n $(JOBS) $(PYTEST_ARGS) $(TESTS)

claims: $(DEV)
	$(BIN)/python tests/claims/table.py $(CLAIMS) --jobs $(JOBS) $(CLAIMS_ARGS)

bench: $(DEV)
	$(BIN)/python tests/benchmarks/run.py

lint: $(DEV)
	$(BIN)/ruff check .
	rm -rf build/lint
	mkdir -p build/lint
	cp -R $(METADATA) LICENSE lemmata symbolic numeric build/lint/
	$(BIN)/python -m build --wheel --no-isolation --outdir build/lint/dist build/lint >build/lint/build.log 2>&1 \
	  || { cat build/lint/build.log; exit 1; }
	$(INSTALL) --no-deps --no-index --target build/lint/installed build/lint/dist/*.whl
	mkdir build/lint/outside
	cd build/lint/outside && MYPYPATH=../installed ../../../$(BIN)/mypy --config-file ../../../pyproject.toml \
	  --cache-dir ../../../.mypy_cache -p lemmata

clean:
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find lemmata symbolic numeric tests -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf .venv

$(DEV): $(METADATA) | $(BIN)/python
	@echo "Installing lemmata and its development tools into .venv (once; a few minutes on a slow line) ..."
	@$(INSTALL) --editable '.[dev]'
	@touch $(CORE) $(DOCS) $@

$(DOCS): $(METADATA) | $(BIN)/python
	@echo "Installing lemmata and what its site is built with into .venv (once) ..."
	@$(INSTALL) --editable '.[docs]'
	@touch $(CORE) $@

$(CORE): $(METADATA) | $(BIN)/python
	@echo "Installing lemmata into .venv (once) ..."
	@$(INSTALL) --editable .
	@touch $@

# The first interpreter that is new enough; python3 of the machine, if it will do.
$(BIN)/python:
	@for python in $(PYTHON) python3 python3.13 python3.12 python3.11; do \
	  if "$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null; then \
	    echo "Making .venv with $$("$$python" --version) ..."; \
	    "$$python" -m venv .venv || { rm -rf .venv; \
	      echo "error: '$$python -m venv' failed; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }; \
	    exit 0; \
	  fi; \
	done; \
	echo "error: lemmata needs Python 3.11, 3.12 or 3.13; python3 here is: $$(python3 --version 2>&1 | head -n 1)." >&2; \
	echo "       Install one of them, or name it: make PYTHON=/path/to/python3.12 ..." >&2; \
	exit 1
