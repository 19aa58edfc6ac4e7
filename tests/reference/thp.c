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

#define HUGE (2UL << 20)

static void need_thp(void)
{
	char text[64] = "";
	int fd = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		reference_die(REFERENCE_CANNOT, "this kernel has no transparent huge pages");
	close(fd);
	if (strstr(text, "[never]"))
		reference_die(REFERENCE_CANNOT, "transparent huge pages are switched off");
}

/* smaps_rollup and not smaps, to need no memory: this must not fault. */
static size_t huge_bytes(void)
{
	static char text[4096];
	int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *field;

	if (length < 0)
		reference_die(REFERENCE_CANNOT, "cannot read /proc/self/smaps_rollup: %m");
	close(fd);
	text[length] = '\0';
	field = strstr(text, "AnonHugePages:");
	return field ? strtoul(field + strlen("AnonHugePages:"), NULL, 10) << 10 : 0;
}

static char *map_aligned(size_t count)
{
	size_t length = (count + 1) * HUGE;
	char *map = mmap(NULL, length, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		reference_die(REFERENCE_FAILED, "cannot map %zu bytes: %m", length);
	map = (char *)(((uintptr_t)map + HUGE - 1) & ~(HUGE - 1));
	if (madvise(map, count * HUGE, MADV_HUGEPAGE))
		reference_die(REFERENCE_CANNOT, "cannot ask for huge pages: %m");
	return map;
}

static void run(size_t count)
{
	struct reference_faults before, faults;
	volatile char *map = map_aligned(count);
	size_t bytes = huge_bytes();
	uint64_t start = clock__now_ns(), elapsed;

	before = reference__faults(RUSAGE_THREAD);
	for (size_t i = 0; i < count; i++)
		map[i * HUGE] = 1;
	faults = reference__faults_since(RUSAGE_THREAD, before);
	elapsed = clock__now_ns() - start;
	bytes = huge_bytes() - bytes;
	printf("pages=%zu\nhuge_bytes=%zu\nelapsed_ns=%lu\n", count, bytes, elapsed);
	reference_print_faults("loop", faults);
	if (bytes != count * HUGE)
		reference_die(REFERENCE_FAILED, "only %zu of %zu pages are huge", bytes / HUGE,
			      count);
	if (faults.minor + faults.major != (long)count)
		reference_die(REFERENCE_FAILED, "%zu pages touched, but %ld faults", count,
			      faults.minor + faults.major);
}

int main(int argc, char **argv)
{
	struct reference_window window = {};
	size_t count;

	argv = reference_arguments(&window, argc, argv, 1, "thp [-w] COUNT");
	count = reference_number(argv[0], "COUNT", 1, 4096);
	reference_begin();
	need_thp();
	reference_open(&window);
	run(count);
	reference_close(&window);
	return 0;
}
