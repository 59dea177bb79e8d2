# make demo    sets up everything and checks two programs against a 24 GiB RTX 4090
# make test    the tests of every commit; make test-all has the rest; make NAME runs one suite
# make bench   speed, beside the bare scripts and other tools
# make generate  writes the files and lists that follow from tables; CHECK=1 names the stale ones
# make compat  check and explain with another PyTorch: make compat TORCH=2.5.1; make pytorch-tests TORCH=2.6.0 runs PyTorch's own tests
# CONTRIBUTING.md names all targets. Everything lands in .venv and target/, but wheels in dist/ and PyTorch's own tests in the user's cache; no GPU
# is needed.

PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
# `make test` runs the binary that its unit tests have compiled, with assertions: PROFILE=dev. All else runs the release binary.
PROFILE ?= release
TARGET := target/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))
OOMPH  := $(TARGET)/oomph
DEMO   = $(OOMPH) check --python $(PY)
# An environment on top of .venv, with launchers, frameworks and what some remedies need.
FRAMEWORKS := target/frameworks
# Another one on top of .venv, with the clients of services.
SERVICES := target/services
# Another one on top of .venv, with the programs of the atlas.
ATLAS := target/atlas

EXECUTIONS ?= 1000000

SHELL := bash
# Reports are read by people and tests, also where a coding agent calls make.
export OOMPH_AGENT := 0

# What every suite is told: where the binary is, and whether cases that are left to `make test-all` run too.
SUITE := --oomph $(OOMPH) $(if $(ALL),--all)

# The suites of tests/run.py.
KINDS := agent golden messages differential values captures compiled system effects effects-functions causes caught deaths against retry limits hooks \
	live top packaging python-api mcp services fits plans sweeps lives lives-frameworks leaks blame mistakes zoo crosscheck frameworks notebook validation validation-tests \
	lsp ci trackers

.PHONY: demo test test-all suites slowest bench fuzz compat pytorch-tests setup environments build binaries everything generate lint rustdoc \
	unit $(KINDS) remedies notebook-screens weights validate atlas clean
.DEFAULT_GOAL := demo

# PyTorch is downloaded while the command is compiled.
demo: OOMPH := target/demo/oomph
demo:
	$(MAKE) -j2 setup build PROFILE=demo
	@echo; echo '$$ oomph check --gpu rtx-4090 examples/mlp.py'
	@$(DEMO) --gpu rtx-4090 examples/mlp.py
	@echo; echo '$$ oomph check --gpu rtx-4090 examples/gpt2.py --batch-size 8'
	@$(DEMO) --gpu rtx-4090 examples/gpt2.py --batch-size 8
	@echo; echo '$$ oomph check --gpu rtx-4090 examples/gpt2.py --batch-size 16'
	@$(DEMO) --gpu rtx-4090 examples/gpt2.py --batch-size 16 || test $$? -eq 1

# PyTorch is downloaded while the workspace is compiled.
test:
	$(MAKE) -j2 environments everything
	$(MAKE) lint
	$(MAKE) unit
	$(MAKE) suites PROFILE=$(if $(filter command%,$(origin PROFILE)),$(PROFILE),dev)
	@echo; echo 'all tests passed'

# All that runs Python, from one queue; the target of a suite runs that suite by itself.
suites: binaries environments
	$(PYTHON) tests/run.py $(SUITE)

# With all programs of the large kinds and the cases that take long, the documentation of the crates, the search for the largest batch, and the
# wheel.
test-all:
	$(MAKE) test ALL=1 PROFILE=release
	$(MAKE) rustdoc
	$(PY) tests/remedies/max_batch.py --oomph $(OOMPH)
	$(MAKE) wheel

# How long each suite of the last `make test` took, and its ten slowest cases.
slowest:
	@$(PYTHON) tests/suite.py

setup: $(VENV)/.ready

environments: $(VENV)/.ready $(FRAMEWORKS)/.ready $(SERVICES)/.ready

$(VENV)/.ready: requirements/test.txt
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --disable-pip-version-check --progress-bar off -r requirements/test.txt
	@touch $@

build:
	cargo build --profile $(PROFILE) --locked --package oomph

# With the examples that tests run: in one call of Cargo, so that each crate is compiled once.
GOLDEN := $(TARGET)/examples/golden
PATCH  := $(TARGET)/examples/patch

# With PROFILE=dev the binary of `everything`: nothing is compiled a second time.
binaries: $(if $(filter dev,$(PROFILE)),everything)
	$(if $(filter dev,$(PROFILE)),,cargo build --profile $(PROFILE) --locked --package oomph --package allocator --package patch --package report \
		--bin oomph --example golden --example patch --example reread)

# One build of the workspace, with one set of features, for the binary, unit tests, examples and generators.
everything:
	cargo build --workspace --lib --bins --examples --tests --locked

