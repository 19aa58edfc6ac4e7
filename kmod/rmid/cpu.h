/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each CPU runs: its RMID, since when, and the samples of it. Only the CPU itself accesses its
 * state; other CPUs send it an interrupt.
 */
#ifndef LATSCOPE_RMID_CPU_H
#define LATSCOPE_RMID_CPU_H

#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <uapi/latscope/rmid.h>

struct rmid_cpu {
	u32 rmid; /* of the running task */
	u32 kind; /* enum latscope_rmid_kind */
	u32 switches; /* in the current span */
	bool on; /* the CPU is online, and PQR_ASSOC is taken over */
	bool listening; /* there is a listener: rmid and kind are valid */
	bool sampling; /* the same, and the CPU is not isolated */
	u32 written; /* last RMID written to PQR_ASSOC; 0: none, or it was restored */
	u32 closid; /* in PQR_ASSOC before the module was loaded */
	u64 since_ns; /* start of the current span */
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
 * From now on follows every CPU that is or comes online, while there is a listener. The hooks must
 * be in place. `isolated`: isolated CPUs have a timer like all others.
 */
int cpu__init(bool isolated);
void cpu__exit(void);

/*
 * CPUs that the timer and the checks of PQR_ASSOC interrupt. Isolated CPUs (isolcpus=, nohz_full=)
 * are not among them: RMIDs are written there, but no samples are taken.
 */
const struct cpumask *cpu__sampled(void);
const struct cpumask *cpu__unsampled(void);

/* A listener of rmid_sample or rmid_read comes or goes. Sampling runs while there is one. */
int cpu__listen(void);
void cpu__unlisten(void);

/* This CPU is about to run something else. Interrupts are off. */
void cpu__run(struct rmid_cpu *cpu, u32 rmid, u32 kind);

void cpu__totals(struct cpu_totals *totals);

#endif
