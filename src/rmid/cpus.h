/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_RMID_CPUS_H
#define LATSCOPE_RMID_CPUS_H

#include <stdbool.h>

/*
 * Which CPUs below `limit` are online, by their list as the kernel writes it, "0-3,8": online[cpu].
 * 0; -errno of reading it; -EUCLEAN: it is no list.
 */
int cpus__online(const char *path, bool *online, unsigned int limit);

#define CPUS_ONLINE "/sys/devices/system/cpu/online"

#endif
