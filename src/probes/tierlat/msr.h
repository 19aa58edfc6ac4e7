/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the msr method share. */
#ifndef LATSCOPE_PROBES_TIERLAT_MSR_H
#define LATSCOPE_PROBES_TIERLAT_MSR_H

#include "internal.h"
#include "sysfs.h"

/* The registers of a box that are kept: controls and filters, which we set, and counters. */
enum msr_slot {
	MSR_CONTROL, /* of counter 0; those of 1 to 3 follow */
	MSR_FILTER0 = TIER_COUNTERS,
	MSR_FILTER1,
	MSR_COUNTER,
	MSR_SLOTS = MSR_COUNTER + TIER_COUNTERS,
};

struct msr_register {
	uint32_t address; /* 0: this CPU has none */
	uint64_t found, ours;
	uint64_t next; /* what is just being written; else the same as ours */
};

/* A read. The box stood still between the two times. */
struct msr_moment {
	uint64_t values[TIER_COUNTERS];
	uint64_t frozen_ns, resumed_ns;
	uint64_t freezing_ns, resuming_ns; /* how long the writes took */
	bool was_frozen; /* before we froze it */
};

/* What a box that takes turns saw in the interval before. */
struct msr_turn {
	int tier; /* position in tier->tiers; TIER_NO_TIER: nothing yet */
	double per_ns; /* inserts */
};

struct msr_box {
	unsigned int id;
	uint32_t address; /* of the box control */
	uint64_t control; /* as it was found */
	struct msr_register registers[MSR_SLOTS];
	unsigned int nr_counters; /* that count */
	bool touched; /* there may be something to be put back */
	bool programmed; /* all registers were set */
	bool lost; /* somebody else has it */
	bool reset; /* somebody else reset it, but programmed it just the same */
	double clock_hz; /* in the last interval; 0: not known, or not well */
	struct msr_moment last;
	int tier; /* that it measures now */
	struct msr_turn before;
};

struct msr_socket {
	unsigned int cpus[SYSFS_CPUS], nr_cpus;
	unsigned int at; /* the one that is read */
	int fd; /* of it; -1: none */
	int fds[SYSFS_CPUS]; /* of all, as none can be opened once root is given up; -1 */
	struct msr_box boxes[TIER_BOXES];
};

struct restore;

struct msr {
	struct restore *restore;
	bool failed_write; /* what the last access that failed was */
	bool left; /* the boxes were found as a latscope that was killed left them */
	int lock; /* descriptor; -1: there is none */
	struct msr_socket sockets[TIER_SOCKETS];
};

/* msr_find.c: as tier_method_ops.find() */
int msr__find(struct tier *tier);

/* 0 also if there is no register file to lock; -EBUSY: another latscope has these registers. */
int msr__lock(struct tier *tier);

/* The least CPU number above `after` (-1: of all) that the registers are read on; -1: none. */
int msr__cpu_above(const struct tier *tier, int after);
const char *msr__device_root(const struct tier *tier);

/* One access; -ENXIO: the CPU is offline, -ENODATA: it was a short one. */
int msr__get(struct tier *tier, const struct msr_socket *socket, uint32_t address, uint64_t *value);
int msr__put(struct tier *tier, const struct msr_socket *socket, uint32_t address, uint64_t value);
const char *msr__text(int err);

/* Another CPU of the same package, whose registers are the same; also one that is back. */
int msr__next_cpu(struct tier *tier, struct msr_socket *socket);

/* In a process that has others; closes those of this one. */
void msr__forget_files(struct msr_socket *socket);
void msr__close_files(struct tier *tier, struct msr_socket *socket);

/*
 * msr_box.c: keep() reads only; plan() says what the registers are to hold; start() sets it going;
 * reset() programs the state after power-on, which forget() takes for what was found.
 */
int msr_box__keep(struct tier *tier, const struct msr_socket *socket, struct msr_box *box);
int msr_box__running(const struct tier *tier, const struct msr_box *box); /* counter; -1: none */
void msr_box__plan(const struct tier *tier, struct msr_box *box, const struct tier_share *share);
int msr_box__reset(struct tier *tier, const struct msr_socket *socket, struct msr_box *box);
void msr_box__forget(const struct tier *tier, struct msr_box *box);
int msr_box__start(struct tier *tier, const struct msr_socket *socket, struct msr_box *box,
		   const struct tier_share *share);

/* 0 also if somebody else has it: then the delta is not valid, and the tier's trouble says so. */
int msr_box__read(struct tier *tier, const struct msr_socket *socket, struct msr_box *box,
		  struct tier_share *share, struct tier_delta *delta);
int msr_box__restore(struct tier *tier, const struct msr_socket *socket, struct msr_box *box);

/* msr_left.c: do the registers of all boxes hold what latscope programs, for whatever tiers? */
bool msr__is_left(const struct tier *tier);

#endif
