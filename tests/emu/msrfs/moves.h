/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The emulated program that moves pages: it reads decisions of tierlat as CSV, with a heading, and
 * moves what the column `shift` says from where the pages are now. Rows without a shift, such as
 * those of the other tier, move nothing.
 */
#ifndef LATSCOPE_TESTS_MSRFS_MOVES_H
#define LATSCOPE_TESTS_MSRFS_MOVES_H

#include <stdbool.h>
#include <stddef.h>

#include "emulator.h"

#define MOVES_LINE 1024 /* longer lines are ignored */

struct moves {
	char line[MOVES_LINE]; /* one that has not ended yet */
	size_t length;
	bool too_long; /* ignore up to the end of the line */
	int shift, socket; /* columns, from 1 on; 0: unknown */
};

/* Takes a piece of the text: lines may be cut anywhere. */
void moves__take(struct moves *moves, struct emulator *emulator, const char *text, size_t size);

#endif
