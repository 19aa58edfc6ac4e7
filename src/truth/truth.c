// SPDX-License-Identifier: BSD-2-Clause
#include "truth.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

uint64_t truth__now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

void truth__sleep(uint64_t ns)
{
	struct timespec rest = { .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };

	while (nanosleep(&rest, &rest) && errno == EINTR)
		;
}

void truth__add(struct truth_span *span, uint64_t ns)
{
	span->min_ns = !span->count || ns < span->min_ns ? ns : span->min_ns;
	span->max_ns = ns > span->max_ns ? ns : span->max_ns;
	span->sum_ns += ns;
	span->count++;
}

void truth__merge(struct truth_span *sum, const struct truth_span *one)
{
	if (!one->count)
		return;
	sum->min_ns = !sum->count || one->min_ns < sum->min_ns ? one->min_ns : sum->min_ns;
	sum->max_ns = one->max_ns > sum->max_ns ? one->max_ns : sum->max_ns;
	sum->sum_ns += one->sum_ns;
	sum->count += one->count;
}

uint64_t truth__random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL >> 16;
}

uint64_t truth__seed(uint64_t seed, unsigned int index)
{
	return (seed + index + 1) * 0x9e3779b97f4a7c15ULL;
}

struct truth_faults truth__faults(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (struct truth_faults){ usage.ru_minflt, usage.ru_majflt };
}

struct truth_faults truth__faults_since(int who, struct truth_faults before)
{
	struct truth_faults now = truth__faults(who);

	return (struct truth_faults){ now.minor - before.minor, now.major - before.major };
}

size_t truth__page(void)
{
	static size_t page;

	if (!page)
		page = (size_t)sysconf(_SC_PAGESIZE);
	return page;
}

char *truth__map(size_t pages)
{
	char *map = mmap(NULL, pages * truth__page(), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	/* EINVAL: a kernel without huge pages. */
	if (madvise(map, pages * truth__page(), MADV_NOHUGEPAGE) && errno != EINVAL)
		return NULL;
	return map;
}

int truth__thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 17);
	err = pthread_create(thread, &attr, run, arg);
	pthread_attr_destroy(&attr);
	return -err;
}

int truth__lock(char why[TRUTH_WHY])
{
	if (mlockall(MCL_CURRENT))
		return truth__fail(why, -EOPNOTSUPP, "cannot lock memory: %s", strerror(errno));
	/* The vDSO's data page is a mapping of the kernel's that no lock faults in. */
	truth__now();
	return 0;
}

int truth__fail(char why[TRUTH_WHY], int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, TRUTH_WHY, format, args);
	va_end(args);
	return err;
}
