/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's own account of a disk, /proc/diskstats: requests completed, bios merged into one of
 * them, and the sum of the requests' times from allocation to completion, of ns, cut to ms. The
 * counters follow the completion that user space waits for, if only just.
 */
#ifndef LATSCOPE_TRUTH_DISK_H
#define LATSCOPE_TRUTH_DISK_H

#include <sys/types.h>

#include "truth.h"

/* In the order of /proc/diskstats; old kernels have fewer. */
enum truth_disk_field {
	TRUTH_READS,
	TRUTH_READ_MERGES,
	TRUTH_READ_SECTORS,
	TRUTH_READ_MS,
	TRUTH_WRITES,
	TRUTH_WRITE_MERGES,
	TRUTH_WRITE_SECTORS,
	TRUTH_WRITE_MS,
	TRUTH_IN_FLIGHT,
	TRUTH_BUSY_MS,
	TRUTH_QUEUE_MS,
	TRUTH_DISCARDS,
	TRUTH_DISCARD_MERGES,
	TRUTH_DISCARD_SECTORS,
	TRUTH_DISCARD_MS,
	TRUTH_FLUSHES,
	TRUTH_FLUSH_MS,
	TRUTH_DISK_FIELDS,
};

struct truth_disk {
	unsigned long long field[TRUTH_DISK_FIELDS];
};

/* false: the device is not listed, as those under btrfs and overlayfs. */
bool truth_disk__read(dev_t device, struct truth_disk *disk);

/* Once the counters stand still; a busy disk's never do: then as they are after 2 s. */
bool truth_disk__settled(dev_t device, struct truth_disk *disk);

#endif
