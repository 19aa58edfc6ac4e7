/* SPDX-License-Identifier: BSD-2-Clause */
/* Thresholds of the tail that a user chose: one for all probes, and some for single ones. */
#ifndef LATSCOPE_CORE_TAILS_H
#define LATSCOPE_CORE_TAILS_H

#include <stdint.h>

#include "run.h"

#define TAILS_MOST_US (1ULL << HIST_OCTAVES)

struct tails {
	uint64_t ns; /* of all other probes; 0: not chosen */
	unsigned int nr;
	struct {
		char probe[RUN_NAME];
		uint64_t ns;
	} of[RUN_PROBES];
};

/*
 * Adds "100", "iolat=1000" or a list of these with commas, in us. -EINVAL: it is no such list;
 * -ERANGE: a number is not in 1 to TAILS_MOST_US; -E2BIG: too many probes. `wrong` gets the part
 * that is wrong. Does not check the names of probes.
 */
int tails__parse(struct tails *tails, const char *text, char wrong[RUN_TEXT]);

/* 0: not chosen. */
uint64_t tails__of(const struct tails *tails, const char *probe);

#endif
