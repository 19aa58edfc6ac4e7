// SPDX-License-Identifier: BSD-2-Clause
/*
 * count page_fault|syscall|syscall_fenced CROSSINGS: makes as many, as an owner, and prints of the
 * ticks of each half, and of an empty window, the least and the median, and how many were missed.
 *
 * count cost [own|other]: the least ticks of a system call and of a page fault that the kernel
 * handles, by a thread that is the owner, or by one while an owner sleeps on the same CPU.
 *
 * count refusal: prints why nothing can be started here, and what trying to comes to.
 *
 * count stubs: fails if a CPU is left with one. To be asked while there is no owner.
 *
 * Under QEMU's -icount the ticks are a count of instructions.
 */
#include "client.h"

#define MOST 200000
#define FAULTS 512

enum half { NOTHING, U2K, K2U, HALVES };

static const char *const half_names[HALVES] = { "nothing", "u2k", "k2u" };
static uint32_t ticks[HALVES][MOST];

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Prints the crossings that have no 0: each takes some time. */
static void print_half(enum half half, size_t count)
{
	qsort(ticks[half], count, sizeof(ticks[half][0]), compare);
	printf("%s min=%u median=%u\n", half_names[half], count ? ticks[half][0] : 0,
	       count ? ticks[half][count / 2] : 0);
}

static uint32_t event_of(const char *name)
{
	if (!strcmp(name, "page_fault"))
		return RINGLAT_PF;
	if (!strcmp(name, "syscall"))
		return RINGLAT_SYSCALL;
	return strcmp(name, "syscall_fenced") ? 0 : RINGLAT_SYSCALL_FENCED;
}

static int count_crossings(uint32_t event, size_t wanted)
{
	void *absent = absent_page();
	struct crossing crossing;
	size_t kept = 0, i;
	int fd;

	must(!mlockall(MCL_CURRENT | MCL_FUTURE), "lock the memory");
	memset(ticks, 1, sizeof(ticks)); /* no fault between */
	fd = device_own(event);
	for (i = 0; i < wanted; i++) {
		cross_nothing(&crossing);
		ticks[NOTHING][i] = (uint32_t)(crossing.k2u_u - crossing.u2k_u);
	}
	for (i = 0; i < wanted; i++) {
		if (event == RINGLAT_PF)
			cross_page_fault(&crossing, absent);
		else
			cross_syscall(&crossing);
		if (!crossing.u2k_k)
			continue;
		ticks[U2K][kept] = (uint32_t)(crossing.u2k_k - crossing.u2k_u);
		ticks[K2U][kept++] = (uint32_t)(crossing.k2u_u - crossing.k2u_k);
	}
	must(!ioctl(fd, RINGLAT_STOP), "stop");
	print_half(NOTHING, wanted);
	print_half(U2K, kept);
	print_half(K2U, kept);
	printf("missed=%zu\n", wanted - kept);
	return 0;
}

static uint64_t ticks_now(void)
{
	uint32_t low, high;

	__asm__ volatile("mfence\n\tlfence\n\trdtsc" : "=a"(low), "=d"(high)::"memory");
	return (uint64_t)high << 32 | low;
}

/* A number that no system call has: the shortest way through the kernel. */
static uint64_t least_syscall(void)
{
	uint64_t least = UINT64_MAX, took;
	long result;

	for (int i = 0; i < 2000; i++) {
		took = ticks_now();
		__asm__ volatile("syscall" : "=a"(result) : "a"(-1L) : "rcx", "r11", "memory");
		took = ticks_now() - took;
		if (took < least)
			least = took;
	}
	must(result == -ENOSYS, "be told that there is no such call");
	return least;
}

/* Reads of the zero page: no memory has to be found. */
static uint64_t least_fault(void)
{
	volatile char *pages = map_pages(FAULTS, PROT_READ);
	uint64_t least = UINT64_MAX, took;

	madvise((void *)pages, FAULTS * PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < FAULTS; i++) {
		took = ticks_now();
		(void)pages[i * PAGE];
		took = ticks_now() - took;
		if (took < least)
			least = took;
	}
	munmap((void *)pages, FAULTS * PAGE);
	return least;
}

static int count_cost(const char *who)
{
	pid_t owner = 0;

	pin(MEASURED_CPU);
	if (!strcmp(who, "own"))
		device_own(BOTH);
	else if (!strcmp(who, "other"))
		owner = start_owner(sleep_on);
	printf("syscall=%lu\n", least_syscall());
	printf("fault=%lu\n", least_fault());
	if (owner)
		reap(owner);
	return 0;
}

static int print_refusal(void)
{
	struct ringlat_info info;
	int fd = device_open();

	pin(MEASURED_CPU);
	must(!ioctl(fd, RINGLAT_INFO, &info), "ask");
	printf("events=%u refusal=%s\n", info.events, info.refusal);
	printf("start: %s\n", device_start(fd, RINGLAT_PF) ? strerror(errno) : "done");
	return 0;
}

static int look_for_stubs(void)
{
	pin(0);
	if (!any_hooked())
		return 0;
	printf("a CPU is left with another entry than the others, or with the stub for faults\n");
	return 1;
}

int main(int argc, char **argv)
{
	size_t wanted = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	if (argc >= 2 && !strcmp(argv[1], "cost"))
		return count_cost(argc == 3 ? argv[2] : "alone");
	if (argc == 2 && !strcmp(argv[1], "refusal"))
		return print_refusal();
	if (argc == 2 && !strcmp(argv[1], "stubs"))
		return look_for_stubs();
	if (argc != 3 || !event_of(argv[1]) || !wanted || wanted > MOST)
		return 2;
	return count_crossings(event_of(argv[1]), wanted);
}
