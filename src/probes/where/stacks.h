/* SPDX-License-Identifier: BSD-2-Clause */
/* All long sleeps of an interval, added up by thread, reason and kernel stack. */
#ifndef LATSCOPE_PROBES_WHERE_STACKS_H
#define LATSCOPE_PROBES_WHERE_STACKS_H

#include <core/sleep_stacks.h>

#include "types.h"

#define STACKS_MOST 2048 /* different ones; others are added up by state */
#define STACKS_TEXT (WHERE_FRAMES * 18)

struct symbols;
struct stacks;

int stacks__new(struct stacks **stacks); /* 0 or -ENOMEM */
void stacks__free(struct stacks *stacks); /* NULL is fine */

/*
 * A part that has ended. It counts if it is a sleep, and of a thread that the filters accept; not
 * if it is time on a CPU or a wait for one.
 */
void stacks__add(struct stacks *stacks, const struct where_part *part);

/*
 * Adds the rows of an interval, which ended at time_ns, and empties the sums; over_ns: the
 * threshold. The addresses of stacks get names by `symbols`; NULL: none. 0 or -ENOMEM.
 */
int stacks__put(struct stacks *stacks, struct table *table, uint64_t time_ns, uint64_t over_ns,
		struct symbols *symbols);

/* As tables have it: addresses in hexadecimal. NULL: there is none. Returns out, or NULL. */
const char *stacks__text(const struct where_part *part, char out[STACKS_TEXT]);

#endif