lint: setup everything
	$(PYTHON) tests/tidy.py
	$(PYTHON) docs/book.py --check
	cargo fmt --all --check
	$(MAKE) generate CHECK=1
	cargo clippy --workspace --all-targets --locked -- -D warnings

# The documentation of the crates: no warning, no dead link.
rustdoc:
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked --quiet

# Every file and list that follows from a table; CHECK=1 names the stale ones and writes nothing. In stages: Note [Stages] in
# crates/generate/src/main.rs. The phantom's lists of missing functions follow from NVIDIA's libraries as well, those of .venv.
ABSENT := crates/phantom/generate.py

generate: setup
	$(if $(CHECK),,cargo run --quiet --locked --package generate --no-default-features)
	$(MAKE) everything
	target/debug/generate $(if $(CHECK),--check)
	$(PYTHON) tests/times.py $(if $(CHECK),--check)
	$(PYTHON) docs/replaced.py $(if $(CHECK),--check)
	$(PYTHON) $(ABSENT) $(VENV)/lib/python3*/site-packages/nvidia $(if $(CHECK),--check)

unit: setup
	cargo test --workspace --locked --quiet

# A suite by itself: CONTRIBUTING.md says what each is about.
$(KINDS): binaries environments
	$(PYTHON) tests/run.py $(SUITE) --kind $@

# Every remedy, and then a program of each beside its patch.
remedies: binaries environments
	$(PYTHON) tests/run.py $(SUITE) --kind remedies patched

# The same in JupyterLab, by a browser: the screenshots of docs/notebook.md. CHROMIUM names the browser.
CHROMIUM ?= /usr/bin/chromium

notebook-screens: binaries $(FRAMEWORKS)/.ready
	$(FRAMEWORKS)/bin/python -m pip install --disable-pip-version-check --progress-bar off --quiet -r requirements/notebook.txt
	$(FRAMEWORKS)/bin/python tests/notebook/browser.py --oomph $(OOMPH) --chromium $(CHROMIUM)

# Ways to load weights without the weights, beside the same with real files of zeros. With libraries of another year, in an environment on
# top of .venv: make weights TRANSFORMERS=4.46.3, or another version that has a file in requirements.
LIBRARIES := $(if $(TRANSFORMERS),target/compat/transformers-$(TRANSFORMERS),$(FRAMEWORKS))

weights: setup binaries $(LIBRARIES)/.ready
	$(LIBRARIES)/bin/python tests/weights/check.py $(SUITE)

target/compat/transformers-%/.ready: requirements/transformers-%.txt $(VENV)/.ready
	$(PYTHON) -m venv $(@D)
	cd $(VENV)/lib/python3*/site-packages && pwd > $(CURDIR)/$(@D)/packages.pth
	mv $(@D)/packages.pth $(@D)/lib/python3*/site-packages/
	$(@D)/bin/python -m pip install --disable-pip-version-check --progress-bar off -r $<
	@touch $@

# Kernels of deepspeed are compiled where a program uses them.
$(FRAMEWORKS)/.ready $(SERVICES)/.ready $(ATLAS)/.ready: target/%/.ready: requirements/%.txt $(VENV)/.ready
	$(PYTHON) -m venv $(@D)
	cd $(VENV)/lib/python3*/site-packages && pwd > $(CURDIR)/$(@D)/packages.pth
	mv $(@D)/packages.pth $(@D)/lib/python3*/site-packages/
	DS_BUILD_OPS=0 $(@D)/bin/python -m pip install --disable-pip-version-check --progress-bar off -r $<
	@touch $@

# Predictions beside records of real GPUs and beside figures that others published: docs/ACCURACY.md. The fast ones; with
# ALL=1 all, and with UPDATE=1 kept.
validate: binaries environments
	$(PYTHON) tests/run.py $(SUITE) --kind validation-tests
	$(PY) tests/validation/compare.py $(SUITE) $(if $(UPDATE),--update)

bench: setup build
	$(PY) benches/run.py --oomph $(OOMPH) --python $(PY)
	$(OOMPH) phantom --gpu h100-sxm -- $(OOMPH) run -- $(PY) benches/recording.py
	$(PY) benches/explain.py --oomph $(OOMPH) --python $(PY)
	$(PY) benches/logs.py --oomph $(OOMPH)
	$(PY) benches/values.py --oomph $(OOMPH) --python $(PY)
	$(PY) benches/allocator.py --oomph $(OOMPH) --python $(PY)
	$(PY) benches/lint.py --oomph $(OOMPH) --files $(VENV)/lib/python3*/site-packages/torchvision
	$(PY) benches/lint_corpus.py --oomph $(OOMPH)
	$(PY) benches/worst_batch.py

