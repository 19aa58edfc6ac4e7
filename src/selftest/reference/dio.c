// SPDX-License-Identifier: BSD-2-Clause
#include "dio.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sched.h"

#define WHOLE_READS 128 /* show whether one is one request */
#define WHOLE_TRIES 4

struct reference_dio_worker {
	struct reference_dio *dio;
	pthread_t thread;
	uint64_t random;
	char *buffer;
	struct reference_span io, syncs;
	uint64_t errors;
	bool has_blocked;
	uint64_t blocked_ns;
};

static off_t next_offset(struct reference_dio_worker *worker, uint64_t index)
{
	const struct reference_dio *dio = worker->dio;
	uint64_t block = dio->sequential ? index : load__random(&worker->random);

	return block % (dio->size / dio->bytes) * dio->bytes;
}

static void do_io(struct reference_dio_worker *worker, uint64_t index)
{
	const struct reference_dio *dio = worker->dio;
	off_t offset = next_offset(worker, index);
	uint64_t start = clock__now_ns();
	bool failed =
		direct_file__transfer(dio->fd, dio->write, worker->buffer, dio->bytes, offset);

	reference__add(&worker->io, clock__now_ns() - start);
	worker->errors += failed;
}

static void do_sync(struct reference_dio_worker *worker)
{
	uint64_t start = clock__now_ns();

	worker->errors += fdatasync(worker->dio->fd) != 0;
	reference__add(&worker->syncs, clock__now_ns() - start);
}

static bool time_left(const struct reference_dio *dio)
{
	return !dio->duration_ns || clock__now_ns() < dio->end_ns;
}

static void do_all(struct reference_dio_worker *worker)
{
	struct reference_dio *dio = worker->dio;
	uint64_t index;

	while (time_left(dio) &&
	       (index = __atomic_fetch_add(&dio->next, 1, __ATOMIC_RELAXED)) < dio->count) {
		do_io(worker, index);
		if (dio->sync)
			do_sync(worker);
	}
}

