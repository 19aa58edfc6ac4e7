/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reference latencies: each makes a known amount of one latency, and reports what the kernel's own
 * accounting has of it, or the bounds that user space measured. All have the same form:
 *
 *   X__prepare()  makes the threads and files, before the window of a recorder opens
 *   X__run()      makes the latency, within the window, and fills in the results
 *
 * Silent. With an error comes a sentence in `why`. -EOPNOTSUPP: this kernel or file system cannot
 * do it. What was prepared is freed at the end of the process.
 */
#ifndef LATSCOPE_SELFTEST_REFERENCE_REFERENCE_H
#define LATSCOPE_SELFTEST_REFERENCE_REFERENCE_H

#include <loadgen/primitives.h>

#define REFERENCE_WHY 256

/* Durations of the same kind. */
struct reference_span {
	uint64_t min_ns, max_ns, sum_ns, count;
};

struct reference_faults {
	long minor;
	long major;
};

void reference__add(struct reference_span *span, uint64_t ns);
void reference__merge(struct reference_span *sum, const struct reference_span *one);

/* who: RUSAGE_SELF, all threads and those that ended; RUSAGE_THREAD, the caller. */
struct reference_faults reference__faults(int who);
struct reference_faults reference__faults_since(int who, struct reference_faults before);

/*
 * Locks what is mapped, which faults it in and un-shares it: from here on the process has page
 * faults only in memory that it maps later. To be called when all threads exist.
 */
int reference__lock(char why[REFERENCE_WHY]);

/* Stores the message in `why` and returns err. */
int reference__fail(char why[REFERENCE_WHY], int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
