# SPDX-License-Identifier: BSD-2-Clause
# The program: compiler options, objects, .output/latscope.
CFLAGS ?= -O2 -g
WARN := -Wall -Wextra $(WERROR:%=-Werror) -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
CPPFLAGS += -Iinclude -Isrc -I$(OUT) -D_GNU_SOURCE -DLATSCOPE_VERSION='"$(VERSION)"'
STD := -std=gnu11
include mk/harden.mk
LIBS_BASE := -ljson-c -lsqlite3 -lprotobuf-c -lz -lm
# Without libdw, addresses in user stacks have no function names.
LIBDW := $(if $(shell printf '\043include <elfutils/libdwfl.h>' | $(CC) $(CPPFLAGS) -E - >/dev/null 2>&1 && echo y),-ldw)
$(OUT)/src/symbols/elf.o $(OUT)/san/src/symbols/elf.o: CPPFLAGS += $(if $(LIBDW),-DLATSCOPE_LIBDW)
LIBS := $(LIBDW) -lbpf -lelf $(LIBS_BASE) -lcap-ng -lseccomp -lmicrohttpd -lncursesw -ltinfo

# The list of probes, for the objects that have a table of them: these are compiled again when it changes. The words of all are
# built, so that recordings of all can be read.
list_probes = for probe in $(1); do echo "PROBE($$probe)"; done
keep_list = $(shell mkdir -p $(OUT); $(call list_probes,$(1)) | cmp -s - $(OUT)/$(2) || { $(call list_probes,$(1)); } >$(OUT)/$(2))
$(call keep_list,$(PROBES),probes.h)$(call keep_list,$(ALL_PROBES),all_probes.h)

SRC := $(sort $(filter-out %.bpf.c src/probes/kit/inject.c,$(call sources,src/*/*.c src/*/*/*.c)) $(wildcard src/probes/*/words.c))
ASM := $(patsubst %.S,$(OUT)/%.o,$(call sources,src/*/*/*.S) src/print/web_files.S src/net/clickhouse_files.S)
# The allocator of the kernel module rmid also emulates RMIDs without it.
SHARED := kmod/rmid/rmid_alloc.c kmod/rmid/procs.c kmod/rmid/book.c
# What protoc-c makes of src/export/NAME.proto: NAME.pb-c.c and NAME.pb-c.h in $(OUT).
PROTO := $(patsubst src/export/%.proto,$(OUT)/%.pb-c.o,$(wildcard src/export/*.proto))
OBJ := $(SRC:%.c=$(OUT)/%.o) $(SHARED:%.c=$(OUT)/%.o) $(ASM) $(PROTO)

# A warning of a newer compiler must not stop a user's build, so only test builds set WERROR. They compile everything
# again if something was compiled without -Werror since.
STRICT := $(if $(WERROR),$(shell mkdir -p $(OUT); [ -e $(OUT)/strict ] || touch $(OUT)/strict; echo $(OUT)/strict))
lax = $(if $(WERROR),,&& rm -f $(OUT)/strict)

# Only one object knows the commit, and it is compiled again when the commit changes.
$(OUT)/src/cli/version.o: CPPFLAGS += -DLATSCOPE_COMMIT='"$(COMMIT)"'
$(OUT)/src/cli/version.o: $(shell mkdir -p $(OUT); echo '$(COMMIT)' | cmp -s - $(OUT)/commit || \
	echo '$(COMMIT)' >$(OUT)/commit; echo $(OUT)/commit)

# Once, before the first compile: is there all that the build needs? The error names what is missing, not a consequence.
needs = { echo "make: $(1) is missing: 'scripts/deps build', as root, installs what the build needs" >&2; exit 1; }
HEADERS := bpf/libbpf.h cap-ng.h curl/curl.h curses.h gelf.h json-c/json.h microhttpd.h protobuf-c/protobuf-c.h seccomp.h sqlite3.h zlib.h
$(OUT)/needs: scripts/deps
	$(Q)mkdir -p $(@D)
	$(Q)command -v $(firstword $(CC)) >/dev/null || $(call needs,$(firstword $(CC)))
	$(Q)for header in $(HEADERS); do \
		echo "#include <$$header>" | $(CC) $(CPPFLAGS) -E - >/dev/null 2>&1 || $(call needs,$$header); done
	$(Q)touch $@
$(OBJ): | $(OUT)/needs

$(OUT)/latscope: $(OBJ)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(HARDEN_LINK) $(CFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

# combination/A+B/latscope has only the probes A and B. It links the objects of the whole program; only sources that include
# probes.h are compiled again.
LISTING = $(shell grep -l '^.include <probes\.h>' $(SRC))
$(OUT)/combination/%/latscope: $(OBJ)
	$(call msg,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(call list_probes,$(subst +, ,$*)) >$(@D)/probes.h
	$(Q)for source in $(LISTING); do \
		$(CC) $(STD) $(WARN) $(HARDEN) -I$(@D) $(CPPFLAGS) $(CFLAGS) -c $$source -o $(@D)/$$(echo $$source | tr / -).o || exit; done
	$(Q)$(CC) $(HARDEN_LINK) $(CFLAGS) $(LDFLAGS) $(foreach source,$(LISTING),$(@D)/$(subst /,-,$(source)).o) \
		$(filter-out %/words.o $(LISTING:%.c=$(OUT)/%.o) $(patsubst %,$(OUT)/src/probes/%/%,$(filter-out $(subst +, ,$*),$(ALL_PROBES))),$^) \
		$(filter %/words.o,$^) $(LIBS) -o $@

$(OUT)/%.o: %.c $(STRICT)
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(STD) $(WARN) $(HARDEN) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@ $(lax)

PROTOC_C ?= protoc-c
$(OUT)/%.pb-c.c $(OUT)/%.pb-c.h: src/export/%.proto | $(OUT)/needs
	$(call msg,PROTO,$@)
	$(Q)command -v $(PROTOC_C) >/dev/null || $(call needs,$(PROTOC_C))
	$(Q)$(PROTOC_C) --c_out=$(OUT) -Isrc/export $<

$(PROTO): $(OUT)/%.o: $(OUT)/%.c $(STRICT)
	$(call msg,CC,$@)
	$(Q)$(CC) $(STD) $(WARN) $(HARDEN) $(CPPFLAGS) $(CFLAGS) -c $< -o $@ $(lax)
# They must exist before the first compile; afterwards the .d files name them.
$(filter $(OUT)/src/export/%,$(OBJ)) $(patsubst %.c,$(OUT)/san/%.o,$(wildcard src/export/*.c)): | $(PROTO:.o=.h)

# It adds up 1,185 slots for each CPU.
$(OUT)/src/core/hist.o: CFLAGS += -O3

$(OUT)/%.o: %.S
	$(call msg,AS,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(HARDEN) $(CPPFLAGS) -MMD -MP -c $< -o $@

-include $(OBJ:.o=.d)
$(OUT)/src/net/clickhouse_files.o: $(wildcard packaging/clickhouse/*.sql)
