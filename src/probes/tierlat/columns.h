/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns samples into rows of a table, with the values that depend on earlier samples: means and
 * decisions.
 */
#ifndef LATSCOPE_PROBES_TIERLAT_COLUMNS_H
#define LATSCOPE_PROBES_TIERLAT_COLUMNS_H

#include <core/table.h>

#include "colloid.h"
#include "tier.h"

#define TIER_WEIGHT (1.0 / 16) /* weight of the newest sample in the mean, as in HeMem */
#define TIER_MIN_INSERTS 100

enum tier_column {
	TIER_SOCKET,
	TIER_NAME,
	TIER_BOXES_USED,
	TIER_BOXES_LOST,
	TIER_REQUESTS,
	TIER_RATE,
	TIER_BANDWIDTH,
	TIER_OUTSTANDING,
	TIER_LATENCY,
	TIER_LATENCY_EWMA,
	TIER_LATENCY_CLOCKS,
	TIER_CLOCK,
	TIER_P,
	TIER_P_LO,
	TIER_P_HI,
	TIER_P_TARGET,
	TIER_SHIFT,
	TIER_SHIFT_CLOSED,
	TIER_MOVE_TO,
	TIER_COLUMNS,
	/*
	 * With raw counts: also the means behind latency_ewma_ns, and a row for each box and tier.
	 */
	TIER_OUTSTANDING_EWMA = TIER_COLUMNS,
	TIER_RATE_EWMA,
	TIER_RAW_BOX,
	TIER_RAW_OCCUPANCY,
	TIER_RAW_INSERTS,
	TIER_RAW_CLOCKS,
	TIER_RAW_NS,
	TIER_RAW_CLOCK_NS,
	TIER_RAW_COLUMNS,
};

extern const struct table_column tier_columns[TIER_RAW_COLUMNS];

/* What each CHA counted, for --per-cha. */
enum cha_column {
	CHA_SOCKET,
	CHA_TIER,
	CHA_BOX,
	CHA_RATE,
	CHA_OUTSTANDING,
	CHA_LATENCY,
	CHA_CLOCK,
	CHA_COLUMNS,
};

extern const struct table_column cha_columns[CHA_COLUMNS];

struct tier_rows_config {
	double weight;
	struct colloid_params colloid;
	double max_shift; /* of all requests, in one interval */
	bool raw; /* the table has TIER_RAW_COLUMNS */
	unsigned int near, far; /* default and alternate tier of the decision, of the model */
};

struct tier_rows;

int tier_rows__new(struct tier_rows **rows, const struct tier *tier,
		   const struct tier_rows_config *config);
void tier_rows__free(struct tier_rows *rows);

/* Is it the row of a box, which --raw adds? */
bool tier_rows__is_raw(const struct table *table, size_t row);

/*
 * Adds the samples of one read. The decision is in the row of each socket's default tier. 0,
 * -ENOMEM or -EINVAL.
 */
int tier_rows__add(struct tier_rows *rows, struct table *table, uint64_t time_ns,
		   const struct tier_sample *samples);

/* Adds a row for each CHA and each tier that it counted in the last read. 0 or -ENOMEM. */
int tier_rows__add_chas(const struct tier_rows *rows, struct table *table, uint64_t time_ns);

#endif
