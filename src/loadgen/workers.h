/* SPDX-License-Identifier: BSD-2-Clause */
/* The child processes of a workload. */
#ifndef LATSCOPE_LOADGEN_WORKERS_H
#define LATSCOPE_LOADGEN_WORKERS_H

#include <stdint.h>

#include "load.h"

/*
 * Runs in child number index. Works until it is killed: it may have nothing that needs cleaning
 * up. May also end early, by 0, or by -errno, which ends all.
 */
typedef int (*workers_work)(const struct load_config *config, unsigned int index, const void *arg);

/* Has nr children do the work for config->duration_ns, ends them; -errno: the first one's. */
int workers__run(unsigned int nr, workers_work work, const struct load_config *config,
		 const void *arg);

/* How many of the CPUs this process may use; at least 1. */
unsigned int workers__cpus(void);

/* CLOCK_MONOTONIC in ns. */
uint64_t workers__now(void);

/* Between two rounds. */
void workers__pause(const struct load_config *config);

#endif
