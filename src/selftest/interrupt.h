/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ctrl-C goes to all processes of a terminal's foreground. Those that are measured must not die of
 * it by themselves, or what they leave behind is taken for an error: from interrupt__hold() on, the
 * signals are held back, and in children, too, which are ended by us.
 */
#ifndef LATSCOPE_SELFTEST_INTERRUPT_H
#define LATSCOPE_SELFTEST_INTERRUPT_H

#include <stdbool.h>

/* Before the first child. 0 or -errno. They stay held back until the process ends. */
int interrupt__hold(void);

/* Readable when one has come; -1 before interrupt__hold(). */
int interrupt__fd(void);

/* One has come, now or earlier. A session that ended by one has taken it: it says so itself. */
bool interrupt__came(void);

#endif
