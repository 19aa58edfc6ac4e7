/* SPDX-License-Identifier: BSD-2-Clause */
/* Which part of the slow time of a probe grew or shrank between two groups of recordings. */
#ifndef LATSCOPE_STATS_WHY_CHANGE_H
#define LATSCOPE_STATS_WHY_CHANGE_H

#include "group.h"

struct why_change {
	char part[RUN_NAME]; /* "quota"; empty: of pairs that a recording does not list */
	char culprit[RUN_NAME]; /* without its ID, which differs in each run; empty: all, or none */
	bool unwaited; /* no task waits for it: it comes last */
	double rate[2]; /* OFF, ON: ns of slow time per second, the mean of the recordings */
	/* 95 % interval of the difference, if both groups have enough recordings for one. */
	bool has_interval;
	double low, high;
};

/* Of one probe. */
struct why_changes {
	struct why_change whole; /* all slow time that tasks waited */
	struct why_change *parts; /* the largest change first; owned, as the next */
	size_t nr_parts;
	struct why_change *culprits; /* as parts */
	size_t nr_culprits;
	uint64_t over_low_ns[2], over_high_ns[2]; /* thresholds that the groups used */
	char sentence[RUN_HOW]; /* the conclusion */
};

/*
 * Of two groups, OFF and ON. 1, 0: no group, or only one, explains the samples of this probe;
 * -ENOMEM. The caller must call why_changes__clear() in each case.
 */
int why_changes__of(struct why_changes *changes, const struct group *groups, const char *probe);
void why_changes__clear(struct why_changes *changes);

#endif
