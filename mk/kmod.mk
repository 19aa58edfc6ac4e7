# SPDX-License-Identifier: BSD-2-Clause
# Kernel modules, for the running kernel, or for KERNEL= with KDIR= (its build directory).
KERNEL ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KERNEL)/build
KMOD_OUT := $(OUT)/kmod/$(KERNEL)
KMOD := $(patsubst kmod/%/Kbuild,%,$(wildcard kmod/*/Kbuild))

modules: $(KMOD:%=$(KMOD_OUT)/%.ko) ## Build the kernel modules for the running kernel, or for KERNEL=

# Each kernel module is built in a copy that has include/ next to it, as DKMS builds it, so the tree stays clean. The copy is
# in the directory for temporary files, because the kernel's Makefile takes no path with a space.
# $(call copied,SOURCE...): copies the sources to such a directory, $$dir, which lasts as long as the command. That names $(MAKE)
# itself: else the kernel's make could not use the jobs of -j.
copied = test -e $(KDIR)/Makefile || \
	{ echo "no kernel headers at $(KDIR): install linux-headers-$(KERNEL), or name their directory by KDIR=" >&2; exit 1; }; \
	dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && trap 'exit 1' INT TERM && cp -r $(1) "$$dir"

.SECONDEXPANSION:
$(KMOD_OUT)/%.ko: $$(wildcard kmod/$$*/*) $(wildcard include/*/*.h include/*/*/*.h)
	$(call msg,KMOD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(call copied,kmod/$*/. include) && $(MAKE) -C $(KDIR) M="$$dir" modules && cp "$$dir"/$*.ko $@

# Those of the tests, which nobody installs, are made the same way from tests/kmod.
$(KMOD_OUT)/tests/%.ko: $$(wildcard tests/kmod/$$*/*)
	$(call msg,KMOD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(call copied,tests/kmod/$*/.) && $(MAKE) -C $(KDIR) M="$$dir" modules && cp "$$dir"/$*.ko $@

modules_install: ## Build the kernel modules and install them into DESTDIR/lib/modules
	$(Q)for name in $(KMOD); do \
		($(call copied,kmod/$$name/. include) && $(MAKE) -C $(KDIR) M="$$dir" modules && \
			$(MAKE) -C $(KDIR) M="$$dir" INSTALL_MOD_PATH="$(DESTDIR)" modules_install) || exit; \
	done

dkms_install: ## Install the source of the kernel modules for DKMS
	$(Q)for name in $(KMOD); do \
		dir=$(DESTDIR)/usr/src/latscope-$$name-$(VERSION); \
		mkdir -p $$dir && cp -r kmod/$$name/. include $$dir && \
			sed -i 's/@VERSION@/$(VERSION)/' $$dir/dkms.conf || exit; \
	done

.PHONY: modules modules_install dkms_install
