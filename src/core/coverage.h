/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of the time that a cgroup stalled, by the kernel's account of it (PSI), a probe's
 * samples can be: they miss what happens outside page faults, block requests and waits for a CPU.
 */
#ifndef LATSCOPE_CORE_COVERAGE_H
#define LATSCOPE_CORE_COVERAGE_H

#include <stdbool.h>

#include "pressure.h"
#include "why.h"

struct coverage {
	const struct why_words *words; /* of the probe */
	uint64_t stall_ns; /* time in which a task of the cgroup stalled */
	/*
	 * All samples together, with those that have not ended: more if tasks wait at once.
	 * UINT64_MAX: not known.
	 */
	uint64_t samples_ns;
	uint64_t lost; /* besides, samples that were not measured, of unknown time */
	uint64_t most_ns; /* of the stall, at most so much is explained */
};

/*
 * False: no cgroup alone filters, the kernel does not tell, or there is no account for the probe.
 */
bool coverage__of(struct coverage *coverage, const struct run *run, const struct run_probe *probe);

/* Is less than half of the stall explained, and is that more than a moment? */
bool coverage__is_low(const struct coverage *coverage);

#endif
