/* SPDX-License-Identifier: BSD-2-Clause */
/* One window of one probe around the work of one child. */
#ifndef LATSCOPE_SELFTEST_WINDOW_H
#define LATSCOPE_SELFTEST_WINDOW_H

#include "child.h"
#include "validate.h"

struct window {
	struct child child;
	struct run *run;
	const struct run_probe *probe; /* of the run */
	const struct why_request *explain; /* with config.why; NULL: the default */
	bool untimed; /* do not time the BPF programs, which would slow the work */
	char why[RUN_TEXT]; /* of the last error */
};

/* Starts the child. As child__start(). */
int window__open(struct window *window, const struct child_work *work, const void *asked);

/*
 * Measures the child. -EINTR: a signal ended it; -EOPNOTSUPP with validate->refused: the probe
 * cannot run with this config, or on this machine.
 */
int window__measure(struct window *window, struct validate *validate, struct lat_config config);

/* The same work without a probe. */
int window__without(struct window *window);

void window__close(struct window *window);

/* The samples of a metric, and those of one key; empty if the key does not exist. */
const struct lat_cell *window__cell(const struct window *window, unsigned int metric);
void window__key(const struct window *window, unsigned int metric, enum lat_by by, uint64_t id,
		 struct lat_hist *hist);

#endif
