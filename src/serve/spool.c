// SPDX-License-Identifier: BSD-2-Clause
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <zlib.h>

#include <core/vec.h>
#include <store/trusted_path.h>

#define STEP 4096ULL
#define MAGIC 0x326c6f6f7073534cULL /* "LSspool2" */

struct header {
	uint64_t magic;
	uint64_t number;
	uint64_t put_s; /* since 1970 */
	uint32_t len, rows;
	uint32_t data_sum; /* CRC-32 of what follows */
	uint32_t sum; /* of the header up to here */
	uint64_t done; /* not 0: it needs not be sent */
};
_Static_assert(sizeof(struct header) == 48, "no padding");

struct batch {
	uint64_t number, offset, put_s;
	uint32_t len, rows;
	unsigned int put_off, strikes; /* see spool__put_off() */
	uint64_t progress; /* when it was put off last */
	bool is_read; /* it is what spool__read() gave last */
};

struct spool {
	int fd;
	uint64_t most;
	uint64_t room; /* `most`, or less after a full disk: what the file has already */
	uint64_t end; /* of the newest batch */
	uint64_t size; /* of the file */
	uint64_t next; /* number */
	struct batch *batches; /* owned; the oldest first */
	size_t nr;
	uint64_t overwritten_rows; /* of what spool__read() gave last */
	uint64_t lost_rows;
	int err;
};

/* With its header, from one multiple of STEP to another. */
static uint64_t span(uint64_t len)
{
	return (sizeof(struct header) + len + STEP - 1) / STEP * STEP;
}

static uint32_t sum(const void *data, size_t len)
{
	return (uint32_t)crc32(0, data, (uInt)len);
}

static uint32_t sum_of_header(const struct header *header)
{
	return sum(header, offsetof(struct header, sum));
}

