/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of a probe that divides the whole time of threads into parts. */
#ifndef LATSCOPE_CORE_PARTS_H
#define LATSCOPE_CORE_PARTS_H

#include "table.h"

/* Its columns; -1: it has none. */
struct parts {
	int pid, tid, comm, cgroup; /* of the key */
	int life; /* life_ns; the parts follow it, and sum to it */
	unsigned int nr; /* of the parts; the last one is unknown_ns */
};

/* False: it is no such table. NULL is fine. */
bool parts__find(const struct table *table, struct parts *parts);

#endif
