# SPDX-License-Identifier: BSD-2-Clause
# Benchmarks.
POWER := $(OUT)/bench/power.o $(OUT)/bench/alternative.o $(OUT)/bench/synthetic.o
TOGETHER := $(OUT)/bench/together.o $(OUT)/bench/synthetic.o

$(OUT)/bench/power: $(POWER)
$(OUT)/bench/together: $(TOGETHER)
$(OUT)/bench/power $(OUT)/bench/together: $(BASE_SRC:%.c=$(OUT)/%.o)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $^ $(LIBS_BASE) -o $@

$(OUT)/bench/empty.o: | $(OUT)/empty.skel.h
$(OUT)/bench/empty: $(OUT)/bench/empty.o
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $^ $(LIBS) -o $@

bench: ## Measure the figures of docs/performance.md, as ratios
	$(Q)scripts/deps build check bench
	$(Q)$(MAKE) tests $(OUT)/bench/empty $(OUT)/bench/rmid_alloc
	$(Q)bench/run

-include $(POWER:.o=.d) $(TOGETHER:.o=.d)

.PHONY: bench
