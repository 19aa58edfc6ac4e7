# SPDX-License-Identifier: BSD-2-Clause
# The program with faults injected into its probes (-DLATSCOPE_FAULTS), for tests of `latscope validate`. Included by the
# Makefile; `make tests` builds it, `make install` does not. All objects that do not depend on the flag are shared.
FAULTS := $(OUT)/faults
FAULTS_BPF := $(addprefix $(FAULTS)/bpf/,memlat.bpf.o runqlat.bpf.o iolat.bpf.o)
FAULTS_SKELS := $(FAULTS_BPF:$(FAULTS)/bpf/%.bpf.o=$(FAULTS)/%.skel.h)
FAULTS_OBJ := $(addprefix $(FAULTS)/src/,probes/memlat.o probes/runqlat.o probes/iolat.o selftest/window.o cli/validate.o)

programs: $(FAULTS)/latscope

$(FAULTS)/latscope: $(FAULTS_OBJ) $(FAULTS)/src/probes/inject.o $(filter-out $(FAULTS_OBJ:$(FAULTS)/%=$(OUT)/%),$(OBJ))
	$(call msg,LINK,$@)
	$(Q)$(CC) $(HARDEN_LINK) $(CFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

$(FAULTS_OBJ) $(FAULTS)/src/probes/inject.o: $(FAULTS)/%.o: %.c $(STRICT) | $(FAULTS_SKELS)
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(STD) $(WARN) $(HARDEN) -DLATSCOPE_FAULTS -I$(FAULTS) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@ $(lax)

$(FAULTS_BPF): $(FAULTS)/%.bpf.o: %.bpf.c $(BPF_LIB) $(CONTRACT) $(STRICT)
	$(call msg,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPF_CC) -DLATSCOPE_FAULTS -c $< -o $@ $(lax)
	$(Q)$(LLVM_STRIP) -g $@

$(FAULTS_SKELS): $(FAULTS)/%.skel.h: $(FAULTS)/bpf/%.bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

-include $(FAULTS_OBJ:.o=.d) $(FAULTS)/src/probes/inject.d
