// SPDX-License-Identifier: BSD-2-Clause
#include "kernel.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <cap-ng.h>

/* Loaded at the first question. */
static struct btf *vmlinux_btf;

static const struct btf *kernel_btf(void)
{
	if (!vmlinux_btf)
		vmlinux_btf = btf__load_vmlinux_btf();
	return vmlinux_btf;
}

void kernel__forget(void)
{
	btf__free(vmlinux_btf);
	vmlinux_btf = NULL;
	malloc_trim(0);
}

int kernel__tracepoint_args(const char *name)
{
	const struct btf *btf = kernel_btf();
	const struct btf_type *type;
	char trace[RUN_NAME];
	int id;

	if (!btf)
		return -ENOENT;
	snprintf(trace, sizeof(trace), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, trace, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -ENOENT;
	type = btf__type_by_id(btf, btf__type_by_id(btf, id)->type); /* pointer to the prototype */
	type = btf__type_by_id(btf, type->type);
	return btf_vlen(type) - 1; /* the first is the tracepoint's private data */
}

bool kernel__has_tracepoint(const char *name)
{
	return kernel__tracepoint_args(name) >= 0;
}

bool kernel__has_function(const char *name)
{
	const struct btf *btf = kernel_btf();

	return btf && btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

bool kernel__has_member(const char *structure, const char *member)
{
	const struct btf *btf = kernel_btf();
	const struct btf_type *type;
	int id;

	id = btf ? btf__find_by_name_kind(btf, structure, BTF_KIND_STRUCT) : -ENOENT;
	if (id < 0)
		return false;
	type = btf__type_by_id(btf, id);
	for (int i = 0; i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), member))
			return true;
	return false;
}

static int value_in(const struct btf *btf, const struct btf_type *type, const char *enumerator)
{
	const struct btf_enum *at = btf_enum(type);

	for (int i = 0; i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, at[i].name_off), enumerator))
			return at[i].val;
	return -ENOENT;
}

int kernel__enum_value(const char *enumerator)
{
	const struct btf *btf = kernel_btf();
	unsigned int types = btf ? btf__type_cnt(btf) : 0;
	const struct btf_type *type;
	int value = -ENOENT;

	for (unsigned int id = 1; id < types && value < 0; id++) {
		type = btf__type_by_id(btf, id);
		if (btf_is_enum(type))
			value = value_in(btf, type, enumerator);
	}
	return value;
}

/* The first complaint is the cause, what follows are its consequences. */
static char complaint[RUN_TEXT];

static int keep_complaint(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level == LIBBPF_WARN && !complaint[0])
		vsnprintf(complaint, sizeof(complaint), format, args);
	return 0;
}

void kernel__capture_log(void)
{
	complaint[0] = '\0';
	libbpf_set_print(keep_complaint);
}

/* libbpf's line without its prefixes and line breaks. */
static const char *plain_complaint(void)
{
	char *text = complaint;

	text[strcspn(text, "\n")] = '\0';
	if (!strncmp(text, "libbpf: ", 8))
		text += 8;
	return text;
}

void kernel__explain(int err, const char *needs, char reason[RUN_TEXT])
{
	const char *said = plain_complaint();

	if (err == -EPERM || err == -EACCES)
		snprintf(reason, RUN_TEXT, "not permitted by this kernel; needs %s", needs);
	else if (err == -ESRCH || err == -ENOENT)
		snprintf(reason, RUN_TEXT, "not in this kernel; needs %s", needs);
	else
		snprintf(reason, RUN_TEXT, "%s (%.120s); needs %s", strerror(-err),
			 *said ? said : "no more is known", needs);
}

int kernel__check(char why[RUN_TEXT])
{
	capng_get_caps_process();
	if (!capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_ADMIN) &&
	    !(capng_have_capability(CAPNG_EFFECTIVE, CAP_BPF) &&
	      capng_have_capability(CAPNG_EFFECTIVE, CAP_PERFMON))) {
		snprintf(why, RUN_TEXT, "needs root, or CAP_BPF and CAP_PERFMON; run it with sudo");
		return -EPERM;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		snprintf(why, RUN_TEXT, "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF)");
		return -ENOENT;
	}
	return 0;
}
