/* SPDX-License-Identifier: BSD-2-Clause */
/* A list of CPUs, as the user writes it. */
#ifndef LATSCOPE_CORE_CPU_LIST_H
#define LATSCOPE_CORE_CPU_LIST_H

#include <stdint.h>

#include <latscope/event.h>

/*
 * "1,3-5" to a bit for each CPU. -EINVAL: not a list, or a range that ends before it begins;
 * -ERANGE: a number that no CPU can have.
 */
int cpu_list__parse(const char *text, uint64_t mask[LAT_CPUS / 64]);

/* The first CPU in the mask, from `cpu` on; LAT_CPUS: there is none. */
unsigned int cpu_list__next(const uint64_t mask[LAT_CPUS / 64], unsigned int cpu);

#endif
