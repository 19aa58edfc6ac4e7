// SPDX-License-Identifier: BSD-2-Clause
#include "kernel.h"

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

/* Loaded on first use. */
static struct btf *vmlinux_btf;

const struct btf *kernel__btf(void)
{
	if (!vmlinux_btf)
		vmlinux_btf = btf__load_vmlinux_btf();
	return vmlinux_btf;
}

int kernel__find(const char *name, uint32_t kind)
{
	const struct btf *btf = kernel__btf();

	return btf ? btf__find_by_name_kind(btf, name, kind) : -ENOENT;
}

void kernel__forget(void)
{
	btf__free(vmlinux_btf);
	vmlinux_btf = NULL;
	malloc_trim(0);
}

/* The prototype of a tracepoint's functions; NULL: no such tracepoint, or no BTF. */
static const struct btf_type *tracepoint(const char *name)
{
	const struct btf *btf = kernel__btf();
	const struct btf_type *type;
	char trace[RUN_NAME];
	int id;

	snprintf(trace, sizeof(trace), "btf_trace_%s", name);
	id = kernel__find(trace, BTF_KIND_TYPEDEF);
	if (id < 0)
		return NULL;
	type = btf__type_by_id(btf, btf__type_by_id(btf, id)->type); /* pointer to the prototype */
	return btf__type_by_id(btf, type->type);
}

bool kernel__tracepoint_takes(const char *name, int arg, const char *type_name)
{
	const struct btf_type *type = tracepoint(name);
	const struct btf *btf = kernel__btf();

	if (!type || arg + 1 >= btf_vlen(type)) /* the first is the tracepoint's private data */
		return false;
	type = btf__type_by_id(btf, btf_params(type)[arg + 1].type);
	return !strcmp(btf__name_by_offset(btf, type->name_off), type_name);
}

bool kernel__has_tracepoint(const char *name)
{
	return tracepoint(name);
}

bool kernel__has_function(const char *name)
{
	return kernel__find(name, BTF_KIND_FUNC) > 0;
}

bool kernel__has_fentry(const char *function)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct bpf_prog_load_opts options = { .sz = sizeof(options),
					      .expected_attach_type = BPF_TRACE_FENTRY };
	int id = kernel__find(function, BTF_KIND_FUNC), fd, link;

	if (id < 0)
		return false;
	options.attach_btf_id = (__u32)id;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "latscope", "GPL", program,
			   sizeof(program) / sizeof(program[0]), &options);
	if (fd < 0)
		return false;
	link = bpf_raw_tracepoint_open(NULL, fd);
	close(fd);
	if (link >= 0)
		close(link);
	return link >= 0;
}

int kernel__bit(const char *structure, const char *member)
{
	int id = kernel__find(structure, BTF_KIND_STRUCT);
	const struct btf *btf = kernel__btf();
	const struct btf_type *type;

	if (id < 0)
		return -1;
	type = btf__type_by_id(btf, (__u32)id);
	for (__u32 i = 0; i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off), member))
			return (int)btf_member_bit_offset(type, i);
	return -1;
}

bool kernel__has_member(const char *structure, const char *member)
{
	return kernel__bit(structure, member) >= 0;
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
	const struct btf *btf = kernel__btf();
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

/*
 * Task storage in tracing programs came in 5.13 (a10787e6d58c), and this member with it. All else
 * that the programs need is older. Without type information it is unknown, and they do not load.
 */
const char *kernel__lacks(void)
{
	return kernel__btf() && !kernel__has_member("task_struct", "bpf_storage") ? "Linux 5.13"
										  : NULL;
}

/* A mount of debugfs that no path leads to; it ends with its descriptor. -1: not permitted. */
static int mount_debugfs(void)
{
	int fs = -1, mount = -1;

	/* Without it the call fails, and a unit of systemd may not even make it. */
	capng_get_caps_process();
	if (capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_ADMIN))
		fs = fsopen("debugfs", FSOPEN_CLOEXEC);
	if (fs < 0)
		return -1;
	if (!fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mount = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	close(fs);
	return mount;
}

static int open_in(int directory, const char *path)
{
	int fd = directory < 0 ? -1 : openat(directory, path, O_RDONLY | O_CLOEXEC);

	if (directory >= 0)
		close(directory);
	return fd;
}

FILE *kernel__open_debugfs(const char *path)
{
	int fd = open_in(open("/sys/kernel/debug", O_PATH | O_DIRECTORY | O_CLOEXEC), path);

	if (fd < 0)
		fd = open_in(mount_debugfs(), path);
	return fd < 0 ? NULL : fdopen(fd, "r");
}

/* "none voluntary (full) lazy": the model in use is in brackets. */
static bool read_preemption(char model[RUN_NAME])
{
	FILE *file = kernel__open_debugfs("sched/preempt");
	bool found = false;

	if (!file)
		return false;
	while (!found && fscanf(file, "%63s", model) == 1)
		found = model[0] == '(';
	fclose(file);
	return found;
}

bool kernel__preempts(void)
{
	char model[RUN_NAME];
	struct utsname name;

	if (read_preemption(model))
		return strcmp(model, "(none)") && strcmp(model, "(voluntary)");
	return !uname(&name) && strstr(name.version, "PREEMPT");
}

/*
 * 7.0 guards the call of a tracepoint by SRCU; before, preemption was off. The type of the guard
 * came with it.
 */
bool kernel__preempts_tracepoints(void)
{
	return kernel__preempts() &&
	       kernel__find("class_srcu_fast_notrace_t", BTF_KIND_TYPEDEF) > 0;
}
