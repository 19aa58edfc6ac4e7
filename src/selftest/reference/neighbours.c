// SPDX-License-Identifier: BSD-2-Clause
#include "neighbours.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "database.h"
#include "sched.h"

#define BYTES 4096
#define BLOCKS 4096 /* of the device, from its start */

enum { BEFORE, ALONE, TOGETHER, OVER };

struct reader {
	struct reference_neighbours *all;
	int fd;
	uint64_t random;
	char *buffer;
};

static int open_reader(struct reader *reader, struct reference_neighbours *all, unsigned int index)
{
	*reader = (struct reader){ .all = all, .random = load__seed(1, index) };
	reader->fd = open(all->path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (reader->fd < 0)
		return -errno;
	reader->buffer = load__map(1);
	if (!reader->buffer)
		return -ENOMEM;
	memset(reader->buffer, 0, BYTES);
	return 0;
}

static int read_block(struct reader *reader)
{
	off_t offset = (off_t)(load__random(&reader->random) % BLOCKS * BYTES);

	return direct_file__transfer(reader->fd, false, reader->buffer, BYTES, offset);
}

static void await_phase(struct reference_neighbours *all, int phase)
{
	while (atomic_load(&all->phase) < phase)
		load__sleep(NSEC_PER_MSEC);
}

static void read_all(struct reader *reader, struct reference_span *span)
{
	struct reference_neighbours *all = reader->all;

	for (unsigned int i = 0; i < all->reads && !atomic_load(&all->err); i++) {
		uint64_t start = clock__now_ns();

		if (read_block(reader))
			atomic_store(&all->err, -EIO);
		reference__add(span, clock__now_ns() - start);
	}
}

static void *read_on(void *arg)
{
	struct reader *reader = arg;
	struct reference_neighbours *all = reader->all;

	atomic_fetch_add(&all->ready, 1);
	await_phase(all, TOGETHER);
	while (atomic_load(&all->phase) == TOGETHER && !atomic_load(&all->err))
		if (read_block(reader))
			atomic_store(&all->err, -EIO);
	return NULL;
}

static _Noreturn void be_neighbour(struct reference_neighbours *all)
{
	static struct reader readers[REFERENCE_NEIGHBOURS_DEPTH];
	pthread_t threads[REFERENCE_NEIGHBOURS_DEPTH];
	int err = 0;

	prctl(PR_SET_NAME, "neighbour");
	for (unsigned int i = 0; !err && i < all->depth; i++) {
		err = open_reader(&readers[i], all, i + 1);
		if (!err)
			err = load__thread(&threads[i], read_on, &readers[i]);
	}
	if (err)
		atomic_store(&all->err, err);
	await_phase(all, OVER);
	reference_sched__park_end();
}

static _Noreturn void be_database(struct reference_neighbours *all)
{
	int file, err = 0;

	prctl(PR_SET_NAME, "database");
	file = reference_database__open(all->path);
	if (file < 0)
		atomic_store(&all->err,
			     reference__fail(all->why, -EOPNOTSUPP, "cannot mount an ext4: %s",
					     strerror(-file)));
	atomic_fetch_add(&all->ready, 1);
	await_phase(all, TOGETHER);
	while (!err && atomic_load(&all->phase) == TOGETHER) {
		err = reference_database__commit(file);
		atomic_fetch_add(&all->commits, 1);
	}
	if (err)
		atomic_store(&all->err, err);
	reference_sched__park_end();
}

/* Adds what was done until now, or with -1 subtracts it. */
static void count(struct reference_neighbours *all, int sign)
{
	struct reference_disk disk = { 0 };
	struct stat st;

	if (stat(all->path, &st) || !reference_disk__read(st.st_rdev, &disk))
		atomic_store(&all->err, -ENODEV);
	all->together_commits += sign * (int64_t)atomic_load(&all->commits);
	all->together_reads += sign * (int64_t)disk.field[REFERENCE_READS];
	all->together_writes += sign * (int64_t)disk.field[REFERENCE_WRITES];
}

static _Noreturn void be_victim(struct reference_neighbours *all)
{
	struct reader reader;
	int err;

	prctl(PR_SET_NAME, "victim");
	err = open_reader(&reader, all, 0);
	if (err)
		atomic_store(&all->err, err);
	atomic_fetch_add(&all->ready, 1);
	await_phase(all, ALONE);
	read_all(&reader, &all->alone);
	atomic_store(&all->phase, TOGETHER);
	load__sleep(100 * NSEC_PER_MSEC); /* until the neighbour has all its reads in flight */
	count(all, -1);
	read_all(&reader, &all->together);
	count(all, 1);
	atomic_store(&all->phase, OVER);
	reference_sched__park_end();
}

static int start(struct reference_neighbours *all, pid_t *at,
		 void (*be)(struct reference_neighbours *all))
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return reference__fail(all->why, -errno, "cannot fork: %s", strerror(errno));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		be(all);
	}
	*at = pid; /* it is in memory that they share */
	return 0;
}

int reference_neighbours__prepare(struct reference_neighbours *all)
{
	int err = start(all, &all->victim, be_victim);

	if (!err)
		err = start(all, &all->neighbour, all->database ? be_database : be_neighbour);
	while (!err && !(err = atomic_load(&all->err)) && atomic_load(&all->ready) < all->depth + 1)
		load__sleep(NSEC_PER_MSEC);
	return err && !all->why[0] ? reference__fail(all->why, err, "cannot read %s: %s", all->path,
						     strerror(-err))
				   : err;
}

static void reap(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int reference_neighbours__run(struct reference_neighbours *all)
{
	int err;

	atomic_store(&all->phase, ALONE);
	while (!(err = atomic_load(&all->err)) && atomic_load(&all->phase) < OVER)
		load__sleep(NSEC_PER_MSEC);
	atomic_store(&all->phase, OVER);
	load__sleep(500 * NSEC_PER_MSEC); /* until the last requests have ended */
	reap(all->victim);
	reap(all->neighbour);
	return err ? reference__fail(all->why, err, "a read of %s failed", all->path) : 0;
}
