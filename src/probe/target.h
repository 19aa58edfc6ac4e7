/* SPDX-License-Identifier: BSD-2-Clause */
/* The filters of the command line, looked up on this machine. */
#ifndef LATSCOPE_PROBE_TARGET_H
#define LATSCOPE_PROBE_TARGET_H

#include <limits.h>

#include <base/options.h>

#include "probe.h"

#define TARGET_WHY (PATH_MAX + RUN_TEXT) /* it may name a path */

/*
 * Sets the filters in knobs. Negative: one names what is not there, `why` says which. 1: all are
 * found, but `why` has something to tell: a partition was named and its disk is measured.
 */
int target__resolve(const struct options *options, struct lat_knobs *knobs, char why[TARGET_WHY]);

/* A filter by disk is heeded by modules that know whose disk a wait is for. */
bool target__knows_disks(const struct probe_ops *ops);

/*
 * The filters that a module heeds, as resolved, as one line, to be freed; NULL if there are none.
 * Of all modules where `ops` is NULL: what only some heed has their names behind it.
 */
char *target__describe(const struct options *options, const struct lat_knobs *knobs,
		       const struct probe_ops *ops);

#endif
