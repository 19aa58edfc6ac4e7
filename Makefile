# SPDX-License-Identifier: BSD-2-Clause
# make          build .output/latscope
# make demo     install what is missing, build, record 10 s of a mixed load
# make check    install what is missing, build, run every test (soak: the same with larger counts)
# make check-bochs   ringlat's private guest on an emulated Intel CPU: minutes, so not in check
# make mutants  would a test notice? applies one small fault after the other: about an hour
# make matrix   what runs on which kernel: the suites that tell, and a table of what they said
# make bench    the figures of docs/performance.md, as ratios
# make install  PREFIX=/usr/local DESTDIR=
# make ARCH=arm64 SYSROOT=DIR    cross-compile; DIR has the libraries: see mk/arch.mk
# make modules  build kmod/* for the running kernel, or KERNEL= with KDIR= (its build directory)
# make modules_install   into DESTDIR/lib/modules; make dkms_install: as source for DKMS
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

CLANG ?= clang
LLVM_STRIP ?= llvm-strip
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)

VERSION := 0.1.0
CFLAGS ?= -O2 -g
WERROR ?= $(filter tests,$(MAKECMDGOALS))
WARN := -Wall -Wextra $(WERROR:%=-Werror) -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
CPPFLAGS += -Iinclude -Isrc -I$(OUT) -D_GNU_SOURCE -DLATSCOPE_VERSION='"$(VERSION)"'
STD := -std=gnu11
include mk/harden.mk
BPF_CC = $(CLANG) -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Wall -Wextra $(WERROR:%=-Werror) \
	-Wno-unused-parameter -Wno-missing-declarations -fdebug-compilation-dir=. -Iinclude -Ibpf/lib
LIBS_BASE := -ljson-c -lsqlite3 -lm
LIBS := -lbpf -lelf -lz $(LIBS_BASE) -lcap-ng -lseccomp
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

BPF_SRC := $(wildcard bpf/*.bpf.c)
BPF_LIB := $(wildcard bpf/*.bpf.h bpf/lib/*.bpf.h)
CONTRACT := $(wildcard include/latscope/*.h include/uapi/latscope/*.h)
SKELS := $(patsubst bpf/%.bpf.c,$(OUT)/%.skel.h,$(BPF_SRC))
SRC := $(call sources,src/*/*.c src/*/*/*.c)
ASM := $(patsubst %.S,$(OUT)/%.o,$(call sources,src/*/*/*.S))
OBJ := $(SRC:%.c=$(OUT)/%.o) $(ASM)
KERNEL ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KERNEL)/build
KMOD_OUT := $(OUT)/kmod/$(KERNEL)
KMOD := $(patsubst kmod/%/Kbuild,%,$(wildcard kmod/*/Kbuild))
MAN := $(patsubst man/%.scd,$(OUT)/man/%,$(wildcard man/*.scd))

# A newer compiler's warning must not stop a user's build. `make tests` stops at any, so it compiles everything
# again if something was compiled without -Werror.
STRICT := $(if $(WERROR),$(shell mkdir -p $(OUT); [ -e $(OUT)/strict ] || touch $(OUT)/strict; echo $(OUT)/strict))
lax = $(if $(WERROR),,&& rm -f $(OUT)/strict)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all tests programs demo check soak mutants matrix check-bochs bench install deps clean distclean format \
	modules modules_install dkms_install

all: $(OUT)/latscope

$(OUT)/latscope: $(OBJ)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(HARDEN_LINK) $(CFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

$(OUT)/%.o: %.c $(STRICT)
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(STD) $(WARN) $(HARDEN) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@ $(lax)

$(OUT)/%.o: %.S
	$(call msg,AS,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(HARDEN) $(CPPFLAGS) -MMD -MP -c $< -o $@

# Skeletons must be there before the first compile; afterwards the .d files know who needs which.
$(filter $(OUT)/src/probes/% $(OUT)/src/session/%,$(OBJ)): | $(SKELS)

$(OUT)/%.bpf.o: %.bpf.c $(BPF_LIB) $(CONTRACT) $(STRICT)
	$(call msg,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPF_CC) -c $< -o $@ $(lax)
	$(Q)$(LLVM_STRIP) -g $@

$(OUT)/%.skel.h: $(OUT)/bpf/%.bpf.o
	$(call msg,SKEL,$@)
	$(Q)command -v $(BPFTOOL) >/dev/null || { echo "bpftool is missing: 'make deps' installs what the build needs" >&2; exit 1; }
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst -,_,$*)_bpf > $@

$(OUT)/man/%: man/%.scd
	$(call msg,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)scdoc < $< > $@

deps:
	$(Q)scripts/deps build check bench arm64

demo:
	$(Q)scripts/deps build
	$(Q)$(MAKE) all
	$(Q)scripts/demo

format:
	$(Q)clang-format -i $$(git ls-files '*.c' '*.h')

install: all $(MAN)
	install -Dm755 $(OUT)/latscope $(DESTDIR)$(PREFIX)/bin/latscope
	$(Q)for page in $(MAN); do \
		install -Dm644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/}; \
	done

modules: $(KMOD:%=$(KMOD_OUT)/%.ko)

# Built in a copy beside the headers it shares with user space: as DKMS has it, and the tree stays clean.
.SECONDEXPANSION:
$(KMOD_OUT)/%.ko: $$(wildcard kmod/$$*/*) $(wildcard include/*/*.h include/*/*/*.h)
	$(call msg,KMOD,$@)
	$(Q)test -e $(KDIR)/Makefile || { echo "no kernel headers at $(KDIR): install linux-headers-$(KERNEL), or name their directory by KDIR=" >&2; exit 1; }
	$(Q)mkdir -p $(@:.ko=) && cp -ru kmod/$*/. include $(@:.ko=)
	$(Q)$(MAKE) -C $(KDIR) M=$(abspath $(@:.ko=)) modules
	$(Q)cp $(@:.ko=)/$*.ko $@

modules_install: modules
	$(Q)for name in $(KMOD); do \
		$(MAKE) -C $(KDIR) M=$(abspath $(KMOD_OUT))/$$name INSTALL_MOD_PATH=$(DESTDIR) modules_install || exit; \
	done

dkms_install:
	$(Q)for name in $(KMOD); do \
		dir=$(DESTDIR)/usr/src/latscope-$$name-$(VERSION); \
		mkdir -p $$dir && cp -r kmod/$$name/. include $$dir && \
			sed -i 's/@VERSION@/$(VERSION)/' $$dir/dkms.conf || exit; \
	done

# The VM's kernels stay: they are downloads, not something that was built.
clean:
	$(Q)find $(OUT) -mindepth 1 -maxdepth 1 ! -name vm -exec rm -rf {} + 2>/dev/null || true

distclean:
	$(Q)rm -rf $(OUT)

include mk/tests.mk

-include $(OBJ:.o=.d)
