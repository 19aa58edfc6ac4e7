/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine that a run is of, for the title of its answer. */
#ifndef LATSCOPE_PRINT_HOST_WORDS_H
#define LATSCOPE_PRINT_HOST_WORDS_H

#include <core/run.h>

/* CPUs that were online; 0: unknown. */
int64_t host_words__cpus(const struct run *run);

/* "db1, 8 CPUs, Linux 6.12.9"; what is unknown is left out. Returns out. */
const char *host_words__describe(const struct run *run, char out[RUN_TEXT]);

#endif
