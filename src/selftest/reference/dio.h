/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_SELFTEST_REFERENCE_DIO_H
#define LATSCOPE_SELFTEST_REFERENCE_DIO_H

#include "reference.h"

/*
 * The kernel's own account of a disk, /proc/diskstats: requests completed, bios merged into one of
 * them, and the sum of the requests' times from allocation to completion, of ns, cut to ms. The
 * counters follow the completion that user space waits for, if only just.
 */
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

/*
 * Direct block I/O, a closed loop: `depth` threads share `count` O_DIRECT reads, or writes, of
 * `bytes` at random aligned offsets of a block device, of a file that exists, or of one that is
 * made for the purpose, written out in full, and has no name any more when it is used. Each one's
 * time in the system call is an upper bound of its block latency.
 *
 * The time the threads were blocked bounds the sum from the other side: while a thread sleeps in
 * its system call, its request is open. Blocked is what remains of their time when what they ran
 * and what they waited for a CPU, by the scheduler's account, is taken off.
 *
 * On a device that nobody else uses, disk reads + merges = count as long as `bytes` is not more
 * than one request may carry, and each request is one issue and one completion. With `sync` each
 * fdatasync() is a write of no sectors to the kernel, and what the device was sent a flush. A file
 * adds its file system's own I/O, and everybody's on that disk.
 */
#define REFERENCE_DIO_MAX_DEPTH 128
#define REFERENCE_DIO_MAX_BYTES (4UL << 20)

struct reference_dio_worker;

struct reference_dio {
	const char *path; /* a directory: the file is made in it, without a name */
	bool own; /* it is to be a directory: nothing that is there already is opened */
	bool write; /* destroys what is there */
	bool sync; /* fdatasync() after each write */
	bool dsync; /* of a path that exists: each write is one with O_DSYNC */
	bool sequential; /* not at random */
	unsigned int depth;
	uint64_t count; /* with a duration, at most */
	uint64_t duration_ns; /* 0: until `count` are done */
	uint64_t bytes; /* a multiple of 512 */
	uint64_t size; /* of a file to be made */
	uint64_t seed;

	int fd;
	dev_t disk; /* that the path is or lies on */
	struct reference_dio_worker *workers;
	uint64_t next; /* I/O to be done */
	uint64_t end_ns;
	bool go;
	pthread_mutex_t lock;
	pthread_cond_t start;

	uint64_t elapsed_ns;
	uint64_t errors;
	struct reference_span io, syncs;
	bool has_disk; /* the next two are known */
	struct reference_disk before, after;
	bool has_blocked; /* the next is known: the kernel keeps schedstat */
	uint64_t blocked_ns;
	char why[REFERENCE_WHY];
};

/* Opens the path, or makes it: fd, size and disk are known then. */
int reference_dio__open(struct reference_dio *dio);

/* The same, and makes the threads, which wait. */
int reference_dio__prepare(struct reference_dio *dio);
int reference_dio__run(struct reference_dio *dio);

#endif
