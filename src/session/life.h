/* SPDX-License-Identifier: BSD-2-Clause */
/* How long processes lived within the window. -errno upwards, nothing is printed. */
#ifndef LATSCOPE_SESSION_LIFE_H
#define LATSCOPE_SESSION_LIFE_H

#include <core/run.h>

struct life_watch;

/* On failure `why` says what is missing. */
int life__open(struct life_watch **watch, char why[RUN_TEXT]);
void life__close(struct life_watch *watch); /* NULL is fine */

/* The window opens: CLOCK_MONOTONIC in ns. */
void life__arm(struct life_watch *watch, uint64_t opened_ns);

/* The window shuts, CLOCK_MONOTONIC in ns: keeps what there is to know. */
int life__shut(struct life_watch *watch, uint64_t shut_ns);

/* Fills in run->lives for the keys by process, whose totals are final. 0 or -ENOMEM. */
int life__describe(const struct life_watch *watch, struct run *run);

#endif
