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
	/* touch: memory of all processes; dio: the file; pressure: the limit; 0: the default */
	uint64_t bytes;
	/* Of dio: */
	uint64_t block; /* bytes of a request, a multiple of 4096; 0: 4096 */
	double writes; /* share of the requests */
	bool sequential; /* each process goes through its part of the file; false: at random */
};

#define LOAD_WRITES 0.25 /* default of `writes` */
#define LOAD_BLOCK 4096 /* and of `block` */
#define LOAD_FILE_BYTES (64UL << 20) /* of dio */
#define LOAD_DIO_TASKS 4
#define LOAD_PRESSURE_BYTES (32UL << 20) /* memory of the cgroup */
#define LOAD_PRESSURE_LEAST (8UL << 20) /* less, and the processes themselves might not fit */

struct load_ops {
	const char *name;
	const char *help;
	bool uses_dir;
	bool uses_bytes;
	bool needs_cgroup; /* of its own, with a limit of memory */
	/* NULL: it has settings of its own, see fleet/load.h */
	int (*run)(const struct load_config *config);
};

extern const struct load_ops load_fleet;

/* All kinds; NULL after the last one. */
extern const struct load_ops *const load_kinds[];

/* NULL: no kind has that name. */
const struct load_ops *load__find(const char *name);

/*
 * Can the temporary file be created in dir? 0 or -errno. *why: the reason why direct I/O is not
 * possible there, or NULL; without it the load uses the page cache, and writes it back.
 */
int load__check_dir(const char *dir, const char **why);

/*
 * Can a cgroup with a limit of memory be made? 0; -ENODEV: there is no memory controller for it; or
 * another -errno.
 */
int load__check_cgroup(void);

#endif
