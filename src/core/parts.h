/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of a probe that divides the whole time of threads into parts. */
#ifndef LATSCOPE_CORE_PARTS_H
#define LATSCOPE_CORE_PARTS_H

#include "table.h"

/* Its columns; -1: it has none. */
struct parts {
	int pid, tid, comm, cgroup; /* of the key */
	int life; /* what the parts are parts of; they follow it, and sum to it */
	unsigned int nr; /* of the parts */
};

/* False: it is no such table. NULL is fine. */
bool parts__find(const struct table *table, struct parts *parts);

#endif
