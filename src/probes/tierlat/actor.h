/* SPDX-License-Identifier: BSD-2-Clause */
/* The closed loop: each quantum is measured and decided, pages move, a row says what was done. */
#ifndef LATSCOPE_PROBES_TIERLAT_ACTOR_H
#define LATSCOPE_PROBES_TIERLAT_ACTOR_H

#include <core/table.h>

#include "act.h"
#include "steer.h"

enum action_column {
	ACTION_NAME,
	ACTION_TO,
	ACTION_WHY,
	ACTION_METHOD,
	ACTION_LATENCY_DEFAULT,
	ACTION_LATENCY_ALTERNATE,
	ACTION_P,
	ACTION_BEFORE,
	ACTION_TARGET,
	ACTION_ASKED,
	ACTION_MOVED,
	ACTION_AFTER,
	ACTION_VERIFIED,
	ACTION_WEIGHTS_BEFORE,
	ACTION_WEIGHTS_AFTER,
	ACTION_COLUMNS,
};

extern const struct table_column action_columns[ACTION_COLUMNS];

/* The two tiers, as indices into the model's. */
struct actor_pair {
	unsigned int near, far;
};

struct actor;

/*
 * Errors, with one line in `why`. -EBUSY: another latscope acts; -EINVAL: it must be told which
 * socket.
 */
int actor__new(struct actor **actor, const struct act_config *config,
	       const struct steer_config *steer, const struct tier *tier,
	       const struct actor_pair *pair, char why[TIER_TEXT]);

/* Acts on the samples of one read, and adds a row. Never fails because of what is moved. */
int actor__quantum(struct actor *actor, struct table *table, uint64_t time_ns,
		   const struct tier_sample *samples);

/* Why it stopped; NULL: it did not, or said so before. */
const char *actor__trouble(struct actor *actor);

/* "; pages of PID 12 by move_pages between node 0 (HMAT 10 ns) and node 1 (HMAT 250 ns)" */
void actor__describe(const struct actor *actor, char text[TIER_TEXT]);

/* Puts back and frees. */
int actor__close(struct actor *actor, char why[TIER_TEXT]);

#endif
