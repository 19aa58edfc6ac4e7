// SPDX-License-Identifier: BSD-2-Clause
/*
 * thp [-w] COUNT: COUNT first touches by write of aligned 2 MiB regions that ask for huge pages.
 *
 * Each is one minor fault that maps, and clears, 2 MiB. Proof that they are huge: AnonHugePages of
 * the process grows by COUNT times 2 MiB; if memory is too fragmented for that, no truth was
 * created. So minflt_window = COUNT faults of this process in the window of -w, all of huge pages,
 * the first one perhaps retried for its anon_vma (see touch.c).
 */
#include <fcntl.h>

#include "truth.h"

#define HUGE (2UL << 20)

static void need_thp(void)
{
	char text[64] = "";
	int fd = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		truth_die(TRUTH_CANNOT, "this kernel has no transparent huge pages");
	close(fd);
	if (strstr(text, "[never]"))
		truth_die(TRUTH_CANNOT, "transparent huge pages are switched off");
}

/* smaps_rollup and not smaps, to need no memory: this must not fault. */
static size_t huge_bytes(void)
{
	static char text[4096];
	int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *field;

	if (length < 0)
		truth_die(TRUTH_CANNOT, "cannot read /proc/self/smaps_rollup: %s", strerror(errno));
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
		truth_die(TRUTH_FAILED, "cannot map %zu bytes: %s", length, strerror(errno));
	map = (char *)(((uintptr_t)map + HUGE - 1) & ~(HUGE - 1));
	if (madvise(map, count * HUGE, MADV_HUGEPAGE))
		truth_die(TRUTH_CANNOT, "cannot ask for huge pages: %s", strerror(errno));
	return map;
}

static void run(size_t count)
{
	struct truth_faults before, faults;
	volatile char *map = map_aligned(count);
	size_t bytes = huge_bytes();
	uint64_t start = truth__now(), elapsed;

	before = truth__faults(RUSAGE_THREAD);
	for (size_t i = 0; i < count; i++)
		map[i * HUGE] = 1;
	faults = truth__faults_since(RUSAGE_THREAD, before);
	elapsed = truth__now() - start;
	bytes = huge_bytes() - bytes;
	printf("pages=%zu\nhuge_bytes=%zu\nelapsed_ns=%llu\n", count, bytes,
	       (unsigned long long)elapsed);
	truth_print_faults("loop", faults);
	if (bytes != count * HUGE)
		truth_die(TRUTH_FAILED, "only %zu of %zu pages are huge", bytes / HUGE, count);
	if (faults.minor + faults.major != (long)count)
		truth_die(TRUTH_FAILED, "%zu pages touched, but %ld faults", count,
			  faults.minor + faults.major);
}

int main(int argc, char **argv)
{
	struct truth_window window = {};
	size_t count;

	argv = truth_arguments(&window, argc, argv, 1, "thp [-w] COUNT");
	count = truth_number(argv[0], "COUNT", 1, 4096);
	truth_begin();
	need_thp();
	truth_open(&window);
	run(count);
	truth_close(&window);
	return 0;
}
