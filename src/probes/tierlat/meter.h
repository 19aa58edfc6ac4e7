/* SPDX-License-Identifier: BSD-2-Clause */
/* Tiers as a module of a run: once open it describes itself; each sample adds rows to a table. */
#ifndef LATSCOPE_PROBES_TIERLAT_METER_H
#define LATSCOPE_PROBES_TIERLAT_METER_H

#include <core/run.h>

#include "columns.h"

struct tier_meter;

#define TIER_PROBE "tierlat" /* in a recording */

/*
 * As tier__open(). The decision is of the first tier measured and of the first that is CXL memory,
 * else of the second, whatever *rows says.
 */
int tier_meter__open(struct tier_meter **meter, const struct tier_config *config,
		     const struct tier_rows_config *rows, char why[TIER_TEXT], const char **todo);

/* What it is, for the recording, and an empty table for the rows. 0 or -ENOMEM. */
int tier_meter__describe(const struct tier_meter *meter, struct run_probe *probe);

/* The window opens now: what was counted since open is forgotten. -errno, with why. */
int tier_meter__begin(struct tier_meter *meter, char why[TIER_TEXT]);

/* The interval that ends now, at `time_ns` since the window opened. -errno, with why. */
int tier_meter__sample(struct tier_meter *meter, struct table *table, uint64_t time_ns,
		       char why[TIER_TEXT]);

/* NULL: nothing, or of the same kind as last time. */
const char *tier_meter__trouble(struct tier_meter *meter);

/* As tier__close(). */
int tier_meter__close(struct tier_meter *meter, char why[TIER_TEXT]);

#endif
