/* SPDX-License-Identifier: BSD-2-Clause */
/* Tiers as a module of a run: opened, it is described there; each sample adds rows to its table. */
#ifndef LATSCOPE_TIER_METER_H
#define LATSCOPE_TIER_METER_H

#include <base/run.h>

#include "rows.h"

struct tier_meter;

/*
 * As tier__open(), for a module that is all zero. The decision is of the first two tiers that are
 * measured, whatever *rows says. The module's table belongs to the run.
 */
int tier_meter__open(struct tier_meter **meter, const struct tier_config *config,
		     const struct tier_rows_config *rows, struct run_module *module,
		     char why[TIER_TEXT], const char **todo);

/* The window opens now: what was counted since open is forgotten. -errno, with why. */
int tier_meter__begin(struct tier_meter *meter, char why[TIER_TEXT]);

/* The interval that ends now, at `time_ns` since the window opened. -errno, with why. */
int tier_meter__sample(struct tier_meter *meter, uint64_t time_ns, char why[TIER_TEXT]);

/* NULL: nothing, or the same as last time. */
const char *tier_meter__trouble(struct tier_meter *meter);

/* As tier__close(). */
int tier_meter__close(struct tier_meter *meter, char why[TIER_TEXT]);

#endif
