/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long each process lived within the window, and what its threads did. Returns -errno and
 * prints nothing.
 */
#ifndef LATSCOPE_SESSION_LIFE_H
#define LATSCOPE_SESSION_LIFE_H

#include <core/run.h>

struct life_watch;

/*
 * `config`: the filters for what threads did; NULL: nobody wants to know that. On failure `why` is
 * the reason.
 */
int life__open(struct life_watch **watch, const struct lat_config *config, char why[RUN_TEXT]);
void life__close(struct life_watch *watch); /* NULL is fine */

/* Call when the window opens. In ns of CLOCK_MONOTONIC, as the next one. */
int life__arm(struct life_watch *watch, uint64_t opened_ns);

/* Looks at what all threads do. Takes about 1 us for each. */
int life__look(struct life_watch *watch);

/* Call when the window closes: reads how long processes lived. */
int life__read(struct life_watch *watch, uint64_t closed_ns);

/* Adds the rows of core/activity.h, of the processes that the filters want if `filtered`. */
int life__activity(struct life_watch *watch, bool filtered, struct table *table);

/* Fills in run->lives for the keys by process. The totals must be final. 0 or -ENOMEM. */
int life__describe(const struct life_watch *watch, struct run *run);

#endif
