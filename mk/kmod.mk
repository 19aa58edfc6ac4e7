# SPDX-License-Identifier: BSD-2-Clause
# Kernel modules, for the running kernel, or for KERNEL= with KDIR= (its build directory).
KERNEL ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KERNEL)/build
KMOD_OUT := $(OUT)/kmod/$(KERNEL)
KMOD := $(patsubst kmod/%/Kbuild,%,$(wildcard kmod/*/Kbuild))

modules: $(KMOD:%=$(KMOD_OUT)/%.ko) ## Build the kernel modules for the running kernel, or for KERNEL=

# Each kernel module is built in a copy that has include/ next to it, as DKMS builds it, so the tree stays clean. The copy is
# in the directory for temporary files, because the kernel's Makefile takes no path with a space.
# $(call kbuild,SOURCE...,COMMAND): copies the sources there, builds the kernel module, and runs the command in
# that directory, $$dir
kbuild = dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && cp -r $(1) "$$dir" && \
	$(MAKE) -C $(KDIR) M="$$dir" modules && $(2)

.SECONDEXPANSION:
$(KMOD_OUT)/%.ko: $$(wildcard kmod/$$*/*) $(wildcard include/*/*.h include/*/*/*.h)
	$(call msg,KMOD,$@)
	$(Q)test -e $(KDIR)/Makefile || { echo "no kernel headers at $(KDIR): install linux-headers-$(KERNEL), or name their directory by KDIR=" >&2; exit 1; }
	$(Q)mkdir -p $(@D)
	$(Q)$(call kbuild,kmod/$*/. include,cp "$$dir"/$*.ko $@)

# Those of the tests, which nobody installs, are made the same way from tests/kmod.
$(KMOD_OUT)/tests/%.ko: $$(wildcard tests/kmod/$$*/*)
	$(call msg,KMOD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(call kbuild,tests/kmod/$*/.,cp "$$dir"/$*.ko $@)

modules_install: modules ## Install the kernel modules into DESTDIR/lib/modules
	$(Q)for name in $(KMOD); do \
		($(call kbuild,kmod/$$name/. include,$(MAKE) -C $(KDIR) M="$$dir" INSTALL_MOD_PATH="$(DESTDIR)" modules_install)) || exit; \
	done

dkms_install: ## Install the source of the kernel modules for DKMS
	$(Q)for name in $(KMOD); do \
		dir=$(DESTDIR)/usr/src/latscope-$$name-$(VERSION); \
		mkdir -p $$dir && cp -r kmod/$$name/. include $$dir && \
			sed -i 's/@VERSION@/$(VERSION)/' $$dir/dkms.conf || exit; \
	done

.PHONY: modules modules_install dkms_install
