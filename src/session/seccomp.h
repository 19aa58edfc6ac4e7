/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The filter of system calls while a process measures. A call that it does not list fails with
 * ENOSYS, for all threads, and the kernel writes it to its audit log. It does not kill: a recording
 * must not be lost because a newer libc tries a call that this version does not know.
 */
#ifndef LATSCOPE_SESSION_SECCOMP_H
#define LATSCOPE_SESSION_SECCOMP_H

#include <stdbool.h>
#include <sys/types.h>

struct seccomp_needs {
	pid_t workload; /* signals may only be sent to it; 0: to none */
	bool terminal; /* its modes may be set */
	bool serves; /* connections may be accepted on sockets that are open */
	bool sends; /* threads and connections can be made; no socket can listen */
	bool forks; /* processes can be made; they have the same filter */
};

/* Sets no_new_privs. 0 or -errno. */
int seccomp__install(const struct seccomp_needs *needs);

#endif