static void *work(void *arg)
{
	struct reference_dio_worker *worker = arg;
	struct reference_dio *dio = worker->dio;
	pid_t pid = getpid(), tid = syscall(SYS_gettid);
	struct reference_sched before, after;
	uint64_t start, took, busy;

	pthread_mutex_lock(&dio->lock);
	while (!dio->go)
		pthread_cond_wait(&dio->start, &dio->lock);
	pthread_mutex_unlock(&dio->lock);
	worker->has_blocked = !reference_sched__read(pid, tid, &before);
	start = clock__now_ns();
	do_all(worker);
	took = clock__now_ns() - start;
	if (reference_sched__read(pid, tid, &after))
		worker->has_blocked = false;
	if (!worker->has_blocked)
		return NULL;
	after = reference_sched__since(before, after);
	busy = after.ran_ns + after.run_delay_ns;
	worker->blocked_ns = took > busy ? took - busy : 0;
	return NULL;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* The directory that is, or would be, the parent of the path. */
static int create_beside(const char *path)
{
	char parent[PATH_MAX];

	if ((size_t)snprintf(parent, sizeof(parent), "%s", path) >= sizeof(parent))
		return -ENAMETOOLONG;
	return direct_file__create(dirname(parent));
}

static int make_file(struct reference_dio *dio)
{
	bool in = dio->own || is_directory(dio->path);
	const char *refusal;
	int err;

	dio->fd = in ? direct_file__create(dio->path) : create_beside(dio->path);
	if (dio->fd < 0)
		return reference__fail(dio->why, dio->fd, "cannot create %s%s: %s",
				       in ? "a file in " : "", dio->path, strerror(-dio->fd));
	fallocate(dio->fd, 0, 0, (off_t)dio->size); /* if it can: then it is in one piece */
	refusal = direct_file__switch(dio->fd);
	if (refusal)
		return reference__fail(dio->why, -EOPNOTSUPP, "no direct I/O to %s: %s", dio->path,
				       refusal);
	err = direct_file__fill(dio->fd, 0, dio->size);
	return err ? reference__fail(dio->why, err, "cannot fill %s: %s", dio->path, strerror(-err))
		   : 0;
}

static int open_path(struct reference_dio *dio)
{
	if (dio->own || access(dio->path, F_OK) || is_directory(dio->path))
		return make_file(dio);
	dio->fd = open(dio->path, (dio->write ? O_RDWR : O_RDONLY) | (dio->dsync ? O_DSYNC : 0) |
					  O_DIRECT | O_CLOEXEC);
	if (dio->fd < 0)
		return reference__fail(dio->why, errno == EINVAL ? -EOPNOTSUPP : -errno,
				       "cannot open %s for direct I/O: %s", dio->path,
				       strerror(errno));
	if (direct_file__is_in_memory(dio->fd))
		return reference__fail(dio->why, -EOPNOTSUPP, "%s is in memory", dio->path);
	return 0;
}

static int find_size_and_disk(struct reference_dio *dio)
{
	struct stat stat;

	if (fstat(dio->fd, &stat))
		return reference__fail(dio->why, -errno, "cannot stat %s: %s", dio->path,
				       strerror(errno));
	dio->size = stat.st_size;
	dio->disk = stat.st_dev;
	if (S_ISBLK(stat.st_mode)) {
		dio->disk = stat.st_rdev;
		if (ioctl(dio->fd, BLKGETSIZE64, &dio->size))
			return reference__fail(dio->why, -errno, "cannot read the size of %s: %s",
					       dio->path, strerror(errno));
	}
	if (dio->size < dio->bytes)
		return reference__fail(dio->why, -EINVAL, "%s is smaller than one I/O", dio->path);
	return 0;
}

static size_t pages_of(uint64_t bytes)
{
	return (bytes + load__page() - 1) / load__page();
}

/* The requests that `nr` direct reads of so many bytes take, and those of others. 0: unknown. */
static uint64_t requests_of(const struct reference_dio *dio, char *buffer, uint64_t bytes,
			    uint64_t nr)
{
	struct reference_disk before, after;

	if (!reference_disk__read(dio->disk, &before))
		return 0;
	for (uint64_t i = 0; i < nr; i++)
		if (direct_file__transfer(dio->fd, false, buffer, bytes, (off_t)(i * bytes)))
			return 0;
	return reference_disk__settled(dio->disk, &after)
		       ? after.field[REFERENCE_READS] - before.field[REFERENCE_READS]
		       : 0;
}

/* Does the disk take direct reads of so many bytes in one request each? Others may read, too. */
static bool reads_whole(const struct reference_dio *dio, uint64_t bytes)
{
	uint64_t nr = dio->size / bytes < WHOLE_READS ? dio->size / bytes : WHOLE_READS;
	char *buffer = nr ? load__map(pages_of(bytes)) : NULL;
	uint64_t requests = 0;

	for (int i = 0; buffer && i < WHOLE_TRIES && requests != nr; i++)
		requests = requests_of(dio, buffer, bytes, nr);
	if (buffer)
		munmap(buffer, bytes);
	return nr && requests == nr;
}

static int start_worker(struct reference_dio *dio, unsigned int index, char *buffer)
{
	struct reference_dio_worker *worker = &dio->workers[index];

	worker->dio = dio;
	worker->random = load__seed(dio->seed, index);
	worker->buffer = buffer;
	memset(buffer, 0xa5, dio->bytes);
	return load__thread(&worker->thread, work, worker);
}

static int start_workers(struct reference_dio *dio)
{
	size_t pages = pages_of(dio->bytes);
	char *buffers = load__map(dio->depth * pages);
	int err = 0;

	pthread_mutex_init(&dio->lock, NULL);
	pthread_cond_init(&dio->start, NULL);
	dio->workers = calloc(dio->depth, sizeof(*dio->workers));
	if (!buffers || !dio->workers)
		return reference__fail(dio->why, -ENOMEM, "out of memory");
	for (unsigned int i = 0; !err && i < dio->depth; i++)
		err = start_worker(dio, i, buffers + i * pages * load__page());
	return err ? reference__fail(dio->why, err, "cannot create a thread") : 0;
}

int reference_dio__open(struct reference_dio *dio)
{
	int err = open_path(dio);

	if (!err)
		err = find_size_and_disk(dio);
	if (!err && dio->whole_bytes && reads_whole(dio, dio->whole_bytes))
		dio->bytes = dio->whole_bytes;
	return err;
}

int reference_dio__prepare(struct reference_dio *dio)
{
	int err = reference_dio__open(dio);

	return err ? err : start_workers(dio);
}

static void collect(struct reference_dio *dio)
{
	dio->has_blocked = true;
	for (unsigned int i = 0; i < dio->depth; i++) {
		struct reference_dio_worker *worker = &dio->workers[i];

		pthread_join(worker->thread, NULL);
		reference__merge(&dio->io, &worker->io);
		reference__merge(&dio->syncs, &worker->syncs);
		dio->errors += worker->errors;
		dio->has_blocked = dio->has_blocked && worker->has_blocked;
		dio->blocked_ns += worker->blocked_ns;
	}
}

int reference_dio__run(struct reference_dio *dio)
{
	uint64_t start;

	dio->has_disk = reference_disk__read(dio->disk, &dio->before);
	start = clock__now_ns();
	dio->end_ns = start + dio->duration_ns;
	pthread_mutex_lock(&dio->lock);
	dio->go = true;
	pthread_cond_broadcast(&dio->start);
	pthread_mutex_unlock(&dio->lock);
	collect(dio);
	dio->elapsed_ns = clock__now_ns() - start;
	dio->has_disk = dio->has_disk && reference_disk__settled(dio->disk, &dio->after);
	if (dio->errors)
		return reference__fail(dio->why, -EIO, "%llu I/Os failed",
				       (unsigned long long)dio->errors);
	return 0;
}
