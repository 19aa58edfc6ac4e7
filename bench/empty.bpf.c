// SPDX-License-Identifier: GPL-2.0-only
/*
 * The limit that no probe can be cheaper than: programs on the hooks of the probes that do nothing,
 * and the same with one reading of the clock, for hooks where a probe cannot do without.
 */
#include "kernel.bpf.h"

#define LIMIT(type, hook)                   \
	SEC(type "/" #hook)                 \
	int empty_##hook(void *ctx)         \
	{                                   \
		return 0;                   \
	}                                   \
	SEC(type "/" #hook)                 \
	int empty_##hook##_clock(void *ctx) \
	{                                   \
		bpf_ktime_get_ns();         \
		return 0;                   \
	}

LIMIT("tp_btf", sched_switch)
LIMIT("tp_btf", sched_wakeup)
LIMIT("tp_btf", block_io_start)
LIMIT("tp_btf", block_rq_issue)
LIMIT("tp_btf", block_rq_complete)

/* Entry and return of the function that handles a page fault. */
#define FAULT_LIMIT(type, name)             \
	SEC(type "/handle_mm_fault")        \
	int empty_##name(void *ctx)         \
	{                                   \
		return 0;                   \
	}                                   \
	SEC(type "/handle_mm_fault")        \
	int empty_##name##_clock(void *ctx) \
	{                                   \
		bpf_ktime_get_ns();         \
		return 0;                   \
	}

FAULT_LIMIT("fentry", fault_enter)
FAULT_LIMIT("fexit", fault_leave)

/* Software events at both ends of a page fault. */
#define EVENT_LIMIT(name)                   \
	SEC("perf_event")                   \
	int empty_##name(void *ctx)         \
	{                                   \
		return 0;                   \
	}                                   \
	SEC("perf_event")                   \
	int empty_##name##_clock(void *ctx) \
	{                                   \
		bpf_ktime_get_ns();         \
		return 0;                   \
	}

EVENT_LIMIT(event_start)
EVENT_LIMIT(event_end)

char LICENSE[] SEC("license") = "GPL";
