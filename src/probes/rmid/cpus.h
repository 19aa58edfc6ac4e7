/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_PROBES_RMID_CPUS_H
#define LATSCOPE_PROBES_RMID_CPUS_H

#include <stdbool.h>

/*
 * Reads a CPU list in the kernel's format, "0-3,8", and sets listed[cpu] for CPUs below `limit`. 0;
 * -errno of the read; -EUCLEAN: invalid list.
 */
int cpus__read(const char *path, bool *listed, unsigned int limit);

/* Sets listed[cpu] by the text of such a list. 0 or -EUCLEAN. */
int cpus__parse(const char *text, bool *listed, unsigned int limit);

#define CPUS_ONLINE "/sys/devices/system/cpu/online"
#define CPUS_PRESENT "/sys/devices/system/cpu/present"

/* isolcpus= and nohz_full= of the kernel's command line. */
#define CPUS_ISOLATED "/sys/devices/system/cpu/isolated"
#define CPUS_NOHZ_FULL "/sys/devices/system/cpu/nohz_full"

/* By CPU number, below `nr`. */
struct cpus {
	unsigned int nr;
	bool *present, *online;
	bool *isolated; /* the kernel keeps timers off it, and so does latscope */
};

/* 0 or -errno, after which only cpus__free() may be called. */
int cpus__new(struct cpus *cpus, unsigned int nr);
void cpus__free(struct cpus *cpus);

int cpus__look(struct cpus *cpus); /* Updates which CPUs are online. 0 or -errno. */

#endif
