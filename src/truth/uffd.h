/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page faults of a known latency: the calling thread writes once to each of some fresh pages
 * registered with userfaultfd(2); a second thread lets the delay pass for each before it fills the
 * page in. Each fault lasts at least the delay and at most as long as the writer saw. All are
 * retried: handle_mm_fault() sleeps, returns VM_FAULT_RETRY and is called again. Kernels call them
 * minor or major according to the lock that the first call held: only the sum is a truth.
 */
#ifndef LATSCOPE_TRUTH_UFFD_H
#define LATSCOPE_TRUTH_UFFD_H

#include "truth.h"

struct truth_uffd {
	size_t pages;
	uint64_t delay_ns;
	int fd;
	pthread_t thread;
	int handler_err;

	struct truth_faults faults; /* of the writer; their sum is `pages`, or it fails */
	struct truth_faults handler; /* of the thread that answers: none */
	struct truth_span touches; /* as the writer saw them */
	char why[TRUTH_WHY];
};

int truth_uffd__prepare(struct truth_uffd *uffd);
int truth_uffd__run(struct truth_uffd *uffd);

#endif
