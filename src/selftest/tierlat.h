/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What can be held against tierlat on a machine that has the counters: a pointer chase, whose
 * latency from load to use is known, and many of them, which must raise it.
 */
#ifndef LATSCOPE_SELFTEST_TIERLAT_H
#define LATSCOPE_SELFTEST_TIERLAT_H

#include "validate.h"

struct tier_config;

/* As validate__module(), whose parts reference and reaction it has. */
int validate__tierlat(struct validate *validate, const struct tier_config *config,
		      char why[RUN_TEXT]);

#endif
