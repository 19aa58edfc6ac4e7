/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How runqlat counts a switch, and the wait that it ends. Maps are defined here, so only
 * runqlat.bpf.c may include this.
 */
#ifndef LATSCOPE_PROBES_RUNQLAT_COUNT_BPF_H
#define LATSCOPE_PROBES_RUNQLAT_COUNT_BPF_H

#include <probes/kit/filter.bpf.h>
#include <probes/kit/sample.bpf.h>

#include "cpu.bpf.h"
#include "types.h"

const volatile struct lat_config config = {};
/* Neither filters nor --why nor metric wakeup: only then the functions *_usual() may count. */
const volatile bool plain = false;
const volatile bool hosts_account = false; /* see kit/account_host.h */
struct lat_control control = {};
struct lat_in_flight waits_in_flight = {};
struct lat_oldest oldest_in_flight = {};

struct keys_map keys SEC(".maps");
struct owners_map owners SEC(".maps");
struct rows_map rows SEC(".maps");
struct light_map light SEC(".maps");

/* Counts a wait of `task` that has ended. `cell` is that of this CPU and the metric. */
static __always_inline void record(struct lat_cell *cell, __u32 metric, struct task_struct *task,
				   __u64 ns)
{
	const struct split split = { &keys, &owners, &rows, &light, &control, &config };
	struct sample sample;

	if (!config.by) {
		hist_add(&cell->hist, ns, config.tail_ns);
		return;
	}
	if (!inject_fault(&config, metric, cell, &ns))
		return;
	sample = sample_of(ns);
	hist_add_sample(&cell->hist, sample, config.tail_ns);
	split_by_task(&split, cell, metric, task, sample);
	split_by_cpu(&split, cell, metric, bpf_get_smp_processor_id(), sample);
}

static __always_inline bool wakeups_wanted(void)
{
	return config.metrics & 1U << RUNQLAT_WAKEUP;
}

static __always_inline void count(struct lat_cell *cells_of_cpu, enum lat_count which)
{
	cells_of_cpu[RUNQLAT_RUN_QUEUE].counts[which]++;
	if (wakeups_wanted())
		cells_of_cpu[RUNQLAT_WAKEUP].counts[which]++;
}

/*
 * The cells that count the switch to `next`, after a wait of `ns` (0: unknown); NULL: do not count
 * it.
 */
static __always_inline struct lat_cell *seen(struct task_struct *next, __u64 ns)
{
	struct lat_cell *cell;

	if (!control.armed)
		return NULL;
	cell = cells_here(&cells);
	if (!cell)
		return NULL;
	count(cell, LAT_SEEN);
	if (!cpu_wanted(&config, bpf_get_smp_processor_id()) ||
	    (filter_by_task(&config) && !task_wanted(&config, next))) {
		count(cell, LAT_FILTERED);
		if ((__s64)ns > 0)
			cell->counts[LAT_FILTERED_NS] += ns;
		return NULL;
	}
	return cell;
}

/* A switch that ends no wait. */
static __always_inline int count_switch(enum lat_count which)
{
	struct lat_cell *cell = control.armed ? cells_here(&cells) : NULL;

	if (cell)
		cell->counts[which]++;
	return 0;
}

#endif
