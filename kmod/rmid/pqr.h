/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * IA32_PQR_ASSOC: the RMID that a logical CPU's cache fills and memory traffic count for, in bits
 * 9:0; in the upper half the CLOSID, which is not ours and stays as it was found.
 *
 * Nobody arbitrates this register. The kernel's resctrl writes it while it is mounted, pqos and PCM
 * do by /dev/cpu. So it is taken only if nobody seems to use it, looked at before each write and
 * every second, and given back if it holds what somebody else wrote, which stays. Only a 0 is
 * overwritten: that is what a suspend leaves.
 */
#ifndef LATSCOPE_RMID_PQR_H
#define LATSCOPE_RMID_PQR_H

#include <linux/types.h>

struct rmid_cpu;

enum pqr_mode { PQR_OFF, PQR_AUTO, PQR_FORCE };

/*
 * Decides whether to write it. -EBUSY if somebody else uses it, and the kernel log says who. On
 * success *rmids, how many are wanted, is not more than the machine has.
 */
int pqr__init(enum pqr_mode mode, u32 *rmids);

/* Begins to watch for others; call after the CPUs are online. */
void pqr__watch(void);
void pqr__unwatch(void);

/*
 * On the CPU itself, interrupts off: takes over the register, and tries the highest RMID that will
 * be written. -EBUSY; -EIO: it faults, or holds something else.
 */
int pqr__online(struct rmid_cpu *cpu);

/* On the CPU itself, interrupts off: takes back what was written, if nobody else wrote since. */
void pqr__give_back(struct rmid_cpu *cpu);

/* Somebody else uses it: it is not written any more, and what was is soon taken back. */
void pqr__yield(void);

/* On the CPU itself, interrupts off. Does nothing while off; yields if somebody else wrote. */
void pqr__write(struct rmid_cpu *cpu, u32 rmid);

/* For good, with all taken back: another kernel is about to start. May sleep. */
void pqr__leave(void);

bool pqr__writes(void);

/* "off", "on", "conflict" or "fault" */
const char *pqr__state(void);

#endif
