# make help lists the targets. Everything is built into build/<preset>; nothing outside build/ is written.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
# A part of the benchmarks: make bench ONLY=accounting
ONLY ?=
PREFIX ?= /usr/local
# The folder of the data sets, for experiments.
DATA ?= $(or $(RATION_DATA),../shared/data)
# More settings for the first configuration: make build CMAKE_FLAGS=-DRATION_BENCH=OFF
CMAKE_FLAGS ?=

sources = $(shell find include src cli plot tests bench examples experiments -name "*.h" -o -name "*.cpp" 2> /dev/null)
build_packages = $(shell awk '$$1 == "build" {print $$2}' packages.txt)
bench_packages = $(shell awk '$$1 == "bench" {print $$2}' packages.txt)
check_packages = $(shell awk '$$1 == "check" {print $$2}' packages.txt)

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

.PHONY: help deps check-deps bench-deps build test demo bench e2 e3 e4 e5 asan tsan format format-check tidy readme install clean
.DEFAULT_GOAL := help

help:
	@echo "make demo          build, then train on a made-up census"
	@echo "make test          build, then run every test"
	@echo "make build         build/release/ration and the library"
	@echo "make bench         run the benchmarks into build/release/bench.json (ONLY=accounting: a part)"
	@echo "make e2            run experiment E2, noise schedules on MNIST, into docs/results/e2 (DATA: folder of the data sets)"
	@echo "make e3            run experiment E3, private line search on networks, into docs/results/e3 (hours)"
	@echo "make e4            run experiment E4, automatic clipping on networks, into docs/results/e4 (hours)"
	@echo "make e5            run experiment E5, learned protection, into docs/results/e5"
	@echo "make asan          the fast tests under the address and undefined-behaviour sanitizers"
	@echo "make tsan          the fast tests under the thread sanitizer"
	@echo "make format        rewrite the sources in the house format (format-check: only look)"
	@echo "make tidy          clang-tidy over the library and the command line"
	@echo "make readme        rewrite the outputs and the picture that the README shows"
	@echo "make deps          install the Debian packages that are missing"
	@echo "make install       install into PREFIX ($(PREFIX))"
	@echo "make clean         remove build/"

deps:
	$(call install_missing,$(build_packages))

check-deps:
	$(call install_missing,$(check_packages))

# Figures against programs that cannot be installed are reported as missing.
bench-deps:
	-$(call install_missing,$(bench_packages))

# Configured once; afterwards ninja notices by itself when a CMake file changes.
build/%/build.ninja: | deps
	cmake --preset $* $(CMAKE_FLAGS)

build: deps build/release/build.ninja
	@cmake --build build/release -j $(JOBS)

test: build
	ctest --preset release -j $(JOBS) --progress

demo: build
	@build/release/ration demo

bench: build bench-deps
	build/release/ration_bench $(if $(ONLY),--only=$(ONLY)) --out=build/release/bench.json

# Pictures also as PNG where rsvg-convert is installed.
e2: deps build/release/build.ninja
	@cmake --build build/release -j $(JOBS) --target e2
	build/release/e2 $(DATA)/mnist docs/results/e2 $(JOBS)
	@command -v rsvg-convert > /dev/null && for f in docs/results/e2/*.svg; do rsvg-convert "$$f" -o "$${f%.svg}.png"; done || true

e3: deps build/release/build.ninja
	@cmake --build build/release -j $(JOBS) --target e3
	build/release/e3 $(DATA) docs/results/e3 $(JOBS)
	@command -v rsvg-convert > /dev/null && for f in docs/results/e3/*.svg; do rsvg-convert "$$f" -o "$${f%.svg}.png"; done || true

e5: deps build/release/build.ninja
	@cmake --build build/release -j $(JOBS) --target e5
	build/release/e5 $(DATA) examples docs/results/e5
	@command -v rsvg-convert > /dev/null && for f in docs/results/e5/*.svg; do rsvg-convert "$$f" -o "$${f%.svg}.png"; done || true

e4: build
	python3 experiments/e4/study.py --ration build/release/ration --mnist $(DATA)/mnist --out docs/results/e4 --workers $(JOBS)
	python3 experiments/e4/report.py docs/results/e4
	@command -v rsvg-convert > /dev/null && for f in docs/results/e4/*.svg; do rsvg-convert "$$f" -o "$${f%.svg}.png"; done || true

asan tsan: %: deps build/%/build.ninja
	@cmake --build build/$@ -j $(JOBS)
	ctest --preset $@ -j $(JOBS) --progress

format: check-deps
	clang-format -i $(sources)

format-check: check-deps
	clang-format --dry-run -Werror $(sources)
	@echo "The format is right."

tidy: check-deps build
	find src cli -name '*.cpp' | xargs -P $(JOBS) -n 1 clang-tidy --quiet -p build/release

readme: build
	docs/refresh_readme

install: build
	cmake --install build/release --prefix $(PREFIX)

clean:
	rm -rf build
