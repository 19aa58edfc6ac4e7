// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that do nothing, on the hooks of the probes: their cost is the lower bound for any
 * probe.
 */
#include "kernel.bpf.h"

SEC("tp_btf/sched_switch")
int empty_sched_switch(void *ctx)
{
	return 0;
}

SEC("tp_btf/block_rq_issue")
int empty_block_rq_issue(void *ctx)
{
	return 0;
}

SEC("tp_btf/block_rq_complete")
int empty_block_rq_complete(void *ctx)
{
	return 0;
}

SEC("fentry/handle_mm_fault")
int empty_fault_enter(void *ctx)
{
	return 0;
}

SEC("fexit/handle_mm_fault")
int empty_fault_leave(void *ctx)
{
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
