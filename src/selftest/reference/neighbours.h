/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process "victim" that reads a disk, one request at a time: first alone, and then next to a
 * process "neighbour", which always has `depth` reads in flight. What the neighbour costs it is
 * what its reads take longer then, by its own clock.
 */
#ifndef LATSCOPE_SELFTEST_REFERENCE_NEIGHBOURS_H
#define LATSCOPE_SELFTEST_REFERENCE_NEIGHBOURS_H

#include <stdatomic.h>

#include "dio.h"

#define REFERENCE_NEIGHBOURS_DEPTH 64 /* most */

struct reference_neighbours {
	char path[64]; /* of a block device that holds nothing, or the file system */
	bool database; /* the neighbour is one; then the depth is 1 */
	unsigned int depth;
	unsigned int reads; /* of the victim, alone and again */

	atomic_int phase;
	atomic_uint ready; /* threads of both */
	atomic_int err; /* of one of them */
	pid_t victim, neighbour;
	struct reference_span alone, together; /* of the victim's reads */
	atomic_uint commits; /* of the database */
	/* While together: of the database, and requests by the kernel's account of the disk. */
	uint64_t together_commits, together_reads, together_writes;
	char why[REFERENCE_WHY];
};

/* The memory must be shared: the processes write to it. */
int reference_neighbours__prepare(struct reference_neighbours *all);
int reference_neighbours__run(struct reference_neighbours *all);

#endif
