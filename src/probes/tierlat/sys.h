/* SPDX-License-Identifier: BSD-2-Clause */
/* The system calls and the clock that the methods use. Tests replace them. */
#ifndef LATSCOPE_PROBES_TIERLAT_SYS_H
#define LATSCOPE_PROBES_TIERLAT_SYS_H

#include <stdint.h>
#include <sys/types.h>

struct perf_event_attr;

struct tier_sys {
	int (*open)(const char *path, int flags); /* the descriptor or -errno, as all of these */
	ssize_t (*pread)(int fd, void *buf, size_t size, off_t offset);
	ssize_t (*pwrite)(int fd, const void *buf, size_t size, off_t offset);
	ssize_t (*read)(int fd, void *buf, size_t size);
	int (*perf_event_open)(struct perf_event_attr *attr, int cpu, int group);
	/* Exclusive, until all copies of the descriptor are closed; -EWOULDBLOCK. */
	int (*lock)(int fd);
	void (*close)(int fd);
	uint64_t (*now_ns)(void); /* CLOCK_MONOTONIC */
	uint64_t (*first_count)(void); /* what a counter starts at: large, and never the same */
};

extern const struct tier_sys tier_sys_linux;

#endif
