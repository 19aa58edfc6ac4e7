// SPDX-License-Identifier: BSD-2-Clause
#include "phase.h"

#include <time.h>

#include <core/clock.h>
#include <latscope/rmid_record.h>

#define AHEAD_NS 50000 /* wake up this long before an edge */

static uint64_t wait_for_edge(void)
{
	uint64_t edge = ((clock__now_ns() + 2 * AHEAD_NS) / RMID_SLOT_NS + 1) * RMID_SLOT_NS;
	struct timespec at = clock__timespec(edge - AHEAD_NS);

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	while (clock__now_ns() < edge)
		;
	return edge;
}

int phase__start(const struct phase_ops *ops, void *of, bool *met)
{
	uint64_t edge;
	int err = 0;

	*met = false;
	for (int i = 0; !err && !*met && i < PHASE_TRIES; i++) {
		err = ops->stop(of);
		edge = wait_for_edge();
		if (!err)
			err = ops->start(of);
		*met = clock__now_ns() - edge <= PHASE_LATE_NS;
	}
	return err;
}
