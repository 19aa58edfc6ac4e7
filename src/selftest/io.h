/* SPDX-License-Identifier: BSD-2-Clause */
/* The direct I/O that iolat is checked with, its disk, and the same I/O by fio(1). */
#ifndef LATSCOPE_SELFTEST_IO_H
#define LATSCOPE_SELFTEST_IO_H

#include <selftest/reference/dio.h>

#include "window.h"

extern const struct child_work disk_work; /* struct reference_dio */

/* To a file of its own, or to the disk of --disk, which is only read. */
struct reference_dio disk__ask(const struct validate *validate);

/* The whole disk that the child's I/O goes to. -EOPNOTSUPP: it has no requests; window->why. */
int disk__find(struct window *window, dev_t *disk);

/* All I/O of this disk, by operation: works without knowing the submitter. As disk__find(). */
int disk__filter(struct window *window, struct lat_config *config);

struct fio {
	/* First: disk__find() uses it. Given: path, own, bytes, size, count, duration_ns. */
	struct reference_dio dio;
	/* By fio's clock, around the system calls: no request was in flight for longer. */
	struct reference_span reads, writes;
	char why[REFERENCE_WHY];
};

/*
 * struct fio: one request at a time, random reads and, to a file of its own, half of them writes.
 * -EOPNOTSUPP: fio is not installed.
 */
extern const struct child_work fio_work;

#endif
