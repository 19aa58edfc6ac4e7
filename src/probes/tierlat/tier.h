/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loaded latency of memory tiers from uncore counters. The counters run from open to close; each
 * read returns what happened since the previous one (or since open). Closing restores all
 * registers. Prints nothing.
 */
#ifndef LATSCOPE_PROBES_TIERLAT_TIER_H
#define LATSCOPE_PROBES_TIERLAT_TIER_H

#include "latency.h"
#include "model.h"
#include "sys.h"

#define TIER_SOCKETS 16
#define TIER_CPUS 4096
#define TIER_TEXT 256
#define TIER_PATIENCE 3 /* consecutive reads that may fail */

enum tier_method { TIER_AUTO, TIER_PERF, TIER_MSR };

struct tier_config {
	const struct tier_model *model; /* NULL: the CPU's, found below root */
	enum tier_method method; /* AUTO: perf, unless it is missing or an option of msr is set */
	const char *root; /* path prefix of /sys and /proc; "": this machine */
	const char *msr_root; /* DIR/<cpu>/msr; NULL: /dev/cpu */
	const unsigned int *cpus; /* msr: one per socket, in socket order; NULL: detected */
	unsigned int nr_cpus;
	unsigned int boxes; /* msr: per socket; 0: detected */
	const char *tiers; /* comma-separated names; NULL: those that the machine has; "all" */
	bool take; /* msr: also use boxes that another program uses; restored at the end */
	/* only check whether it would work: no register is written, nothing can be read */
	bool look;
	bool restore; /* msr: start a process that restores the registers if this one is killed */
	uint64_t min_inserts; /* with fewer requests in an interval there is no latency */
	const struct tier_sys *sys; /* NULL: tier_sys_linux */
};

/*
 * "icx:40:DIR": a register tree of one socket, for tests. Splits the text in place; it must stay
 * valid. 0 or -EINVAL.
 */
int tier_config__parse(struct tier_config *config, char *place);

/* One tier of one socket in the interval that a read ended. */
struct tier_sample {
	int socket; /* physical package */
	unsigned int tier; /* index into the model's */
	struct tier_latency latency;
};

/*
 * Describes in one sentence what the CPU of a machine (root as above) can measure, whether or not
 * this process may: which tiers, which of them have no memory here, and the unit of the latencies.
 */
void tier__capabilities(char text[TIER_TEXT], const char *root);

struct tier;

/*
 * 0 or, with *why in one line and *todo (static, or NULL) what can be done about it: -EOPNOTSUPP:
 * this machine cannot (no such counters, no driver, unknown CPU, a hypervisor); -EACCES: no
 * permission; -EBUSY: another program uses the counters; -EINVAL: invalid configuration; others: as
 * the kernel returned.
 */
int tier__open(struct tier **tier, const struct tier_config *config, char why[TIER_TEXT],
	       const char **todo);

const struct tier_model *tier__model(const struct tier *tier);
const char *tier__method(const struct tier *tier); /* "perf" */
/* how the number is obtained; valid until the next call */
const char *tier__mechanism(struct tier *tier);
unsigned int tier__sockets(const struct tier *tier);
int tier__socket(const struct tier *tier, unsigned int i); /* number of its package */
unsigned int tier__boxes(const struct tier *tier, unsigned int i);

/* The tiers that are measured, as a mask of 1 << index into the model's. */
uint32_t tier__measured(const struct tier *tier);

/* Do some boxes not count some tier, so that its rate is scaled from the others? */
bool tier__scales(const struct tier *tier);

/* Number of samples per read: sockets times tiers, ordered by socket, then tier. */
unsigned int tier__samples(const struct tier *tier);

/*
 * Programs the power-on state into the registers of all boxes, whoever set them, and describes in
 * one line what was done. Errors as those of tier__open().
 */
int tier__reset(const struct tier_config *config, char done[TIER_TEXT], char why[TIER_TEXT],
		const char **todo);

/*
 * Reads all counters; allocates nothing. 0 also if boxes were lost or none could be read this time:
 * then their values are unknown, and tier__trouble() says so. -errno, with *why: another program
 * uses all of them, or TIER_PATIENCE consecutive reads failed.
 */
int tier__read(struct tier *tier, struct tier_sample *samples, char why[TIER_TEXT]);

/* What a box of the socket counted of a tier (by position) in the last read. False: nothing. */
bool tier__raw(const struct tier *tier, unsigned int socket, unsigned int box,
	       unsigned int position, struct tier_raw *raw);

/* The problem in the last read that did not end it; NULL: none. Returned once. */
const char *tier__trouble(struct tier *tier);

/* The kind of that problem: the same text without the numbers that differ in every read. */
const char *tier__trouble_kind(const struct tier *tier);

/* Number of system calls since open. */
uint64_t tier__calls(const struct tier *tier);

/*
 * Restores what was found and frees. 0 or -errno, with *why: something could not be restored. A
 * register that another program has written since is left unchanged.
 */
int tier__close(struct tier *tier, char why[TIER_TEXT]);

#endif
