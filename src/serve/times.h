/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the time of threads went, by cgroup: the sums of the columns of tables that are parts. They
 * follow the rules of series.h: a sum never falls, a cgroup of the same name goes on counting, and
 * what has no place is (other).
 */
#ifndef LATSCOPE_SERVE_TIMES_H
#define LATSCOPE_SERVE_TIMES_H

#include <core/run.h>

#define TIMES_PATH 256

struct spent {
	char name[RUN_NAME]; /* as in struct exported */
	char path[TIMES_PATH]; /* the whole path; empty: unknown, or too long */
	unsigned int probe;
	uint64_t last_ns; /* when it last had a thread, since the window opened */
	uint64_t ns[TABLE_COLUMNS]; /* by column of the table; 0 in those that are no part */
};

struct times {
	struct spent *all; /* owned */
	size_t nr;
	size_t most; /* of a probe */
	size_t next; /* rows come in nearly the same order each time */
};

/* Zero it, then set `most`. Adds the rows that the tables of the run have now. 0 or -ENOMEM. */
int times__add(struct times *times, const struct run *run, uint64_t now_ns);

/* Is it a part? Its name then is the state: "disk" of disk_ns. False: not one of this table. */
bool times__state(const struct table *table, unsigned int column, char state[RUN_NAME]);

void times__free(struct times *times);

#endif
