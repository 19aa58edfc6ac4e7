// SPDX-License-Identifier: BSD-2-Clause
#include "tracing.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "kernel.h"
#include "untrusted.h"

/* libbpf loads the kernel's types for programs of type tracing, so at first they have this type. */
#define OTHER_TYPE BPF_PROG_TYPE_RAW_TRACEPOINT

#define TARGET 128 /* room for the name of a type */

/*
 * Kinds of programs. Of those that trace, "SECTION/NAME" traces the type PREFIX and NAME; others
 * have no PREFIX, and are only here for their casts.
 */
static const struct kind {
	const char *section;
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
	const char *prefix;
	uint32_t btf_kind;
} kinds[] = {
	{ "tp_btf+", OTHER_TYPE, BPF_TRACE_RAW_TP, "btf_trace_", BTF_KIND_TYPEDEF },
	{ "fentry+", OTHER_TYPE, BPF_TRACE_FENTRY, "", BTF_KIND_FUNC },
	{ "fexit+", OTHER_TYPE, BPF_TRACE_FEXIT, "", BTF_KIND_FUNC },
	{ "iter+", OTHER_TYPE, BPF_TRACE_ITER, "bpf_iter_", BTF_KIND_FUNC },
	{ .section = "perf_event", .type = BPF_PROG_TYPE_PERF_EVENT },
	{ .section = "kprobe+", .type = BPF_PROG_TYPE_KPROBE },
	{ .section = "kretprobe+", .type = BPF_PROG_TYPE_KPROBE },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* As libbpf, but in the types that are loaded. */
static int set_target(struct bpf_program *program, struct bpf_prog_load_opts *options,
		      const struct kind *kind)
{
	const char *name = strchr(bpf_program__section_name(program), '/');
	char target[TARGET];
	int id;

	snprintf(target, sizeof(target), "%s%s", kind->prefix, name ? name + 1 : "");
	id = kernel__find(target, kind->btf_kind);
	if (id < 0)
		return -ESRCH; /* as libbpf */
	options->attach_btf_id = (uint32_t)id;
	return bpf_program__set_type(program, BPF_PROG_TYPE_TRACING);
}

/* Runs just before the kernel loads the program. */
static int prepare(struct bpf_program *program, struct bpf_prog_load_opts *options, long which)
{
	const struct kind *kind = &kinds[which];
	int err = kind->prefix ? set_target(program, options, kind) : 0;

	return err ? err : untrusted__call(program);
}

void tracing__begin(void)
{
	static bool has_begun;

	for (size_t i = 0; !has_begun && i < KINDS; i++) {
		const struct libbpf_prog_handler_opts options = { .sz = sizeof(options),
								  .cookie = (long)i,
								  .prog_prepare_load_fn = prepare };

		/* If it fails, libbpf loads the types. */
		libbpf_register_prog_handler(kinds[i].section, kinds[i].type, kinds[i].attach,
					     &options);
	}
	has_begun = true;
}

struct bpf_link *tracing__attach(const struct bpf_program *program)
{
	const char *section = bpf_program__section_name(program), *name = strchr(section, '/');

	if (bpf_program__type(program) == BPF_PROG_TYPE_TRACING)
		return bpf_program__attach_trace(program);
	if (bpf_program__type(program) == BPF_PROG_TYPE_KPROBE && name)
		return bpf_program__attach_kprobe(program, section[1] == 'r', name + 1);
	return bpf_program__attach(program);
}
