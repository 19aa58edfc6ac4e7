/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The entry points of this CPU: the kernel's own, and the entry code before them.
 *
 * The IDT with the entry code for page faults is a page of this module, read-only once the module
 * is loaded. LSTAR, the entry of SYSCALL, is a register. Both are compared with the kernel's values
 * before they are changed, and with ours before they are restored; other values stay unchanged.
 */
#ifndef RINGLAT_ENTRY_H
#define RINGLAT_ENTRY_H

#include <linux/types.h>

/* Lets the entry code continue at the kernel's entry points. NULL, or why they are unknown. */
const char *entry__init(void);

/* Is the IDT with the entry code writable? Valid after the init function of the module. */
bool entry__is_writable(void);

/*
 * Places the entry code for `events` (RINGLAT_PF etc.) before the entry points of this CPU. With
 * interrupts off. -EBUSY, without any change: an entry point is not the kernel's now.
 */
int entry__place(u32 events);

/*
 * Removes it. With interrupts off, on the CPU where it was placed. Returns how many entry points
 * were not ours any more. *kept: a hypervisor may have saved our SYSCALL entry, so the module must
 * stay loaded.
 */
unsigned int entry__remove(u32 events, bool *kept);

#endif
