/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's own account of a disk, /proc/diskstats: requests completed, bios merged into one of
 * them, and the sum of the requests' times from allocation to completion, of ns, cut to ms. The
 * counters follow the completion that user space waits for, if only just.
 */
#ifndef LATSCOPE_SELFTEST_REFERENCE_DISK_H
#define LATSCOPE_SELFTEST_REFERENCE_DISK_H

#include <sys/types.h>

#include "reference.h"

/* In the order of /proc/diskstats; old kernels have fewer. */
enum reference_disk_field {
	REFERENCE_READS,
	REFERENCE_READ_MERGES,
	REFERENCE_READ_SECTORS,
	REFERENCE_READ_MS,
	REFERENCE_WRITES,
	REFERENCE_WRITE_MERGES,
	REFERENCE_WRITE_SECTORS,
	REFERENCE_WRITE_MS,
	REFERENCE_IN_FLIGHT,
	REFERENCE_BUSY_MS,
	REFERENCE_QUEUE_MS,
	REFERENCE_DISCARDS,
	REFERENCE_DISCARD_MERGES,
	REFERENCE_DISCARD_SECTORS,
	REFERENCE_DISCARD_MS,
	REFERENCE_FLUSHES,
	REFERENCE_FLUSH_MS,
	REFERENCE_DISK_FIELDS,
};

struct reference_disk {
	unsigned long long field[REFERENCE_DISK_FIELDS];
};

/* false: the device is not listed, as those under btrfs and overlayfs. */
bool reference_disk__read(dev_t device, struct reference_disk *disk);

/* Once the counters stand still; a busy disk's never do: then as they are after 2 s. */
bool reference_disk__settled(dev_t device, struct reference_disk *disk);

#endif
