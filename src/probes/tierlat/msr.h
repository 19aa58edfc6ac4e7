/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the msr method. */
#ifndef LATSCOPE_PROBES_TIERLAT_MSR_H
#define LATSCOPE_PROBES_TIERLAT_MSR_H

#include "internal.h"
#include "sysfs.h"

/* The saved registers of a box: controls and filters, which latscope sets, and counters. */
enum msr_slot {
	MSR_CONTROL, /* of counter 0; counters 1 to 3 follow */
	MSR_FILTER0 = TIER_COUNTERS,
	MSR_FILTER1,
	MSR_COUNTER,
	MSR_SLOTS = MSR_COUNTER + TIER_COUNTERS,
};

struct msr_register {
	uint32_t address; /* 0: this CPU has none */
	uint64_t found, ours;
	uint64_t next; /* the write in progress; otherwise equal to `ours` */
};

/* A read. The box was frozen between the two times. */
struct msr_moment {
	uint64_t values[TIER_COUNTERS];
	uint64_t frozen_ns, resumed_ns;
	uint64_t freezing_ns, resuming_ns; /* how long the writes took */
	bool was_frozen; /* before latscope froze it */
};

/* For a box that takes turns: what it counted in the previous interval. */
struct msr_turn {
	int tier; /* position in tier->tiers; TIER_NO_TIER: nothing yet */
	double per_ns; /* inserts */
};

struct msr_box {
	unsigned int id;
	uint32_t address; /* of the box control */
	uint64_t control; /* state before latscope */
	struct msr_register registers[MSR_SLOTS];
	unsigned int nr_counters; /* that count */
	bool touched; /* it may have to be restored */
	bool programmed; /* all registers were set */
	bool lost; /* another program uses it */
	bool reset; /* another program reset it, with the same configuration */
	double clock_hz; /* in the last interval; 0: unknown or uncertain */
	struct msr_moment last;
	int tier; /* tier measured now */
	struct msr_turn before;
};

struct msr_socket {
	unsigned int cpus[SYSFS_CPUS], nr_cpus;
	unsigned int at; /* CPU that is read */
	int fd; /* its descriptor; -1: none */
	/* descriptors of all CPUs: none can be opened without privileges; -1: none */
	int fds[SYSFS_CPUS];
	struct msr_box boxes[TIER_BOXES];
};

struct restore;

struct msr {
	struct restore *restore;
	bool failed_write; /* the last failed access */
	bool left; /* a killed latscope had left the boxes programmed */
	int lock; /* descriptor; -1: there is none */
	struct msr_socket sockets[TIER_SOCKETS];
};

/* msr_find.c: the find() of the method */
int msr__find(struct tier *tier);

/* msr_root.c: -EPERM: others than root can change what is in --msr-root. */
int msr__check_root(struct tier *tier);

/* 0 also if there is no register file to lock. -EBUSY: another latscope uses these registers. */
int msr__lock(struct tier *tier);

/* The lowest CPU number above `after` whose register file is read; -1: none. */
int msr__cpu_above(const struct tier *tier, int after);
const char *msr__device_root(const struct tier *tier);

/* One access; -ENXIO: the CPU is offline, -ENODATA: it was a short one. */
int msr__get(struct tier *tier, const struct msr_socket *socket, uint32_t address, uint64_t *value);
int msr__put(struct tier *tier, const struct msr_socket *socket, uint32_t address, uint64_t value);
const char *msr__text(int err);

/* Switches to another CPU of the same package, which has the same registers. */
int msr__next_cpu(struct tier *tier, struct msr_socket *socket);

/* For a process with its own descriptors: closes the inherited ones and opens its own. */
void msr__forget_files(struct msr_socket *socket);
void msr__close_files(struct tier *tier, struct msr_socket *socket);

/*
 * msr_box.c: keep() only reads; plan() decides the register values; start() starts the box; reset()
 * programs the power-on state; forget() makes that the state to restore.
 */
int msr_box__keep(struct tier *tier, const struct msr_socket *socket, struct msr_box *box);
int msr_box__running(const struct tier *tier, const struct msr_box *box); /* counter; -1: none */
void msr_box__plan(const struct tier *tier, struct msr_box *box, const struct tier_share *share);
int msr_box__reset(struct tier *tier, const struct msr_socket *socket, struct msr_box *box);
int msr_box__forget(struct tier *tier, const struct msr_socket *socket, struct msr_box *box);
int msr_box__start(struct tier *tier, const struct msr_socket *socket, struct msr_box *box,
		   const struct tier_share *share);

/* 0 also if another program uses it: then the delta is invalid, and tier__trouble() says so. */
int msr_box__read(struct tier *tier, const struct msr_socket *socket, struct msr_box *box,
		  struct tier_share *share, struct tier_delta *delta);

/* The interval that it just counted is not used, here or for the next one: notes why. */
void msr_box__reject(struct tier *tier, const struct msr_socket *socket, struct msr_box *box,
		     const char *what, const char *number);
int msr_box__restore(struct tier *tier, const struct msr_socket *socket, struct msr_box *box);

/*
 * msr_left.c: do the registers of all boxes hold what latscope would program, for some set of
 * tiers?
 */
bool msr__is_left(const struct tier *tier);

#endif
