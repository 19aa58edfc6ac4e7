/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who waited because of others, and who these were. A wait is for others as far as somebody else is
 * known to have caused it; for a CPU or a disk that its own process had, it is its own.
 */
#ifndef LATSCOPE_PROBES_WHERE_VIEW_BLAME_H
#define LATSCOPE_PROBES_WHERE_VIEW_BLAME_H

#include "view_reasons.h"

/* Of a row of the accounts; times in ns. */
struct sufferer {
	const struct where_account *row;
	double others_ns[WHERE_STATES]; /* by the part that it is */
	double all_others_ns, own_ns;
	double nobody_ns; /* the cause is known, and nobody: the disk itself took that long */
	double open_ns; /* not explained */
	double maybe_ns; /* of the last two, what others may have caused */
	bool is_culprit; /* those that waited for it lost more of their time than it did */
	int order; /* less than that of another one: it comes before */
};

struct culprit {
	char who[2 * WHY_CROWD]; /* "backup (4 tasks)" */
	double ns; /* that others waited */
	double victims_ns; /* those of them that are no culprits themselves */
	double resting_ns; /* of all of them, those that rest at times */
	double weighted_ns; /* ns, each by the share of its active time that the other lost */
};

struct blame_pair {
	size_t row, culprit;
	double ns;
};

struct blame {
	struct sufferer *rows; /* those that suffered most first; as many as the accounts have */
	struct culprit *culprits; /* by victims_ns, the largest first */
	size_t nr_culprits;
	struct blame_pair *pairs;
	size_t nr_pairs;
	double waited_ns, own_ns, open_ns; /* of all rows; waited_ns is all of it */
};

/* 0 or -ENOMEM; the caller must call blame__clear() in either case. */
int blame__of(struct blame *blame, const struct reasons *reasons);
void blame__clear(struct blame *blame);

/* All that it waited, but for itself. */
double blame__suffered_ns(const struct sufferer *sufferer);

#endif
