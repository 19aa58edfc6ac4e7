/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits how often an action runs that any user can cause and that disturbs all: at once, then
 * after 2 s, 4 s and so on, up to about 10 minutes. If it was not needed for another 10 minutes, it
 * starts again. So in the long run it runs every 10 minutes at most. Plain C, see rmid_alloc.h.
 */
#ifndef LATSCOPE_RMID_PACE_H
#define LATSCOPE_RMID_PACE_H

#include <linux/types.h>

#define PACE_LEAST_NS 2000000000ULL
#define PACE_MOST_NS 600000000000ULL

/* All zero: it has not run yet. */
struct pace {
	__u64 due_ns;
	__u64 wait_ns;
};

static inline _Bool pace__may(const struct pace *pace, __u64 now_ns)
{
	return now_ns >= pace->due_ns;
}

/* Call after the action. */
static inline void pace__did(struct pace *pace, __u64 now_ns)
{
	if (now_ns >= pace->due_ns + PACE_MOST_NS)
		pace->wait_ns = 0;
	pace->wait_ns = pace->wait_ns ? 2 * pace->wait_ns : PACE_LEAST_NS;
	if (pace->wait_ns > PACE_MOST_NS)
		pace->wait_ns = PACE_MOST_NS;
	pace->due_ns = now_ns + pace->wait_ns;
}

#endif
