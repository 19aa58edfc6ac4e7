// SPDX-License-Identifier: BSD-2-Clause
/*
 * cold [-w] [-a] FILE PAGES: page faults on a mapped file that is not in the page cache.
 *
 * Makes FILE (which must not exist, and is gone at the end) with PAGES pages, writes it out, drops
 * it from the page cache, checks by mincore(2) that it is gone, maps it with MADV_RANDOM, which
 * rules out reading ahead, and reads a byte of each page. So there are PAGES major faults, each
 * with one read from the disk in it: majflt_window = PAGES, minflt_window = 0 for this process in
 * the window of -w. The read happens with the lock dropped: each fault is one VM_FAULT_RETRY, two
 * calls of handle_mm_fault().
 *
 * -a reads ahead, as most programs do: then few faults are major, many pages are mapped around a
 * fault and need none, and the reference is only that majflt_window + minflt_window faults
 * happened.
 *
 * A file system that keeps its pages in memory (tmpfs) cannot: exit code 77.
 */

#include "reference.h"

struct cold {
	size_t pages;
	bool ahead;
	int fd;
	uint64_t elapsed_ns;
};

static void make(struct cold *cold, const char *path)
{
	static char page[LOAD_PAGE_MAX];

	cold->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	reference_must(cold->fd >= 0, "cannot make %s: %m", path);
	unlink(path);
	memset(page, 1, sizeof(page));
	for (size_t i = 0; i < cold->pages; i++)
		reference_must(write(cold->fd, page, load__page()) == (ssize_t)load__page(),
			       "cannot write %s: %m", path);
}

static size_t cached_pages(const struct cold *cold, void *map)
{
	static unsigned char resident[1 << 20];
	size_t count = 0;

	reference_must(!mincore(map, cold->pages * load__page(), resident),
		       "cannot ask what is cached: %m");
	for (size_t i = 0; i < cold->pages; i++)
		count += resident[i] & 1;
	return count;
}

static char *map_file(const struct cold *cold)
{
	size_t length = cold->pages * load__page();
	char *map = mmap(NULL, length, PROT_READ, MAP_SHARED, cold->fd, 0);

	reference_must(map != MAP_FAILED && (cold->ahead || !madvise(map, length, MADV_RANDOM)),
		       "cannot map the file: %m");
	return map;
}

/*
 * Before the window, and so that the mapping is gone again when reference_open() faults in what is
 * mapped. More than once: pages that another CPU has in hand for a moment are not dropped.
 */
static void drop(const struct cold *cold)
{
	char *map = map_file(cold);
	size_t left = 1;

	for (int tries = 0; left && tries < 150; tries++) {
		reference_must(!fsync(cold->fd), "cannot write the file out: %m");
		posix_fadvise(cold->fd, 0, 0, POSIX_FADV_DONTNEED);
		left = cached_pages(cold, map);
		if (left)
			load__sleep(10 * NSEC_PER_MSEC);
	}
	reference_need(!left, "%zu pages stay cached: a file system in memory?", left);
	munmap(map, cold->pages * load__page());
}

static struct reference_faults touch(struct cold *cold, char *map)
{
	struct reference_faults before = reference__faults(RUSAGE_THREAD), faults;
	uint64_t start = clock__now_ns();

	load__touch(map, cold->pages, true);
	faults = reference__faults_since(RUSAGE_THREAD, before);
	cold->elapsed_ns = clock__now_ns() - start;
	return faults;
}

static void run(struct cold *cold)
{
	char *map = map_file(cold);
	struct reference_faults faults;

	reference_must(!cached_pages(cold, map),
		       "another process read the file into the page cache");
	faults = touch(cold, map);
	printf("pages=%zu\nelapsed_ns=%lu\n", cold->pages, cold->elapsed_ns);
	reference_print_faults("loop", faults);
	reference_must(cold->ahead || faults.major == (long)cold->pages,
		       "%zu pages touched, but %ld major faults", cold->pages, faults.major);
}

int main(int argc, char **argv)
{
	struct cold cold = {};

	while (reference_option(argc, argv, "a"))
		cold.ahead = true;
	argv = reference_arguments(argc, argv, 2, "cold [-w] [-a] FILE PAGES");
	cold.pages = reference_number(argv[1], "PAGES", 1, 1 << 20);
	make(&cold, argv[0]);
	drop(&cold);
	reference_open();
	run(&cold);
	reference_close();
	return 0;
}
