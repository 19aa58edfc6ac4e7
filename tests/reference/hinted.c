// SPDX-License-Identifier: BSD-2-Clause
/*
 * hinted [-w] PAGES COUNT: hint faults of NUMA balancing.
 *
 * Writes to PAGES fresh pages, touched=, then to each of them again and again until that has made
 * at least COUNT more faults: the pages are there, so the kernel has only made them inaccessible to
 * see who uses them. NUMA balancing must be on and scan soon. All other memory of the process has a
 * policy that it leaves alone, so that nothing faults while the program waits. A second thread only
 * sleeps: of a process with one thread the kernel leaves the pages of its own node alone.
 */

#include <linux/mempolicy.h>

#include "reference.h"

#ifndef MPOL_F_NUMA_BALANCING /* Linux 5.12 */
#define MPOL_F_NUMA_BALANCING (1 << 13)
#endif

static const unsigned long first_node = 1;

static void *sleep_on(void *arg)
{
	pause();
	return arg;
}

static void touch_until(char *map, size_t pages, long count)
{
	struct reference_faults before = reference__faults(RUSAGE_SELF), faults;

	do {
		load__touch(map, pages, false);
		faults = reference__faults_since(RUSAGE_SELF, before);
	} while (faults.minor + faults.major < count);
}

int main(int argc, char **argv)
{
	size_t pages, count;
	char *map;

	argv = reference_arguments(argc, argv, 2, "hinted [-w] PAGES COUNT");
	pages = reference_number(argv[0], "PAGES", 1, 1 << 20);
	count = reference_number(argv[1], "COUNT", 1, 1 << 20);
	reference_need(!syscall(SYS_set_mempolicy, MPOL_BIND, &first_node, 64),
		       "cannot choose the NUMA node: %m");
	reference_thread(sleep_on, NULL);
	reference_open();
	map = reference_map(pages);
	reference_need(!syscall(SYS_mbind, map, pages * load__page(),
				MPOL_BIND | MPOL_F_NUMA_BALANCING, &first_node, 64, 0),
		       "cannot have memory balanced: %m");
	load__touch(map, pages, false);
	touch_until(map, pages, count);
	printf("touched=%zu\n", pages);
	reference_close();
	return 0;
}
