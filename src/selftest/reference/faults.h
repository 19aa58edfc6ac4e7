/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_SELFTEST_REFERENCE_FAULTS_H
#define LATSCOPE_SELFTEST_REFERENCE_FAULTS_H

#include "reference.h"

/*
 * First touches of fresh anonymous base pages: each is one minor fault of the calling thread, of
 * user code or of a system call's copy to or from the page; by write or by read, which maps the
 * zero page. The first of them may be retried (a mapping's first fault prepares its anon_vma, for
 * which the lock of the mapping alone may not do): still one fault, though two calls of
 * handle_mm_fault().
 */
struct reference_touch {
	size_t pages;
	bool read;
	bool kernel;
	int zero; /* /dev/zero, which a kernel's write to a page comes from */
	int pipe[2]; /* what a kernel's read of a page goes to */

	struct reference_faults
		faults; /* of the touching alone; their sum is `pages`, or it fails */
	uint64_t elapsed_ns; /* so an upper bound of their sum */
	char why[REFERENCE_WHY];
};

int reference_touch__prepare(struct reference_touch *touch);
int reference_touch__run(struct reference_touch *touch);

/*
 * Page faults of a known latency: the calling thread, or threads of their own all at once, write
 * once to each of some fresh pages registered with userfaultfd(2); another lets the delay pass for
 * each before it fills the page in. Each fault lasts at least the delay and at most as long as its
 * writer saw. All are retried: handle_mm_fault() sleeps, returns VM_FAULT_RETRY and is called
 * again. Kernels call them minor or major according to the lock that the first call held: only the
 * sum is a reference.
 */
struct reference_uffd {
	size_t pages;
	unsigned int
		threads; /* that write, each every so-manieth page; 0: the caller writes them all */
	uint64_t delay_ns;
	int fd;
	char *map;
	pthread_t thread;
	struct reference_uffd_writer *writers;
	pthread_barrier_t start;
	int handler_err;

	struct reference_faults faults; /* of all that write; their sum is `pages`, or it fails */
	struct reference_faults handler; /* of the thread that answers: none */
	struct reference_span touches; /* as who wrote saw them */
	char why[REFERENCE_WHY];
};

/* Its parts, for who makes faults in another way: opens userfaultfd. */
int reference_uffd__open(struct reference_uffd *uffd);
/* Maps the pages and registers them. */
int reference_uffd__map(struct reference_uffd *uffd);
/* Fills in the page of an address, by which its fault ends. */
int reference_uffd__fill(struct reference_uffd *uffd, uint64_t address);

int reference_uffd__prepare(struct reference_uffd *uffd);
int reference_uffd__run(struct reference_uffd *uffd);

#endif
