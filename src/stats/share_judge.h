/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Did a part of a whole become larger or smaller, such as the share of its life that a process
 * waited for a lock? Larger is neither better nor worse: it depends on how much work there is.
 */
#ifndef LATSCOPE_STATS_SHARE_JUDGE_H
#define LATSCOPE_STATS_SHARE_JUDGE_H

#include "group.h"
#include "judge.h"

/*
 * Smaller parts in both groups are not tested, and neither are smaller differences shown. It is
 * also added to both sides of the ratio, so that no part is infinitely larger than another.
 */
#define SHARE_LEAST 0.001

struct share_change {
	const struct shares_key *key; /* as in OFF */
	const char *part; /* name of its column, "lock_ns" */
	struct judged judged; /* JUDGE_SHARE */
};

struct share_changes {
	struct share_change *changes; /* by key, the whole first; then in order of the columns */
	size_t nr;
	size_t tested;
	size_t verdicts[JUDGE_VERDICTS];
};

/*
 * Of the whole, and of the `top` (0: all) keys of the splits in the mask `by` that are in both
 * groups: those with the most time outside of their largest part. Verdicts are corrected for the
 * number of these tests alone. 0 or -ENOMEM; call share_changes__clear() in each case.
 */
int share_changes__of(struct share_changes *changes, const struct judge_rules *rules,
		      const struct group groups[2], uint32_t by, unsigned int top);
void share_changes__clear(struct share_changes *changes);

/* "lock" of the column "lock_ns". Returns name. */
const char *share_change__part(const struct share_change *change, char name[RUN_NAME]);

#endif
