/* SPDX-License-Identifier: GPL-2.0-only */
/* What each CPU runs: its RMID, since when, and the samples of it. */
#ifndef LATSCOPE_RMID_CPU_H
#define LATSCOPE_RMID_CPU_H

#include <linux/cpumask.h>
#include <linux/sched.h>
#include <uapi/latscope/rmid.h>

struct cpu_totals {
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

/* For the hook: this CPU is about to run `next`. The run queue is locked, interrupts are off. */
void cpu__switch(struct task_struct *prev, struct task_struct *next);

void cpu__totals(struct cpu_totals *totals);

#endif
