/* SPDX-License-Identifier: BSD-2-Clause */
/* Direct I/O by fio(1), one request at a time, and what fio says of it. */
#ifndef LATSCOPE_SELFTEST_FIO_H
#define LATSCOPE_SELFTEST_FIO_H

#include <selftest/reference/dio.h>

#include "child.h"

struct fio {
	/* First: disk__find() asks it. Asked: path, own, bytes, size, count, duration_ns. */
	struct reference_dio dio;
	/* By fio's clock, around the system calls: no request was open for longer. */
	struct reference_span reads, writes;
	char why[REFERENCE_WHY];
};

/*
 * struct fio. To be read at random, and, if it is its own file, written half of the time.
 * -EOPNOTSUPP: there is no fio.
 */
extern const struct child_work fio_work;

#endif
