// SPDX-License-Identifier: BSD-2-Clause
#include "reference.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

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

int reference__lock(char why[REFERENCE_WHY])
{
	if (mlockall(MCL_CURRENT))
		return reference__fail(why, -EOPNOTSUPP, "cannot lock memory: %s", strerror(errno));
	/* mlockall() does not fault in the data page of the vDSO. */
	clock__now_ns();
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
