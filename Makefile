# make demo    sets up everything and checks two programs against a 24 GiB RTX 4090
# make test    all tests
# make bench   speed, beside the bare scripts and other tools
# make compat  the peaks that explain reads, with an older PyTorch
# Everything lands in .venv and target/; no GPU is needed.

PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
OOMPH  := target/release/oomph
CHECK  := $(OOMPH) check --python $(PY)

EXECUTIONS ?= 1000000

SHELL := bash

.PHONY: demo test bench fuzz compat setup build lint unit golden differential python-tests system causes zoo crosscheck clean
.DEFAULT_GOAL := demo

demo: setup build
	@echo; echo '$$ oomph check --gpu rtx-4090 examples/mlp.py'
	@$(CHECK) --gpu rtx-4090 examples/mlp.py
	@echo; echo '$$ oomph check --gpu rtx-4090 examples/gpt2.py --batch-size 8'
	@$(CHECK) --gpu rtx-4090 examples/gpt2.py --batch-size 8
	@echo; echo '$$ oomph check --gpu rtx-4090 examples/gpt2.py --batch-size 16'
	@$(CHECK) --gpu rtx-4090 examples/gpt2.py --batch-size 16 || test $$? -eq 1

test: lint unit golden python-tests system differential causes zoo crosscheck
	@echo; echo 'all tests passed'

setup: $(VENV)/.ready

$(VENV)/.ready: requirements/test.txt
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --disable-pip-version-check --progress-bar off -r requirements/test.txt
	@touch $@

build:
	cargo build --release --locked --package oomph

lint:
	$(PYTHON) tests/tidy.py
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked --quiet

unit: setup
	cargo test --workspace --locked --quiet

# The allocator model against what real PyTorch of many versions did, operation by operation.
golden:
	cargo run --release --locked --quiet --package allocator --example golden -- crates/trace/tests/golden/*.json.gz

# The same against the installed PyTorch, in random programs; tests/differential/README.md has the long runs.
RANDOM := $(OOMPH) phantom --gpu rtx-4090 -- $(PY) tests/differential/driver.py

differential: setup build
	$(RANDOM) --seed 1 --programs 300 > target/differential.jsonl
	$(RANDOM) --seed 2 --programs 100 --race > target/differential-race.jsonl
	cargo run --release --locked --quiet --package allocator --example golden -- target/differential.jsonl target/differential-race.jsonl | tail -n 20; \
		exit $${PIPESTATUS[0]}

# The agent's tests use the phantom that the binary carries.
python-tests: setup build
	OOMPH_TEST_PHANTOM="$$($(OOMPH) phantom --gpu rtx-4090 -- printenv LD_LIBRARY_PATH | cut -d: -f1)" \
	$(PY) -m unittest discover -s python/tests -t python -q

# The whole of it, as a user runs it: real PyTorch, real scripts, the release binary.
system: setup build
	$(PY) tests/system/run.py --oomph $(OOMPH) --python $(PY)

# Programs that run out for a known cause, each with a control: what explain says of them.
causes: setup build
	$(PY) tests/causes/check.py --oomph $(OOMPH)

zoo: setup build
	$(PY) tests/zoo/check.py --oomph $(OOMPH)

crosscheck: setup build
	$(OOMPH) phantom --gpu rtx-4090 -- $(PY) tests/crosscheck/crosscheck.py

bench: setup build
	$(PY) benches/run.py --oomph $(OOMPH) --python $(PY)
	$(PY) benches/explain.py --oomph $(OOMPH) --python $(PY)
	$(PY) benches/allocator.py --oomph $(OOMPH) --python $(PY)

# Every reader under coverage-guided fuzzing; needs a nightly compiler and cargo-fuzz. fuzz/README.md says what was run.
fuzz:
	fuzz/run.sh $(EXECUTIONS)

# The peaks of the same programs with another PyTorch: make compat TORCH=2.8.0
TORCH  ?= 2.8.0
COMPAT := target/compat/torch-$(TORCH)

compat: build $(COMPAT)/libcuda12.so
	$(COMPAT)/bin/python tests/causes/check.py --oomph $(OOMPH) --peaks-only --preload $(COMPAT)/libcuda12.so

$(COMPAT)/libcuda12.so: tests/compat/cuda12.c
	$(PYTHON) -m venv $(COMPAT)
	$(COMPAT)/bin/python -m pip install --disable-pip-version-check --progress-bar off torch==$(TORCH) numpy
	cc -Wall -Wextra -shared -fPIC -I $(COMPAT)/lib/python3*/site-packages/triton/backends/nvidia/include -o $@ $<

clean:
	rm -rf target $(VENV)
