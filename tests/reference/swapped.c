// SPDX-License-Identifier: BSD-2-Clause
/*
 * swapped [-w] RECLAIM PAGES: page faults that read from swap.
 *
 * Writes to PAGES pages, has the kernel put them into swap, and reads them, one after the other.
 * Pages in swap also stay in memory for a while: so it writes to RECLAIM, the file memory.reclaim
 * of its cgroup, until mincore(2) says that none is there. Prints what /proc/vmstat counts
 * meanwhile, pswpin=, and by its own clock how long the reads took, swap_count= to swap_sum_ns=.
 */

#include "reference.h"

#define PAGES_MOST 4096
#define PATIENCE_NS (60 * NSEC_PER_SEC)

static unsigned char resident[PAGES_MOST];

static bool is_gone(char *map, size_t pages)
{
	reference_must(!mincore(map, pages * load__page(), resident), "mincore: %m");
	return !memchr(resident, 1, pages);
}

static void put_away(char *map, size_t pages, const char *reclaim)
{
	uint64_t start = clock__now_ns();
	int fd;

	reference_need(!madvise(map, pages * load__page(), MADV_PAGEOUT),
		       "cannot put pages into swap: %m");
	while (!is_gone(map, pages)) {
		reference_must(clock__now_ns() - start < PATIENCE_NS, "pages stay in memory");
		fd = open(reclaim, O_WRONLY | O_CLOEXEC);
		reference_need(fd >= 0, "cannot open %s: %m", reclaim);
		/* EAGAIN: it reclaimed less than that. */
		reference_need(write(fd, "1M", 2) == 2 || errno == EAGAIN, "cannot reclaim: %m");
		close(fd);
		load__sleep(NSEC_PER_MSEC);
	}
}

int main(int argc, char **argv)
{
	struct reference_span span = { 0 };
	unsigned long before;
	uint64_t start;
	size_t pages;
	char *map;

	argv = reference_arguments(argc, argv, 2, "swapped [-w] RECLAIM PAGES");
	pages = reference_number(argv[1], "PAGES", 1, PAGES_MOST);
	reference_open();
	map = reference_map(pages);
	load__touch(map, pages, false);
	put_away(map, pages, argv[0]);
	before = reference_vmstat("pswpin");
	for (size_t i = 0; i < pages; i++) {
		start = clock__now_ns();
		load__touch(map + i * load__page(), 1, true);
		reference__add(&span, clock__now_ns() - start);
	}
	printf("pswpin=%lu\n", reference_vmstat("pswpin") - before);
	reference_print_span("swap", &span);
	reference_close();
	return 0;
}
