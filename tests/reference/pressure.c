// SPDX-License-Identifier: BSD-2-Clause
/*
 * pressure [-w] [-s user|kernel] FILE PAGES: page faults that have to reclaim memory.
 *
 * Reads FILE, so that its clean pages are in the page cache, then touches PAGES fresh anonymous
 * pages, by user code or in system calls. In a cgroup whose memory.max leaves no room for both, the
 * faults reclaim the pages of FILE. With memory.high the kernel reclaims in a fault if it has no
 * other chance: in a system call that touches more than 64 pages.
 */

#include "reference.h"

static void read_file(const char *path)
{
	static char buffer[1 << 16];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	reference_must(fd >= 0, "cannot open %s: %m", path);
	do {
		got = read(fd, buffer, sizeof(buffer));
	} while (got > 0);
	close(fd);
}

int main(int argc, char **argv)
{
	size_t pages, page = load__page();
	bool kernel = false;
	char *map;
	int zero;

	while (reference_option(argc, argv, "s:"))
		kernel = !strcmp(optarg, "kernel");
	argv = reference_arguments(argc, argv, 2, "pressure [-w] [-s user|kernel] FILE PAGES");
	pages = reference_number(argv[1], "PAGES", 1, 1 << 24);
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	reference_open();
	map = reference_map(pages);
	read_file(argv[0]);
	if (!kernel)
		load__touch(map, pages, false);
	else
		reference_must(read(zero, map, pages * page) == (ssize_t)(pages * page),
			       "cannot read /dev/zero");
	printf("pages=%zu\n", pages);
	reference_close();
	return 0;
}
