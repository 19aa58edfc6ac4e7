// SPDX-License-Identifier: BSD-2-Clause
/*
 * crowd [-w] THREADS PAGES: many threads, one after the other, each of which touches one page, and
 * at last one that touches PAGES of them, which takes most of the time.
 *
 * Reference: last_tid=, last_faults=, the minor and major faults of that thread by getrusage().
 */

#include "reference.h"

static char *pages;
static size_t nr_pages;
static struct reference_faults last;

static void *touch_one(void *at)
{
	load__touch(at, 1, false);
	return NULL;
}

static void *touch_all(void *unused)
{
	struct reference_faults before = reference__faults(RUSAGE_THREAD);

	printf("last_tid=%d\n", gettid());
	load__touch(pages, nr_pages, false);
	last = reference__faults_since(RUSAGE_THREAD, before);
	return unused;
}

int main(int argc, char **argv)
{
	char **args = reference_arguments(argc, argv, 2, "crowd [-w] THREADS PAGES");
	size_t threads = reference_number(args[0], "THREADS", 1, 1 << 20);
	char *first;

	nr_pages = reference_number(args[1], "PAGES", 1, 1 << 20);
	first = reference_map(threads);
	pages = reference_map(nr_pages);
	reference_wait("ready");
	for (size_t i = 0; i < threads; i++)
		pthread_join(reference_thread(touch_one, first + i * load__page()), NULL);
	pthread_join(reference_thread(touch_all, NULL), NULL);
	printf("last_faults=%ld\n", last.minor + last.major);
	reference_wait("done");
	return 0;
}
