/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * IA32_PQR_ASSOC: bits 9:0 hold the RMID to which a logical CPU's cache fills and memory traffic
 * are attributed; the upper half holds the CLOSID, which stays 0.
 *
 * No one arbitrates this register. The kernel's resctrl writes it while it is mounted; pqos and PCM
 * write it through /dev/cpu. So it is used only if no other tool seems to use it. This is checked
 * before each write and every second. If another tool wrote it, the module stops using it, and that
 * value stays. Only a 0 is overwritten, because a suspend leaves it.
 */
#ifndef LATSCOPE_RMID_PQR_H
#define LATSCOPE_RMID_PQR_H

#include <linux/types.h>

enum pqr_mode { PQR_OFF, PQR_AUTO, PQR_FORCE };

/*
 * Decides whether to write the register. -EBUSY: another tool uses it; the kernel log names it. On
 * success *rmids, the wanted number, is at most that of the machine.
 */
int pqr__init(enum pqr_mode mode, u32 *rmids);

/* Starts to check these CPUs for other tools; call after the CPUs are online. */
void pqr__watch(const struct cpumask *checked);
void pqr__unwatch(void);

/*
 * On the CPU itself, interrupts off: takes over the register, and tries the highest RMID that will
 * be written. -EBUSY; -EIO: access faults, or the value read back differs.
 */
int pqr__online(void);
void pqr__offline(void);

/* On the CPU itself, interrupts off: restores the register, if no other tool wrote it since. */
void pqr__give_back(void);

/* Another tool uses it: stops writing it, and soon restores it. */
void pqr__yield(void);

/* On the CPU itself, interrupts off. Does nothing while off; yields if another tool wrote it. */
void pqr__write(u32 rmid);

/* Stops for good and restores all registers: another kernel is about to start. May sleep. */
void pqr__leave(void);

/* Is the register still written? */
bool pqr__writes(void);

/* Writes so far, on all CPUs. */
u64 pqr__write_count(void);

/* "off", "on", "conflict" or "fault" */
const char *pqr__state(void);

#endif
