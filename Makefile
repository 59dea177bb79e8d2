# make demo    sets up everything and checks two programs against a 24 GiB RTX 4090
# make test    all tests
# make bench   speed, beside the bare scripts and other tools
# make compat  check and explain with another PyTorch: make compat TORCH=2.5.1
# Everything lands in .venv and target/; no GPU is needed.

PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
OOMPH  := target/release/oomph
CHECK  := $(OOMPH) check --python $(PY)
# An environment on top of .venv, with launchers, frameworks and what some remedies need.
FRAMEWORKS := target/frameworks

EXECUTIONS ?= 1000000

SHELL := bash

.PHONY: demo test bench fuzz compat setup build lint unit golden differential python-tests system causes mistakes remedies zoo crosscheck frameworks validate clean
.DEFAULT_GOAL := demo

demo: setup build
	@echo; echo '$$ oomph check --gpu rtx-4090 examples/mlp.py'
	@$(CHECK) --gpu rtx-4090 examples/mlp.py
	@echo; echo '$$ oomph check --gpu rtx-4090 examples/gpt2.py --batch-size 8'
	@$(CHECK) --gpu rtx-4090 examples/gpt2.py --batch-size 8
	@echo; echo '$$ oomph check --gpu rtx-4090 examples/gpt2.py --batch-size 16'
	@$(CHECK) --gpu rtx-4090 examples/gpt2.py --batch-size 16 || test $$? -eq 1

test: lint unit golden python-tests system differential causes mistakes remedies zoo crosscheck frameworks validate
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

# Every rule of lint: a program with the mistake and one without, what both hold on the phantom, and what the fix makes of it.
mistakes: setup build $(if $(ALL),$(FRAMEWORKS)/.ready)
	$(PY) tests/lint/check.py --oomph $(OOMPH) $(if $(ALL),--frameworks $(FRAMEWORKS)/bin/python)

# Every remedy: a program where it helps, to the byte, beside the same change made by hand; and one where it does not. Then a program
# of each beside its patch; with ALL=1 all programs, and those remedies that need packages of their own.
remedies: setup build $(if $(ALL),$(FRAMEWORKS)/.ready)
	$(PY) tests/remedies/check.py --oomph $(OOMPH) $(if $(ALL),--frameworks $(FRAMEWORKS)/bin/python)
	cargo build --release --locked --package patch --example patch
	$(PY) tests/remedies/patched.py --oomph $(OOMPH) --patch target/release/examples/patch $(if $(ALL),--all --python $(FRAMEWORKS)/bin/python)

zoo: setup build
	$(PY) tests/zoo/check.py --oomph $(OOMPH)

crosscheck: setup build
	$(OOMPH) phantom --gpu rtx-4090 -- $(PY) tests/crosscheck/crosscheck.py

# Launchers and frameworks: PyTorch is not installed twice. One of each kind; with ALL=1 all.
KINDS := "accelerate, 2" "Lightning, 1" "Trainer, bf16" "ZeRO 1" "PEFT" "bitsandbytes" "torchao, int8" "timm" "diffusers, training" \
	"torch.compile, dynamic" "torch.cuda.graph" "an extension" "DataLoader, fork"

frameworks: setup build $(FRAMEWORKS)/.ready
	$(FRAMEWORKS)/bin/python tests/frameworks/check.py --oomph $(OOMPH) $(if $(ALL),,$(KINDS))
	$(FRAMEWORKS)/bin/python tests/frameworks/saves.py --oomph $(OOMPH)

$(FRAMEWORKS)/.ready: requirements/frameworks.txt $(VENV)/.ready
	$(PYTHON) -m venv $(FRAMEWORKS)
	cd $(VENV)/lib/python3*/site-packages && pwd > $(CURDIR)/$(FRAMEWORKS)/packages.pth
	mv $(FRAMEWORKS)/packages.pth $(FRAMEWORKS)/lib/python3*/site-packages/
	DS_BUILD_OPS=0 $(FRAMEWORKS)/bin/python -m pip install --disable-pip-version-check --progress-bar off -r $<
	@touch $@

# Predictions beside records of real GPUs and beside figures that others published: docs/ACCURACY.md. The fast ones; with
# ALL=1 all, and with UPDATE=1 kept.
validate: setup build
	$(PY) -m unittest discover -s tests/validation -t tests/validation -q
	$(PY) tests/validation/compare.py --oomph $(OOMPH) $(if $(ALL),--all) $(if $(UPDATE),--update)

bench: setup build
	$(PY) benches/run.py --oomph $(OOMPH) --python $(PY)
	$(PY) benches/explain.py --oomph $(OOMPH) --python $(PY)
	$(PY) benches/allocator.py --oomph $(OOMPH) --python $(PY)
	$(PY) benches/lint.py --oomph $(OOMPH) --files $(VENV)/lib/python3*/site-packages/torchvision

# Every reader under coverage-guided fuzzing; needs a nightly compiler and cargo-fuzz. fuzz/README.md says what was run.
fuzz:
	fuzz/run.sh $(EXECUTIONS)

# Another PyTorch, in an environment of its own (5 to 7 GB): the peaks that explain reads, and check against PyTorch's counters.
TORCH  ?= 2.5.1
COMPAT := target/compat/torch-$(TORCH)

compat: build $(COMPAT)/.ready
	$(COMPAT)/bin/python tests/compat/check.py --oomph $(OOMPH)
	$(COMPAT)/bin/python tests/causes/check.py --oomph $(OOMPH) --peaks-only

$(COMPAT)/.ready: requirements/compat.txt
	$(PYTHON) -m venv $(COMPAT)
	$(COMPAT)/bin/python -m pip install --disable-pip-version-check --progress-bar off torch==$(TORCH) -r requirements/compat.txt
	@touch $@

clean:
	rm -rf target $(VENV)
