/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DAMON, the kernel's monitor of accesses, moves pages: by its sysfs files, with one kdamond for
 * the nodes of each tier. Each watches the physical memory of its nodes all the time, and moves
 * what is accessed (`migrate_hot`) in one charge window of its quota when it is told to.
 */
#ifndef LATSCOPE_PROBES_TIERLAT_ACT_DAMON_H
#define LATSCOPE_PROBES_TIERLAT_ACT_DAMON_H

#include "act.h"

struct act_damon;

/* Reads which memory the nodes have, and changes nothing. Errors, with a line in `why`. */
int act_damon__open(struct act_damon **damon, const struct act_nodes *nodes,
		    const struct act_target *target, const char *root, char why[TIER_TEXT]);
void act_damon__free(struct act_damon *damon);

/* Starts both kdamonds, which move nothing yet. The restore process must run before. */
int act_damon__start(struct act_damon *damon, char why[TIER_TEXT]);

/*
 * Moves up to so many bytes to node `to`, off the nodes of the other tier, and takes about
 * `limit_ns` or the time of one charge window. Sets done->early, done->tried, done->applied.
 */
int act_damon__move(struct act_damon *damon, bool nearer, unsigned int to, uint64_t bytes,
		    uint64_t limit_ns, struct act_done *done);

/*
 * After a move, with the bytes that were found on the other tier. -ENODATA: nothing moved for long;
 * -EXDEV: something else did. One move may try memory of others only: the next one goes on there.
 */
int act_damon__judge(struct act_damon *damon, const struct act_done *done);

/* What an error of the two functions above means; NULL: nothing special. */
const char *act_damon__explain(int err);

/* If any kdamond was made, both are turned off and removed. */
int act_damon__undo(const struct act_damon *damon);

/* Can DAMON be used here? 0 or -errno, with the reason in `why`. Writes nothing. */
int act_damon__look(const char *root, char why[TIER_TEXT]);

#endif
