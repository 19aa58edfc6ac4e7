/* SPDX-License-Identifier: BSD-2-Clause */
/* A command of an experiment: what it prints goes into a file, and signals reach it through us. */
#ifndef LATSCOPE_EXPERIMENT_CHILD_H
#define LATSCOPE_EXPERIMENT_CHILD_H

#include <signal.h>

struct child_rules {
	int signals; /* of signals__hold() */
	const sigset_t *mask; /* before it */
	int log; /* for stdout and stderr */
};

/*
 * Runs `file` with these arguments and waits for it. `status` is that of waitpid(). -EINTR: a
 * signal arrived; the child got SIGINT and has ended. -errno: it could not be started.
 */
int child__run(const struct child_rules *rules, const char *file, char *const argv[], int *status);

#endif
