/* SPDX-License-Identifier: GPL-2.0-only */
/* How a fault begins and is counted, for all methods. */
#ifndef LATSCOPE_PROBES_MEMLAT_SAMPLE_BPF_H
#define LATSCOPE_PROBES_MEMLAT_SAMPLE_BPF_H

#include "in_flight.bpf.h"
#include "why.bpf.h"

/* Properties of a fault. */
enum memlat_bit {
	CALL_USER = 1 << 0,
	CALL_GUP = 1 << 1,
	CALL_WRITE = 1 << 2,
	CALL_EXEC = 1 << 3,
	CALL_MAJOR = 1 << 4,
	CALL_FAILED = 1 << 5,
	CALL_THP = 1 << 6,
	CALL_HUGETLB = 1 << 7,
	/* the call was the attempt under the VMA's lock; without meaning where there is none */
	CALL_VMA_LOCK = 1 << 8,
	CALL_NEW = 1 << 9, /* fault_enter() saw the entry, fault_enter_again() not yet */
	CALL_KIND = 7 << 10, /* enum lat_kind */
};
#define CALL_KIND_SHIFT 10
#define CALL_CPU_SHIFT 16 /* where no call is: the CPU, above the bits */

/* The properties of a fault, and where it began. */
static __always_inline __u32 with_cpu(__u32 bits, const struct memlat_call *began)
{
	return bits | (__u32)began->cpu << CALL_CPU_SHIFT;
}

/* The bits, with the kind of `others` if that is the later one. */
static __always_inline __u32 higher_kind(__u32 bits, __u32 others)
{
	__u32 kind = others & CALL_KIND;

	return kind > (bits & CALL_KIND) ? (bits & ~CALL_KIND) | kind : bits;
}

static __always_inline void count_start_loss(__u32 which)
{
	struct lat_cell *cell = control.armed ? cells_here(&cells) : NULL;

	if (cell)
		__sync_fetch_and_add(&cell->counts[which], 1);
}

static __always_inline void split_by_bits(const struct split *split, struct lat_cell *cell,
					  __u32 by, struct sample sample, __u32 value)
{
	struct lat_key key = { .by = by, .id = value };

	if (config_split(&config, by))
		split_add(split, cell, &key, NULL, sample);
}

/* The mark of a fault of a huge page in the current task; NULL: there is none. */
static __always_inline struct memlat_task *task_mark(__u64 flags)
{
	return bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, flags);
}

/*
 * A fault of the current task that was in progress at the attach is over, or a new one begins. Was
 * there one?
 */
static __noinline int unmark(void)
{
	struct memlat_task *own = task_mark(0);

	if (!own || !own->before)
		return false;
	own->before = 0;
	__sync_fetch_and_add(&others.marked, -1);
	return true;
}

/* Takes the bits that were set during a call. */
static __always_inline __u32 take_mark(void)
{
	struct memlat_task *task = config_split(&config, LAT_BY_PAGE) ? task_mark(0) : NULL;
	__u32 bits = task ? task->bits : 0;

	if (task)
		task->bits = 0;
	return bits;
}

/*
 * Adds a finished fault to the histogram and to the splits; the CPU is above the bits. Global, so
 * that the verifier checks it once and not for each caller.
 */
__noinline int record_split(__u64 ns, __u32 bits)
{
	const struct split split = { &keys, &owners, &rows, &light, &control, &config };
	struct lat_cell *cell = cells_here(&cells);
	struct sample sample;

	if (!cell)
		return 0;
	if (!inject_fault(&config, 0, cell, &ns))
		return 0;
	sample = sample_of(ns);
	hist_add_cell(&config, &cell->hist, sample);
	split_by_task(&split, cell, 0, bpf_get_current_task_btf(), sample);
	split_by_bits(&split, cell, LAT_BY_MODE, sample,
		      bits & CALL_GUP	 ? LAT_MODE_GUP
		      : bits & CALL_USER ? LAT_MODE_USER
					 : LAT_MODE_KERNEL);
	split_by_bits(&split, cell, LAT_BY_TYPE, sample,
		      bits & CALL_FAILED  ? LAT_TYPE_FAILED
		      : bits & CALL_MAJOR ? LAT_TYPE_MAJOR
					  : LAT_TYPE_MINOR);
	split_by_bits(&split, cell, LAT_BY_ACCESS, sample,
		      bits & CALL_WRITE	 ? LAT_ACCESS_WRITE
		      : bits & CALL_EXEC ? LAT_ACCESS_EXEC
					 : LAT_ACCESS_READ);
	split_by_bits(&split, cell, LAT_BY_PAGE, sample,
		      bits & CALL_HUGETLB ? LAT_PAGE_HUGETLB
		      : bits & CALL_THP	  ? LAT_PAGE_THP
					  : LAT_PAGE_BASE);
	split_by_bits(&split, cell, LAT_BY_KIND, sample, (bits & CALL_KIND) >> CALL_KIND_SHIFT);
	split_by_cpu(&split, cell, 0, bits >> CALL_CPU_SHIFT, sample);
	return 0;
}

/* Counts a fault on a CPU that the filter leaves out. */
static __always_inline bool on_other_cpu(struct lat_cell *cell, const struct memlat_call *call)
{
	if (cpu_wanted(&config, call->cpu))
		return false;
	COUNT(&config, cell->counts[LAT_FILTERED]);
	return true;
}

/* `bits`: enum memlat_bit, and the CPU. */
static __always_inline void record(struct lat_cell *cell, __u64 ns, __u32 bits)
{
	if (config.by)
		record_split(ns, bits);
	else
		hist_add_cell(&config, &cell->hist, sample_of(ns));
}

static __always_inline void call_begins(struct memlat_call *call, __u64 address, __u32 bits)
{
	call->address = address;
	call->state = bits;
	if (needs_cpu(&config))
		call->cpu = bpf_get_smp_processor_id();
	call->start_ns = bpf_ktime_get_ns();
}

static __always_inline void call_unknown(struct lat_cell *cell, __u32 count)
{
	COUNT(&config, cell->counts[LAT_SEEN]);
	if (!current_wanted(&config))
		COUNT(&config, cell->counts[LAT_FILTERED]);
	else
		COUNT(&config, cell->counts[count]);
}

#endif
