/* SPDX-License-Identifier: BSD-2-Clause */
/* What is done for each module; one file each. */
#ifndef LATSCOPE_SELFTEST_PROBES_H
#define LATSCOPE_SELFTEST_PROBES_H

#include "overhead.h"
#include "react.h"
#include "validate.h"
#include "window.h"

/*
 * A known amount of the latency, made and held against the window. Returns as window__measure();
 * -EAGAIN: it was disturbed and is to be made again, if that was not the last try.
 */
typedef int (*reference_check)(struct validate *validate, struct window *window);

#define PROBE_REFERENCES 3

struct probe_checks {
	const char *probe;
	struct {
		const char *name; /* of what is skipped if it cannot be made */
		reference_check check;
	} references[PROBE_REFERENCES];
	const struct experiment *experiment;
	const struct overhead *overhead;
};

extern const struct probe_checks memlat_checks;
extern const struct probe_checks runqlat_checks;
extern const struct probe_checks iolat_checks;

#endif
