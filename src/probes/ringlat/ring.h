/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What it costs to cross from user to kernel mode and back. A method makes windows of crossings,
 * one driver for all of them measures empty windows of the same code beside them, adds up, and
 * counts what was dropped, by name. Nothing here prints; -errno comes with a sentence in `why`.
 */
#ifndef LATSCOPE_PROBES_RINGLAT_RING_H
#define LATSCOPE_PROBES_RINGLAT_RING_H

#include "cycles.h"
#include "where.h"

#define RING_EVENTS 3 /* most events of a method */
#define RING_DEFAULT_CROSSINGS 1000000

enum ring_way { RING_USER_TO_KERNEL, RING_KERNEL_TO_USER, RING_WAYS };

/* TSC stamps of one crossing. A round trip has the first and the last only. */
struct ring_sample {
	uint64_t user_out; /* user mode, before */
	uint64_t kernel_in; /* kernel mode, as early as can be; 0: nobody stamped it */
	uint64_t kernel_out; /* kernel mode, as late as can be */
	uint64_t user_in; /* user mode, after */
};
_Static_assert(sizeof(struct ring_sample) == 32, "guest_code.S writes it");

/* What became of a window, or of one sample of it. */
enum ring_verdict {
	RING_KEPT,
	RING_SWITCHED, /* window: the CPU went to another task meanwhile */
	RING_INTERRUPTED, /* window: the CPU took an interrupt */
	RING_STRAY_FAULTS, /* window: the kernel counted other faults than ours */
	RING_VM_EXITS, /* window: the guest was left in it */
	RING_NOT_HOOKED, /* sample: the kernel half was not in place */
	RING_BACKWARDS, /* sample: the stamps are not in order */
	RING_VERDICTS,
};

struct ring_event {
	const char *name; /* "fault" */
	const char *what; /* one line */
	bool round_trip; /* there and back in one figure, the kernel's work included */
};

struct ring;

struct ring_method {
	const char *name; /* "kvm" */
	const char *mechanism; /* what its figures are of, one sentence */
	const struct ring_event *events;
	unsigned int nr_events;
	unsigned int window; /* crossings at a stretch, RING_WINDOW at most */
	bool guest; /* it measures in a guest of its own */
	unsigned int capability; /* what it needs to the end, CAP_...; 0: none */

	/* Anything but 0: it does not work here, `why` has reason and remedy. */
	int (*open)(struct ring *ring, char why[RUN_TEXT]);
	void (*close)(struct ring *ring);

	/*
	 * Makes `nr` crossings, or as many empty windows: both pairs of stamps, or the one of a
	 * round trip, with nothing between. Returns enum ring_verdict or -errno with `why`.
	 */
	int (*window_of)(struct ring *ring, unsigned int event, bool empty,
			 struct ring_sample *samples, unsigned int nr, char why[RUN_TEXT]);
};

#define RING_WINDOW 512

/* What a method with a guest found out about its VM exits. */
struct ring_control {
	unsigned int cpuids; /* so many CPUIDs, of which each must be an exit ... */
	uint64_t exits; /* ... made so many */
	uint64_t cycles; /* what one took, median */
};

struct ring {
	const struct ring_method *method;
	void *state; /* the method's */
	int cpu; /* it stays on this one */
	uint64_t tsc_khz; /* of the method, which may know better than the driver; 0: it does not */
	struct ring_control control;
	uint64_t vm_exits; /* of the last window */
	struct ring_sample samples[RING_WINDOW];
};

struct ring_count {
	const struct ring_event *event;
	uint64_t attempted; /* = kept + all misses */
	uint64_t kept;
	uint64_t misses[RING_VERDICTS]; /* [RING_KEPT] stays 0 */
	uint64_t empty_misses[RING_VERDICTS]; /* windows */
	uint64_t vm_exits; /* in the kept windows */
	uint64_t clock_ns; /* of the kept windows, by CLOCK_MONOTONIC: no less than their samples */
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
	bool interrupted; /* ended early: what there is, is good */
	unsigned int nr_events; /* those that have figures: 0, if interrupted before any had */
	struct ring_count events[RING_EVENTS];
};

/* Best first, NULL after the last. */
extern const struct ring_method *const ring_methods[];
const struct ring_method *ring__find(const char *name);

/*
 * The first of all methods that works, or `only`. Binds the calling thread to the CPU it is on.
 * Each that does not work is told to `refused`, which may be NULL.
 */
int ring__open(struct ring **ring, const struct ring_method *only,
	       void (*refused)(const struct ring_method *method, const char *why),
	       char why[RUN_TEXT]);

/* Gives the thread its CPUs back. */
void ring__close(struct ring *ring);

/*
 * `crossings` of each event. `go_on` is asked after each window and ends it early by false.
 * -ENODATA: of an event every window was dropped, or every empty one.
 */
int ring__measure(struct ring *ring, uint64_t crossings,
		  bool (*go_on)(const struct ring_count *count, uint64_t crossings),
		  struct ring_result *result, char why[RUN_TEXT]);

/* The result as a module of a recording: two metrics an event, or one; sizes of base/run.h. */
void ring_result__to_probe(const struct ring_result *result, uint64_t tail_ns,
			   struct run_probe *module);

const char *ring_verdict__name(enum ring_verdict verdict); /* "vm_exits" */
const char *ring_count__way(const struct ring_count *count, unsigned int way); /* "u2k" */

/* For methods: keeps the sentence and returns err. */
int ring__fail(char why[RUN_TEXT], int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
