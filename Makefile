# SPDX-License-Identifier: BSD-2-Clause
# `make` builds .output/latscope, `make help` lists the other targets. The rules are in mk/:
#   arch.mk     what depends on the architecture    harden.mk   hardening options of compiler and linker
#   compile.mk  the program                         bpf.mk      BPF objects and skeletons
#   kmod.mk     kernel modules                      install.mk  installation and man pages
#   package.mk  Debian packages
#   unit.mk     unit tests, with sanitizers         programs.mk programs that the test scripts run
#   check.mk    targets that run tests              bench.mk    benchmarks
OUT := .output
include mk/arch.mk
PREFIX ?= /usr/local
DESTDIR ?=
V ?= 0
ifeq ($(V),1)
  Q =
  msg =
else
  Q = @
  msg = @printf '  %-7s %s\n' "$(1)" "$(patsubst $(OUT)/%,%,$(2))";
  MAKEFLAGS += --no-print-directory
endif

VERSION := 0.2.0
# A source package has its commit in a file, a git tree knows it; + stands for uncommitted changes. Root may build the tree
# of another user, of which git says nothing without safe.directory.
COMMIT := $(shell cat COMMIT 2>/dev/null || git -c safe.directory='*' describe --always --abbrev=12 --exclude='*' --dirty=+ 2>/dev/null)
WERROR ?= $(filter tests,$(MAKECMDGOALS))

all: $(OUT)/latscope ## Build .output/latscope (the default)

include mk/compile.mk mk/web.mk mk/bpf.mk mk/kmod.mk mk/install.mk mk/package.mk mk/unit.mk \
	mk/programs.mk mk/faults.mk mk/check.mk mk/bench.mk

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z_ -]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo 'Variables: V=1 shows commands. PROBES="memlat runqlat" builds these alone (mk/arch.mk).'
	@echo 'ARCH=arm64 SYSROOT=DIR cross-compiles (mk/arch.mk). KERNEL= and KDIR= choose'
	@echo 'the kernel to build modules for (mk/kmod.mk). PREFIX= and DESTDIR= choose where install puts files. JOBS=N runs N'
	@echo 'test suites at a time.'

deps: ## Install the Debian packages that all targets need
	$(Q)scripts/deps build check bench arm64 distro bochs

demo: ## Install what is missing, build, and say who waits for whom in a small story
	$(Q)scripts/deps build
	$(Q)$(MAKE) all
	$(Q)scripts/demo

format: ## Format the C files
	$(Q)clang-format -i $$(git ls-files '*.c' '*.h')

print-version:
	@echo $(VERSION)

print-commit:
	@echo $(COMMIT)

# Downloaded kernels (vm) stay: make did not build them.
clean: ## Delete what was built
	$(Q)find $(OUT) -mindepth 1 -maxdepth 1 ! -name vm -exec rm -rf {} + 2>/dev/null || true

distclean: ## Delete what was built or downloaded
	$(Q)rm -rf $(OUT)

.DELETE_ON_ERROR:
.PHONY: all help deps demo format print-version print-commit clean distclean
