# make help lists the targets. Everything is built into build/<preset>; nothing outside build/ is written.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
# A part of the benchmarks, or one fuzzer: make bench ONLY=accounting, make fuzz ONLY=csv
ONLY ?=
# How long each fuzzer runs: make fuzz SECONDS=600
SECONDS ?= 60
PREFIX ?= /usr/local
# Kills over all methods: make kills KILLS=500 SEED=2
KILLS ?= 500
SEED ?= 1
# The folder of the data sets, for experiments: make e2 DATA=...
DATA ?= $(RATION_DATA)
# More settings for the first configuration: make build CMAKE_FLAGS=-DRATION_BENCH=OFF
CMAKE_FLAGS ?=

sources = $(shell find include src cli plot tests fuzz bench examples experiments -name "*.h" -o -name "*.cpp" 2> /dev/null)
packages_for = $(shell awk '$$1 == "$(1)" {print $$2}' packages.txt)

# Installs those of the packages $(1) that are missing; does nothing, quickly, if none is.
define install_missing
	@command -v dpkg-query > /dev/null || { echo "Not a Debian system: install by hand: $(1)"; exit 0; }; \
	present=" $$(dpkg-query -W -f='$${db:Status-Status}:$${Package} ' $(1) 2> /dev/null || true) "; \
	missing=""; \
	for package in $(1); do [[ "$$present" == *" installed:$$package "* ]] || missing+=" $$package"; done; \
	if [[ -z "$$missing" ]]; then exit 0; fi; \
	echo "Installing:$$missing"; \
	root=""; if [[ $$(id -u) -ne 0 ]]; then root="sudo"; fi; \
	$$root apt-get update -qq && \
	$$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing > /dev/null
endef

# Configures build/$(1) unless it is, with the features $(2) on; all others of a new one are off, so that nobody
# waits for what was not asked for. Afterwards ninja notices by itself when a CMake file changes.
features = RATION_TORCH RATION_TESTS RATION_BENCH
define configure
	@cache=build/$(1)/CMakeCache.txt; flags=""; \
	for feature in $(features); do \
	  if [[ " $(2) " == *" $$feature "* ]]; then \
	    grep -qs "^$$feature:BOOL=ON" $$cache || flags+=" -D$$feature=ON"; \
	  elif [[ ! -f $$cache ]]; then flags+=" -D$$feature=OFF"; fi; \
	done; \
	if [[ -n "$$flags" || ! -f build/$(1)/build.ninja ]]; then cmake --preset $(1) $$flags $(CMAKE_FLAGS); fi
endef

.PHONY: help deps demo-deps check-deps bench-deps fuzz-deps build test slow kills mutants demo bench e2 e3 e4 e5 e6 asan tsan fuzz format format-check \
        tidy api api-check readme install clean need-data
.DEFAULT_GOAL := help

help:
	@echo "make demo          build the command line without networks, then train on a made-up census"
	@echo "make test          build everything, then run every test but the slow ones"
	@echo "make slow          the slow tests: long searches, extremes, audits of training, crashes"
	@echo "make kills         kill -9 every method at random moments, with a ledger, and resume (KILLS=500, SEED=1)"
	@echo "make mutants       build the library with each known defect, and see that a test finds it (ONLY=name: one; an hour)"
	@echo "make build         build/release/ration, with networks"
	@echo "make bench         run the benchmarks into build/release/bench.json (ONLY=accounting: a part)"
	@echo "make e2            run experiment E2, noise schedules on MNIST, into docs/results/e2 (DATA: folder of the data sets)"
	@echo "make e3            run experiment E3, private line search on networks, into docs/results/e3 (hours)"
	@echo "make e4            run experiment E4, automatic clipping on networks, into docs/results/e4 (hours)"
	@echo "make e5            run experiment E5, learned protection, into docs/results/e5"
	@echo "make e6            run experiment E6, auto beside every convex method, into docs/results/e6 (hours; goes on where it was stopped)"
	@echo "make asan          the fast tests under the address and undefined-behaviour sanitizers"
	@echo "make tsan          the fast tests under the thread sanitizer"
	@echo "make fuzz          every fuzzer for SECONDS ($(SECONDS)), two at a time; crashes into build/fuzz/crashes (ONLY=csv: one)"
	@echo "make format        rewrite the sources in the house format (format-check: only look)"
	@echo "make tidy          clang-tidy over the library and the command line"
	@echo "make api           the reference of the public headers, into build/api/html"
	@echo "make readme        rewrite the outputs and the picture that the README shows"
	@echo "make deps          install the Debian packages that are missing"
	@echo "make install       install into PREFIX ($(PREFIX))"
	@echo "make clean         remove build/"

demo-deps:
	$(call install_missing,$(call packages_for,demo))

deps: demo-deps
	$(call install_missing,$(call packages_for,build))

check-deps:
	$(call install_missing,$(call packages_for,check))

# Figures against programs that cannot be installed are reported as missing.
bench-deps: deps
	-$(call install_missing,$(call packages_for,bench))

fuzz-deps: deps
	$(call install_missing,$(call packages_for,fuzz))

