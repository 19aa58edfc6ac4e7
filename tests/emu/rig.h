/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A measurement of the emulated machine by tierlat's code, in this process: thousands of them take
 * seconds, and every call is counted.
 */
#ifndef LATSCOPE_TESTS_RIG_H
#define LATSCOPE_TESTS_RIG_H

#include "probes/tierlat/tier.h"

#include "emu.h"

#define RIG_NEAR 0 /* the first two tiers that are measured */
#define RIG_FAR 1

/* Differences between generations, for tests that run on each. */
struct rig_generation {
	const char *name;
	const char *tiers; /* that of the own socket, that of others */
	const char *opcode; /* of a demand read */
	unsigned int boxes; /* as many as its biggest has, or nearly */
	bool takes_turns; /* a box sees one tier at a time: all are known after two intervals */
};

#define RIG_GENERATIONS 7

extern const struct rig_generation rig_generations[RIG_GENERATIONS];

struct rig_setup {
	const struct rig_generation *gen;
	const char *tiers; /* NULL: the generation's two */
	unsigned int sockets, boxes; /* 0: 1 socket, the generation's boxes */
	uint64_t min_inserts;
	unsigned int litter; /* seed of what the registers have in them; 0: nothing */
	bool take;
	bool restore;
	bool reset; /* program the power-on state instead: rig->done has the description */
	bool count; /* do not say how many boxes there are */
	const char *root; /* a tree whose /sys lists the CPUs; NULL: set them explicitly */
};

struct rig {
	struct tier *tier;
	struct tier_sample *samples;
	unsigned int measured; /* tiers */
	char why[TIER_TEXT], done[TIER_TEXT];
	const char *todo;
};

/* Calls since they were set to 0, except those that ask for the time. */
extern uint64_t rig_calls;

/* Called after each write of a register, unless NULL. */
extern void (*rig_wrote)(void);

/* Writes of this process fail; 0: none. */
extern pid_t rig_denied;

/* Nothing can be opened any more, as after dropping root. */
extern bool rig_closed;

/* Start value of the counters; 0: a large number, as in production. */
extern uint64_t rig_first;

/* A new machine with streams near and far of 90 and 180 ns, 2 GHz, and 1 us an access. */
void rig__machine(const struct rig_setup *setup);

/* As tier__open(). The machine must be there. */
int rig__open(struct rig *rig, const struct rig_setup *setup);

/* The same, and it must succeed. */
void rig__start(struct rig *rig, const struct rig_setup *setup);

/* Lets time pass and reads. */
int rig__read(struct rig *rig, double ns);

const struct tier_latency *rig__latency(const struct rig *rig, unsigned int socket,
					unsigned int tier);

/* Closes, whether or not all is restored; returns the error. */
int rig__close(struct rig *rig);

/* Closes. It must succeed and leave every register as it was at the last mark. */
void rig__finish(struct rig *rig);

/* Number of registers, except counters, that are not as found. Prints them. */
unsigned int rig__left_behind(void);
unsigned int rig__changed(const char *part); /* of "box", "control", "filter", "counter" */

/* got must be within `share` of wanted; otherwise prints `what`. */
void rig__assert_near(const char *what, double got, double wanted, double share);

#endif
