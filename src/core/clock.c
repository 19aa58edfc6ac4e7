// SPDX-License-Identifier: BSD-2-Clause
#include "clock.h"

#define NS_PER_SEC 1000000000ULL

static uint64_t read_ns(clockid_t clock)
{
	struct timespec at;

	clock_gettime(clock, &at);
	return (uint64_t)at.tv_sec * NS_PER_SEC + (uint64_t)at.tv_nsec;
}

uint64_t clock__now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t clock__unix_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}

uint64_t clock__boot_ns(void)
{
	return read_ns(CLOCK_BOOTTIME);
}

struct timespec clock__timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_SEC),
				  .tv_nsec = (long)(ns % NS_PER_SEC) };
}