# Every reader under coverage-guided fuzzing; needs a nightly compiler and cargo-fuzz. fuzz/README.md says what was run.
fuzz:
	fuzz/run.sh $(EXECUTIONS)

# Another PyTorch, in an environment of its own (5 to 7 GB): the peaks that explain reads, and check against PyTorch's counters.
TORCH  ?= 2.5.1
COMPAT := target/compat/torch-$(TORCH)

compat: binaries $(COMPAT)/.ready
	$(COMPAT)/bin/python tests/compat/check.py $(SUITE)
	$(COMPAT)/bin/python tests/causes/check.py $(SUITE) --peaks-only

$(COMPAT)/.ready: requirements/compat.txt
	$(PYTHON) -m venv $(COMPAT)
	$(COMPAT)/bin/python -m pip install --disable-pip-version-check --progress-bar off torch==$(TORCH) -r requirements/compat.txt
	@touch $@

# PyTorch's own CUDA tests on the phantom: make pytorch-tests TORCH=2.6.0, whose list of tests that must pass is kept. The tests are
# fetched by git, outside the repository; PYTORCH names a checkout of that version that is there already. UPDATE=1 writes the list.
PYTORCH ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/oomph-tests/pytorch-$(TORCH)

pytorch-tests: binaries $(COMPAT)/.ready $(PYTORCH)/test
	$(COMPAT)/bin/python -m pip install --disable-pip-version-check --progress-bar off --quiet -r requirements/pytorch-tests.txt
	$(COMPAT)/bin/python tests/pytorch/check.py --oomph $(OOMPH) --tests $(PYTORCH)/test $(if $(UPDATE),--update)

$(PYTORCH)/test:
	git clone --depth 1 --filter=blob:none --sparse --branch v$(TORCH) https://github.com/pytorch/pytorch $(PYTORCH)
	git -C $(PYTORCH) sparse-checkout set test

clean:
	rm -rf target $(VENV)

# All pages as a site with search: target/book/index.html, readable without network. Compiles mdBook once.
MDBOOK := target/tools/mdbook-0.5.4

.PHONY: docs share wheel wheel-file sdist
docs: $(MDBOOK)/bin/mdbook
	$(PYTHON) docs/book.py --mdbook $<

$(MDBOOK)/bin/mdbook:
	cargo install mdbook --version $(MDBOOK:target/tools/mdbook-%=%) --locked --no-default-features --features search \
		--root $(MDBOOK) --target-dir target/tools/build

# The atlas of public recipes, some 800 dry runs; ATLAS_WORK keeps its sweeps. timm's recipes are read in a checkout: TIMM=DIR.
ATLAS_WORK ?= target/atlas-work

atlas: binaries $(ATLAS)/.ready
	$(ATLAS)/bin/python docs/atlas/make.py --oomph $(OOMPH) --work $(ATLAS_WORK) --tune-python $(ATLAS)/bin/python \
		--timm-python $(ATLAS)/bin/python --timm $(TIMM)

# dist/oomph-*.whl for every Linux with glibc 2.28 or later, and its test in a clean environment.
WHEEL_TOOLS := target/wheel-tools

# Man pages, and completions for shells, which maturin packs into the wheel and the sdist.
share:
	cargo run --quiet --locked --package generate -- --share python/wheel.data/data/share

wheel: setup $(FRAMEWORKS)/.ready
	$(MAKE) wheel-file
	$(PY) tests/wheel.py dist/oomph-*.whl --python $(PY) --pytest $(FRAMEWORKS)/bin/python

# The wheel alone, also for another system, whose standard library rustup has: make wheel-file TRIPLE=aarch64-unknown-linux-gnu, or
# TRIPLE=x86_64-pc-windows-gnu, where mingw-w64 links.
TRIPLE ?= x86_64-unknown-linux-gnu

wheel-file: share $(WHEEL_TOOLS)/.ready
	rm -f dist/oomph-*.whl
	PATH="$(CURDIR)/$(WHEEL_TOOLS)/bin:$$PATH" maturin build --release --locked --target $(TRIPLE) $(if $(findstring linux,$(TRIPLE)),--zig --compatibility manylinux_2_28) --out dist

# dist/oomph-*.tar.gz, which pip builds where no wheel suits.
sdist: share $(WHEEL_TOOLS)/.ready
	rm -f dist/oomph-*.tar.gz
	$(WHEEL_TOOLS)/bin/maturin sdist --out dist
	$(PYTHON) tests/packaging/sdist.py dist/oomph-*.tar.gz

$(WHEEL_TOOLS)/.ready: requirements/wheel.txt
	$(PYTHON) -m venv $(WHEEL_TOOLS)
	$(WHEEL_TOOLS)/bin/python -m pip install --disable-pip-version-check --progress-bar off -r $<
	@touch $@
