/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The allocator and the book of kmod/rmid side by side with an oracle, which does the same by
 * searching through plain arrays. Each step goes to both; all that they answer must be the same.
 */
#ifndef LATSCOPE_TESTS_RMID_TWIN_H
#define LATSCOPE_TESTS_RMID_TWIN_H

#include <stdbool.h>
#include <stdint.h>

#define TWIN_LIMBO_NS 2000000ULL

enum twin_op {
	TWIN_BIRTH, /* argument: threads beyond the first, and whether one is overlooked */
	TWIN_SERVE,
	TWIN_THREAD,
	TWIN_GONE, /* argument: how many of the others have begun to exit */
	TWIN_EXEC,
	TWIN_TELL,
	TWIN_BURY,
	TWIN_WAIT, /* argument: ns to let pass */
	TWIN_BACK, /* argument: ns that the clock is late by, for the next operation only */
	TWIN_OPS,
};

struct twin;

/* `room` is the most processes that the table takes; up to twice as many are told to be born. */
struct twin *twin__new(uint32_t rmids, uint32_t room);
void twin__free(struct twin *twin);

/* Does a step for process `which` (any number); a step that makes no sense now does nothing.
   Returns NULL, or the difference. */
const char *twin__step(struct twin *twin, enum twin_op op, uint32_t which, uint64_t argument);

/* Compares all there is to see, and holds it against what must always be so. */
const char *twin__check(struct twin *twin);

/* Ends every process: then all RMIDs must be free and the table empty. */
const char *twin__end(struct twin *twin);

/* So that a test can tell that it tried what it meant to: how many steps had each of these ends. */
struct twin_seen {
	uint64_t calls; /* of the book */
	uint64_t served;
	uint64_t late;
	uint64_t refused;
	uint64_t freed;
	uint64_t died_waiting;
	uint64_t untracked;
	uint64_t miscounted;
	uint64_t reused_at_limbo; /* freed exactly so long before */
};
const struct twin_seen *twin__seen(const struct twin *twin);

#endif
