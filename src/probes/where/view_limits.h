/* SPDX-License-Identifier: BSD-2-Clause */
/* Which limit, or shortage, a task waited for that waited for memory: by its kernel stacks. */
#ifndef LATSCOPE_PROBES_WHERE_VIEW_LIMITS_H
#define LATSCOPE_PROBES_WHERE_VIEW_LIMITS_H

#include "view_reasons.h"

struct limit {
	char who[RUN_FILTER + RUN_TEXT]; /* "memory.high of /shop" */
	double share; /* of the time that it waited for memory */
};

/*
 * How long, of the sleeps whose stacks were taken, the row waited for a disk because all places of
 * its queue were taken; in ns.
 */
double limits__full_queue_ns(const struct reasons *reasons, const struct where_account *row);

/* The one that it waited for longest. False: the stacks do not tell. */
bool limits__find(struct limit *limit, const struct reasons *reasons,
		  const struct where_account *row);

#endif
