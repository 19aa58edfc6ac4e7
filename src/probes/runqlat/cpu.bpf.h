/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What runqlat keeps of each CPU: its cells, and the scheduler's clock. Maps and a program are
 * defined here, so only runqlat.bpf.c may include this.
 */
#ifndef LATSCOPE_PROBES_RUNQLAT_CPU_BPF_H
#define LATSCOPE_PROBES_RUNQLAT_CPU_BPF_H

#include <probes/kit/sample.bpf.h>

#include "types.h"

CELLS_MAP(runqlat_cpu) cells SEC(".maps");

static __always_inline struct runqlat_cpu *cpu_here(void)
{
	return (void *)cells_here(&cells);
}

/* ---- the clock, for method stamps ---- */

/* An older offset is read again: slewed by 500 ppm, the clocks differ by 0.5 us then. */
#define OFFSET_AGE_NS (1 << 20)
/* Limit for the offset of another CPU. */
#define OTHER_AGE_NS (1LL << 30)

/* By CPU: the perf event cpu-clock, which reads the scheduler's clock. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} events SEC(".maps");

/* The run queue's clock: the scheduler's clock of that CPU at its last update. */
static __always_inline __u64 queue_clock(struct task_struct *task)
{
	return untrusted(task)->se.cfs_rq->rq->clock;
}

/*
 * Reading the event stores the scheduler's clock in it. (The count cannot be used: it stands still
 * while the kernel reschedules the events of a CPU.) The clock was read between `before` and
 * `after`. The earlier time gives the smallest offset, so a wait is never too short. An NMI or a
 * hypervisor in between makes the offset too small: it is only used if the old one may be as wrong.
 */
static __always_inline void read_offset(struct runqlat_clock *clock)
{
	__u64 before = bpf_ktime_get_ns(), after, clock_ns = 0;
	__s64 counted = bpf_perf_event_read(&events, BPF_F_CURRENT_CPU);

	after = bpf_ktime_get_ns();
	bpf_probe_read_kernel(&clock_ns, sizeof(clock_ns), (const void *)clock->stamp);
	if (counted < 0 || clock_ns == clock->clock_ns) { /* ended when the CPU went offline */
		clock->stamp = 0;
		return;
	}
	clock->clock_ns = clock_ns;
	if (clock->at_ns && after - before > clock->error_ns + ((before - clock->at_ns) >> 10))
		return;
	clock->offset_ns = before - clock_ns;
	clock->error_ns = after - before;
	clock->at_ns = before;
}

/*
 * The clock of a CPU, if its offset is new enough. That CPU may have read the offset after `now`
 * was read here.
 */
static __always_inline struct runqlat_clock *clock_of(__u32 cpu, __u64 now)
{
	struct runqlat_cpu *other = bpf_map_lookup_elem(&cells, &cpu);
	struct runqlat_clock *clock;

	if (!other)
		return NULL;
	clock = &other->clock;
	return clock->at_ns && (__s64)(now - clock->at_ns) < OTHER_AGE_NS ? clock : NULL;
}

/*
 * For a CPU without an event, because it came online later. User space has checked that the clocks
 * of all CPUs agree.
 */
static __always_inline struct runqlat_clock *other_clock(__u64 now)
{
	struct runqlat_clock *clock = clock_of(0, now);

	return clock ? clock : clock_of(1, now);
}

/*
 * The scheduler's clock of this CPU at `now` (CLOCK_MONOTONIC), at least `stale`; 0: unknown.
 * Global, so that the verifier checks it once and not what follows for each way out of it.
 */
__noinline __u64 scheduler_clock(__u64 now, __u64 stale)
{
	struct runqlat_cpu *here = cpu_here();
	struct runqlat_clock *clock;

	if (!here)
		return 0;
	clock = &here->clock;
	if (clock->stamp && (__s64)(now - clock->at_ns) > OFFSET_AGE_NS)
		read_offset(clock);
	if (!clock->stamp)
		clock = other_clock(now);
	if (!clock || !clock->at_ns)
		return 0;
	if ((__s64)(now - clock->offset_ns - stale) >= 0)
		return now - clock->offset_ns;
	clock->at_ns = 0; /* there was a suspend in between */
	return stale;
}

/* Runs in the process that opened the events, once for each of its files. */
SEC("iter/task_file")
int find_stamps(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct runqlat_clock *clock;
	struct runqlat_cpu *of;
	__u64 clock_ns = 0, count_ns = 0;
	struct perf_event *event;
	__u32 cpu;

	if (!task || !file || (__u32)task->tgid != bpf_get_current_pid_tgid() >> 32)
		return 0;
	event = file->private_data; /* if it is no event, its number does not match below */
	cpu = BPF_CORE_READ(event, cpu);
	of = bpf_map_lookup_elem(&cells, &cpu);
	if (!of)
		return 0;
	clock = &of->clock;
	if (clock->stamp || clock->event != ctx->fd)
		return 0;
	bpf_core_read(&clock_ns, sizeof(clock_ns), &event->hw.prev_count);
	bpf_core_read(&count_ns, sizeof(count_ns), &event->count);
	clock->base_ns = clock_ns - count_ns;
	store_ordered(&clock->stamp, (__u64)&event->hw.prev_count);
	return 0;
}

#endif
