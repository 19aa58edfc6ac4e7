// SPDX-License-Identifier: BSD-2-Clause
#include "tracing.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "kernel.h"
#include "untrusted_types.h"

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

/* Other programs, which only call casts. */
static const struct {
	const char *section;
	enum bpf_prog_type type;
} others[] = {
	{ "perf_event", BPF_PROG_TYPE_PERF_EVENT },
	{ "kprobe+", BPF_PROG_TYPE_KPROBE },
	{ "kretprobe+", BPF_PROG_TYPE_KPROBE },
};

static bool is_cast(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->imm == UNTRUSTED_CAST;
}

/* See UNTRUSTED_CAST. Where the kernel has no such function, the calls are dead code. */
static int call_casts(struct bpf_program *program, struct bpf_prog_load_opts *options, long which)
{
	const struct bpf_insn *insns = bpf_program__insns(program);
	size_t nr = bpf_program__insn_cnt(program), first = 0;
	struct bpf_insn *changed;
	int id, err;

	(void)options;
	(void)which;
	while (first < nr && !is_cast(&insns[first]))
		first++;
	id = first < nr ? kernel__find(UNTRUSTED_FUNCTION, BTF_KIND_FUNC) : -ENOENT;
	if (id < 0)
		return 0;
	changed = malloc(nr * sizeof(*changed));
	if (!changed)
		return -ENOMEM;
	memcpy(changed, insns, nr * sizeof(*changed));
	for (size_t i = first; i < nr; i++) {
		if (!is_cast(&changed[i]))
			continue;
		changed[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		changed[i].imm = id;
	}
	err = bpf_program__set_insns(program, changed, nr);
	free(changed);
	return err;
}

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
	id = bpf_program__set_type(program, BPF_PROG_TYPE_TRACING);
	return id ? id : call_casts(program, options, which);
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
	for (size_t i = 0; !has_begun && i < sizeof(others) / sizeof(others[0]); i++) {
		const struct libbpf_prog_handler_opts options = { .sz = sizeof(options),
								  .prog_prepare_load_fn =
									  call_casts };

		libbpf_register_prog_handler(others[i].section, others[i].type, 0, &options);
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