static int add(struct spool *spool, const struct batch *batch)
{
	struct batch *grown = vec__grow(spool->batches, spool->nr, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	spool->batches = grown;
	grown[spool->nr++] = *batch;
	return 0;
}

/* ---- what an earlier process left ---- */

/* NULL: there is no whole batch. */
static void *read_data(const struct spool *spool, const struct batch *batch, uint32_t data_sum)
{
	void *data = malloc(batch->len + 1UL);
	ssize_t got = -1;

	if (data)
		got = pread(spool->fd, data, batch->len,
			    (off_t)(batch->offset + sizeof(struct header)));
	if (got == (ssize_t)batch->len && sum(data, batch->len) == data_sum)
		return data;
	free(data);
	return NULL;
}

static bool read_header(const struct spool *spool, uint64_t offset, struct header *header)
{
	return pread(spool->fd, header, sizeof(*header), (off_t)offset) == sizeof(*header) &&
	       header->magic == MAGIC && header->sum == sum_of_header(header) && header->number;
}

static int compare(const void *a, const void *b)
{
	const struct batch *one = a, *other = b;

	return (one->number > other->number) - (one->number < other->number);
}

/* -ENOMEM, or the size of what is at this offset; 0: no batch. */
static int64_t find_batch(struct spool *spool, uint64_t offset)
{
	struct batch batch = { .offset = offset };
	struct header header;
	void *data;
	int err = 0;

	if (!read_header(spool, offset, &header) || offset + span(header.len) < offset)
		return 0;
	batch.number = header.number;
	batch.put_s = header.put_s;
	batch.len = header.len;
	batch.rows = header.rows;
	if (batch.len > spool->size || header.number == UINT64_MAX)
		return 0;
	data = read_data(spool, &batch, header.data_sum);
	if (!data)
		return 0;
	free(data);
	if (header.number >= spool->next) {
		spool->next = header.number + 1;
		spool->end = offset + span(header.len);
	}
	if (!header.done)
		err = add(spool, &batch);
	return err ? err : (int64_t)span(header.len);
}

static int find_all(struct spool *spool)
{
	for (uint64_t offset = 0; offset < spool->size;) {
		int64_t found = find_batch(spool, offset);

		if (found < 0)
			return (int)found;
		offset += found ? (uint64_t)found : STEP;
	}
	if (spool->nr)
		qsort(spool->batches, spool->nr, sizeof(*spool->batches), compare);
	return 0;
}

/*
 * The file of something else, named by mistake, would be overwritten. What a batch that was put
 * half leaves of a new file begins with zeros.
 */
static bool is_foreign(const struct spool *spool)
{
	uint64_t magic = 0;

	return spool->next == 1 &&
	       (spool->size < sizeof(magic)
			? spool->size > 0
			: pread(spool->fd, &magic, sizeof(magic), 0) == sizeof(magic) && magic &&
				  magic != MAGIC);
}

/* ---- the file ---- */

/* Nobody else may have put a file there that is written to as root. */
static int check(int fd, struct stat *st)
{
	if (fstat(fd, st))
		return -errno;
	if (!S_ISREG(st->st_mode) || st->st_uid != geteuid() || st->st_nlink != 1)
		return -EREMCHG;
	if (flock(fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return 0;
}

static int open_file(const char *path)
{
	const struct caller caller = { .uid = geteuid(), .gid = getegid() };
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX];
	int dir, fd;

	if (snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - path) : 1,
		     slash ? path : ".") >= PATH_MAX)
		return -ENAMETOOLONG;
	dir = trusted_path__open(parent[0] ? parent : "/", &caller);
	if (dir < 0)
		return dir;
	fd = openat(dir, slash ? slash + 1 : path,
		    O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	if (fd < 0)
		fd = -errno;
	close(dir);
	return fd;
}

int spool__new(struct spool **out, const char *path, uint64_t most)
{
	struct spool *spool = calloc(1, sizeof(*spool));
	struct stat st;
	int err;

	if (!spool)
		return -ENOMEM;
	spool->most = spool->room = most;
	spool->next = 1;
	spool->fd = open_file(path);
	err = spool->fd < 0 ? spool->fd : check(spool->fd, &st);
	if (!err) {
		spool->size = (uint64_t)st.st_size;
		err = find_all(spool);
		if (!err && is_foreign(spool))
			err = -EEXIST;
	}
	if (err) {
		spool__free(spool);
		return err;
	}
	*out = spool;
	return 0;
}

void spool__free(struct spool *spool)
{
	if (!spool)
		return;
	if (spool->fd >= 0)
		close(spool->fd);
	free(spool->batches);
	free(spool);
}

static void empty(struct spool *spool)
{
	if (ftruncate(spool->fd, 0))
		return; /* the batches in it are marked as done */
	spool->end = spool->size = 0;
	spool->room = spool->most;
}

/* ---- putting ---- */

/* They are lost, except what is being sent: that is in memory. */
static void lose(struct spool *spool, size_t first, size_t count)
{
	struct batch *batches = spool->batches + first;

	for (size_t i = 0; i < count; i++)
		if (batches[i].is_read)
			spool->overwritten_rows += batches[i].rows;
		else
			spool->lost_rows += batches[i].rows;
	spool->nr -= count;
	if (spool->nr > first)
		memmove(batches, batches + count, (spool->nr - first) * sizeof(*batches));
}

/* Those that a batch there would overwrite are older than all others. */
static void make_room(struct spool *spool, uint64_t offset, uint64_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < spool->nr; i++) {
		const struct batch *batch = &spool->batches[i];

		if (batch->offset < offset + size && offset < batch->offset + span(batch->len))
			count = i + 1;
	}
	lose(spool, 0, count);
}

static int write_at(const struct spool *spool, const void *data, size_t len, uint64_t offset)
{
	ssize_t got = pwrite(spool->fd, data, len, (off_t)offset);

	if (got == (ssize_t)len)
		return 0;
	return got < 0 ? -errno : -ENOSPC;
}

/* The header last: without it there is no batch. */
static int write_batch(struct spool *spool, const struct batch *batch, const void *data)
{
	struct header header = { .magic = MAGIC,
				 .number = batch->number,
				 .put_s = batch->put_s,
				 .len = batch->len,
				 .rows = batch->rows,
				 .data_sum = sum(data, batch->len) };
	int err;

	header.sum = sum_of_header(&header);
	err = write_at(spool, data, batch->len, batch->offset + sizeof(header));
	if (!err)
		err = write_at(spool, &header, sizeof(header), batch->offset);
	return err;
}

static int put_at(struct spool *spool, struct batch *batch, uint64_t offset, const void *data)
{
	uint64_t size = span(batch->len);
	int err;

	make_room(spool, offset, size);
	batch->offset = offset;
	err = write_batch(spool, batch, data);
	if (!err)
		err = add(spool, batch);
	if (err)
		return err;
	spool->next++;
	spool->end = offset + size;
	if (spool->size < spool->end)
		spool->size = spool->end;
	return 0;
}

/* The disk is full: what the file has already is used from the start. */
static void stop_growing(struct spool *spool)
{
	spool->room = spool->size;
	if (ftruncate(spool->fd, (off_t)spool->size))
		return; /* what was written half is no batch */
}

