# SPDX-License-Identifier: BSD-2-Clause
# Programs that test scripts run: makers of reference latencies, the register emulator, checkers, mutants, a fuzzer.
REFERENCE_OBJ := $(patsubst %.c,$(OUT)/%.o,$(wildcard src/selftest/reference/*.c) \
	src/loadgen/primitives.c src/loadgen/direct_file.c src/core/clock.c)
REFERENCE := $(patsubst %.c,$(OUT)/%,$(call sources,tests/reference/*.c tests/ringlat/*.c))
TORTURE := $(patsubst %.c,$(OUT)/%,$(wildcard tests/torture/*.c))
MSRFS := $(patsubst %.c,$(OUT)/%.o,$(wildcard tests/emu/msrfs/*.c))
RESCTRLFS := $(patsubst %.c,$(OUT)/%.o,$(wildcard tests/emu/resctrlfs/*.c)) $(OUT)/src/host/process_stat.o
RMID_OBJ := $(patsubst %.c,$(OUT)/%.o,$(filter kmod/%,$(RMID_SRC)))

$(OUT)/tests/reference/requests.o: | $(OUT)/requests.skel.h
$(OUT)/tests/reference/disturbance.o: | $(OUT)/disturbance.skel.h
$(OUT)/tests/torture/capture.o: | $(OUT)/capture.skel.h
$(addprefix $(OUT)/tests/reference/,disturbance leftover requests skipped): LIBS_REFERENCE := $(LIBS)

$(REFERENCE): %: %.o $(REFERENCE_OBJ)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $^ -lpthread $(LIBS_REFERENCE) -o $@

$(TORTURE): %: %.o $(REFERENCE_OBJ)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $^ $(LIBS) -lpthread -o $@

$(OUT)/tests/emu/msrfs/msrfs: $(MSRFS)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $^ -lfuse3 -ljson-c -lm -o $@

$(OUT)/tests/emu/resctrlfs/resctrlfs: $(RESCTRLFS)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $^ -lfuse3 -o $@

$(OUT)/tests/rmid/check: $(OUT)/tests/rmid/check.o $(OUT)/tests/rmid/live.o
$(OUT)/tests/rmid/lives: $(OUT)/tests/rmid/lives.o $(REFERENCE_OBJ)
$(OUT)/bench/rmid_alloc: $(OUT)/bench/rmid_alloc.o $(RMID_OBJ)
$(OUT)/tests/rmid/check $(OUT)/tests/rmid/lives $(OUT)/bench/rmid_alloc:
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $^ -lpthread -o $@

# MUTANTS: latscope with one instruction more in the guest's crossing that the name says, or in all crossings.
MUTANTS := $(foreach event,fault syscall int80,$(OUT)/mutant/$(event)_u2k $(OUT)/mutant/$(event)_k2u) \
	$(OUT)/mutant/all

$(OUT)/mutant/%.o: src/probes/ringlat/guest_code.S src/probes/ringlat/guest_layout.h
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(HARDEN) $(CPPFLAGS) -Wa,--defsym,MUTANT_$*=1 -c $< -o $@

$(MUTANTS): $(OUT)/mutant/%: $(OUT)/mutant/%.o $(filter-out %/guest_code.o,$(OBJ))
	$(call msg,LINK,$@)
	$(Q)$(CC) $(HARDEN_LINK) $(CFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

$(OUT)/tests/rmid/fuzz: tests/rmid/fuzz.c $(RMID_SRC) $(wildcard kmod/rmid/*.h tests/rmid/*.h)
	$(call msg,FUZZ,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(STD) $(WARN) $(CPPFLAGS) -g -O1 -fsanitize=fuzzer,address,undefined $(filter %.c,$^) -o $@

$(OUT)/tests/probes/why: $(OUT)/tests/probes/why.o $(filter-out %/main.o,$(OBJ))
	$(call msg,LINK,$@)
	$(Q)$(CC) $(HARDEN_LINK) $(CFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

# What the suites of the tier check run, and what the others need besides.
CHECK_PROGRAMS := $(REFERENCE) $(OUT)/tests/probes/why $(addprefix $(OUT)/bench/,power correlation fleet) \
	$(if $(filter x86,$(ARCH)),$(addprefix $(OUT)/tests/emu/,msrfs/msrfs resctrlfs/resctrlfs) $(addprefix $(OUT)/tests/rmid/,check lives fuzz))
OTHER_PROGRAMS := $(TORTURE) $(if $(filter x86,$(ARCH)),$(MUTANTS))

-include $(MSRFS:.o=.d) $(RESCTRLFS:.o=.d) $(REFERENCE:=.d) $(TORTURE:=.d) $(OUT)/tests/probes/why.d
