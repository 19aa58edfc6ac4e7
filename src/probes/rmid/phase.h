/* SPDX-License-Identifier: BSD-2-Clause */
/* To begin something at the edge of a slot, from which on it keeps its phase. */
#ifndef LATSCOPE_PROBES_RMID_PHASE_H
#define LATSCOPE_PROBES_RMID_PHASE_H

#include <stdbool.h>

#define PHASE_LATE_NS 50000 /* later than that after the edge, it is done again */
#define PHASE_TRIES 16

struct phase_ops {
	int (*stop)(void *of); /* so that start() begins anew; also before the first */
	int (*start)(void *of);
};

/*
 * Whoever waits for an edge may be held up on his way from there, so it is looked at when start()
 * has returned. 0, then *met tells whether that was in time, the last time; -errno of the ops.
 */
int phase__start(const struct phase_ops *ops, void *of, bool *met);

#endif
