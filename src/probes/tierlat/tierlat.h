/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loaded latency of memory tiers. Each interval adds a row for each tier of each socket to the
 * table of the probe's entry.
 */
#ifndef LATSCOPE_PROBES_TIERLAT_TIERLAT_H
#define LATSCOPE_PROBES_TIERLAT_TIERLAT_H

#include <probes/kit/probe.h>

#include "actor.h"
#include "columns.h"

extern const struct probe_ops tierlat_probe;

/* Its own options. */
struct tierlat_config {
	struct tier_config counters;
	bool per_cha; /* a table of what each CHA counted */
	bool pages; /* a table of the pages of processes, at the end */
	struct tier_rows_config rows; /* the probe chooses near and far itself */
	struct act_config act;
};

extern const struct tierlat_config tierlat_defaults;

#endif
