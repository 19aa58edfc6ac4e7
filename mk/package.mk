# SPDX-License-Identifier: BSD-2-Clause
# Debian packages, and the suites that install them. DEB_ARCH= is Debian's name of the architecture to build for.
DEB_MACHINE := $(shell dpkg --print-architecture 2>/dev/null)
DEB_ARCH ?= $(DEB_MACHINE)
# Those for another architecture are apart: .output/deb-arm64, which is also the name of the packages to build them with.
DEB := $(if $(filter-out $(DEB_MACHINE),$(DEB_ARCH)),deb-$(DEB_ARCH),deb)

deb: ## Build the Debian packages into .output/deb; DEB_ARCH=arm64 cross-builds into .output/deb-arm64
	$(Q)scripts/deps build $(DEB)
	$(Q)rm -rf .output/$(DEB)
	$(Q)packaging/make-deb -a $(DEB_ARCH) .output/$(DEB)

check-packages: ## Install the packages in fresh Debian roots: minutes; not part of check
	$(Q)scripts/deps build check package
	$(Q)tests/packages/all

.PHONY: deb check-packages
