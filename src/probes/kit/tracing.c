// SPDX-License-Identifier: BSD-2-Clause
#include "tracing.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "kernel.h"

/* libbpf loads the kernel's types for programs of type tracing, so at first they have this type. */
#define OTHER_TYPE BPF_PROG_TYPE_RAW_TRACEPOINT

#define TARGET 128 /* room for the name of a type */

/* Kinds of tracing programs: "SECTION/NAME" traces the type PREFIX and NAME. */
static const struct kind {
	const char *section;
	enum bpf_attach_type attach;
	const char *prefix;
	uint32_t btf_kind;
} kinds[] = {
	{ "tp_btf+", BPF_TRACE_RAW_TP, "btf_trace_", BTF_KIND_TYPEDEF },
	{ "fentry+", BPF_TRACE_FENTRY, "", BTF_KIND_FUNC },
	{ "fexit+", BPF_TRACE_FEXIT, "", BTF_KIND_FUNC },
	{ "iter+", BPF_TRACE_ITER, "bpf_iter_", BTF_KIND_FUNC },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Runs just before the kernel loads the program. */
static int prepare(struct bpf_program *program, struct bpf_prog_load_opts *options, long which)
{
	const char *name = strchr(bpf_program__section_name(program), '/');
	const struct kind *kind = &kinds[which];
	char target[TARGET];
	int id;

	snprintf(target, sizeof(target), "%s%s", kind->prefix, name ? name + 1 : "");
	id = kernel__find(target, kind->btf_kind);
	if (id < 0)
		return -ESRCH; /* as libbpf */
	options->attach_btf_id = (uint32_t)id;
	return bpf_program__set_type(program, BPF_PROG_TYPE_TRACING);
}

void tracing__begin(void)
{
	static bool has_begun;

	for (size_t i = 0; !has_begun && i < KINDS; i++) {
		const struct libbpf_prog_handler_opts options = { .sz = sizeof(options),
								  .cookie = (long)i,
								  .prog_prepare_load_fn = prepare };

		/* If it fails, libbpf loads the types. */
		libbpf_register_prog_handler(kinds[i].section, OTHER_TYPE, kinds[i].attach,
					     &options);
	}
	has_begun = true;
}

struct bpf_link *tracing__attach(const struct bpf_program *program)
{
	if (bpf_program__type(program) != BPF_PROG_TYPE_TRACING)
		return bpf_program__attach(program);
	return bpf_program__attach_trace(program);
}
