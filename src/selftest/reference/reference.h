/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * References: each makes a known amount of one latency and tells what the kernel's own accounting,
 * or user space as a bound, has of it. One file each, all of the same form:
 *
 *   X__prepare()  makes the threads and files, so before a recorder's window opens
 *   X__run()      makes the latency, within the window, and fills in the figures
 *
 * Silent. Negative returns come with a sentence in `why`; -EOPNOTSUPP is this kernel or file system
 * cannot, and no fault of anybody's. What was prepared goes with the process.
 */
#ifndef LATSCOPE_SELFTEST_REFERENCE_REFERENCE_H
#define LATSCOPE_SELFTEST_REFERENCE_REFERENCE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REFERENCE_PAGE_MAX (1UL << 16) /* of all architectures */
#define REFERENCE_WHY 256
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_SEC 1000000000ULL

/* Some times of the same kind. */
struct reference_span {
	uint64_t min_ns, max_ns, sum_ns, count;
};

struct reference_faults {
	long minor;
	long major;
};

uint64_t reference__now(void); /* CLOCK_MONOTONIC, ns */
void reference__sleep(uint64_t ns);

void reference__add(struct reference_span *span, uint64_t ns);
void reference__merge(struct reference_span *sum, const struct reference_span *one);

/* xorshift64*: the same seed gives the same numbers. The state must not be 0. */
uint64_t reference__random(uint64_t *state);
uint64_t reference__seed(uint64_t seed, unsigned int index); /* of a thread, as such a state */

/* who: RUSAGE_SELF, all threads and those that ended; RUSAGE_THREAD, the caller. */
struct reference_faults reference__faults(int who);
struct reference_faults reference__faults_since(int who, struct reference_faults before);

size_t
reference__page(void); /* bytes of a base page: 4096 on x86, up to REFERENCE_PAGE_MAX on arm64 */

/* Fresh anonymous memory in base pages; NULL and errno. */
char *reference__map(size_t pages);

/* Small stack: reference__lock() faults all of it in, and what may be locked is limited. -errno. */
int reference__thread(pthread_t *thread, void *(*run)(void *), void *arg);

/*
 * From here on the process has no page fault but those on memory that it maps later: what is mapped
 * is locked, which faults it in and un-shares it. With all threads made.
 */
int reference__lock(char why[REFERENCE_WHY]);

/* Keeps the sentence and returns err. */
int reference__fail(char why[REFERENCE_WHY], int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
