/* SPDX-License-Identifier: BSD-2-Clause */
/* One window of one module around the work of one child. */
#ifndef LATSCOPE_SELFTEST_WINDOW_H
#define LATSCOPE_SELFTEST_WINDOW_H

#include "child.h"
#include "validate.h"

struct window {
	struct child child;
	struct run *run;
	const struct run_probe *probe; /* of the run */
	bool untimed; /* the work is timed, so the programs are not */
	char why[RUN_TEXT]; /* of the last error */
};

/* Starts the child. As child__start(). */
int window__open(struct window *window, const struct child_work *work, const void *asked);

/*
 * Measures what the child does. The lie and the method are the validation's. -EINTR: a signal ended
 * it; -EOPNOTSUPP with window->module->refused: not with these config or not on this machine.
 */
int window__measure(struct window *window, struct validate *validate, struct lat_config config);

/* The same work without a probe. */
int window__without(struct window *window);

void window__close(struct window *window);

/* Samples of a metric, and one key's; no samples where none has come of it. */
const struct lat_cell *window__cell(const struct window *window, unsigned int metric);
void window__key(const struct window *window, unsigned int metric, enum lat_by by, uint64_t id,
		 struct lat_hist *hist);

#endif
