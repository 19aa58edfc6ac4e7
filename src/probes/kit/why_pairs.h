/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the pairs of victim and culprit, which the programs add to in memory.
 *
 * A long window sees more pairs come and go than there are places. When more than half of them are
 * taken, pairs that gain nothing for long give up theirs, in two steps: a program may be about to
 * add to a pair as it is retired. After the first step no program finds the pair; at the next
 * reading, no program is still at it, and what came last is read for this pair. Then the place is
 * free. Its amounts stay, because only gains are read.
 */
#ifndef LATSCOPE_PROBES_KIT_WHY_PAIRS_H
#define LATSCOPE_PROBES_KIT_WHY_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include <latscope/why.h>

#define WHY_PAIRS_IDLE 60 /* readings without a gain after which a pair may be retired */

struct why_pairs {
	struct why_pair *pairs; /* WHY_PLACES, mapped */
	struct {
		struct why_amount amount; /* as of the last reading */
		uint8_t idle; /* readings since it gained */
		bool retired; /* by the last reading */
	} seen[WHY_PLACES];
};

/* `gained` since the last reading. !placed: the pairs of a part that found no place. */
typedef int why_pairs_each(void *context, const struct why_pair *pair, bool placed,
			   const struct why_amount *gained);

/*
 * Calls `each` for every pair that gained, until it returns an error, which is returned. Call it at
 * least 1 ms after the last time.
 */
int why_pairs__read(struct why_pairs *pairs, why_pairs_each *each, void *context);

#endif
