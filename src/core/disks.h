/* SPDX-License-Identifier: BSD-2-Clause */
/* Which disks have requests of their own, and which of them lie below those that have none. */
#ifndef LATSCOPE_CORE_DISKS_H
#define LATSCOPE_CORE_DISKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * `root` stands before /sys, "" for this machine's own; `id` is major << 20 | minor. False for
 * those that work on bios: most of the device mapper, md, zram. True, too, if there is no such
 * disk.
 */
bool disks__has_requests(const char *root, uint32_t id);

/* "sda, sdb": those with requests that lie below such a disk; "": sysfs names none. Returns out. */
const char *disks__below(const char *root, uint32_t id, char *out, size_t size);

#endif
