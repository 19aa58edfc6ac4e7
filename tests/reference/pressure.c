// SPDX-License-Identifier: BSD-2-Clause
/*
 * pressure [-w] [-s user|kernel] FILE PAGES: page faults that have to reclaim memory.
 *
 * Reads FILE, so that its clean pages are in the page cache, then touches PAGES fresh anonymous
 * pages, by user code or in system calls. In a cgroup whose memory.max leaves no room for both, the
 * faults reclaim the pages of FILE. With memory.high the kernel reclaims in a fault if it has no
 * other chance: in a system call that touches more than 64 pages.
 */

#include <sys/uio.h>

#include "reference.h"

static void read_file(const char *path)
{
	static char buffer[1 << 16];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		reference_die(REFERENCE_FAILED, "cannot open %s: %m", path);
	do {
		got = read(fd, buffer, sizeof(buffer));
	} while (got > 0);
	close(fd);
}

int main(int argc, char **argv)
{
	struct reference_window window = {};
	size_t pages, page = load__page();
	bool kernel = false;
	int option, zero;
	char *map;

	while ((option = getopt(argc, argv, "ws:")) != -1) {
		if (option == 'w')
			window.wait = true;
		else if (option == 's')
			kernel = !strcmp(optarg, "kernel");
		else
			return REFERENCE_USAGE;
	}
	if (argc - optind != 2)
		reference_die(REFERENCE_USAGE, "usage: pressure [-w] [-s user|kernel] FILE PAGES");
	pages = reference_number(argv[optind + 1], "PAGES", 1, 1 << 24);
	reference_begin();
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	reference_open(&window);
	map = reference_map(pages);
	read_file(argv[optind]);
	if (!kernel)
		load__touch(map, pages, false);
	else if (read(zero, map, pages * page) != (ssize_t)(pages * page))
		reference_die(REFERENCE_FAILED, "cannot read /dev/zero");
	printf("pages=%zu\n", pages);
	reference_close(&window);
	return 0;
}
