/* SPDX-License-Identifier: BSD-2-Clause */
/* The command that is run while the window is open. It starts stopped, so that nothing of it is
 * missed. */
#ifndef LATSCOPE_SESSION_WORKLOAD_H
#define LATSCOPE_SESSION_WORKLOAD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct workload {
	pid_t pid; /* 0: none */
	int go; /* a byte lets the child go; closed without one, it leaves */
	int result; /* the child's errno, if exec fails */
	int ended; /* pidfd: readable when the child has ended */
};

/* What a workload inherits as if it had been started without us. */
struct workload_origin {
	sigset_t mask;
	struct rlimit files; /* RLIMIT_NOFILE, which a probe may raise */
};

/* Another user, for the workload alone. */
struct workload_user {
	const char *name; /* NULL: it runs as whoever started us */
	uid_t uid;
	gid_t gid;
};

/* Looks the user up. 0, -ENOENT, or -EPERM: only root can become another user. */
int workload__find_user(struct workload_user *user, const char *name);

/* Would exec find it, by PATH if it has no slash? 0, -ENOENT or -EACCES. */
int workload__find(const char *name);

/* Forks the child, which waits. -errno. */
int workload__prepare(struct workload *workload, char *const argv[],
		      const struct workload_origin *origin, const struct workload_user *user);

/* Ends the child that waits: nothing is run. */
void workload__cancel(struct workload *workload);

/* Lets it go. -errno of its exec or of becoming its user: nothing was run, the child is reaped. */
int workload__release(struct workload *workload);

/* Has it ended? Then *status is as waitpid() gives it, and the child reaped. */
bool workload__reap(struct workload *workload, int *status);

/* Ends it if it still runs: SIGTERM, after two seconds SIGKILL. Returns its status. */
int workload__end(struct workload *workload);

#endif
