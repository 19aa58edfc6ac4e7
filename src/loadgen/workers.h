/* SPDX-License-Identifier: BSD-2-Clause */
/* The child processes that do the work of a load, and the loads that have files of their own. */
#ifndef LATSCOPE_LOADGEN_WORKERS_H
#define LATSCOPE_LOADGEN_WORKERS_H

#include <stdint.h>

#include "load.h"

extern const struct load_ops load_dio, load_pressure;

/*
 * Runs in child number index until the child is killed, so it must not need any cleanup. It may
 * return early: 0, or -errno, which ends all children.
 */
typedef int (*workers_work)(const struct load_config *config, unsigned int index, const void *arg);

/* Starts nr children that work for config->duration_ns, then ends them. Returns the first error. */
int workers__run(unsigned int nr, workers_work work, const struct load_config *config,
		 const void *arg);

/* Call between two rounds. */
void workers__pause(const struct load_config *config);

#endif
