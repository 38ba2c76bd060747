# SPDX-License-Identifier: Apache-2.0
#
# The front door: every target calls meson, ninja or a script in tools/. `make help` lists them.

BUILD         := build
FUZZ_SECONDS  ?= 20
KILLS         ?= 200
PREFIX_OPTION := $(if $(PREFIX),-Dprefix=$(abspath $(PREFIX)))

export FUZZ_SECONDS KILLS
# Who runs all of this through sudo wants it to stay root; `record` would become that user.
unexport SUDO_UID SUDO_GID

.PHONY: all demo soft check test tensorflow bench asan tsan fuzz tidy doc format format-check install clean help

all: $(BUILD)/build.ninja ## build into build/
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@tools/setup build
	@meson setup $(BUILD) -Dtests=false $(PREFIX_OPTION)

demo: all ## trace a TensorFlow training on the software GPU and report on it
	@tools/demo $(BUILD)

soft: all ## build the software GPU, for which TensorFlow is fetched
	@tools/setup soft
	@meson setup --reconfigure $(BUILD) >/dev/null
	@ninja -C $(BUILD) soft/millrace_soft.so

check: ## what to run before a commit: gcc, and all tests that are quick
	@tools/setup build test
	@tools/run-tests check

test: ## everything CI checks; FUZZ_SECONDS=20 KILLS=200
	@tools/setup build test frameworks browser
	@tools/run-tests

tensorflow: ## the tests of traced TensorFlow, with each version that is supported
	@tools/setup build test tensorflow
	@tools/run-tests tensorflow

asan: ## unit and server tests with AddressSanitizer and UBSan
	@tools/setup build test
	@tools/run-tests asan

tsan: ## unit tests that make threads, and server tests, with ThreadSanitizer
	@tools/setup build test
	@tools/run-tests tsan

fuzz: ## every fuzzer for FUZZ_SECONDS
	@tools/setup build test
	@tools/run-tests fuzz

tidy: ## look for faults with the checks of .clang-tidy
	@tools/setup build test
	@tools/run-tests tidy

bench: all ## the figures of bench/
	@tools/setup build bench browser
	@bench/run $(BUILD)

doc: all ## renew doc/events.md and doc/tables.md
	@$(BUILD)/doc/schema-doc >doc/events.md
	@sed '/^## Tables$$/,$$d' doc/tables.md >$(BUILD)/tables.md
	@$(BUILD)/doc/tables-doc >>$(BUILD)/tables.md
	@mv $(BUILD)/tables.md doc/tables.md

format: ## format all C sources
	@tools/format

format-check: ## complain about C sources that are not formatted
	@tools/format --check

install: $(BUILD)/build.ninja ## install under PREFIX=/usr/local (DESTDIR is honoured)
	@$(if $(PREFIX),meson configure $(BUILD) $(PREFIX_OPTION))
	@meson install -C $(BUILD)

clean: ## remove what was built
	@rm -rf $(BUILD) build-*

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24
