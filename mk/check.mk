# SPDX-License-Identifier: BSD-2-Clause
# Targets that build and run tests. Each installs the packages that it needs. `tests/run -h` says how to run one suite.
RUN := tests/run $(JOBS:%=-j %)
PARALLEL := $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell expr 2 \* $$(nproc)))

programs: all $(CHECK_PROGRAMS) $(OTHER_PROGRAMS) # all that test scripts run
unit-tests: $(UNIT); @:

check-tests: all $(CHECK_PROGRAMS) $(UNIT) $(EMU); @: # what the tier check runs
tests: programs $(UNIT) $(EMU) ## Build every test

test-unit: ## Run the unit tests: less than 30 s
	$(Q)scripts/deps build unit
	$(Q)$(MAKE) $(PARALLEL) WERROR=1 unit-tests
	$(Q)$(RUN) unit

check: ## Run all that does not depend on the speed of this machine: 5 to 8 minutes
check-host: ## Compare the probes with what this machine's own kernel does: 10 to 14 minutes
check-kernels: ## Run the suites of Debian's kernels in a VM; K=7 or K=torture: a part of them, C=-c: those that have not passed
soak: ## Run every suite with larger counts: hours
mutants: ## Break a sample of 400 places of the C code, one at a time; does a unit test notice?
mutants-changed: ## The same for functions that changed since BASE=, at most 150 places
matrix: ## Run the suites that show what runs on which kernel, and print a table
# More at a time than there are CPUs: nothing in it measures time, and another load of the machine gets a smaller part of it.
check: SUITES := tests/run -j $(or $(JOBS),4) check
check-host: SUITES := $(RUN) host
check-kernels: SUITES := $(RUN) $(C) $(or $(K),kernels)
soak: SUITES := LATSCOPE_SOAK=1 $(RUN) check host kernels
matrix: SUITES := tests/matrix -t
check check-host check-kernels soak matrix:
	$(Q)scripts/deps build check $(if $(filter check-kernels soak matrix,$@),arm64 distro)
	$(Q)$(MAKE) $(PARALLEL) $(if $(filter check,$@),check-tests,tests)
	$(Q)$(SUITES)

mutants mutants-changed:
	$(Q)scripts/deps build check
	$(Q)tests/mutants/run $(if $(filter %-changed,$@),-c '$(BASE)')

check-bochs: ## Test ringlat's private guest on an emulated Intel CPU: minutes; not part of check
	$(Q)scripts/deps build check bochs
	$(Q)$(MAKE) $(PARALLEL) tests
	$(Q)tests/ringlat/bochs

.PHONY: programs unit-tests check-tests tests test-unit check check-host check-kernels soak mutants mutants-changed matrix \
	check-bochs
