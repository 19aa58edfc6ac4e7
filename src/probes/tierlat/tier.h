/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loaded latency of memory tiers by uncore counters. Opened, the counters run; each read gives what
 * happened since the one before (or since open); closed, all registers are as they were found.
 * Prints nothing.
 */
#ifndef LATSCOPE_PROBES_TIERLAT_TIER_H
#define LATSCOPE_PROBES_TIERLAT_TIER_H

#include "latency.h"
#include "model.h"
#include "sys.h"

#define TIER_SOCKETS 16
#define TIER_CPUS 4096
#define TIER_TEXT 256
#define TIER_PATIENCE 3 /* reads in a row that may fail before the last of them ends it */

enum tier_method { TIER_AUTO, TIER_PERF, TIER_MSR };

struct tier_config {
	const struct tier_model *model; /* NULL: of the CPU found below root */
	enum tier_method method; /* AUTO: perf, unless that is not there or msr's are set */
	const char *root; /* before /sys and /proc; "": this machine */
	const char *msr_root; /* DIR/<cpu>/msr; NULL: /dev/cpu */
	const unsigned int *cpus; /* msr: one a socket, in the order of sockets; NULL: found out */
	unsigned int nr_cpus;
	unsigned int boxes; /* msr: of a socket; 0: found out */
	const char *tiers; /* names, by comma; NULL: those that the machine has; "all" */
	bool take; /* msr: also boxes that somebody else has running; put back at the end */
	bool look; /* see whether it would work; no register is written, nothing can be read */
	bool restore; /* msr: a process that puts the registers back should this one be killed */
	uint64_t min_inserts; /* fewer requests in an interval: no latency */
	const struct tier_sys *sys; /* NULL: tier_sys_linux */
};

/*
 * "icx:40:DIR": a register tree of one socket, for tests. Takes the text apart, which is to stay.
 * 0 or -EINVAL.
 */
int tier_config__parse(struct tier_config *config, char *place);

/* One tier of one socket in the interval that a read ended. */
struct tier_sample {
	int socket; /* physical package */
	unsigned int tier; /* index into the model's */
	struct tier_latency figures;
};

/*
 * In one sentence what the CPU of a machine (root as above) offers, whether or not it can be read:
 * which tiers, which of them has no memory here, and in what its latencies are.
 */
void tier__capabilities(char text[TIER_TEXT], const char *root);

struct tier;

/*
 * 0 or, with *why in one line and *todo (static, or NULL) what can be done about it:
 * -EOPNOTSUPP: this machine cannot (no such counters, no driver, unknown CPU, a hypervisor);
 * -EACCES: the right to is missing; -EBUSY: somebody else has the counters; -EINVAL: the
 * configuration makes no sense; others: as the kernel said.
 */
int tier__open(struct tier **tier, const struct tier_config *config, char why[TIER_TEXT],
	       const char **todo);

const struct tier_model *tier__model(const struct tier *tier);
const char *tier__method(const struct tier *tier); /* "perf" */
const char *tier__mechanism(struct tier *tier); /* how the number is got; until the next call */
unsigned int tier__sockets(const struct tier *tier);
int tier__socket(const struct tier *tier, unsigned int i); /* number of its package */
unsigned int tier__boxes(const struct tier *tier, unsigned int i);

/* The tiers that are measured, as a mask of 1 << index into the model's. */
uint32_t tier__measured(const struct tier *tier);

/* Are there boxes that tell nothing of some tier, so that its rate is scaled from the others? */
bool tier__scales(const struct tier *tier);

/* How many samples a read gives: sockets times tiers, by socket and then tier. */
unsigned int tier__samples(const struct tier *tier);

/*
 * Programs the registers of all boxes to the state after power-on, whoever has set them, and says
 * in one line what was done. Errors as those of tier__open().
 */
int tier__reset(const struct tier_config *config, char done[TIER_TEXT], char why[TIER_TEXT],
		const char **todo);

/*
 * Allocates nothing. 0, also if boxes were lost or none could be read just now: then no figure of
 * them is known, and tier__trouble() tells. -errno, with *why: somebody else has all of them, or
 * for TIER_PATIENCE times in a row none could be read.
 */
int tier__read(struct tier *tier, struct tier_sample *samples, char why[TIER_TEXT]);

/* What a box of the socket counted in the last read of the tier at a position. False: nothing. */
bool tier__raw(const struct tier *tier, unsigned int socket, unsigned int box,
	       unsigned int position, struct tier_raw *raw);

/* What went wrong in the last read but did not end it; NULL: nothing. Told once. */
const char *tier__trouble(struct tier *tier);

/* Of what kind that is: the same text but for numbers that are others in every read. */
const char *tier__trouble_kind(const struct tier *tier);

/* System calls made since open, for who wants to know what a sample costs. */
uint64_t tier__calls(const struct tier *tier);

/*
 * Puts back what was found and frees. 0 or -errno, with *why: something could not be put back.
 * A register that somebody else has written meanwhile is left as it is.
 */
int tier__close(struct tier *tier, char why[TIER_TEXT]);

#endif
