/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The same pointer, to read other pointers from. At each pointer that a program reads from one that
 * the verifier trusts, the verifier searches all types of the kernel by name, again on each path
 * through the program (since 6.4). That was more than half of the time to load the programs. Reads
 * from an untrusted pointer that is wrong give 0. The cast costs no instruction, but the compiler
 * takes it for a call: not in functions whose stack is scarce, as in runqlat's turns.bpf.h.
 */
#ifndef LATSCOPE_PROBES_KIT_UNTRUSTED_BPF_H
#define LATSCOPE_PROBES_KIT_UNTRUSTED_BPF_H

#include "kernel_types.bpf.h"

#include <bpf/bpf_helpers.h>

#include "untrusted_types.h"

static void *(*const untrusted_cast)(const void *object, __u32 type) = (void *)UNTRUSTED_CAST;

static const volatile struct untrusted_types untrusted_types SEC(UNTRUSTED_MAP);

static __always_inline struct task_struct *untrusted(struct task_struct *task)
{
	return untrusted_types.task ? untrusted_cast(task, untrusted_types.task) : task;
}

static __always_inline struct request *untrusted_request(struct request *request)
{
	return untrusted_types.request ? untrusted_cast(request, untrusted_types.request) : request;
}

#endif
