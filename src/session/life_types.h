/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs of life and user space share. */
#ifndef LATSCOPE_SESSION_LIFE_TYPES_H
#define LATSCOPE_SESSION_LIFE_TYPES_H

#include <latscope/event.h>

/*
 * How long processes lived in the window: value of life's map `ended`, key is the tgid. A reused
 * tgid has the sum of its processes, as in the keys by process.
 */
struct lat_life {
	__u64 lived_ns; /* of processes that have ended, within the window */
	__u64 thread_ns; /* of their threads, and of others that have ended */
	__u64 last_start_ns; /* start time of the process that ended last; 0: none has ended */
	/* Of threads that have ended and that the filters want. */
	__u64 wanted_ns; /* within the window */
	__u64 run_ns; /* by the kernel's account, from their start: on a CPU */
	__u64 queue_ns; /* ...ready to run, without a CPU */
	char process[LAT_COMM_LEN];
};
_Static_assert(sizeof(struct lat_life) == 64, "lat_life has no padding");

/* What the iterator of life writes for each living task. */
struct lat_life_task {
	__u64 process_start_ns; /* CLOCK_MONOTONIC */
	__u64 thread_start_ns;
	__u64 run_ns, queue_ns; /* as in struct lat_life */
	__u32 tgid, tid;
	__s32 call; /* number of the system call that it is in; LAT_NO_CALL */
	__u16 state; /* enum lat_life_state */
	__u16 kind; /* mask of enum lat_life_kind */
	char process[LAT_COMM_LEN];
};
_Static_assert(sizeof(struct lat_life_task) == 64, "lat_life_task has no padding");

#define LAT_NO_CALL (-1) /* none, or it is not known */

enum lat_life_state { LAT_AWAKE, LAT_SLEEPS, LAT_BLOCKED /* uninterruptible */ };

enum lat_life_kind {
	LAT_LIFE_WANTED = 1 << 0, /* by the filters; all are, if there are none */
	LAT_LIFE_KERNEL = 1 << 1, /* a kernel thread */
	LAT_LIFE_LATSCOPE = 1 << 2, /* the process that reads this, or a child of its program */
};

struct lat_life_control {
	__u64 opened_ns; /* when the window opened; 0: it is not open */
	__u64 not_kept; /* ends of processes for which the map had no room */
};
_Static_assert(sizeof(struct lat_life_control) == 16, "lat_life_control has no padding");

#endif
