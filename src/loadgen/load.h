/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Built-in workloads that make something to measure. Silent: all return 0 or -errno. The work is
 * done by child processes, which have ended and are reaped on return; SIGINT and SIGTERM end a
 * workload early, and are taken as its end.
 */
#ifndef LATSCOPE_LOADGEN_LOAD_H
#define LATSCOPE_LOADGEN_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#define LOAD_MAX_TASKS 1024

struct load_config {
	uint64_t duration_ns;
	unsigned int tasks; /* processes, up to LOAD_MAX_TASKS; 0: what suits the kind */
	uint64_t pause_ns; /* rest of each between two rounds; 0: none, as hard as it can */
	const char *dir; /* of the temporary file */
	uint64_t seed; /* of what is random */
};

struct load_ops {
	const char *name;
	const char *help;
	bool uses_dir;
	int (*run)(const struct load_config *config);
};

/* All kinds, NULL after the last. */
extern const struct load_ops *const load_kinds[];

/* NULL: there is none of that name. */
const struct load_ops *load__find(const char *name);

/*
 * Whether the temporary file can be made in dir, -errno if not. *why is then what stands against
 * direct I/O there, NULL if nothing does: the load will go through the page cache, and have it
 * synced.
 */
int load__check_dir(const char *dir, const char **why);

#endif
