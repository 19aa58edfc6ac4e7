/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of the counters of event.h, for JSON, run.db and text; see docs/format.md.
 */
#ifndef LATSCOPE_CORE_COUNTS_H
#define LATSCOPE_CORE_COUNTS_H

#include <stdbool.h>

#include <latscope/event.h>

/* "missed_start"; NULL for unused numbers of enum lat_count. */
const char *counts__name(unsigned int count);

/* The number of a name, or -ENOENT. */
int counts__find(const char *name);

/* Is it a term of the right side of the conservation line? */
bool counts__is_term(unsigned int count);

#endif
