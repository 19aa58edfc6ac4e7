/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts something at the edge of a slot, so that it keeps that phase. */
#ifndef LATSCOPE_PROBES_RMID_PHASE_H
#define LATSCOPE_PROBES_RMID_PHASE_H

#include <stdbool.h>

#define PHASE_LATE_NS 50000 /* if start() returns later than this after the edge, it is repeated */
#define PHASE_TRIES 16

struct phase_ops {
	int (*stop)(void *of); /* undoes start(); also called before the first one */
	int (*start)(void *of);
};

/*
 * A process that waits for an edge may be delayed after it, so the time is checked when start() has
 * returned. 0: *met is true if the last try was on time; -errno of the ops.
 */
int phase__start(const struct phase_ops *ops, void *of, bool *met);

#endif
