/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_PROBE_PRIVILEGE_H
#define LATSCOPE_PROBE_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>

/* Gives up, for good, all capabilities but the first `count` of these. 0 or -EPERM. */
int privilege__keep(const unsigned int *kept, size_t count);

/*
 * The same with those that are needed to read BPF maps and attach what
 * is loaded (CAP_BPF, CAP_PERFMON), to reach our directory below somebody's closed one
 * (CAP_DAC_READ_SEARCH) and, with a workload, to end it should it have become another user
 * (CAP_KILL). Files are still written as the user that runs us.
 */
int privilege__drop(bool workload);

#endif
