/* SPDX-License-Identifier: BSD-2-Clause */
/* The time stamp counter as user code reads it, and its rate. */
#ifndef LATSCOPE_PROBES_RINGLAT_TSC_H
#define LATSCOPE_PROBES_RINGLAT_TSC_H

#include <stdint.h>

/*
 * The two ends of a window. LFENCE: earlier instructions have finished and later ones have not
 * begun (on AMD if the kernel made LFENCE serialising, which it does). RDTSCP waits for earlier
 * instructions.
 */
static inline __attribute__((always_inline)) uint64_t tsc__begin(void)
{
	uint64_t low, high;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
	return high << 32 | low;
}

static inline __attribute__((always_inline)) uint64_t tsc__end(void)
{
	uint64_t low, high;

	__asm__ volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high)::"rcx", "memory");
	return high << 32 | low;
}

/* Both clocks at one moment. */
struct tsc_pair {
	uint64_t tsc;
	uint64_t ns; /* CLOCK_MONOTONIC_RAW: not adjusted by NTP */
};

struct tsc_pair tsc__pair(void);

/* Ticks per ms between two readings; 0 if no time passed. */
uint64_t tsc__khz(struct tsc_pair from, struct tsc_pair to);

#endif
