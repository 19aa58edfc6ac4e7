# SPDX-License-Identifier: BSD-2-Clause
# BPF objects, and the skeletons by which the program loads them.
CLANG ?= clang
LLVM_STRIP ?= llvm-strip
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
BPF_CC = $(CLANG) -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Wall -Wextra $(WERROR:%=-Werror) \
	-Wno-unused-parameter -Wno-missing-declarations -fdebug-compilation-dir=. -Iinclude -Isrc

BPF_SRC := $(call sources,src/session/*.bpf.c src/probes/*/*.bpf.c)
BPF_OBJ := $(BPF_SRC:%.c=$(OUT)/%.o)
# skels DIR, OBJECT...: the skeletons in DIR of BPF objects
skels = $(patsubst %.bpf.o,$(1)/%.skel.h,$(notdir $(2)))
SKELS := $(call skels,$(OUT),$(BPF_OBJ))

TEST_BPF_OBJ := $(OUT)/bench/empty.bpf.o $(patsubst %,$(OUT)/tests/bpf/%.bpf.o,requests capture disturbance)

# Skeletons must exist before the first compile; afterwards the .d files name those that an object needs.
$(filter $(OUT)/src/probes/% $(OUT)/src/session/%,$(OBJ)): | $(SKELS)

# Not an implicit rule: make would take the objects for intermediate, and not miss one that failed.
$(BPF_OBJ) $(TEST_BPF_OBJ): $(OUT)/%.bpf.o: %.bpf.c $(STRICT)
	$(call msg,BPF,$@)
	$(Q)command -v $(CLANG) >/dev/null || $(call needs,$(CLANG))
	$(Q)mkdir -p $(@D)
	$(Q)$(BPF_CC) -MMD -MP -c $< -o $@ $(lax)
	$(Q)$(LLVM_STRIP) -g $@

$(foreach object,$(BPF_OBJ),$(eval $(call skels,$(OUT),$(object)): $(object)))
# Skeletons of the tests and of the benchmarks.
TEST_SKELS := $(call skels,$(OUT),$(TEST_BPF_OBJ))
$(foreach object,$(TEST_BPF_OBJ),$(eval $(call skels,$(OUT),$(object)): $(object)))

skeleton = $(Q)$(BPFTOOL) gen skeleton $< name $(notdir $(<:.bpf.o=))_bpf > $@
$(SKELS) $(TEST_SKELS):
	$(call msg,SKEL,$@)
	$(Q)command -v $(BPFTOOL) >/dev/null || $(call needs,$(BPFTOOL))
	$(skeleton)

-include $(BPF_OBJ:.o=.d)
