# SPDX-License-Identifier: BSD-2-Clause
# Targets that build and run tests. Each installs the packages that it needs. `tests/run -h` says how to run one suite.
RUN := tests/run $(JOBS:%=-j %)

programs: all $(FAST_PROGRAMS) $(SLOW_PROGRAMS) # all that test scripts run
unit-tests: $(UNIT); @:
fast-tests: all $(FAST_PROGRAMS) $(UNIT) $(EMU); @:

tests: programs $(UNIT) $(EMU) ## Build every test

test-unit: ## Run the unit tests, except slow ones: less than 30 s
	$(Q)scripts/deps build unit
	$(Q)$(MAKE) WERROR=1 unit-tests
	$(Q)$(RUN) -t fast unit

check-fast: ## Run the fast suites (unit, lint, emu, half of cli): less than 3 minutes
	$(Q)scripts/deps build fast
	$(Q)$(MAKE) WERROR=1 fast-tests
	$(Q)$(RUN) -t fast

check: ## Run every suite: about 25 minutes
soak: ## Run every suite with larger counts: hours
mutants: ## Inject one small fault after the other; does a test notice? About an hour
matrix: ## Run the suites that show what runs on which kernel, and print a table
check: SUITES := $(RUN)
soak: SUITES := LATSCOPE_SOAK=1 $(RUN)
mutants: SUITES := tests/mutants/run
matrix: SUITES := tests/matrix -t
check soak mutants matrix:
	$(Q)scripts/deps build check arm64 distro
	$(Q)$(MAKE) tests
	$(Q)$(SUITES)

check-bochs: ## Test ringlat's private guest on an emulated Intel CPU: minutes; not part of check
	$(Q)scripts/deps build check bochs
	$(Q)$(MAKE) tests
	$(Q)tests/ringlat/bochs

.PHONY: programs unit-tests fast-tests tests test-unit check-fast check soak mutants matrix check-bochs
