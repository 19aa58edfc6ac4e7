/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A disk of the kernel module null_blk: it is in memory, takes a fixed time for each request,
 * and a limited number at a time. A process that outlives this one removes it, and what was loaded
 * and mounted for it, also if this one is killed.
 */
#ifndef LATSCOPE_SELFTEST_NULL_DISK_H
#define LATSCOPE_SELFTEST_NULL_DISK_H

#include <stdint.h>

struct null_disk;

/* -ENODEV: there is no such kernel module; another -errno: the disk cannot be made. */
int null_disk__new(struct null_disk **disk, uint64_t request_ns, unsigned int at_a_time);

/* Makes an ext4 with a small journal on it. -ENOENT: there is no mkfs.ext4; -EIO: it failed. */
int null_disk__format(const struct null_disk *disk);

/* Its block device. */
const char *null_disk__path(const struct null_disk *disk);

/* NULL is fine. 0 or -errno. */
int null_disk__free(struct null_disk *disk);

#endif
