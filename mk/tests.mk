# SPDX-License-Identifier: BSD-2-Clause
# What `make tests`, `make check` and `make bench` build and run, included by the Makefile. SAN: with the sanitizers.
BASE_SRC := $(filter-out src/print/ringlat_%.c src/print/tierlat.c src/print/rmid_text.c, \
	$(wildcard src/core/*.c src/store/*.c src/stats/*.c src/print/*.c)) src/cli/options.c src/cli/log.c
RMID_SRC := $(addprefix kmod/rmid/,rmid_alloc.c procs.c book.c count.c turns.c) tests/rmid/twin.c
BASE_SAN := $(patsubst %.c,$(OUT)/san/%.o,$(BASE_SRC) $(wildcard src/print/ringlat_*.c) src/print/tierlat.c src/print/rmid_text.c \
	$(call sources,src/probes/ringlat/*.c src/probes/tierlat/*.c) \
	$(filter-out %/probe.c %/account.c %/events.c,$(wildcard src/probes/rmid/*.c)) \
	src/selftest/reference/pointer_chase.c src/selftest/reference/reference.c $(RMID_SRC))
UNIT := $(patsubst tests/unit/%.c,$(OUT)/tests/unit/%,$(call sources,tests/unit/test_*.c))
REFERENCE_OBJ := $(patsubst %.c,$(OUT)/%.o,$(wildcard src/selftest/reference/*.c))
REFERENCE := $(patsubst %.c,$(OUT)/%,$(call sources,tests/reference/*.c tests/ringlat/*.c))
TORTURE := $(patsubst %.c,$(OUT)/%,$(wildcard tests/torture/*.c))
EMU := $(patsubst tests/emu/%.c,$(OUT)/tests/emu/%,$(call sources,tests/emu/test_*.c))
EMU_LIB := $(patsubst %.c,$(OUT)/san/%.o,$(filter-out tests/emu/test_%,$(wildcard tests/emu/*.c)))
MSRFS := $(patsubst %.c,$(OUT)/%.o,$(wildcard tests/emu/msrfs/*.c))

$(OUT)/san/%.o: %.c $(STRICT)
	$(call msg,CC-SAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(STD) $(WARN) $(CPPFLAGS) $(CFLAGS) $(SANITIZE) -MMD -MP -c $< -o $@ $(lax)

$(OUT)/empty.skel.h: $(OUT)/bench/empty.bpf.o
$(OUT)/requests.skel.h: $(OUT)/tests/bpf/requests.bpf.o
$(OUT)/capture.skel.h: $(OUT)/tests/bpf/capture.bpf.o
$(addprefix $(OUT)/,empty.skel.h requests.skel.h capture.skel.h):
	$(Q)$(BPFTOOL) gen skeleton $< name $(notdir $(<:.bpf.o=))_bpf > $@

$(OUT)/bench/empty.o: | $(OUT)/empty.skel.h
$(OUT)/tests/reference/requests.o: | $(OUT)/requests.skel.h
$(addprefix $(OUT)/tests/reference/,leftover requests skipped): LIBS_REFERENCE := $(LIBS)

$(OUT)/tests/torture/capture.o: | $(OUT)/capture.skel.h

$(TORTURE): %: %.o
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $^ $(LIBS) -lpthread -o $@

POWER := $(OUT)/bench/power.o $(OUT)/bench/rival.o $(OUT)/bench/synthetic.o

TOGETHER := $(OUT)/bench/together.o $(OUT)/bench/synthetic.o

$(OUT)/bench/power: $(POWER)
$(OUT)/bench/together: $(TOGETHER)
$(OUT)/bench/power $(OUT)/bench/together: $(BASE_SRC:%.c=$(OUT)/%.o)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $^ $(LIBS_BASE) -o $@

$(OUT)/bench/empty: $(OUT)/bench/empty.o
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $^ $(LIBS) -o $@

# The program with one instruction more in the guest's crossing that its name says, or in all.
MUTANTS := $(foreach event,fault syscall int80,$(OUT)/mutant/$(event)_u2k $(OUT)/mutant/$(event)_k2u) \
	$(OUT)/mutant/all

$(OUT)/mutant/%.o: src/probes/ringlat/guest_code.S src/probes/ringlat/guest_layout.h
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(HARDEN) $(CPPFLAGS) -Wa,--defsym,MUTANT_$*=1 -c $< -o $@

$(MUTANTS): $(OUT)/mutant/%: $(OUT)/mutant/%.o $(filter-out %/guest_code.o,$(OBJ))
	$(call msg,LINK,$@)
	$(Q)$(CC) $(HARDEN_LINK) $(CFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

$(EMU): $(EMU_LIB)

# Files of a module, in a kernel that is not one.
$(OUT)/san/tests/unit/test_rmid_kernel.o: CPPFLAGS := -Itests/rmid/kernel $(CPPFLAGS)

$(OUT)/san/tests/unit/test_life.o: | $(OUT)/life.skel.h
$(OUT)/tests/unit/test_life: $(OUT)/san/src/probes/refusal.o
$(addprefix $(OUT)/tests/unit/test_,life refusal seccomp): LIBS_BASE := $(LIBS)
$(OUT)/tests/unit/test_hostile: $(addprefix $(OUT)/san/src/cli/,report.o compare.o)
$(UNIT) $(EMU): $(OUT)/%: $(OUT)/san/%.o $(BASE_SAN) $(ASM)
	$(call msg,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANITIZE) $^ $(LIBS_BASE) -lcmocka -o $@

$(REFERENCE): %: %.o $(REFERENCE_OBJ)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $^ -lpthread $(LIBS_REFERENCE) -o $@

$(OUT)/tests/emu/msrfs/msrfs: $(MSRFS)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $^ -lfuse3 -ljson-c -lm -o $@

$(OUT)/tests/rmid/check: $(OUT)/tests/rmid/check.o $(OUT)/tests/rmid/live.o
$(OUT)/tests/rmid/lives: $(OUT)/tests/rmid/lives.o
$(OUT)/bench/rmid_alloc: $(OUT)/bench/rmid_alloc.o $(patsubst %.c,$(OUT)/%.o,$(filter kmod/%,$(RMID_SRC)))
$(OUT)/tests/rmid/check $(OUT)/tests/rmid/lives $(OUT)/bench/rmid_alloc:
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $^ -o $@

$(OUT)/tests/rmid/fuzz: tests/rmid/fuzz.c $(RMID_SRC) $(wildcard kmod/rmid/*.h tests/rmid/*.h)
	$(call msg,FUZZ,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(STD) $(WARN) $(CPPFLAGS) -g -O1 -fsanitize=fuzzer,address,undefined $(filter %.c,$^) -o $@

# What suites that are scripts run.
programs: all $(REFERENCE) $(TORTURE) $(OUT)/bench/power $(OUT)/bench/together \
	$(if $(filter x86,$(ARCH)),$(MUTANTS) $(OUT)/tests/emu/msrfs/msrfs $(addprefix $(OUT)/tests/rmid/,check lives fuzz))

tests: programs $(UNIT) $(EMU)

SUITES_matrix := matrix -t
SUITES_mutants := mutants/run

check soak mutants matrix:
	$(Q)scripts/deps build check arm64 distro
	$(Q)$(MAKE) tests
	$(Q)$(if $(filter soak,$@),LATSCOPE_SOAK=1) tests/$(or $(SUITES_$@),run)

check-bochs:
	$(Q)scripts/deps build check bochs
	$(Q)$(MAKE) tests
	$(Q)tests/ringlat/bochs

bench:
	$(Q)scripts/deps build check bench
	$(Q)$(MAKE) tests $(OUT)/bench/empty $(OUT)/bench/rmid_alloc
	$(Q)bench/run

-include $(BASE_SAN:.o=.d) $(EMU_LIB:.o=.d) $(MSRFS:.o=.d) \
	$(patsubst $(OUT)/%,$(OUT)/san/%.d,$(UNIT) $(EMU)) $(REFERENCE:=.d) $(TORTURE:=.d) $(POWER:.o=.d) $(TOGETHER:.o=.d)
