/* SPDX-License-Identifier: BSD-2-Clause */
/* The direct I/O that iolat is held against, and the disk it goes to. */
#ifndef LATSCOPE_SELFTEST_DISK_H
#define LATSCOPE_SELFTEST_DISK_H

#include <selftest/reference/dio.h>

#include "window.h"

extern const struct child_work disk_work; /* struct reference_dio */

/* Where the I/O goes: to a file of its own, or to the disk that was named, which is for reading. */
struct reference_dio disk__ask(const struct validate *validate);

/*
 * The whole disk that the child's I/O goes to. -EOPNOTSUPP, with window->why: no requests are seen
 * of it: it is none, or made of others.
 */
int disk__find(struct window *window, dev_t *disk);

/* All that this disk does, by kind; for methods that do not see whose it is. As disk__find(). */
int disk__filter(struct window *window, struct lat_config *config);

#endif
