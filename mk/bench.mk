# SPDX-License-Identifier: BSD-2-Clause
# Benchmarks.
POWER := $(OUT)/bench/power.o $(OUT)/bench/alternative.o $(OUT)/bench/synthetic.o
FLEET := $(OUT)/bench/fleet.o $(OUT)/bench/synthetic.o
CORRELATION := $(OUT)/bench/correlation.o $(OUT)/bench/synthetic.o
CONTRAST := $(OUT)/bench/contrast.o
CELLS := $(OUT)/bench/cells.o

$(OUT)/bench/power: $(POWER)
$(OUT)/bench/correlation: $(CORRELATION)
$(OUT)/bench/contrast: $(CONTRAST)
$(OUT)/bench/cells: $(CELLS)
$(OUT)/bench/fleet: $(FLEET)
$(addprefix $(OUT)/bench/,power correlation contrast fleet cells): $(BASE_SRC:%.c=$(OUT)/%.o) $(OUT)/src/print/web_files.o $(PROTO)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $^ $(LIBS_BASE) -o $@

$(OUT)/bench/empty.o: $(OUT)/empty.skel.h
$(OUT)/bench/empty: $(OUT)/bench/empty.o
$(OUT)/bench/attach: $(OUT)/bench/attach.o
$(OUT)/bench/empty $(OUT)/bench/attach:
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $^ $(LIBS) -o $@

bench: ## Measure the figures of docs/performance.md, as ratios
	$(Q)scripts/deps build check bench
	$(Q)$(MAKE) tests $(addprefix $(OUT)/bench/,empty attach contrast rmid_alloc cells)
	$(Q)bench/run

-include $(POWER:.o=.d) $(FLEET:.o=.d) $(CORRELATION:.o=.d) $(CONTRAST:.o=.d) $(CELLS:.o=.d)

.PHONY: bench
