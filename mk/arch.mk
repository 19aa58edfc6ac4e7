# SPDX-License-Identifier: BSD-2-Clause
# Variables that depend on the architecture. ARCH= is the architecture to build for, x86 or arm64; by default that of
# this machine. For another one, CROSS_COMPILE= is the compiler's prefix and SYSROOT= a root with the libraries; the
# output goes to .output/ARCH. `tests/vm/root arm64` makes such a root.
arch_of = $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(patsubst amd64,x86,$(1))))
MACHINE := $(call arch_of,$(shell uname -m))
ARCH ?= $(MACHINE)
override ARCH := $(call arch_of,$(ARCH))
ifeq ($(filter x86 arm64,$(ARCH)),)
  $(error unsupported architecture '$(ARCH)'; use ARCH=x86 or ARCH=arm64)
endif

ifneq ($(ARCH),$(MACHINE))
  OUT := .output/$(ARCH)
  CROSS_COMPILE ?= $(if $(filter arm64,$(ARCH)),aarch64,x86_64)-linux-gnu-
endif
ifeq ($(origin CC),default)
  CC := $(CROSS_COMPILE)gcc$(SYSROOT:%= --sysroot=%)
endif

# Files of one architecture; elsewhere unsupported.c stands in for them.
X86_ONLY := $(addprefix src/probes/ringlat/,facts.c guest.c guest_code.S kvm.c measure.c module.c module_code.S tsc.c user.c) \
	tests/unit/test_guest.c tests/unit/test_ring.c $(wildcard tests/ringlat/*.c tests/emu/test_*.c)
OTHER_ARCH := $(if $(filter x86,$(ARCH)),src/probes/ringlat/unsupported.c,$(X86_ONLY))

# Each probe is a folder in src/probes. PROBES="memlat runqlat" builds these alone; the order is that of reports.
ALL_PROBES := where memlat runqlat iolat softirq rmid tierlat ringlat
PROBES ?= $(ALL_PROBES)
ABSENT := $(filter-out $(PROBES),$(ALL_PROBES))
NOT_BUILT := $(ABSENT:%=src/probes/%/%) $(if $(ABSENT),$(shell grep -lE "probes/($$(echo $(ABSENT) | tr ' ' '|'))/" \
	tests/unit/*.[ch] tests/emu/*.[ch] bench/*.[ch]))

# sources PATTERN...: the files that are built for ARCH, with PROBES.
sources = $(filter-out $(NOT_BUILT) $(OTHER_ARCH),$(wildcard $(1)))

ifneq ($(ARCH),x86)
  ifneq ($(filter modules% dkms%,$(MAKECMDGOALS)),)
    $(error the kernel modules are for x86 only)
  endif
endif
