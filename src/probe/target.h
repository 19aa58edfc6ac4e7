/* SPDX-License-Identifier: BSD-2-Clause */
/* The filters of the command line, looked up on this machine. */
#ifndef LATSCOPE_PROBE_TARGET_H
#define LATSCOPE_PROBE_TARGET_H

#include <base/options.h>

/*
 * Sets the filters in knobs. Negative: one names what is not there, `why` says which. 1: all are
 * found, but `why` has something to tell: a partition was named and its disk is measured.
 */
int target__resolve(const struct options *options, struct lat_knobs *knobs, char why[RUN_TEXT]);

/* The filters in force, as resolved, as one line, to be freed; NULL if there are none. */
char *target__describe(const struct options *options, const struct lat_knobs *knobs);

#endif
