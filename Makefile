# make run    serve the app on http://localhost:8501
# make test   lint, types and every test
# make lint   lint and types only
# make bench  how fast the simulator decides; TRACES="…" adds traces in Mooncake's format
#
# Each sets up what it needs in .venv, and only once: a stamp there carries the checksum of the
# requirements that were installed.

.PHONY: run test lint bench browser
.DEFAULT_GOAL := run

BIN := .venv/bin
PYTHONS := python3 python3.13 python3.12 python3.11
BROWSERS := chromium chromium-browser google-chrome
SUITABLE := import ensurepip, sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))

checksum = $(shell cat $(1) | cksum | cut -d' ' -f1)
APP := .venv/app-$(call checksum,requirements.txt)
DEV := .venv/dev-$(call checksum,requirements.txt requirements-dev.txt)

run: $(APP)
	$(BIN)/python -m streamlit run app.py

test: lint browser
	$(BIN)/python -m pytest

lint: $(DEV)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

bench: $(APP)
	$(BIN)/python -m sim.bench $(TRACES)

$(APP): | $(BIN)/python
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements.txt
	@touch $@

$(DEV): | $(BIN)/python
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements-dev.txt
	@touch $@

$(BIN)/python:
	@for python in $(PYTHONS); do \
		if $$python -c '$(SUITABLE)' 2>/dev/null; then \
			echo "Setting up .venv with $$($$python --version); the first time takes some minutes."; \
			exec $$python -m venv .venv; \
		fi; \
	done; \
	echo "No suitable Python found: 3.11, 3.12 or 3.13 with its venv module would do" \
		"(Debian: apt-get install python3-venv)." >&2; \
	exit 1

browser:
	@for browser in $(BROWSERS); do command -v $$browser >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ]; then root=; else root=sudo; fi; \
	echo "No Chromium found: installing Debian's package."; \
	$$root apt-get update -q && $$root apt-get install -qy --no-install-recommends chromium || { \
		echo "Could not install Chromium: the browser tests need one of $(BROWSERS) on the path." >&2; \
		exit 1; \
	}
