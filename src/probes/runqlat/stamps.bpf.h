/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A wait that ends, with method stamps: by the kernel's stamp, what the kernel has added at moves,
 * and our own stamps. Included by runqlat.bpf.c alone.
 */
#ifndef LATSCOPE_PROBES_RUNQLAT_STAMPS_BPF_H
#define LATSCOPE_PROBES_RUNQLAT_STAMPS_BPF_H

#include "count.bpf.h"
#include "why.bpf.h"

/* If the run queue's clock is older than this, our own stamp replaces the kernel's. */
#define STALE_NS 1000

/* Own stamps, by TID, of tasks that have no storage. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64);
} strays SEC(".maps");

__u64 attached_ns = 0; /* when all programs were attached */
__u32 strays_lost = 0; /* 1: a task had no room in it */

/* May a sleeping task stay on its run queue? Then its stamp need not mean a wait. */
static __always_inline bool stamps_deceive(void)
{
	return bpf_core_field_exists(struct sched_entity___delayed, sched_delayed);
}

static __always_inline __u64 take_stray(__u32 tid)
{
	__u64 *found = bpf_map_lookup_elem(&strays, &tid), start;

	if (!found)
		return 0;
	start = *found;
	bpf_map_delete_elem(&strays, &tid);
	return start;
}

/* A wait that ends, by the kernel and by us. Times with `own` are CLOCK_MONOTONIC. */
struct wait {
	__u64 queued; /* the kernel's stamp; 0: none */
	__u64 before; /* the part that the kernel added when the task migrated */
	__u64 kernel_ns; /* what the kernel is about to add at the switch */
	__u64 unseen; /* earlier ends that the program missed */
	__u64 own_start; /* 0: none */
	__u64 own_now;
	__u64 now; /* by the scheduler's clock; 0: unknown */
	bool moved; /* the stamp may come from a move during its sleep */
	bool unknown; /* the wait began before the attach, at an unknown time */
};

/* Waits without a kernel stamp (on the way to sleep), or with one by a clock that stood still. */
static __always_inline void stamps_out(struct task_struct *prev, __u64 own_now, __u64 late)
{
	bool asleep = task_state(prev);
	struct runqlat_task *own;

	if (config.why)
		begin_quota(prev, NULL);
	if (asleep)
		count_switch(LAT_UNSTAMPED);
	if (!asleep && late < STALE_NS && !wakeups_wanted())
		return;
	own = find_own(prev);
	if (!own)
		return;
	own->preempted = asleep;
	if (asleep || late >= STALE_NS)
		own->queued_ns = own_now;
	own->request_ns = 0; /* a task that loses the CPU and stays runnable was not woken up */
}

/* Takes the wait out of the task's storage, and resets the storage. */
static __always_inline void take_wait(struct wait *wait, struct runqlat_task *own,
				      const struct sched_info *info)
{
	wait->before = info->run_delay - own->run_delay;
	wait->unseen = info->pcount - own->arrivals;
	wait->own_start = own->queued_ns;
	wait->moved = own->moved;
	wait->unknown = own->unknown;
	own->run_delay = info->run_delay + wait->kernel_ns; /* as the kernel will count */
	own->arrivals = info->pcount + (info->last_queued != 0);
	own->queued_ns = 0;
	own->moved = 0;
	own->unknown = 0;
	own->preempted = 0;
}

/* The same for a task that the iterator did not see: only the stamps are known. */
static __always_inline void guess_wait(struct wait *wait, struct lat_cell *cell, __u32 tid)
{
	if (cell)
		cell->counts[LAT_PARTIAL]++;
	if (!stamps_deceive())
		return;
	wait->own_start = take_stray(tid);
	wait->moved = strays_lost;
	wait->unknown = wait->now - wait->queued > wait->own_now - attached_ns;
}

/* The kernel's own account of the wait: an upper bound, because it may contain a sleep. */
static __always_inline void lose_wait(struct lat_cell *cell, const struct wait *wait,
				      enum lat_count why, enum lat_count time)
{
	cell->counts[why]++;
	if ((__s64)(wait->before + wait->kernel_ns) > 0)
		cell->counts[time] += wait->before + wait->kernel_ns;
}

static __always_inline void record_wait(struct lat_cell *cell, struct task_struct *next,
					const struct wait *wait, struct slow *slow)
{
	__u64 ns = wait->before + wait->now - wait->queued;

	if (!wait->moved && (__s64)wait->before > 0)
		slow->before_ns = wait->before;
	slow->joined = wait->unseen;

	/* After a missed end, our own stamp is that of an earlier wait. */
	if (wait->own_start && !(wait->unseen && wait->queued)) {
		cell->counts[LAT_FALLBACK]++;
		ns = wait->own_now - wait->own_start;
		cell->counts[LAT_FALLBACK_NS] += ns;
	} else if (!wait->queued) {
		cell->counts[LAT_MISSED_START]++;
		cell->counts[LAT_UNTIMED]++;
		return;
	} else if (wait->unknown) {
		lose_wait(cell, wait, LAT_MISSED_START, LAT_MISSED_START_NS);
		return;
	} else if (wait->moved || !wait->now) {
		lose_wait(cell, wait, LAT_UNMATCHED, LAT_UNMATCHED_NS);
		return;
	}
	if ((__s64)ns < 0) {
		cell->counts[LAT_NEGATIVE]++;
		return;
	}
	cell->counts[LAT_JOINED] += wait->unseen;
	record(cell, RUNQLAT_RUN_QUEUE, next, ns);
	if (!why_slow(ns))
		return;
	slow->ns = ns;
	if (slow->before_ns > ns)
		slow->before_ns = ns;
}

#endif
