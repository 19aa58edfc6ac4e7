# SPDX-License-Identifier: BSD-2-Clause
# Debian packages, and the suites that install them. DEB_ARCH= is Debian's name of the architecture to build for.
DEB_ARCH ?= $(shell dpkg --print-architecture)

deb: ## Build the Debian packages into .output/deb; DEB_ARCH=arm64 cross-builds
	$(Q)scripts/deps build deb $(filter-out deb-$(shell dpkg --print-architecture),deb-$(DEB_ARCH))
	$(Q)packaging/make-deb -a $(DEB_ARCH) $(OUT)/deb

check-packages: ## Install the packages in fresh Debian roots: minutes; not part of check
	$(Q)scripts/deps build check package
	$(Q)tests/packages/all

.PHONY: deb check-packages
