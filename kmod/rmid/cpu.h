/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each CPU runs: its RMID, since when, and the samples of it. A CPU's state is its own; others
 * reach it by an interrupt there.
 */
#ifndef LATSCOPE_RMID_CPU_H
#define LATSCOPE_RMID_CPU_H

#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <uapi/latscope/rmid.h>

struct rmid_cpu {
	u32 rmid; /* of what runs */
	u32 kind; /* enum latscope_rmid_kind */
	u32 switches; /* in the span under way */
	bool on; /* it is online, and the register is taken over */
	bool listening; /* there is a listener: rmid and kind hold */
	bool sampling; /* the same, and the CPU is not isolated */
	u32 written; /* to PQR_ASSOC, the last RMID; 0: none, or it was given back */
	u32 closid; /* in PQR_ASSOC since before us */
	u64 since_ns; /* beginning of the span under way */
	u64 pqr_writes;
	u64 ticks;
	u64 ticks_late;
	struct hrtimer timer;
};

DECLARE_PER_CPU(struct rmid_cpu, rmid_cpus);

struct cpu_totals {
	u64 pqr_writes;
	u64 ticks;
	u64 ticks_late;
};

/*
 * From then on the state of every CPU that is or comes online is kept while there is a listener.
 * The hooks must be in place. `isolated`: isolated CPUs have a timer like all others.
 */
int cpu__init(bool isolated);
void cpu__exit(void);

/*
 * CPUs that the timer and the watch interrupt: not those of isolcpus= and nohz_full=, where RMIDs
 * are written but no samples taken.
 */
const struct cpumask *cpu__sampled(void);
const struct cpumask *cpu__unsampled(void);

/* Of rmid_sample and rmid_read: sampling goes on while there is a listener. */
int cpu__listen(void);
void cpu__unlisten(void);

/* This CPU is about to run something else. Interrupts are off. */
void cpu__run(struct rmid_cpu *cpu, u32 rmid, u32 kind);

void cpu__totals(struct cpu_totals *totals);

#endif
