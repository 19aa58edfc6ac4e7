/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_SELFTEST_REFERENCE_DIO_H
#define LATSCOPE_SELFTEST_REFERENCE_DIO_H

#include "reference.h"

/*
 * The kernel's own account of a disk, /proc/diskstats: completed requests, bios merged into them,
 * and the sum of the times from allocation to completion, in ns truncated to ms. The counters are
 * updated shortly after the completion that user space waits for.
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

/* false: the device is not listed, as those of btrfs and overlayfs. */
bool reference_disk__read(dev_t device, struct reference_disk *disk);

/* Waits until the counters no longer change, at most 2 s: those of a busy disk always do. */
bool reference_disk__settled(dev_t device, struct reference_disk *disk);

/*
 * Direct block I/O in a closed loop: `depth` threads share `count` O_DIRECT reads, or writes, of
 * `bytes` at random aligned offsets of a block device, an existing file, or a new file that is
 * filled first and has no name. The time of the system call is an upper bound of the latency.
 *
 * The time that the threads were blocked is a lower bound of the sum: while a thread sleeps in its
 * system call, its request is in flight. Blocked is the time of the threads less what they ran and
 * what they waited for a CPU, by the scheduler's account.
 *
 * On a device without other users, reads + read merges of the disk = count as long as one request
 * may carry `bytes`, and each request has one issue and one completion. With `sync` the kernel
 * counts each fdatasync() as a write of no sectors, and what it sends to the device as a flush. A
 * file adds the I/O of its file system and of others on that disk.
 */
#define REFERENCE_DIO_MAX_DEPTH 128
#define REFERENCE_DIO_MAX_BYTES (4UL << 20)

struct reference_dio_worker;

struct reference_dio {
	const char *path; /* if it is a directory, the file is created in it */
	bool own; /* the path must be a directory: never open an existing file */
	bool write; /* destroys what is there */
	bool sync; /* fdatasync() after each write */
	bool dsync; /* O_DSYNC, for a path that exists */
	bool sequential; /* not at random */
	unsigned int depth;
	uint64_t count; /* upper bound if there is a duration */
	uint64_t duration_ns; /* 0: until `count` are done */
	uint64_t bytes; /* a multiple of 512 */
	uint64_t whole_bytes; /* instead, if the disk reads so many in one request; 0: no */
	uint64_t size; /* of a new file */
	uint64_t seed;

	int fd;
	dev_t disk; /* that the path is, or is on */
	struct reference_dio_worker *workers;
	uint64_t next; /* number of the next I/O */
	uint64_t end_ns;
	bool go;
	pthread_mutex_t lock;
	pthread_cond_t start;

	uint64_t elapsed_ns;
	uint64_t errors;
	struct reference_span io, syncs;
	bool has_disk; /* before and after are known */
	struct reference_disk before, after;
	bool has_blocked; /* blocked_ns is known: the kernel has schedstat */
	uint64_t blocked_ns;
	char why[REFERENCE_WHY];
};

/* Opens or creates the path: sets fd, size and disk. */
int reference_dio__open(struct reference_dio *dio);

/* The same, and creates the threads, which wait. */
int reference_dio__prepare(struct reference_dio *dio);
int reference_dio__run(struct reference_dio *dio);

#endif
