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

/*
 * Signals may only be sent to `workload`; 0: to none. `terminal`: its modes may be set. `serves`:
 * connections may be accepted on sockets that are open; no socket can be made. Sets no_new_privs.
 * 0 or -errno.
 */
int seccomp__install(pid_t workload, bool terminal, bool serves);

#endif
