/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Built-in workloads. Silent: all functions return 0 or -errno. Child processes do the work; they
 * have ended and are reaped on return. SIGINT and SIGTERM end a workload early, which is no error.
 */
#ifndef LATSCOPE_LOADGEN_LOAD_H
#define LATSCOPE_LOADGEN_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#define LOAD_MAX_TASKS 1024

struct load_config {
	uint64_t duration_ns;
	unsigned int tasks; /* processes, up to LOAD_MAX_TASKS; 0: the default of the kind */
	uint64_t pause_ns; /* of each process, between two rounds; 0: none */
	const char *dir; /* of the temporary file */
	uint64_t seed; /* of the random numbers */
};

struct load_ops {
	const char *name;
	const char *help;
	bool uses_dir;
	int (*run)(const struct load_config *config);
};

/* All kinds; NULL after the last one. */
extern const struct load_ops *const load_kinds[];

/* NULL: no kind has that name. */
const struct load_ops *load__find(const char *name);

/*
 * Can the temporary file be created in dir? 0 or -errno. *why: the reason why direct I/O is not
 * possible there, or NULL; without it the load uses the page cache, and writes it back.
 */
int load__check_dir(const char *dir, const char **why);

#endif