# Without networks, tests and benchmarks: a few minutes on a fresh machine.
demo: demo-deps
	$(call configure,release)
	@cmake --build build/release -j $(JOBS) --target ration
	@build/release/ration demo

build: deps
	$(call configure,release,RATION_TORCH)
	@cmake --build build/release -j $(JOBS) --target ration ration_networks

test: deps
	$(call configure,release,RATION_TORCH RATION_TESTS)
	@cmake --build build/release -j $(JOBS)
	ctest --preset release -j $(JOBS) --progress

slow: deps
	$(call configure,release,RATION_TORCH RATION_TESTS)
	@cmake --build build/release -j $(JOBS)
	ctest --preset slow -j $(JOBS) --progress

kills: deps
	$(call configure,release,RATION_TORCH RATION_TESTS)
	@cmake --build build/release -j $(JOBS) --target ration ration_networks test_cli_slow
	RATION_KILLS=$(KILLS) RATION_KILLS_SEED=$(SEED) build/release/test_cli_slow --gtest_brief=1 --gtest_filter='Kills*'

# The compiler is run through ccache if that is there: most of a mutant is the same as the one before.
mutants: deps
	@ONLY="$(ONLY)" JOBS=$(JOBS) tests/mutants/run

bench: bench-deps
	$(call configure,release,RATION_TORCH RATION_BENCH)
	@cmake --build build/release -j $(JOBS) --target ration ration_networks ration_bench
	build/release/ration_bench $(if $(ONLY),--only=$(ONLY)) --out=build/release/bench.json

need-data:
	@[[ -n "$(DATA)" ]] || { echo "Set RATION_DATA to the folder of the data sets (examples/README.md says where they come from)"; exit 1; }

# Pictures also as PNG where rsvg-convert is installed.
e2: deps need-data
	$(call configure,release,RATION_TORCH)
	@cmake --build build/release -j $(JOBS) --target e2
	build/release/e2 $(DATA)/mnist docs/results/e2 $(JOBS)
	@command -v rsvg-convert > /dev/null && for f in docs/results/e2/*.svg; do rsvg-convert "$$f" -o "$${f%.svg}.png"; done || true

e3: deps need-data
	$(call configure,release,RATION_TORCH)
	@cmake --build build/release -j $(JOBS) --target e3
	build/release/e3 $(DATA) docs/results/e3 $(JOBS)
	@command -v rsvg-convert > /dev/null && for f in docs/results/e3/*.svg; do rsvg-convert "$$f" -o "$${f%.svg}.png"; done || true

e5: deps need-data
	$(call configure,release,RATION_TORCH)
	@cmake --build build/release -j $(JOBS) --target e5
	build/release/e5 $(DATA) examples docs/results/e5
	@command -v rsvg-convert > /dev/null && for f in docs/results/e5/*.svg; do rsvg-convert "$$f" -o "$${f%.svg}.png"; done || true

e4: build need-data
	python3 experiments/e4/study.py --ration build/release/ration --mnist $(DATA)/mnist --out docs/results/e4 --workers $(JOBS)
	python3 experiments/e4/report.py docs/results/e4
	@command -v rsvg-convert > /dev/null && for f in docs/results/e4/*.svg; do rsvg-convert "$$f" -o "$${f%.svg}.png"; done || true

# The runs stay in build/e6, so that the same command goes on after it was stopped.
e6: deps need-data
	$(call configure,release)
	@cmake --build build/release -j $(JOBS) --target ration
	RATION_DATA=$(DATA) build/release/ration compare --plan experiments/e6.toml --out build/e6/methods --threads $(JOBS) --quiet
	RATION_DATA=$(DATA) build/release/ration compare --plan experiments/e6-protectors.toml --out build/e6/protectors --threads $(JOBS) --quiet
	python3 experiments/e6/report.py build/e6/methods build/e6/protectors docs/results/e6
	@command -v rsvg-convert > /dev/null && for f in docs/results/e6/*.svg; do rsvg-convert "$$f" -o "$${f%.svg}.png"; done || true

asan tsan: deps
	$(call configure,$@,RATION_TORCH RATION_TESTS)
	@cmake --build build/$@ -j $(JOBS)
	ctest --preset $@ -j $(JOBS) --progress

fuzz: fuzz-deps
	$(call configure,fuzz,RATION_TORCH)
	@cmake --build build/fuzz -j $(JOBS)
	fuzz/run_all build/fuzz $(SECONDS) $(ONLY)

format: check-deps
	clang-format -i $(sources)

format-check: check-deps
	clang-format --dry-run -Werror $(sources)
	@echo "The format is right."

tidy: check-deps build
	find src cli -name '*.cpp' | xargs -P $(JOBS) -n 1 clang-tidy --quiet -p build/release

# The reference of the public headers, into build/api/html. A symbol without a comment is an error.
api api-check: check-deps
	@mkdir -p build/api
	doxygen docs/Doxyfile
	@echo "Every public symbol is documented."

readme: build
	docs/refresh_readme
	docs/refresh_plan

install: build
	@cmake --build build/release -j $(JOBS)
	cmake --install build/release --prefix $(PREFIX)

clean:
	rm -rf build
