# SPDX-License-Identifier: Apache-2.0
#
# The front door: every target calls meson, ninja or a script in tools/. `make help` lists them.

BUILD         := build
FUZZ_SECONDS  ?= 20
KILLS         ?= 200
PREFIX_OPTION := $(if $(PREFIX),-Dprefix=$(abspath $(PREFIX)))

export FUZZ_SECONDS KILLS
# Someone who runs make through sudo wants everything to run as root; `record` would switch to that user.
unexport SUDO_UID SUDO_GID

.PHONY: all demo demo-hip soft check test tensorflow torch bench asan tsan fuzz tidy doc format format-check install clean help

all: $(BUILD)/build.ninja ## build into build/
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@tools/setup build
	@meson setup $(BUILD) -Dtests=false $(PREFIX_OPTION)

demo: all ## trace a TensorFlow training on the software GPU and print the report
	@tools/demo $(BUILD)

demo-hip: all ## trace a program for HIP on the software AMD GPU and print the report
	@tools/demo-hip $(BUILD)

soft: all ## build the software GPU; downloads TensorFlow
	@tools/setup soft
	@meson setup --reconfigure $(BUILD) >/dev/null
	@ninja -C $(BUILD) soft/millrace_soft.so

check: ## run before every commit: build with gcc, run all quick tests
	@tools/setup build test
	@tools/run-tests check

test: ## run everything that CI checks; FUZZ_SECONDS=20 KILLS=200
	@tools/setup build test amd frameworks browser readers
	@tools/run-tests

tensorflow: ## test traced TensorFlow with every supported version
	@tools/setup build test tensorflow
	@tools/run-tests tensorflow

torch: ## test traced PyTorch with every supported version
	@tools/setup build test torch
	@tools/run-tests torch

asan: ## run unit and server tests with AddressSanitizer and UBSan
	@tools/setup build test
	@tools/run-tests asan

tsan: ## run threaded unit tests and server tests with ThreadSanitizer
	@tools/setup build test
	@tools/run-tests tsan

fuzz: ## run every fuzzer for FUZZ_SECONDS
	@tools/setup build test
	@tools/run-tests fuzz

tidy: ## run clang-tidy with the checks in .clang-tidy
	@tools/setup build test
	@tools/run-tests tidy

bench: all ## measure the figures in bench/
	@tools/setup build bench browser
	@bench/run $(BUILD)

doc: all ## regenerate doc/events.md and doc/tables.md
	@$(BUILD)/doc/schema-doc >doc/events.md
	@sed '/^## Tables$$/,$$d' doc/tables.md >$(BUILD)/tables.md
	@$(BUILD)/doc/tables-doc >>$(BUILD)/tables.md
	@mv $(BUILD)/tables.md doc/tables.md

format: ## format all C sources
	@tools/format

format-check: ## fail if C sources are not formatted
	@tools/format --check

install: $(BUILD)/build.ninja ## install under PREFIX=/usr/local (DESTDIR is honoured)
	@$(if $(PREFIX),meson configure $(BUILD) $(PREFIX_OPTION))
	@meson install -C $(BUILD)

clean: ## remove all build folders
	@rm -rf $(BUILD) build-*

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24
