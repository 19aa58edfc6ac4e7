/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page /report: the last minutes of the flight recorder, as `latscope report --html` shows
 * them, one at a time. First a snapshot is made next to the segments of the ring, in steps, so that
 * probes and scrapes do not wait. Then a process of its own prints the page into a file without a
 * name, and its memory is given back. The snapshot is deleted.
 *
 * The process does not read the ring: SQLite's locks on files that are open in the service do not
 * work in a process that was forked.
 */
#ifndef LATSCOPE_SERVE_PAGE_H
#define LATSCOPE_SERVE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <store/recording.h>

#define PAGE_SNAPSHOT "0-page" /* its directory, in that of the ring */

struct snapshot;

struct page {
	const struct recording *ring;
	struct snapshot *snapshot; /* that is being made; NULL: none */
	struct recording recording; /* the snapshot's */
	pid_t process; /* that prints it; 0: none */
	int file; /* the page, once it has ended */
};

/*
 * Begins a page with the last `last_ns`. 0; -EBUSY: one is being made; -EINVAL: longer than an
 * hour; -ENOENT: the ring has nothing yet; or another -errno.
 */
int page__begin(struct page *page, uint64_t last_ns);

/*
 * Call often: works on it for a few ms. 0: it is not complete yet, or there is none; 1: *file and
 * *len are set, and the caller closes the file; or -errno: it failed.
 */
int page__work(struct page *page, int *file, size_t *len);

/* Ends it. */
void page__clear(struct page *page);

#endif
