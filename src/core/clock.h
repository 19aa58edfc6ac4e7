/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_CORE_CLOCK_H
#define LATSCOPE_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

/*
 * CLOCK_MONOTONIC in ns: the clock of bpf_ktime_get_ns() and of the kernel's ktime_get(). It stops
 * while the machine is suspended.
 */
uint64_t clock__now_ns(void);

/* Since 1970. */
uint64_t clock__unix_ns(void);

/* CLOCK_BOOTTIME: as clock__now_ns(), and it goes on while the machine is suspended. */
uint64_t clock__boot_ns(void);

/* A duration or a time, for system calls. */
struct timespec clock__timespec(uint64_t ns);

#endif
