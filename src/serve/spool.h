/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batches of rows that wait for a server, in an SQLite database that does not grow beyond a size.
 * It survives the end of the process at any moment: a batch that was put is found by the next
 * process until it is done, and a batch that was written only in part is not found. A full disk or
 * file costs the oldest batches; what is lost is counted. When no batch waits, which is the usual
 * state, the file is small.
 *
 * Nothing is flushed to the disk: a crash of the machine loses the batches of the last seconds, or
 * damages the file.
 */
#ifndef LATSCOPE_SERVE_SPOOL_H
#define LATSCOPE_SERVE_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_LEAST (64U << 10) /* bytes */

struct spool;

struct spool_counts {
	uint64_t batches, rows; /* that wait */
	uint64_t bytes; /* of the file */
	uint64_t oldest_s; /* when the oldest that waits was put, since 1970; 0: none waits */
	uint64_t lost_rows; /* since spool__new(), for any of these reasons */
	bool was_set_aside; /* see spool__new() */
	int err; /* of the last batch that was put; 0: it was written */
};

/*
 * Opens or makes the file, which only its owner may read, and PATH-journal next to it; to be
 * called before privileges are dropped. Root follows no link of others: see trusted_path.h. `most`:
 * size of both in bytes. A damaged file, or one of an earlier build, is renamed to PATH.old.
 * -EBUSY: another process uses it; -EREMCHG: it belongs to another user, or has a second name;
 * -EEXIST: it has something else in it; or an error of open() or SQLite.
 */
int spool__new(struct spool **spool, const char *path, uint64_t most);
void spool__free(struct spool *spool); /* NULL is allowed */

/* Adds a batch. 0, or -errno and its rows are lost, and counted. */
int spool__put(struct spool *spool, const void *data, size_t len, uint32_t rows);

struct spool_body {
	void *at; /* to be freed with free() */
	size_t len;
	uint64_t last; /* number of the last batch in it */
	uint64_t rows;
	unsigned int batches;
};

/*
 * The oldest batches, one after the other: at least one, and further ones while they are not more
 * than `most` bytes together. Those that were put off come after all others, each alone. Until
 * spool__done() they stay in the file. 0; -ENOENT: there is none; or another -errno. A batch that
 * cannot be read is lost.
 */
int spool__read(struct spool *spool, size_t most, struct spool_body *body);

/* What spool__read() gave last is not needed any more. */
void spool__done(struct spool *spool);

/*
 * What spool__read() gave last is read again after all others. `progress` grows while other batches
 * are stored. Returns its strikes: how often it was put off after `progress` had grown, which says
 * that it is this batch that cannot be stored. This is forgotten when the process ends.
 */
unsigned int spool__put_off(struct spool *spool, uint64_t progress);

struct spool_counts spool__counts(const struct spool *spool);

#endif
