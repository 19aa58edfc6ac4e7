/* SPDX-License-Identifier: BSD-2-Clause */
/* What a module costs the work that it measures: the same work with and without, by turns. */
#ifndef LATSCOPE_SELFTEST_OVERHEAD_H
#define LATSCOPE_SELFTEST_OVERHEAD_H

#include "window.h"

struct overhead {
	const char *name; /* of the figure */
	const struct child_work *work;
	void (*ask)(const struct validate *validate, void *asked);
	uint64_t (*elapsed_ns)(const void *reference);
};

extern const struct overhead memlat_overhead;
extern const struct overhead runqlat_overhead;
extern const struct overhead iolat_overhead;

/* As validate__module(). Not judged: a figure. */
int overhead__run(struct validate *validate, const struct overhead *overhead, char why[RUN_TEXT]);

#endif
