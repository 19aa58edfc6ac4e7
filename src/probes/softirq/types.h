/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs of softirq and user space share. */
#ifndef LATSCOPE_PROBES_SOFTIRQ_TYPES_H
#define LATSCOPE_PROBES_SOFTIRQ_TYPES_H

#include <latscope/event.h>

/* Value of softirq's map `starts`, key = cpu. */
struct softirq_start {
	__u64 ns; /* 0: no handler runs */
	__u32 vector;
	__u32 pad;
};
_Static_assert(sizeof(struct softirq_start) == 16, "softirq_start has no padding");

#endif
