// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a program without privileges can measure: the round trip, including the kernel's work. It
 * cannot separate a page fault from its handler; see docs/ringlat.md.
 */
#include "ring.h"

#include <cpuid.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tsc.h"

#define PAGE 4096
#define WINDOW 512 /* shorter than a time slice: a switch costs one window, not many */
#define FRESH_WINDOW 128 /* each page is cleared, which takes longer */

enum { MINOR_FAULT, SYSCALL, VDSO, FRESH };

/* Both clocks are the same call; only one enters the kernel. */
static const struct ring_event events[] = {
	[MINOR_FAULT] = { "minor_fault",
			  "first read of an anonymous page, round trip with kernel entry, handler "
			  "(maps the zero page) and exit",
			  true },
	[SYSCALL] = { "syscall",
		      "clock_gettime(CLOCK_MONOTONIC_COARSE) by the SYSCALL instruction, round "
		      "trip with the kernel's work",
		      true },
	[VDSO] = { "vdso", "the same clock_gettime() by the vDSO: no crossing, for contrast",
		   true },
	[FRESH] = { RING_FRESH,
		    "a write to a fresh page each time, round trip with kernel entry, handler "
		    "(allocates and clears the page) and exit",
		    true },
};

struct user {
	char *region; /* a page for each fault of a window */
};

static int check_cpu(char why[RUN_TEXT])
{
	unsigned int a, b, c, d;

	if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !(d >> 27 & 1))
		return ring__fail(why, -EOPNOTSUPP, "this CPU has no RDTSCP");
	if (!getauxval(AT_SYSINFO_EHDR))
		return ring__fail(why, -EOPNOTSUPP,
				  "this kernel has no vDSO; boot it without vdso=0");
	return 0;
}

static int user_open(struct ring *ring, char why[RUN_TEXT])
{
	struct user *user;
	int err;

	err = check_cpu(why);
	if (err)
		return err;
	user = calloc(1, sizeof(*user));
	if (!user)
		return ring__fail(why, -ENOMEM, "out of memory");
	user->region = mmap(NULL, WINDOW * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (user->region == MAP_FAILED) {
		err = ring__fail(why, -errno, "cannot map memory: %s", strerror(errno));
		goto free_user;
	}
	/*
	 * With huge pages, one fault would map many pages. A kernel without huge pages refuses the
	 * call, which is fine.
	 */
	madvise(user->region, WINDOW * PAGE, MADV_NOHUGEPAGE);
	ring->state = user;
	return 0;

free_user:
	free(user);
	return err;
}

static void user_close(struct ring *ring)
{
	struct user *user = ring->state;

	munmap(user->region, WINDOW * PAGE);
	free(user);
}

static void cross_nothing(struct ring_sample *samples, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		samples[i].user_out = tsc__begin();
		samples[i].user_in = tsc__end();
	}
}

static void cross_by_fault(const char *region, struct ring_sample *samples, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		const char *page = region + (size_t)i * PAGE;
		char byte;

		samples[i].user_out = tsc__begin();
		__asm__ volatile("movb (%1), %0" : "=q"(byte) : "r"(page) : "memory");
		samples[i].user_in = tsc__end();
	}
}

/* The instructions and stamps of xperf. */
static void cross_by_write(char *region, struct ring_sample *samples, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t low, high;

		__asm__ volatile("mfence\n\t"
				 "rdtsc\n\t"
				 "shl $32, %%rdx\n\t"
				 "or %%rdx, %%rax\n\t"
				 "mov %%rax, (%2)\n\t"
				 "movl $0x12345678, (%3)\n\t"
				 "rdtsc\n\t"
				 "mfence"
				 : "=&a"(low), "=&d"(high)
				 : "r"(&samples[i].user_out), "r"(region + (size_t)i * PAGE)
				 : "memory");
		samples[i].user_in = high << 32 | low;
	}
}

static void cross_by_syscall(struct ring_sample *samples, unsigned int nr)
{
	struct timespec at;

	for (unsigned int i = 0; i < nr; i++) {
		long number = SYS_clock_gettime;

		samples[i].user_out = tsc__begin();
		__asm__ volatile("syscall"
				 : "+a"(number)
				 : "D"(CLOCK_MONOTONIC_COARSE), "S"(&at)
				 : "rcx", "r11", "memory");
		samples[i].user_in = tsc__end();
	}
}

static void cross_by_vdso(struct ring_sample *samples, unsigned int nr)
{
	struct timespec at;

	for (unsigned int i = 0; i < nr; i++) {
		samples[i].user_out = tsc__begin();
		clock_gettime(CLOCK_MONOTONIC_COARSE, &at);
		samples[i].user_in = tsc__end();
	}
}

static void cross(const struct user *user, unsigned int event, bool empty,
		  struct ring_sample *samples, unsigned int nr)
{
	if (empty)
		cross_nothing(samples, nr);
	else if (event == MINOR_FAULT)
		cross_by_fault(user->region, samples, nr);
	else if (event == FRESH)
		cross_by_write(user->region, samples, nr);
	else if (event == SYSCALL)
		cross_by_syscall(samples, nr);
	else
		cross_by_vdso(samples, nr);
}

/*
 * The kernel's counters, read around the window, show whether each crossing was the expected one.
 * The pages are released before it, so that the window has no system call.
 */
static int user_window(struct ring *ring, unsigned int event, bool empty,
		       struct ring_sample *samples, unsigned int nr, char why[RUN_TEXT])
{
	struct user *user = ring->state;
	struct rusage before, after;
	bool faults = event == MINOR_FAULT || event == FRESH;
	long wanted = faults && !empty ? (long)nr : 0;

	if (madvise(user->region, WINDOW * PAGE, MADV_DONTNEED))
		return ring__fail(why, -errno, "cannot release pages: %s", strerror(errno));
	getrusage(RUSAGE_THREAD, &before);
	cross(user, event, empty, samples, nr);
	getrusage(RUSAGE_THREAD, &after);
	if (after.ru_nvcsw != before.ru_nvcsw || after.ru_nivcsw != before.ru_nivcsw)
		return RING_SWITCHED;
	if (after.ru_minflt - before.ru_minflt != wanted || after.ru_majflt != before.ru_majflt)
		return RING_STRAY_FAULTS;
	return RING_KEPT;
}

static int user_fresh_window(struct ring *ring, unsigned int event, bool empty,
			     struct ring_sample *samples, unsigned int nr, char why[RUN_TEXT])
{
	return user_window(ring, FRESH + event, empty, samples, nr, why);
}

static const struct ring_method like_xperf = {
	.name = "user",
	.mechanism = "round trips from user mode, including the kernel's work",
	.events = &events[FRESH],
	.nr_events = 1,
	.window = FRESH_WINDOW,
	.gross = true,
	.between = "only the two stamps of user mode exist: between them are both crossings, the "
		   "kernel's entry and exit code, and its handler, which no user can take off",
	.open = user_open,
	.close = user_close,
	.window_of = user_fresh_window,
};

const struct ring_method ring_user = {
	.name = "user",
	.mechanism = "round trips from user mode, including the kernel's work",
	.events = events,
	.nr_events = FRESH,
	.window = WINDOW,
	.like_xperf = &like_xperf,
	.open = user_open,
	.close = user_close,
	.window_of = user_window,
};
