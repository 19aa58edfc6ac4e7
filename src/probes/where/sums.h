/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The accounts of threads, summed by process, thread or cgroup. Each reading adds up all threads
 * that live and all that have ended so far, so sums only grow, and an interval is the difference
 * of two readings.
 */
#ifndef LATSCOPE_PROBES_WHERE_SUMS_H
#define LATSCOPE_PROBES_WHERE_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "types.h"

struct where_sum {
	uint64_t ns[WHERE_STATES];
	uint64_t life_ns; /* by the kernel's stamps of the start, not by the parts */
	struct where_witness kernel;
};

/* Time asleep for one reason. */
struct where_reason {
	uint32_t what; /* WHERE_WHAT() */
	uint64_t times_gone, ns_gone; /* of what left the accounts of threads */
	uint64_t times, ns; /* of all */
	uint64_t times_before, ns_before; /* at the last reading */
};

struct where_one {
	struct where_key key;
	uint32_t tgid;
	uint64_t cgroup;
	char comm[LAT_COMM_LEN];
	bool is_new; /* it was in no reading before */
	unsigned int waits; /* readings since the last one that was whole */
	uint64_t living; /* threads */
	uint64_t ended, ended_before; /* within the window; before: at the last reading */
	/*
	 * Of the threads that have ended. By cgroup: also of those that moved to another one, which
	 * are subtracted there, so that one may be below 0.
	 */
	struct where_sum gone;
	/* Of all, at this reading; and what was told until the last one: see sums__parts(). */
	struct where_sum now, before;
	struct where_reason *reasons;
	size_t nr_reasons;
};

struct where_sums {
	struct where_one **ones;
	size_t nr;
	void *tree; /* the same, for tsearch() */
	uint64_t torn; /* accounts that changed each time that they were read */
	uint64_t without; /* threads without an account in the last reading; their life... */
	uint64_t without_ns;
};

/* The window; closed_ns is UINT64_MAX while it is open. */
struct where_window {
	uint64_t opened_ns, closed_ns;
};

/* Begins a reading. */
void sums__begin(struct where_sums *sums);

/* What a counter has gained; not below 0. */
static inline uint64_t sums__gained(uint64_t now, uint64_t before)
{
	return (int64_t)(now - before) > 0 ? now - before : 0;
}

/*
 * False: the reading missed a thread that ended meanwhile, and whose parts come with the next one.
 * Then nothing of it is taken from this one. What a part has lost to WHERE_UNKNOWN is not missed.
 */
bool sums__is_whole(const struct where_one *one);

/* Each returns 0 or -ENOMEM. */
int sums__add_thread(struct where_sums *sums, const struct where_window *window,
		     const struct where_report *report);
int sums__add_ended(struct where_sums *sums, const struct where_key *key,
		    const struct where_ended *ended);
int sums__add_sleep(struct where_sums *sums, const struct where_key *key,
		    const struct where_sleep *sleep);

/*
 * Threads whose end found no room in the kernel: all that is known is how many, and how long they
 * lived. They are the key 0.
 */
int sums__add_lost(struct where_sums *sums, uint64_t threads, uint64_t life_ns);

/*
 * What to tell of the interval, by state. It sums to the life in it. A part that goes on can turn
 * out later to be unknown: then what was told of it before is made good, in this interval or later.
 * Returns that life.
 */
uint64_t sums__parts(const struct where_one *one, uint64_t ns[WHERE_STATES]);

/* After a reading: what was read is now what was before. Removes processes that have ended. */
void sums__keep(struct where_sums *sums);

void sums__free(struct where_sums *sums);

#endif
