/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_CORE_CLOCK_H
#define LATSCOPE_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

/*
 * CLOCK_MONOTONIC in ns: the clock of bpf_ktime_get_ns() and of the kernel's ktime_get(), so that
 * its times can be set against theirs. It stands still while the machine sleeps.
 */
uint64_t clock__now_ns(void);

/* A span or a moment, as system calls take it. */
struct timespec clock__timespec(uint64_t ns);

#endif
