/* SPDX-License-Identifier: BSD-2-Clause */
/* Which NUMA nodes the pages of a process are on: /proc/PID/numa_maps. */
#ifndef LATSCOPE_HOST_NUMA_MAPS_H
#define LATSCOPE_HOST_NUMA_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define NUMA_NODES 64

/* One line. Pages that the process shares with others count in each of them. */
struct numa_mapping {
	uint64_t start; /* address */
	uint64_t page_bytes; /* transparent huge pages count as base pages */
	uint64_t pages[NUMA_NODES]; /* resident */
	bool file; /* of a file or of shared memory */
	bool hugetlb;
	bool bound; /* the process chose its nodes by "bind" */
	bool weighted; /* or by "weighted interleave" */
};

/* False: the line is not a mapping, or has a node beyond NUMA_NODES. */
bool numa_maps__parse(const char *line, struct numa_mapping *mapping);

struct numa_pages {
	uint64_t bytes[NUMA_NODES];
	uint64_t weighted[NUMA_NODES]; /* those with weighted interleave */
	uint64_t mappings;
};

/*
 * Adds all mappings of a process. `root` is a prefix of /proc, "" for this machine. 0; -ESRCH: the
 * process ended; -EACCES, -ENOENT: the kernel has no NUMA, -EUCLEAN: unexpected text; -ENOMEM.
 */
int numa_maps__add(struct numa_pages *pages, const char *root, pid_t pid);

/* Opens a file of a process, with the same errors. The caller closes *stream. */
int numa_maps__open(FILE **stream, const char *root, pid_t pid, const char *name);

#endif
