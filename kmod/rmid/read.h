/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the monitoring counters of each L3 cache, on one CPU of it: LLC occupancy, and the
 * bandwidth events of the machine. IA32_QM_EVTSEL and IA32_QM_CTR are one pair for the whole cache.
 * No emulator has them: this code, except count.c and turns.c, was checked against the manuals, not
 * run.
 */
#ifndef LATSCOPE_RMID_READ_H
#define LATSCOPE_RMID_READ_H

#include <linux/types.h>

struct read_totals {
	u32 scale; /* bytes; 0: no such counters */
	u64 done;
	u64 due;
};

/* By CPUID; 0: the machine has no L3 monitoring. */
u32 read__max_rmid(void);

/* The machine has L3 monitoring, and counts at least one event correctly. */
bool read__useful(void);

/* Starts to read RMIDs 1 to `rmids`, for at most `budget` percent of each tick. */
int read__init(bool wanted, u32 rmids, u32 budget);
void read__exit(void);

/*
 * Called in a thread of the CPU that comes online or goes offline. `timers`: the CPUs that call
 * read__tick(), of which one is the reader of its cache.
 */
void read__online(unsigned int number, const struct cpumask *timers);
void read__offline(unsigned int number, const struct cpumask *timers);

/* The RMID ran on this CPU. Interrupts are off, as in read__tick(). */
void read__ran(u32 rmid);
void read__tick(void);

void read__totals(struct read_totals *totals);

/* "off", "on" or "erratum": is memory bandwidth read? */
const char *read__mbm(void);

#endif
