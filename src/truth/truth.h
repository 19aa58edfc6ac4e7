/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Truths: each makes a known amount of one latency and tells what the kernel's own accounting, or
 * user space as a bound, has of it. One file each, all of the same form:
 *
 *   X__prepare()  makes the threads and files, so before a recorder's window opens
 *   X__run()      makes the latency, within the window, and fills in the figures
 *
 * Silent. Negative returns come with a sentence in `why`; -EOPNOTSUPP is this kernel or file system
 * cannot, and no fault of anybody's. What was prepared goes with the process.
 */
#ifndef LATSCOPE_TRUTH_H
#define LATSCOPE_TRUTH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRUTH_PAGE_MAX (1UL << 16) /* of all architectures */
#define TRUTH_WHY 256
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_SEC 1000000000ULL

/* Some times of the same kind. */
struct truth_span {
	uint64_t min_ns, max_ns, sum_ns, count;
};

struct truth_faults {
	long minor;
	long major;
};

uint64_t truth__now(void); /* CLOCK_MONOTONIC, ns */
void truth__sleep(uint64_t ns);

void truth__add(struct truth_span *span, uint64_t ns);
void truth__merge(struct truth_span *sum, const struct truth_span *one);

/* xorshift64*: the same seed gives the same numbers. The state must not be 0. */
uint64_t truth__random(uint64_t *state);
uint64_t truth__seed(uint64_t seed, unsigned int index); /* of a thread, as such a state */

/* who: RUSAGE_SELF, all threads and those that ended; RUSAGE_THREAD, the caller. */
struct truth_faults truth__faults(int who);
struct truth_faults truth__faults_since(int who, struct truth_faults before);

size_t truth__page(void); /* bytes of a base page: 4096 on x86, up to TRUTH_PAGE_MAX on arm64 */

/* Fresh anonymous memory in base pages; NULL and errno. */
char *truth__map(size_t pages);

/* Small stack: truth__lock() faults all of it in, and what may be locked is limited. -errno. */
int truth__thread(pthread_t *thread, void *(*run)(void *), void *arg);

/*
 * From here on the process has no page fault but those on memory that it maps later: what is mapped
 * is locked, which faults it in and un-shares it. With all threads made.
 */
int truth__lock(char why[TRUTH_WHY]);

/* Keeps the sentence and returns err. */
int truth__fail(char why[TRUTH_WHY], int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
