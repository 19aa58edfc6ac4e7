/* SPDX-License-Identifier: BSD-2-Clause */
/* What the process gives up before it measures: root, capabilities, system calls. */
#ifndef LATSCOPE_SESSION_PRIVILEGE_H
#define LATSCOPE_SESSION_PRIVILEGE_H

#include <stdbool.h>

#include <store/recording.h>

#include "seccomp.h"

/* What the process must still be able to do. */
struct privilege_needs {
	struct recording *recording; /* write its files; NULL, or without a directory: no files */
	bool removes_dir; /* may have to remove its directory, until privilege__keep_dir() */
	unsigned int capability; /* use this capability; 0: none */
	/* The system calls it makes; it may end calls.workload until privilege__end_workload(). */
	struct seccomp_needs calls;
	bool times_calls; /* time system calls, which a filter would slow down */
};

/*
 * Root becomes the user who called sudo, or else a user that no other process has. This user owns
 * the recording from now on (lend.h gives it back). Drops all capabilities except those in `needs`,
 * from the bounding set, too. Sets no_new_privs and a filter that refuses the system calls that
 * measuring does not need (seccomp.h). On -errno `why` says what failed, and the process must not
 * go on.
 */
int privilege__drop(const struct privilege_needs *needs, char why[RUN_TEXT]);

/* Tries it in a child process, with no needs. 0, or -errno with `why`. */
int privilege__try(char why[RUN_TEXT]);

/*
 * Can the user that this process becomes write into the recording's directory? An NFS or 9p server
 * may refuse it even if the modes permit it. On -errno `why` says which user cannot.
 */
int privilege__try_writing(struct recording *recording, char why[RUN_TEXT]);

/* Drop what was kept to remove the directory, or to end the workload. 0 or -EPERM. */
int privilege__keep_dir(void);
int privilege__end_workload(void);

#endif
