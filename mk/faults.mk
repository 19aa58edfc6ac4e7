# SPDX-License-Identifier: BSD-2-Clause
# The program with faults injected into its probes (-DLATSCOPE_FAULTS), for tests of `latscope validate`. Included by the
# Makefile; `make tests` builds it, `make install` does not. All objects that do not depend on the flag are shared.
FAULTS := $(OUT)/faults
FAULTS_BPF := $(foreach probe,$(filter $(PROBES),memlat runqlat iolat where),$(FAULTS)/src/probes/$(probe)/$(probe).bpf.o)
FAULTS_SKELS := $(call skels,$(FAULTS),$(FAULTS_BPF))
FAULTS_OBJ := $(FAULTS_BPF:.bpf.o=.o) $(addprefix $(FAULTS)/src/,selftest/window.o cli/validate.o)

programs: $(FAULTS)/latscope

$(FAULTS)/latscope: $(FAULTS_OBJ) $(FAULTS)/src/probes/kit/inject.o $(filter-out $(FAULTS_OBJ:$(FAULTS)/%=$(OUT)/%),$(OBJ))
	$(call msg,LINK,$@)
	$(Q)$(CC) $(HARDEN_LINK) $(CFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

$(FAULTS_OBJ) $(FAULTS)/src/probes/kit/inject.o: $(FAULTS)/%.o: %.c $(STRICT) | $(FAULTS_SKELS)
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(STD) $(WARN) $(HARDEN) -DLATSCOPE_FAULTS -I$(FAULTS) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@ $(lax)

$(FAULTS_BPF): $(FAULTS)/%.bpf.o: %.bpf.c $(STRICT)
	$(call msg,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPF_CC) -DLATSCOPE_FAULTS -MMD -MP -c $< -o $@ $(lax)
	$(Q)$(LLVM_STRIP) -g $@

$(foreach object,$(FAULTS_BPF),$(eval $(call skels,$(FAULTS),$(object)): $(object)))
$(FAULTS_SKELS):
	$(skeleton)

-include $(FAULTS_OBJ:.o=.d) $(FAULTS_BPF:.o=.d) $(FAULTS)/src/probes/kit/inject.d
