/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The filter of system calls under which a process measures. What it does not list fails with
 * ENOSYS, for all threads, and is written to the kernel's audit log: a recording must not be lost
 * because a newer libc tries a call that this version does not know of.
 */
#ifndef LATSCOPE_SESSION_SECCOMP_H
#define LATSCOPE_SESSION_SECCOMP_H

#include <sys/types.h>

/* `workload` is the only process that may be sent a signal; 0: none. Sets no_new_privs. -errno. */
int seccomp__install(pid_t workload);

#endif
