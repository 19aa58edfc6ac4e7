/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command that runs while the window is open. Its process exists before that and waits, so that
 * the window misses nothing of it.
 */
#ifndef LATSCOPE_SESSION_WORKLOAD_H
#define LATSCOPE_SESSION_WORKLOAD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "signals.h"

struct workload {
	pid_t pid; /* 0: none */
	int go; /* a byte starts the child; if it is closed without one, the child exits */
	int result; /* the child's errno, if exec fails */
	int ended; /* pidfd: readable when the child has ended */
};

/* The state that a workload inherits, as if latscope had not changed it. */
struct workload_origin {
	sigset_t mask;
	bool ignored[SIGNALS_OF_THREADS];
	struct rlimit files; /* RLIMIT_NOFILE: a probe may raise it */
};

/* Another user for the workload, not for latscope. */
struct workload_user {
	const char *name; /* NULL: the user who started latscope */
	uid_t uid;
	gid_t gid;
};

/* Looks the user up. 0, -ENOENT, or -EPERM: only root can become another user. */
int workload__find_user(struct workload_user *user, const char *name);

/* Would exec find this command, by PATH if it has no slash? 0, -ENOENT or -EACCES. */
int workload__find(const char *name);

/* Forks the child, which waits. -errno. */
int workload__prepare(struct workload *workload, char *const argv[],
		      const struct workload_origin *origin, const struct workload_user *user);

/* Ends the waiting child: the command does not run. */
void workload__cancel(struct workload *workload);

/* Starts it. -errno of exec or of the change of user: it did not run, and the child is reaped. */
int workload__release(struct workload *workload);

/* Has it ended? Then it is reaped, and *status is that of waitpid(). */
bool workload__reap(struct workload *workload, int *status);

/* Ends it if it is still running: SIGTERM, after two seconds SIGKILL. Returns its status. */
int workload__end(struct workload *workload);

#endif
