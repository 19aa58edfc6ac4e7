// SPDX-License-Identifier: BSD-2-Clause
/*
 * thp [-w] COUNT: COUNT first touches by write of aligned 2 MiB regions that ask for huge pages.
 *
 * Each is one minor fault that maps, and clears, 2 MiB. Proof that they are huge: AnonHugePages of
 * the process grows by COUNT times 2 MiB; if memory is too fragmented for that, no reference was
 * created. So minflt_window = COUNT faults of this process in the window of -w, all of huge pages,
 * the first one perhaps retried for its anon_vma (see touch.c).
 */

#include "reference.h"

static void need_thp(void)
{
	char text[64] = "";
	int fd = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC);

	reference_need(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0,
		       "this kernel has no transparent huge pages");
	close(fd);
	reference_need(!strstr(text, "[never]"), "transparent huge pages are switched off");
}

/* smaps_rollup and not smaps, to need no memory: this must not fault. */
static size_t huge_bytes(void)
{
	static char text[4096];
	int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *field;

	reference_need(length >= 0, "cannot read /proc/self/smaps_rollup: %m");
	close(fd);
	text[length] = '\0';
	field = strstr(text, "AnonHugePages:");
	return field ? strtoul(field + strlen("AnonHugePages:"), NULL, 10) << 10 : 0;
}

static void run(size_t count)
{
	struct reference_faults before, faults;
	volatile char *map = reference_map_huge(count);
	size_t bytes = huge_bytes();
	uint64_t start = clock__now_ns(), elapsed;

	before = reference__faults(RUSAGE_THREAD);
	for (size_t i = 0; i < count; i++)
		map[i * REFERENCE_HUGE] = 1;
	faults = reference__faults_since(RUSAGE_THREAD, before);
	elapsed = clock__now_ns() - start;
	bytes = huge_bytes() - bytes;
	printf("pages=%zu\nhuge_bytes=%zu\nelapsed_ns=%lu\n", count, bytes, elapsed);
	reference_print_faults("loop", faults);
	reference_must(bytes == count * REFERENCE_HUGE, "only %zu of %zu pages are huge",
		       bytes / REFERENCE_HUGE, count);
	reference_must(faults.minor + faults.major == (long)count,
		       "%zu pages touched, but %ld faults", count, faults.minor + faults.major);
}

int main(int argc, char **argv)
{
	size_t count;

	argv = reference_arguments(argc, argv, 1, "thp [-w] COUNT");
	count = reference_number(argv[0], "COUNT", 1, 4096);
	need_thp();
	reference_open();
	run(count);
	reference_close();
	return 0;
}
