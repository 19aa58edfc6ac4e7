/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads CPUs and uncore PMUs from /sys. `root` is a path prefix, "" for this machine. Unexpected
 * text gives -EUCLEAN, never a partial result.
 */
#ifndef LATSCOPE_PROBES_TIERLAT_SYSFS_H
#define LATSCOPE_PROBES_TIERLAT_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tier.h"

#define SYSFS_CPUS 64 /* of a PMU's cpumask, of a socket's alternatives */

/* Parses "0-3,8": up to `most` numbers, in order. Returns their count or -EUCLEAN. */
int sysfs_cpus__parse(const char *text, unsigned int *cpus, unsigned int most);

/* "config1:8-15,32-57": of config (0), config1 or config2, and which bits. 0 or -EUCLEAN. */
int sysfs_format__parse(const char *text, unsigned int *which, uint64_t *bits);

/* Physical package of a CPU. -errno: the CPU is offline or does not exist. */
int sysfs__package(const char *root, unsigned int cpu);

/* The CPUs online; how many, or -errno. */
int sysfs__online(const char *root, unsigned int *cpus, unsigned int most);

struct sysfs_pmu {
	char name[256]; /* "uncore_cha_3" */
	unsigned int box; /* 3 */
	uint32_t type;
	unsigned int cpus[SYSFS_CPUS]; /* CPUs on which to open it */
	unsigned int nr_cpus;
};

/*
 * Finds the PMUs named `prefix` plus a number (or `prefix`, if number is false), by number. Returns
 * their count or -errno. The caller frees *pmus.
 */
int sysfs__pmus(const char *root, const char *prefix, bool number, struct sysfs_pmu **pmus);

/* The bits of config [0] and config1 [1] that the PMU's formats name. 0 or -errno. */
int sysfs__formats(const char *root, const char *pmu, uint64_t bits[2]);

/*
 * Number of bits set at 0x9c and 0xa0 in an Intel PCI device's configuration; 0: none, or no
 * permission.
 */
unsigned int sysfs__capid_boxes(const char *root, uint16_t device);

/* Size in bytes of a CPU's last-level cache; 0: unknown. */
uint64_t sysfs__llc_bytes(const char *root, unsigned int cpu);

/* Is there an entry of this prefix in a directory? */
bool sysfs__has(const char *root, const char *dir, const char *prefix);

#endif
