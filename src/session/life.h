/* SPDX-License-Identifier: BSD-2-Clause */
/* How long each process lived within the window. Returns -errno and prints nothing. */
#ifndef LATSCOPE_SESSION_LIFE_H
#define LATSCOPE_SESSION_LIFE_H

#include <core/run.h>

struct life_watch;

/* On failure `why` is the reason. */
int life__open(struct life_watch **watch, char why[RUN_TEXT]);
void life__close(struct life_watch *watch); /* NULL is fine */

/* Call when the window opens. `at`: CLOCK_MONOTONIC. */
void life__arm(struct life_watch *watch, uint64_t opened_ns);

/* Call when the window closes: reads how long processes lived. `at`: CLOCK_MONOTONIC. */
int life__read(struct life_watch *watch, uint64_t closed_ns);

/* Fills in run->lives for the keys by process. The totals must be final. 0 or -ENOMEM. */
int life__describe(const struct life_watch *watch, struct run *run);

#endif
