// SPDX-License-Identifier: BSD-2-Clause
/* What slow samples are made of, in words. */
#include <core/pressure.h>
#include <core/why.h>

#include "types.h"

static const struct why_part parts[] = {
	[WHY_MEMLAT_UNKNOWN] = {
		.name = "unknown",
		.what = "where the task was is not known",
	},
	[WHY_MEMLAT_CPU] = {
		.name = "cpu",
		.what = "on a CPU, in the handler",
		.without = "the kernel worked on the page fault",
	},
	[WHY_MEMLAT_RUNNABLE] = {
		.name = "runnable",
		.what = "waiting for a CPU",
		.without = "page faults waited for a CPU",
		.for_cpu = true,
	},
	[WHY_MEMLAT_IO] = {
		.name = "io",
		.what = "asleep until block I/O was done",
		.with = "page faults waited for disk %s",
		.without = "page faults waited for block I/O",
		.of_disk = true,
	},
	[WHY_MEMLAT_BLOCKED] = {
		.name = "blocked",
		.what = "asleep: lock, userfaultfd, FUSE",
		.with = "%s served page faults by userfaultfd",
		.without = "page faults slept, for a lock, userfaultfd or FUSE (see the stacks)",
	},
	[WHY_MEMLAT_RECLAIM] = {
		.name = "reclaim",
		.what = "reclaiming memory",
		.without = "page faults reclaimed memory",
	},
	[WHY_MEMLAT_COMPACTION] = {
		.name = "compaction",
		.what = "compacting memory",
		.without = "page faults compacted memory",
	},
	[WHY_MEMLAT_LOCK] = {
		.name = "mmap_lock",
		.what = "asleep until it had mmap_lock",
		.with = "%s held mmap_lock",
		.without = "page faults waited for mmap_lock",
	},
};

const struct why_words memlat_words = {
	.probe = "memlat",
	.wait = "page fault",
	.waits = "page faults",
	.parts = parts,
	.nr_parts = sizeof(parts) / sizeof(parts[0]),
	.metric = 0,
	.resource = "memory",
	.rest = "at the return to user mode, where memory.high holds tasks up, or in other system "
		"calls",
	.stall = PRESSURE_MEMORY_SOME,
};
