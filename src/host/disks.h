/* SPDX-License-Identifier: BSD-2-Clause */
/* Which disks are request-based, and which of them are below a bio-based disk. */
#ifndef LATSCOPE_HOST_DISKS_H
#define LATSCOPE_HOST_DISKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The ID of a disk by its device number. */
uint32_t disks__id(dev_t device);

/*
 * `root` is a prefix of /sys, "" for this machine; `id` is major << 20 | minor. False for bio-based
 * disks: most of the device mapper, md, zram. True for a disk that does not exist.
 */
bool disks__has_requests(const char *root, uint32_t id);

/* "sda, sdb": the request-based disks below it; "" if sysfs shows none. Returns out. */
const char *disks__below(const char *root, uint32_t id, char *out, size_t size);

/* Is any disk on others, as those of device mapper and md are? */
bool disks__any_stacked(const char *root);

/*
 * "sda", the request-based disks that a file can be on; "" if its file system is on none that is
 * known, or there is no such file. Returns out.
 */
const char *disks__of_file(const char *path, char *out, size_t size);

#endif
