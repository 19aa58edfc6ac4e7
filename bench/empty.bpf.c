// SPDX-License-Identifier: GPL-2.0-only
/*
 * The limit that no probe can be cheaper than: programs on the hooks of the probes that do nothing,
 * and the same with one reading of the clock, for hooks where a probe cannot do without.
 */
#include <probes/kit/kernel.bpf.h>

#define LIMIT(section, name)                \
	SEC(section)                        \
	int empty_##name(void *ctx)         \
	{                                   \
		return 0;                   \
	}                                   \
	SEC(section)                        \
	int empty_##name##_clock(void *ctx) \
	{                                   \
		bpf_ktime_get_ns();         \
		return 0;                   \
	}

LIMIT("tp_btf/sched_switch", sched_switch)
LIMIT("tp_btf/sched_wakeup", sched_wakeup)
LIMIT("tp_btf/block_io_start", block_io_start)
LIMIT("tp_btf/block_rq_issue", block_rq_issue)
LIMIT("tp_btf/block_rq_complete", block_rq_complete)

/* Both ends of a page fault, by functions and by software events. */
LIMIT("fentry/handle_mm_fault", fault_enter)
LIMIT("fexit/handle_mm_fault", fault_leave)
LIMIT("perf_event", event_start)
LIMIT("perf_event", event_end)

char LICENSE[] SEC("license") = "GPL";
