// SPDX-License-Identifier: BSD-2-Clause
#include "untrusted.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "kernel.h"
#include "untrusted_types.h"

/* All 0: the verifier has no such cost, or no cure for it. Then the calls are dead code. */
static struct untrusted_types types;
static int cast;

static void find(void)
{
	int task = kernel__find("task_struct", BTF_KIND_STRUCT);
	int request = kernel__find("request", BTF_KIND_STRUCT);
	int function = kernel__find("bpf_rdonly_cast", BTF_KIND_FUNC);

	/* Where the verifier searches, it has this type, too. */
	if (task < 0 || request < 0 || function < 0 ||
	    kernel__find("task_struct__safe_rcu", BTF_KIND_STRUCT) < 0)
		return;
	types = (struct untrusted_types){ .task = (__u32)task, .request = (__u32)request };
	cast = function;
}

static void find_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find);
}

int untrusted__tell(const struct bpf_object *obj)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, UNTRUSTED_MAP);

	if (!map)
		return 0;
	find_once();
	return bpf_map__set_initial_value(map, &types, sizeof(types));
}

static bool is_cast(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->imm == UNTRUSTED_CAST;
}

int untrusted__call(struct bpf_program *program)
{
	size_t nr = bpf_program__insn_cnt(program);
	struct bpf_insn *insns;
	int err;

	find_once();
	if (!cast)
		return 0;
	insns = malloc(nr * sizeof(*insns));
	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(program), nr * sizeof(*insns));
	for (size_t i = 0; i < nr; i++) {
		if (!is_cast(&insns[i]))
			continue;
		insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		insns[i].imm = cast;
	}
	err = bpf_program__set_insns(program, insns, nr);
	free(insns);
	return err;
}
