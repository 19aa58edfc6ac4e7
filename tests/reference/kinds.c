// SPDX-License-Identifier: BSD-2-Clause
/*
 * kinds [-w] TOUCHED SHARED COPIED ZEROED SWAPPED HUGE: page faults of known kinds, one a page.
 *
 *   TOUCHED   pages of fresh anonymous memory are written to
 *   SHARED    pages of a file in memory are written to, in a shared mapping
 *   COPIED    pages of a private mapping of it are read, then written to, which copies them
 *   ZEROED    pages of fresh anonymous memory are read, which maps the zero page, then written to
 *   SWAPPED   pages are written to, are put into swap, and are read
 *   HUGE      huge pages of hugetlb are written to
 *
 * Prints how many faults of each kind that makes: anonymous=, file=, cow=, swap=, hugetlb=. Each
 * group is counted by getrusage(2) alone. Proofs that do not come from faults: /proc/PID/pagemap
 * says that SWAPPED pages are in swap, and after the faults that they are not; the page of a copy
 * has another frame, and the file keeps what it had. Reading the file maps some pages around the
 * one that is read, so this is counted and not known before. pswpin= is what /proc/vmstat counts
 * meanwhile, of all processes: at least SWAPPED.
 */

#include "reference.h"

#define IN_SWAP (1ULL << 62) /* of an entry of pagemap */
#define FRAME ((1ULL << 55) - 1)
#define PAGES_MOST 4096

static uint64_t entries[PAGES_MOST]; /* of pagemap */

static const uint64_t *read_pagemap(const char *map, size_t pages)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	size_t size = pages * sizeof(entries[0]);
	off_t at = (uintptr_t)map / load__page() * sizeof(entries[0]);

	reference_need(fd >= 0 && pread(fd, entries, size, at) == (ssize_t)size,
		       "cannot read /proc/self/pagemap: %m");
	close(fd);
	return entries;
}

static size_t in_swap(const char *map, size_t pages)
{
	size_t count = 0;

	read_pagemap(map, pages);
	for (size_t i = 0; i < pages; i++)
		count += !!(entries[i] & IN_SWAP);
	return count;
}

/* Touches the pages, and returns how many faults that were. */
static size_t touch(char *map, size_t pages, bool read)
{
	struct reference_faults before = reference__faults(RUSAGE_THREAD), faults;

	load__touch(map, pages, read);
	faults = reference__faults_since(RUSAGE_THREAD, before);
	return faults.minor + faults.major;
}

static size_t touch_each(char *map, size_t pages, bool read)
{
	size_t faults = touch(map, pages, read);

	reference_must(faults == pages, "%zu pages touched, but %zu faults", pages, faults);
	return faults;
}

static char *map_file(int fd, size_t pages, int flags)
{
	char *map = mmap(NULL, pages * load__page(), PROT_READ | PROT_WRITE, flags, fd, 0);

	reference_must(map != MAP_FAILED, "cannot map a file in memory: %m");
	return map;
}

static int make_file(size_t pages)
{
	int fd = memfd_create("kinds", MFD_CLOEXEC);

	reference_must(fd >= 0 && !ftruncate(fd, pages * load__page()) &&
			       !posix_fallocate(fd, 0, pages * load__page()),
		       "cannot make a file in memory: %m");
	return fd;
}

static size_t run_shared(size_t pages)
{
	return touch_each(map_file(make_file(pages), pages, MAP_SHARED), pages, false);
}

/* Returns the faults of the reads; those of the writes are one a page. */
static size_t run_copied(size_t pages)
{
	static uint64_t before[PAGES_MOST];
	int fd = make_file(pages);
	char *map = map_file(fd, pages, MAP_PRIVATE), first;
	size_t reads = touch(map, pages, true);

	memcpy(before, read_pagemap(map, pages), pages * sizeof(before[0]));
	touch_each(map, pages, false);
	read_pagemap(map, pages);
	for (size_t i = 0; i < pages; i++) {
		reference_must(pread(fd, &first, 1, i * load__page()) == 1 && !first,
			       "the file has changed");
		reference_need(before[i] & FRAME && entries[i] & FRAME,
			       "/proc/self/pagemap does not tell frames");
		reference_must((before[i] & FRAME) != (entries[i] & FRAME),
			       "a page was not copied");
	}
	return reads;
}

static void run_zeroed(size_t pages)
{
	char *map = reference_map(pages);

	touch_each(map, pages, true);
	touch_each(map, pages, false);
}

static void run_swapped(size_t pages)
{
	unsigned long before = reference_vmstat("pswpin");
	char *map = reference_map(pages);

	touch_each(map, pages, false);
	reference_need(!madvise(map, pages * load__page(), MADV_PAGEOUT),
		       "cannot put pages into swap: %m");
	reference_need(in_swap(map, pages) == pages, "only %zu of %zu pages are in swap",
		       in_swap(map, pages), pages);
	touch_each(map, pages, true);
	reference_must(!in_swap(map, pages), "%zu pages are still in swap", in_swap(map, pages));
	printf("pswpin=%lu\n", reference_vmstat("pswpin") - before);
}

static void run_huge(size_t pages)
{
	char *map = mmap(NULL, pages * REFERENCE_HUGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	struct reference_faults before = reference__faults(RUSAGE_THREAD), faults;

	reference_need(map != MAP_FAILED, "there are no %zu huge pages: %m", pages);
	for (size_t i = 0; i < pages; i++)
		map[i * REFERENCE_HUGE] = 1;
	faults = reference__faults_since(RUSAGE_THREAD, before);
	reference_must(faults.minor + faults.major == (long)pages,
		       "%zu huge pages touched, but %ld faults", pages,
		       faults.minor + faults.major);
}

int main(int argc, char **argv)
{
	size_t pages[6], reads;

	argv = reference_arguments(argc, argv, 6,
				   "kinds [-w] TOUCHED SHARED COPIED ZEROED SWAPPED HUGE");
	for (int i = 0; i < 6; i++)
		pages[i] = reference_number(argv[i], "a number of pages", 1, PAGES_MOST);
	reference_bind(0, reference_cpu(0)); /* a page can go to swap only from its CPU's lists */
	reference_open();
	touch_each(reference_map(pages[0]), pages[0], false);
	run_shared(pages[1]);
	reads = run_copied(pages[2]);
	run_zeroed(pages[3]);
	run_swapped(pages[4]);
	run_huge(pages[5]);
	printf("anonymous=%zu\nfile=%zu\ncow=%zu\nswap=%zu\nhugetlb=%zu\n",
	       pages[0] + pages[3] + pages[4], pages[1] + reads, pages[2] + pages[3], pages[4],
	       pages[5]);
	reference_close();
	return 0;
}
