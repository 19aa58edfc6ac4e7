// SPDX-License-Identifier: BSD-2-Clause
#include "reference.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

uint64_t reference__now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

void reference__sleep(uint64_t ns)
{
	struct timespec rest = { .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };

	while (nanosleep(&rest, &rest) && errno == EINTR)
		;
}

void reference__add(struct reference_span *span, uint64_t ns)
{
	span->min_ns = !span->count || ns < span->min_ns ? ns : span->min_ns;
	span->max_ns = ns > span->max_ns ? ns : span->max_ns;
	span->sum_ns += ns;
	span->count++;
}

void reference__merge(struct reference_span *sum, const struct reference_span *one)
{
	if (!one->count)
		return;
	sum->min_ns = !sum->count || one->min_ns < sum->min_ns ? one->min_ns : sum->min_ns;
	sum->max_ns = one->max_ns > sum->max_ns ? one->max_ns : sum->max_ns;
	sum->sum_ns += one->sum_ns;
	sum->count += one->count;
}

uint64_t reference__random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL >> 16;
}

uint64_t reference__seed(uint64_t seed, unsigned int index)
{
	return (seed + index + 1) * 0x9e3779b97f4a7c15ULL;
}

struct reference_faults reference__faults(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (struct reference_faults){ usage.ru_minflt, usage.ru_majflt };
}

struct reference_faults reference__faults_since(int who, struct reference_faults before)
{
	struct reference_faults now = reference__faults(who);

	return (struct reference_faults){ now.minor - before.minor, now.major - before.major };
}

size_t reference__page(void)
{
	static size_t page;

	if (!page)
		page = (size_t)sysconf(_SC_PAGESIZE);
	return page;
}

char *reference__map(size_t pages)
{
	char *map = mmap(NULL, pages * reference__page(), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	/* EINVAL: a kernel without huge pages. */
	if (madvise(map, pages * reference__page(), MADV_NOHUGEPAGE) && errno != EINVAL)
		return NULL;
	return map;
}

int reference__thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 17);
	err = pthread_create(thread, &attr, run, arg);
	pthread_attr_destroy(&attr);
	return -err;
}

int reference__lock(char why[REFERENCE_WHY])
{
	if (mlockall(MCL_CURRENT))
		return reference__fail(why, -EOPNOTSUPP, "cannot lock memory: %s", strerror(errno));
	/* The vDSO's data page is a mapping of the kernel's that no lock faults in. */
	reference__now();
	return 0;
}

int reference__fail(char why[REFERENCE_WHY], int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, REFERENCE_WHY, format, args);
	va_end(args);
	return err;
}
