/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of the parts, and of what is missing in them. */
#ifndef LATSCOPE_PROBES_WHERE_VIEW_STATES_H
#define LATSCOPE_PROBES_WHERE_VIEW_STATES_H

#include <stdbool.h>

#include "types.h"

/* "disk"; of enum where_state. NULL-terminated. */
extern const char *const where_states[WHERE_STATES + 1];

/* "waited for a disk": as a user reads it. */
extern const char *const where_labels[WHERE_STATES];

/* The state of a name, or -ENOENT. */
int where_state(const char *name);

/* Has the thread nothing to do, or does it not want to go on? */
bool where_is_idle(unsigned int state);

/* Is it a wait that somebody may want to be shorter? A wait for a CPU is one. */
bool where_is_wait(unsigned int state);

/* Is it that in any case? In a futex or a socket a thread may also wait for work. */
bool where_is_short(unsigned int state);

/* What the programs did not see or had no room for, and why. */
enum where_gap {
	GAP_SWITCH, /* a switch was not seen: that time of its thread is unknown */
	GAP_ACCOUNT, /* a thread had no account: its life is unknown */
	GAP_TORN, /* an account changed each time that it was read: its parts may be off */
	GAP_END, /* the end of a thread had no room: its life is in no part */
	GAP_CALL, /* a sleep had no room: its system call is missing, its time is not */
	GAP_CHAIN, /* a long part had no room: the chains lack it */
	GAP_LATE, /* the kernel's accounts were read so much later: so they may be off */
	WHERE_GAPS,
};

/* "switch"; of enum where_gap. */
extern const char *const where_gaps[WHERE_GAPS];

/* In run_probe.mechanism, before what the kernel does not show. */
extern const char where_lacks[];

/* In run_check.why: the kernel's run delay can be more than the waits. */
extern const char where_delayed[];

#endif
