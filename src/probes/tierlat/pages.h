/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which processes have their pages in which tier, so that a decision says what to move. A tier is
 * seen from the socket of the CPU that the main thread of the process ran on last.
 */
#ifndef LATSCOPE_PROBES_TIERLAT_PAGES_H
#define LATSCOPE_PROBES_TIERLAT_PAGES_H

#include <core/table.h>

#include "tier.h"

enum pages_column {
	PAGES_SOCKET,
	PAGES_TIER,
	PAGES_NODE,
	PAGES_PID,
	PAGES_NAME,
	PAGES_BYTES,
	PAGES_COLUMNS,
};

extern const struct table_column pages_columns[PAGES_COLUMNS];

struct pages_count {
	uint64_t with_pages; /* processes that have rows */
	uint64_t refused; /* no permission */
	uint64_t ended; /* while they were read */
	uint64_t unclear; /* the kernel's text was not as expected */
};

/*
 * Adds a row for each process but this one, and each node that has pages of it, the largest first.
 * `root` is a prefix of /proc and /sys, "" for this machine. 0; -ENOENT: the kernel has no NUMA;
 * -EUCLEAN: unexpected text in /sys; -ENOMEM; other errors of opening /proc.
 */
int pages__add(struct table *table, uint64_t time_ns, const struct tier_model *model,
	       const char *root, struct pages_count *count);

#endif
