/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds up what the scheduler tells of each thread, from looks at all of them: one when the window
 * opens, one when it closes, and some between. Returns -errno and prints nothing.
 */
#ifndef LATSCOPE_SESSION_ACTIVITY_H
#define LATSCOPE_SESSION_ACTIVITY_H

#include <core/activity.h>
#include <latscope/event.h>

#include "life_types.h"

struct activity_watch;

/* Threads that have ended, of one process, and how long they had lived within the window. */
struct activity_ended {
	uint32_t tgid;
	struct lat_life life;
};

struct activity_watch *activity__new(void); /* NULL: no memory */
void activity__free(struct activity_watch *watch);

/* What all threads do. The first look is that when the window opens. 0 or -ENOMEM. */
int activity__look(struct activity_watch *watch, const struct lat_life_task *tasks, size_t nr);

/*
 * Adds a row for each process that has threads in the last look, which the filters want if
 * `filtered`, else for those that were awake longest. 0 or -errno.
 */
int activity__rows(struct activity_watch *watch, const struct activity_ended *ended,
		   size_t nr_ended, uint64_t opened_ns, uint64_t closed_ns, bool filtered,
		   struct table *table);

#endif
