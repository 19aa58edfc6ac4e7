/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The entry points of the CPU one is on: what the kernel made them, and the stubs before them.
 *
 * The IDT with the stub for page faults is a page of this module that is read-only once the module
 * is loaded. LSTAR, the entry of SYSCALL, is a register. Both are compared with the kernel's before
 * they are changed, and with ours before they are changed back: whatever else is there is left
 * alone.
 */
#ifndef RINGLAT_ENTRY_H
#define RINGLAT_ENTRY_H

#include <linux/types.h>

/*
 * Prepares the stubs to go on to the kernel's entry points. NULL, or one line for the user: why
 * these could not be told.
 */
const char *entry__init(void);

/* Could anyone write to the IDT with the stub? Meaningful from the end of the module's init on. */
bool entry__is_writable(void);

/*
 * Put the stubs for `events` (RINGLAT_PF etc.) before this CPU's entry points. With interrupts off.
 * -EBUSY, and nothing is changed, if one of the entry points is not the kernel's now.
 */
int entry__place(u32 events);

/*
 * Take them away. With interrupts off, on the CPU where they were placed. Returns how many of them
 * were no longer there. *kept: a hypervisor may have noted our SYSCALL stub, which must stay for
 * ever.
 */
unsigned int entry__remove(u32 events, bool *kept);

#endif
