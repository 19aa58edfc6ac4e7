/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a source found for a question: the histogram of each host in each group on each side, and
 * what is to be said about hosts. Times in ns unless the name has _s.
 */
#ifndef LATSCOPE_FLEET_DATA_H
#define LATSCOPE_FLEET_DATA_H

#include <core/sparse.h>
#include <stats/notes.h>

#include "question.h"

struct fleet_cell {
	size_t host, group; /* indices */
	unsigned int side;
	struct sparse hist;
	uint64_t ns, life_ns; /* of FLEET_SHARE, instead: time in the state, and all time */
};

struct fleet_host {
	char *name;
	unsigned char in; /* mask of 1 << side: has data there, of whatever group */
	/* Of what the host measured as a whole, of the probe and metric, without the other: */
	int64_t first_s, last_s; /* seconds since 1970; first_s > last_s: nothing */
	uint64_t covered_ns; /* sum of its intervals */
	uint64_t recorded, lost;
	bool lost_known;
	uint64_t refused; /* rows or recordings that are left out because they cannot be true */
	char refused_why[RUN_NAME];
	uint64_t ahead; /* rows or recordings that lie in the future */
	int64_t ahead_s; /* the latest, how far */
	bool lacks_services; /* a recording was not split by cgroup; this is noted once */
	uint64_t twice; /* recordings that are there twice; each counts once */
};

struct fleet_group {
	char *values[FLEET_BY]; /* of the names in question->by */
};

struct fleet_list {
	char **methods; /* methods of the probe that were found; owned */
	size_t nr;
};

struct fleet_data {
	const struct fleet_question *question;
	char metric[RUN_NAME]; /* of the cells */
	struct fleet_cell *cells;
	size_t nr;
	struct fleet_host *hosts;
	size_t nr_hosts;
	struct fleet_group *groups;
	size_t nr_groups;
	struct fleet_list methods;
	struct notes notes;
	void *cell_index, *host_index, *group_index; /* for tsearch() */
	char why[RUN_TEXT]; /* of an error */
};

void fleet_data__begin(struct fleet_data *data, const struct fleet_question *question);
void fleet_data__clear(struct fleet_data *data);

/* The host of that name, made if needed; NULL: no memory. Valid until the next call. */
struct fleet_host *fleet_data__host(struct fleet_data *data, const char *name);

/*
 * Adds a histogram to its cell. `values` has question->nr_by elements. 0; -ENOMEM; -EOVERFLOW; or
 * -ENOTUNIQ: it is of another metric than the others, and `why` says what to do.
 */
int fleet_data__add(struct fleet_data *data, const char *host, const char *metric,
		    const char *const *values, unsigned int side, const struct sparse *hist);

/* The same of a time, for FLEET_SHARE: so much of `life_ns` was in the state. 0 or -ENOMEM. */
int fleet_data__add_time(struct fleet_data *data, const char *host, const char *const *values,
			 uint64_t ns, uint64_t life_ns);

/* 0 or -ENOMEM. */
int fleet_data__method(struct fleet_data *data, const char *method);

/*
 * Can this be a histogram of that time? NULL, or why not: tail and sum must agree with the slots,
 * and there cannot be more than one event in a ns.
 */
const char *fleet_data__doubt(const struct sparse *hist, uint64_t covered_ns);

#endif
