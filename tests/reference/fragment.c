// SPDX-License-Identifier: BSD-2-Clause
/*
 * fragment [-w] COUNT: page faults that have to compact memory.
 *
 * Fills most of the free memory with base pages and gives every second one back: then no huge page
 * is free, and COUNT first touches of regions that ask for huge pages make them by direct
 * compaction (transparent_hugepage/defrag must not be "never"). compact_stall is what the kernel
 * counts meanwhile, of all tasks.
 */
#include <sys/sysinfo.h>

#include "reference.h"

static uint64_t compact_stall(void)
{
	FILE *file = fopen("/proc/vmstat", "re");
	uint64_t value = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "compact_stall %lu", &value) == 1)
			break;
	if (file)
		fclose(file);
	return value;
}

static void fragment(void)
{
	size_t page = load__page(), pages;
	struct sysinfo info;
	char *map;

	sysinfo(&info);
	pages = info.freeram * info.mem_unit / page / 64 * 60;
	map = reference_map(pages);
	reference_must(!mlock(map, pages * page) && !munlock(map, pages * page),
		       "cannot fill %zu pages: %m", pages);
	for (size_t i = 0; i < pages; i += 2)
		madvise(map + i * page, page, MADV_DONTNEED);
}

int main(int argc, char **argv)
{
	char **args = reference_arguments(argc, argv, 1, "fragment [-w] COUNT");
	size_t count = reference_number(args[0], "COUNT", 1, 1 << 16);
	uint64_t stalls;
	char *map;

	fragment();
	map = reference_map_huge(count);
	reference_wait("ready");
	stalls = compact_stall();
	for (size_t i = 0; i < count; i++)
		*(volatile char *)(map + i * REFERENCE_HUGE) = 1;
	stalls = compact_stall() - stalls;
	printf("count=%zu\ncompact_stall=%lu\n", count, stalls);
	reference_must(stalls, "nothing was compacted");
	reference_wait("done");
	return 0;
}
