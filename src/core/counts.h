/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of the counters of event.h, the same in JSON, in run.db and in text. docs/format.md
 * explains them.
 */
#ifndef LATSCOPE_CORE_COUNTS_H
#define LATSCOPE_CORE_COUNTS_H

#include <stdbool.h>

#include <latscope/event.h>

/* "missed_start"; NULL for the numbers of enum lat_count that are not in use. */
const char *counts__name(unsigned int count);

/* The number of a name, -ENOENT if there is none. */
int counts__find(const char *name);

/* Stands on the right of the conservation line. */
bool counts__is_term(unsigned int count);

#endif
