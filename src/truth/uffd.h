/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page faults of a known latency: the calling thread, or threads of their own all at once, write
 * once to each of some fresh pages registered with userfaultfd(2); another lets the delay pass for
 * each before it fills the page in. Each fault lasts at least the delay and at most as long as its
 * writer saw. All are retried: handle_mm_fault() sleeps, returns VM_FAULT_RETRY and is called
 * again. Kernels call them minor or major according to the lock that the first call held: only the
 * sum is a truth.
 */
#ifndef LATSCOPE_TRUTH_UFFD_H
#define LATSCOPE_TRUTH_UFFD_H

#include "truth.h"

struct truth_uffd {
	size_t pages;
	unsigned int
		threads; /* that write, each every so-manieth page; 0: the caller writes them all */
	uint64_t delay_ns;
	int fd;
	char *map;
	pthread_t thread;
	struct truth_uffd_writer *writers;
	pthread_barrier_t start;
	int handler_err;

	struct truth_faults faults; /* of all that write; their sum is `pages`, or it fails */
	struct truth_faults handler; /* of the thread that answers: none */
	struct truth_span touches; /* as who wrote saw them */
	char why[TRUTH_WHY];
};

/* Its parts, for who makes faults in another way: opens userfaultfd. */
int truth_uffd__open(struct truth_uffd *uffd);
/* Maps the pages and registers them. */
int truth_uffd__map(struct truth_uffd *uffd);
/* Fills in the page of an address, by which its fault ends. */
int truth_uffd__fill(struct truth_uffd *uffd, uint64_t address);

int truth_uffd__prepare(struct truth_uffd *uffd);
int truth_uffd__run(struct truth_uffd *uffd);

#endif
