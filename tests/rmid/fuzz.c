// SPDX-License-Identifier: BSD-2-Clause
/*
 * libFuzzer's target for the book of RMIDs: each four bytes of the input are a step, and every step
 * is held against the oracle. Built with clang; run by tests/cli/rmid-fuzz.t.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "twin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_be_right(const char *why)
{
	if (!why)
		return;
	fprintf(stderr, "%s\n", why);
	abort();
}

/* The first byte says how many RMIDs there are, and how many processes there is room for. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct twin *twin;

	if (size < 1)
		return 0;
	twin = twin__new(1 + data[0] % 16, 1 + data[0] / 16);
	for (size_t i = 1; i + 4 <= size; i += 4) {
		uint16_t argument;

		memcpy(&argument, data + i + 2, sizeof(argument));
		/* In units that hit the edges of a limbo: 2000000 is 100 of them. */
		must_be_right(twin__step(twin, data[i] % TWIN_OPS, data[i + 1],
					 data[i] % TWIN_OPS >= TWIN_WAIT ? argument * 20000ULL
									 : argument));
	}
	must_be_right(twin__check(twin));
	must_be_right(twin__end(twin));
	twin__free(twin);
	return 0;
}
