/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last slow block requests: which thread waited, for which disk, and what kept that disk busy.
 * The probe of block requests adds them, and the account of threads looks them up. There is one
 * list in this process, because one thread reads all probes.
 */
#ifndef LATSCOPE_PROBES_KIT_WHY_REQUESTS_H
#define LATSCOPE_PROBES_KIT_WHY_REQUESTS_H

#include <core/run.h>
#include <core/why.h>

#define WHY_REQUESTS_KEPT 512

/* Times in ns, CLOCK_MONOTONIC. */
struct why_served {
	uint32_t tid; /* of the thread that waited for it */
	uint64_t begin_ns, end_ns;
	char disk[RUN_NAME];
	/* The culprit that took most of what is known of it, and its part; NULL: there is none. */
	const struct why_part *part;
	char culprit[RUN_NAME];
	uint64_t ns;
};

void why_requests__add(const struct why_served *request);

/* The request that the thread waited for, for most of this time; NULL: none is known. */
const struct why_served *why_requests__find(uint32_t tid, uint64_t from_ns, uint64_t to_ns);

/*
 * "sda: served backup (12) 71.2 ms" if that was most of the wait for it, which took so long; else
 * "sda". Returns out.
 */
#define WHY_REQUESTS_TEXT (2 * RUN_NAME + 64)
const char *why_requests__text(const struct why_served *request, uint64_t wait_ns,
			       char out[WHY_REQUESTS_TEXT]);

#endif
