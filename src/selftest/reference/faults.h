/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_SELFTEST_REFERENCE_FAULTS_H
#define LATSCOPE_SELFTEST_REFERENCE_FAULTS_H

#include "reference.h"

/*
 * First touches of fresh anonymous base pages. Each is one minor fault of the calling thread, in
 * user code or in a system call that copies from or to the page; by a write, or by a read, which
 * maps the zero page. The first one may be retried (the first fault of a mapping prepares its
 * anon_vma, which the VMA's lock alone does not allow): one fault, but two calls of
 * handle_mm_fault().
 */
struct reference_touch {
	size_t pages;
	bool read;
	bool kernel;
	int zero; /* /dev/zero: the kernel's writes to a page */
	int pipe[2]; /* the kernel's reads of a page */

	struct reference_faults faults; /* of the touches alone: `pages` in all */
	uint64_t elapsed_ns; /* an upper bound of their sum */
	char why[REFERENCE_WHY];
};

int reference_touch__prepare(struct reference_touch *touch);
int reference_touch__run(struct reference_touch *touch);

/*
 * Page faults of a known latency: the calling thread, or several threads at once, write once to
 * each of some fresh pages that are registered with userfaultfd(2); another thread waits for the
 * delay before it fills each page. Each fault lasts at least the delay, and at most as long as its
 * writer measured. All are retried: handle_mm_fault() sleeps, returns VM_FAULT_RETRY and is called
 * again. Kernels count them as minor or major depending on the lock that the first call held, so
 * only the sum is a reference.
 */
struct reference_uffd {
	size_t pages;
	unsigned int threads; /* writers, which share the pages; 0: the caller writes */
	uint64_t delay_ns;
	int fd;
	char *map;
	pthread_t thread;
	struct reference_uffd_writer *writers;
	pthread_barrier_t start;
	int handler_err;
	pid_t handler_tid; /* known when all pages are there */

	struct reference_faults faults; /* of all writers: `pages` in all */
	struct reference_faults handler; /* of the thread that fills pages: none */
	struct reference_span touches; /* by the clocks of the writers */
	char why[REFERENCE_WHY];
};

/* Parts, for programs that make other faults: opens userfaultfd. */
int reference_uffd__open(struct reference_uffd *uffd);
/* Maps the pages and registers them. */
int reference_uffd__map(struct reference_uffd *uffd);
/* Fills the page of an address, which ends its fault. */
int reference_uffd__fill(struct reference_uffd *uffd, uint64_t address);

int reference_uffd__prepare(struct reference_uffd *uffd);
int reference_uffd__run(struct reference_uffd *uffd);

#endif
