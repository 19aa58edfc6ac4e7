# SPDX-License-Identifier: BSD-2-Clause
# Unit tests (tests/unit) and the tests with emulated counters (tests/emu/test_*), built with the sanitizers. -O1 and -g1 halve the
# time that this takes, and keep the line numbers of a finding. Warnings that need -O2 to be right are left to the objects of the
# program.
SANITIZE := -O1 -g1 -Wno-format-truncation -Wno-maybe-uninitialized \
	-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
BASE_SRC := $(call sources,src/core/*.c src/host/*.c src/store/*.c src/stats/*.c src/print/*.c src/export/*.c) $(wildcard src/probes/*/words.c) src/cli/options.c src/cli/log.c
RMID_SRC := $(addprefix kmod/rmid/,rmid_alloc.c procs.c book.c count.c turns.c) tests/rmid/twin.c
# What of the probes needs neither a kernel nor the rest of the program.
PROBE_SRC := $(filter-out %.bpf.c %/command.c %/command_handler.c %/check.c \
	$(addprefix src/probes/rmid/,rmid.c describe.c events.c by_%.c), \
	$(sort $(call sources,$(addprefix src/probes/,ringlat/*.c tierlat/*.c rmid/*.c */view*.c))))
BASE_SAN := $(patsubst %.c,$(OUT)/san/%.o,$(BASE_SRC) $(PROBE_SRC) src/loadgen/pointer_chase.c src/loadgen/primitives.c $(RMID_SRC))
UNIT := $(patsubst tests/unit/%.c,$(OUT)/tests/unit/%,$(call sources,tests/unit/test_*.c))
EMU := $(patsubst tests/emu/%.c,$(OUT)/tests/emu/%,$(call sources,tests/emu/test_*.c))
EMU_LIB := $(patsubst %.c,$(OUT)/san/%.o,$(filter-out tests/emu/test_%,$(wildcard tests/emu/*.c)))

$(OUT)/san/%.o: %.c $(STRICT)
	$(call msg,CC-SAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(STD) $(WARN) $(CPPFLAGS) $(CFLAGS) $(SANITIZE) -MMD -MP -c $< -o $@ $(lax)

$(EMU): $(EMU_LIB)

# Stand-ins, fixtures and the functions of threads often need none of their parameters.
$(OUT)/san/tests/%.o $(OUT)/tests/%.o: WARN += -Wno-unused-parameter

# It compiles files of a kernel module. What these need of the kernel's headers is in tests/rmid/kernel: here they are empty.
EMPTY := $(OUT)/san/tests/rmid/kernel
$(OUT)/san/tests/unit/test_rmid_kernel.o: CPPFLAGS := -I$(EMPTY) $(CPPFLAGS)
$(OUT)/san/tests/unit/test_rmid_kernel.o: | $(EMPTY)/made
$(EMPTY)/made: $(wildcard kmod/rmid/*.[ch])
	$(Q)sed -n 's|^#include <\([a-z]*/.*\)>|\1|p' $^ | grep -v -e '^uapi/' -e '^linux/types' | while read -r header; do \
		mkdir -p "$(@D)/$${header%/*}" && : >"$(@D)/$$header"; done
	$(Q)touch $@

# They compile BPF programs for this machine; tests/bpf/host has stand-ins for the helpers. The warnings are those of another
# compiler than clang.
USUAL := $(patsubst %,$(OUT)/san/tests/unit/test_%.o,bio_waits disk_blame faults usual_requests usual_states usual_switches)
$(USUAL): CPPFLAGS := -Itests/bpf/host -D__TARGET_ARCH_$(ARCH) $(CPPFLAGS)
$(USUAL): WARN := -w

$(OUT)/tests/unit/test_kernel_types: $(addprefix $(OUT)/san/src/probes/kit/,kernel.o tracing.o untrusted.o) | $(SKELS)
$(OUT)/tests/unit/test_symbols: $(addprefix $(OUT)/san/src/symbols/,collector.o demangle.o elf.o kallsyms.o lookup.o mappings.o)
$(addprefix $(OUT)/tests/unit/test_,bars chains kernel_types refusal seccomp sleep_stacks symbols where_view): LIBS_BASE := $(LIBS)
$(OUT)/tests/unit/test_serve: $(patsubst %,$(OUT)/san/src/%.o,net/bytes net/listen serve/exposition serve/exposition_otlp serve/exposition_proto serve/exposition_text serve/health serve/series serve/times serve/times_rows serve/trigger net/clickhouse_rows)
$(OUT)/tests/unit/test_metrics: $(OUT)/san/src/net/bytes.o $(patsubst %,$(OUT)/san/src/serve/%.o,exposition exposition_otlp exposition_proto exposition_text metrics times)
$(OUT)/tests/unit/test_recorder: $(patsubst %,$(OUT)/san/src/serve/%.o,recorder ring_files)
$(OUT)/tests/unit/test_fleet: $(OUT)/san/src/net/bytes.o $(patsubst %,$(OUT)/san/src/fleet/%.o,answer answer_notes data question sql)
$(OUT)/tests/unit/test_fault_count: $(OUT)/san/src/probes/memlat/fault_count.o
$(OUT)/tests/unit/test_why_pairs: $(OUT)/san/src/probes/kit/why_pairs.o
$(OUT)/tests/unit/test_why_disks: $(OUT)/san/src/probes/iolat/why_disks.o
$(OUT)/tests/unit/test_where_sums: $(OUT)/san/src/probes/where/sums.o
$(OUT)/tests/unit/test_where_view: $(patsubst %,$(OUT)/san/src/probes/%.o,kit/why_requests $(addprefix where/,calls chains columns stacks sums waits))
$(OUT)/tests/unit/test_chains: $(patsubst %,$(OUT)/san/src/probes/%.o,kit/why_requests where/chains)
$(OUT)/tests/unit/test_sleep_stacks: $(patsubst %,$(OUT)/san/src/probes/where/%.o,calls stacks)
$(OUT)/tests/unit/test_bars: $(patsubst %,$(OUT)/san/src/%.o,probes/kit/why_requests $(addprefix probes/where/,calls chains columns stacks sums waits) $(addprefix symbols/,collector demangle elf kallsyms lookup mappings symbols))
$(OUT)/tests/unit/test_disk_blame: $(OUT)/san/src/probes/iolat/why_disks.o
$(OUT)/tests/unit/test_moves: $(patsubst %,$(OUT)/san/tests/emu/msrfs/%.o,command emulator machine map moves queue state tor)
$(OUT)/tests/unit/test_experiment: $(patsubst %,$(OUT)/san/src/experiment/%.o,matrix plan)
$(OUT)/tests/unit/test_sender: $(patsubst %,$(OUT)/san/src/net/%.o,bytes gzip listen post sender)
$(OUT)/tests/unit/test_spool: $(OUT)/san/src/serve/spool.o
$(OUT)/tests/unit/test_clickhouse: $(patsubst %,$(OUT)/san/src/net/%.o,bytes clickhouse_rows clickhouse_server clickhouse_sql post)
$(OUT)/tests/unit/test_sender: LIBS_BASE += -lmicrohttpd
$(OUT)/tests/unit/test_hostile: $(addprefix $(OUT)/san/src/cli/,report.o compare.o page.o)
$(UNIT) $(EMU): $(OUT)/%: $(OUT)/san/%.o $(BASE_SAN) $(ASM) $(PROTO)
	$(call msg,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANITIZE) $^ $(LIBS_BASE) -lcmocka -o $@

-include $(wildcard $(addprefix $(OUT)/san/,*/*/*.d */*/*/*.d))
