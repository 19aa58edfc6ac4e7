/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page /report: the last minutes of the flight recorder, as `latscope report --html` shows
 * them. A process of its own makes it, one at a time, so that probes and scrapes do not wait and
 * its memory is given back. It makes a snapshot next to the segments of the ring, and deletes it;
 * the page itself is in a file without a name.
 */
#ifndef LATSCOPE_SERVE_PAGE_H
#define LATSCOPE_SERVE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <store/recording.h>

struct page {
	const struct recording *ring;
	pid_t process; /* that makes it; 0: none */
	int file; /* the page, once it has ended */
};

/*
 * Begins a page with the last `last_ns`. 0; -EBUSY: one is being made; -EINVAL: longer than an
 * hour; or another -errno.
 */
int page__begin(struct page *page, uint64_t last_ns);

/*
 * 0: it is not complete yet; 1: *file and *len are set, and the caller closes the file; or -errno:
 * it failed. -ENOENT: the ring has nothing yet.
 */
int page__end(struct page *page, int *file, size_t *len);

/* Deletes what a process that was killed left behind. */
void page__clean(const struct page *page);

#endif
