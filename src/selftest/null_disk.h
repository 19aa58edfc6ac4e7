/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A disk of the kernel module null_blk: it holds nothing, takes a fixed time for each request,
 * and a limited number at a time. A process that outlives this one removes it, and what was loaded
 * and mounted for it, also if this one is killed.
 */
#ifndef LATSCOPE_SELFTEST_NULL_DISK_H
#define LATSCOPE_SELFTEST_NULL_DISK_H

#include <stdint.h>

struct null_disk;

/* -ENODEV: there is no such kernel module; another -errno: the disk cannot be made. */
int null_disk__new(struct null_disk **disk, uint64_t request_ns, unsigned int at_a_time);

/* Its block device. */
const char *null_disk__path(const struct null_disk *disk);

/* NULL is fine. 0 or -errno. */
int null_disk__free(struct null_disk *disk);

#endif
