/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the monitoring counters of each L3 cache, on one CPU of it: LLC occupancy, and the
 * bandwidth events the machine has. IA32_QM_EVTSEL and IA32_QM_CTR are one pair for the whole
 * cache. No emulator has them: what is here beyond count.c and turns.c has been read against the
 * manuals, not run.
 */
#ifndef LATSCOPE_RMID_READ_H
#define LATSCOPE_RMID_READ_H

#include <linux/types.h>

struct read_totals {
	u32 scale; /* bytes; 0: there is nothing to read */
	u64 done;
	u64 due;
};

/* By CPUID; 0: the machine has no L3 monitoring. */
u32 read__max_rmid(void);

/* It has, and does not count all of it wrong. */
bool read__useful(void);

/* RMIDs 1 to `rmids` are read, for at most `budget` percent of each tick. */
int read__init(bool wanted, u32 rmids, u32 budget);
void read__exit(void);

/* In a thread of the CPU that comes or goes. */
void read__online(unsigned int number);
void read__offline(unsigned int number);

/* On this CPU that RMID ran. Interrupts are off, as they are in the other. */
void read__ran(u32 rmid);
void read__tick(void);

void read__totals(struct read_totals *totals);

/* "off", "on" or "erratum": is memory bandwidth read? */
const char *read__mbm(void);

#endif
