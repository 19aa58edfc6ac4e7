/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A condition that asks for a snapshot: "runqlat.p99>5ms for 10s". It is tested every second, with
 * the samples of that second. A second without samples does not meet it.
 */
#ifndef LATSCOPE_SERVE_TRIGGER_H
#define LATSCOPE_SERVE_TRIGGER_H

#include <core/run.h>

struct trigger {
	const char *text; /* as it was given */
	char probe[RUN_NAME];
	char metric[RUN_NAME]; /* empty: the first one */
	enum { TRIGGER_QUANTILE, TRIGGER_MAX, TRIGGER_MEAN, TRIGGER_RATE } what;
	double quantile;
	double above; /* ns; TRIGGER_RATE: events per second */
	uint64_t for_ns; /* 0: one second is enough */
	uint64_t met_ns; /* for how long it has been met */
};

/* `text` must stay. 0; -EINVAL: it cannot be understood; -ENOENT: unknown what. */
int trigger__parse(struct trigger *trigger, const char *text);

/* Does the run have its probe and metric? */
bool trigger__applies(const struct trigger *trigger, const struct run *run);

/* `delta`, one per probe: an interval of this length. True when the condition has been met. */
bool trigger__test(struct trigger *trigger, const struct run *run, const struct run_data *delta,
		   uint64_t length_ns);

#endif
