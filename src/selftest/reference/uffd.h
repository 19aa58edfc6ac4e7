/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page faults of a known latency: the calling thread, or threads of their own all at once, write
 * once to each of some fresh pages registered with userfaultfd(2); another lets the delay pass for
 * each before it fills the page in. Each fault lasts at least the delay and at most as long as its
 * writer saw. All are retried: handle_mm_fault() sleeps, returns VM_FAULT_RETRY and is called
 * again. Kernels call them minor or major according to the lock that the first call held: only the
 * sum is a reference.
 */
#ifndef LATSCOPE_SELFTEST_REFERENCE_UFFD_H
#define LATSCOPE_SELFTEST_REFERENCE_UFFD_H

#include "reference.h"

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
