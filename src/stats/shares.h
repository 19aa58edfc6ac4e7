/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of a whole, from the tables of a group's recordings, such as what a process did with its
 * time: see table__is_part().
 */
#ifndef LATSCOPE_STATS_SHARES_H
#define LATSCOPE_STATS_SHARES_H

#include <core/run.h>

#define SHARES_PARTS 24 /* most of a whole; further columns are left out */
#define GROUP_WHOLE (-1) /* in place of an enum lat_by: no split */

/* Sums over one window: a recording, or a batch of its intervals. In the unit of the columns. */
struct shares_window {
	size_t window; /* index into the group's windows_ns */
	double whole, parts[SHARES_PARTS];
};

/* All rows of a table, of a process name or of a cgroup. */
struct shares_key {
	char probe[RUN_NAME];
	int by; /* enum lat_by or GROUP_WHOLE */
	char name[RUN_NAME];
	struct shares_window *windows; /* those in which it is, in order */
	size_t nr;
};

/* Of a group of recordings. */
struct shares {
	char parts[SHARES_PARTS][RUN_NAME]; /* names of columns */
	unsigned int nr_parts;
	struct shares_key **keys;
	size_t nr_keys;
	void *index; /* of the keys, for tsearch() */
};

/* Adds the rows that a table has now, or the sums of all its rows. 0 or -ENOMEM. */
int shares__add_rows(struct shares *shares, const struct run_probe *probe, size_t window);
int shares__add_sums(struct shares *shares, const struct run_probe *probe, size_t window);

void shares__clear(struct shares *shares);

/* NULL if there is none. */
const struct shares_key *shares__find(const struct shares *shares, const struct shares_key *like);

/* The index of a part; -1: no recording of the group has it. */
int shares__part(const struct shares *shares, const char *name);

#endif
