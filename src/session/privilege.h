/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process gives up before it measures, for good: root, capabilities, system calls. */
#ifndef LATSCOPE_SESSION_PRIVILEGE_H
#define LATSCOPE_SESSION_PRIVILEGE_H

#include <stdbool.h>
#include <sys/types.h>

#include <store/recording.h>

/* What the process still has to do. */
struct privilege_needs {
	struct recording *recording; /* write its files; NULL, or without a directory: none */
	bool removes_dir; /* may have to remove its directory: privilege__keep_dir() ends that */
	pid_t workload; /* end this process; 0: none. privilege__end_workload() ends that */
	unsigned int capability; /* use this capability; 0: none */
	bool times_calls; /* measure system calls, which a filter would slow down */
};

/*
 * Root becomes the user who called sudo, else one that nobody else is (spare.h), to whom the
 * recording belongs from now on (lend.h gives it back). All capabilities go, from the bounding set
 * too, but those that `needs` asks for. no_new_privs is set, and a filter refuses the system calls
 * that measuring does not need (seccomp.h). 0 or -errno: then `why` says what failed, and the
 * process must not go on.
 */
int privilege__drop(const struct privilege_needs *needs, char why[RUN_TEXT]);

/* Would it succeed here, for one who needs nothing? Tries it in a process of its own. */
int privilege__try(char why[RUN_TEXT]);

/*
 * Can the user that this process becomes write into the recording's directory? A server of NFS or
 * 9p may refuse it though its modes permit. 0 or -errno: then `why` says who cannot.
 */
int privilege__try_writing(struct recording *recording, char why[RUN_TEXT]);

/* The directory stays, the workload has ended: give up what was kept for them. 0 or -EPERM. */
int privilege__keep_dir(void);
int privilege__end_workload(void);

#endif
