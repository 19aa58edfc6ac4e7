/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of crossing from user to kernel mode and back. A method runs windows of crossings. One
 * driver for all methods also runs empty windows of the same code, sums up, and counts dropped
 * windows by reason. Prints nothing; -errno comes with a sentence in `why`.
 */
#ifndef LATSCOPE_PROBES_RINGLAT_RING_H
#define LATSCOPE_PROBES_RINGLAT_RING_H

#include <stdio.h>

#include "cycles.h"
#include "where.h"

#define RING_EVENTS 3 /* maximum events of a method */
#define RING_DEFAULT_CROSSINGS 1000000
#define RING_FRESH "fresh_fault" /* the event of methods that measure like xperf */

enum ring_way { RING_USER_TO_KERNEL, RING_KERNEL_TO_USER, RING_WAYS };

/* TSC stamps of one crossing. A round trip has the first and the last only. */
struct ring_sample {
	uint64_t user_out; /* user mode, before */
	uint64_t kernel_in; /* kernel mode, as early as possible; 0: no stamp */
	uint64_t kernel_out; /* kernel mode, as late as possible */
	uint64_t user_in; /* user mode, after */
};
_Static_assert(sizeof(struct ring_sample) == 32, "guest_code.S writes it");

/* The outcome of a window, or of one of its samples. */
enum ring_verdict {
	RING_KEPT,
	RING_SWITCHED, /* window: the CPU switched to another task */
	RING_INTERRUPTED, /* window: the CPU took an interrupt */
	RING_STRAY_FAULTS, /* window: the kernel counted other faults */
	RING_VM_EXITS, /* window: the guest exited */
	RING_NOT_HOOKED, /* sample: the kernel's stamps are missing */
	RING_BACKWARDS, /* sample: the stamps are not in order */
	RING_VERDICTS,
};

struct ring_event {
	const char *name; /* "fault" */
	const char *what; /* one line */
	bool round_trip; /* one value for both ways, including the kernel's work */
};

struct ring;

struct ring_method {
	const char *name; /* "kvm" */
	const char *mechanism; /* what is measured, one sentence */
	const struct ring_event *events;
	unsigned int nr_events;
	unsigned int window; /* crossings per window, at most RING_WINDOW */
	bool guest; /* measures in its own guest */
	bool gross; /* results are as stamped: no empty window is subtracted */
	const char *between; /* if gross: what is counted with the crossing */
	/* The method user, measuring as xperf does: a fresh page each time, and gross. */
	const struct ring_method *like_xperf;
	unsigned int capability; /* capability needed until the end, CAP_...; 0: none */

	/* Not 0: it does not work here; `why` has the reason and the remedy. */
	int (*open)(struct ring *ring, char why[RUN_TEXT]);
	void (*close)(struct ring *ring);

	/*
	 * Runs `nr` crossings, or `nr` empty samples: the same stamps with nothing between. Returns
	 * enum ring_verdict or -errno with `why`.
	 */
	int (*window_of)(struct ring *ring, unsigned int event, bool empty,
			 struct ring_sample *samples, unsigned int nr, char why[RUN_TEXT]);
};

#define RING_WINDOW 512

/* For a method with a guest: its VM exits. */
struct ring_control {
	unsigned int cpuids; /* CPUIDs executed; each must be an exit */
	uint64_t exits; /* exits counted */
	uint64_t cycles; /* median cost of one */
};

struct ring {
	const struct ring_method *method;
	void *state; /* private to the method */
	int cpu; /* the CPU it runs on */
	uint64_t tsc_khz; /* from the method; 0: the driver measures it */
	struct ring_control control;
	uint64_t vm_exits; /* in the last window */
	struct ring_sample samples[RING_WINDOW];
	/* From ring__begin() to ring__end(). */
	struct ring_result *result;
	uint64_t crossings; /* of each event */
	FILE *raw; /* the stamps of all crossings, as CSV; NULL: not wanted */
	uint64_t nr_windows; /* in it */
	uint64_t start_ns;
	unsigned int event; /* the one that is measured */
	unsigned int windows; /* crossings of this event so far */
	bool failed;
};

struct ring_count {
	const struct ring_event *event;
	uint64_t attempted; /* = kept + all misses */
	uint64_t kept;
	uint64_t misses[RING_VERDICTS]; /* [RING_KEPT] stays 0 */
	uint64_t empty_misses[RING_VERDICTS]; /* windows */
	uint64_t vm_exits; /* in the kept windows */
	/* duration of the kept windows by CLOCK_MONOTONIC: at least their samples */
	uint64_t clock_ns;
	unsigned int nr_ways; /* 1: a round trip */
	struct ring_hist ways[RING_WAYS];
	struct ring_hist empty[RING_WAYS];
};

struct ring_result {
	const struct ring_method *method;
	struct ring_where where;
	int cpu;
	uint64_t tsc_khz;
	struct ring_control control;
	uint64_t duration_ns;
	bool interrupted; /* ended early; the results so far are valid */
	unsigned int nr_events; /* events with results; 0 if interrupted before the first */
	struct ring_count events[RING_EVENTS];
};

/* Best first, NULL after the last. */
extern const struct ring_method *const ring_methods[];
const struct ring_method *ring__find(const char *name);

/*
 * Opens the first method that works, or `only`, or what measures like xperf instead of it. Binds
 * the calling thread to its current CPU. Calls `refused`, which may be NULL, for each method that
 * does not work.
 */
int ring__open(struct ring **ring, const struct ring_method *only, bool like_xperf,
	       void (*refused)(const struct ring_method *method, const char *why),
	       char why[RUN_TEXT]);

/* Restores the CPUs of the thread. */
void ring__close(struct ring *ring);

/*
 * Waits until the CPU runs at its full clock. `result`, which all later calls fill in, must stay
 * valid.
 */
void ring__begin(struct ring *ring, uint64_t crossings, struct ring_result *result);

/* After ring__begin(): also writes the stamps of each crossing, with the verdict on it. */
void ring__keep_raw(struct ring *ring, FILE *raw);

/*
 * Measures one more window. 1: continue; 0: all events have their crossings. -ENODATA: every window
 * of an event was dropped, or every empty one.
 */
int ring__next(struct ring *ring, char why[RUN_TEXT]);

/*
 * Completes the result, unless ring__next() failed. It is marked as interrupted if ring__next()
 * would still go on.
 */
int ring__end(struct ring *ring, char why[RUN_TEXT]);

/* Converts the result to a probe of a recording: one or two metrics per event. */
void ring_result__to_probe(const struct ring_result *result, uint64_t tail_ns,
			   struct run_probe *module);

/* The median of an empty window, and what of it is subtracted. */
double ring_count__empty_cycles(const struct ring_count *count, unsigned int way);
double ring_count__baseline(const struct ring_result *result, const struct ring_count *count,
			    unsigned int way);

const char *ring_verdict__name(enum ring_verdict verdict); /* "vm_exits" */
const char *ring_count__way(const struct ring_count *count, unsigned int way); /* "u2k" */

/* For methods: stores the message in `why` and returns err. */
int ring__fail(char why[RUN_TEXT], int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The methods, best first. */
extern const struct ring_method ring_kvm;
extern const struct ring_method ring_module;
extern const struct ring_method ring_user;

#endif