int spool__put(struct spool *spool, const void *data, size_t len, uint32_t rows)
{
	struct batch batch = { .number = spool->next,
			       .put_s = (uint64_t)time(NULL),
			       .len = (uint32_t)len,
			       .rows = rows };
	uint64_t size = span(len), offset = spool->end;

	spool->err = size > spool->most || len > INT_MAX ? -EFBIG : 0;
	if (!spool->err) {
		if (offset + size > spool->room)
			offset = 0;
		spool->err =
			offset + size > spool->room ? -ENOSPC : put_at(spool, &batch, offset, data);
	}
	if (spool->err == -ENOSPC && offset && size <= spool->size) {
		stop_growing(spool);
		spool->err = put_at(spool, &batch, 0, data);
	}
	if (spool->err)
		spool->lost_rows += rows;
	return spool->err;
}

/* ---- reading ---- */

static int append(struct spool *spool, struct batch *batch, struct spool_body *body)
{
	struct header header;
	void *data = NULL, *grown;

	if (read_header(spool, batch->offset, &header) && header.number == batch->number)
		data = read_data(spool, batch, header.data_sum);
	if (!data)
		return -EIO;
	grown = realloc(body->at, body->len + batch->len + 1);
	if (grown) {
		memcpy((char *)grown + body->len, data, batch->len);
		body->at = grown;
		body->len += batch->len;
		body->last = batch->number;
		body->rows += batch->rows;
		body->batches++;
		batch->is_read = true;
	}
	free(data);
	return grown ? 0 : -ENOMEM;
}

/* What was given last was not done: it was overwritten in the meantime, or is read again. */
static void begin_reading(struct spool *spool)
{
	spool->lost_rows += spool->overwritten_rows;
	spool->overwritten_rows = 0;
	for (size_t i = 0; i < spool->nr; i++)
		spool->batches[i].is_read = false;
}

/* The oldest of those that were put off least often. */
static size_t find_next(const struct spool *spool)
{
	size_t next = 0;

	for (size_t i = 1; i < spool->nr; i++)
		if (spool->batches[i].put_off < spool->batches[next].put_off)
			next = i;
	return next;
}

static void append_further(struct spool *spool, size_t first, size_t most, struct spool_body *body)
{
	for (size_t i = first; i < spool->nr; i++) {
		struct batch *batch = &spool->batches[i];

		if (batch->put_off)
			continue;
		if (body->len + batch->len > most || append(spool, batch, body))
			return;
	}
}

int spool__read(struct spool *spool, size_t most, struct spool_body *body)
{
	size_t at = 0;
	int err = -EIO;

	*body = (struct spool_body){ 0 };
	begin_reading(spool);
	while (err == -EIO && spool->nr) {
		at = find_next(spool);
		err = append(spool, &spool->batches[at], body);
		if (err == -EIO)
			lose(spool, at, 1);
	}
	if (!err && !spool->batches[at].put_off)
		append_further(spool, at + 1, most, body);
	return body->batches ? 0 : -ENOENT;
}

/* If this is not written, the batches are sent twice, which does no harm. */
static void mark(const struct spool *spool, const struct batch *batch)
{
	const uint64_t done = 1;

	if (pwrite(spool->fd, &done, sizeof(done),
		   (off_t)(batch->offset + offsetof(struct header, done))) < 0)
		return;
}

void spool__done(struct spool *spool)
{
	size_t left = 0;

	for (size_t i = 0; i < spool->nr; i++)
		if (spool->batches[i].is_read)
			mark(spool, &spool->batches[i]);
		else
			spool->batches[left++] = spool->batches[i];
	spool->nr = left;
	spool->overwritten_rows = 0;
	if (!spool->nr)
		empty(spool);
}

unsigned int spool__put_off(struct spool *spool, uint64_t progress)
{
	unsigned int strikes = 0;

	for (size_t i = 0; i < spool->nr; i++) {
		struct batch *batch = &spool->batches[i];

		if (!batch->is_read)
			continue;
		batch->put_off++;
		batch->strikes += progress > batch->progress;
		batch->progress = progress;
		strikes = batch->strikes;
	}
	return strikes;
}

struct spool_counts spool__counts(const struct spool *spool)
{
	struct spool_counts counts = { .batches = spool->nr,
				       .bytes = spool->size,
				       .oldest_s = spool->nr ? spool->batches[0].put_s : 0,
				       .lost_rows = spool->lost_rows,
				       .err = spool->err };

	for (size_t i = 0; i < spool->nr; i++)
		counts.rows += spool->batches[i].rows;
	return counts;
}
