/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lifecycle of a probe. Each probe is a struct probe_ops in probe_list[]: memlat, runqlat,
 * iolat, rmid, tierlat, ringlat. A session opens any of them, takes them through one window and
 * closes them. Functions return 0 or -errno and print nothing.
 */
#ifndef LATSCOPE_PROBES_PROBE_H
#define LATSCOPE_PROBES_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include <core/names.h>
#include <core/run.h>

struct probe_ops;

#define PROBE_PROGRAMS 8
#define PROBE_AGAIN 4

/* One way to measure. A method is taken if all its programs load and attach. */
struct probe_method {
	const char *name;
	const char *mechanism; /* how it gets the number, for the reader of the result */
	const char *needs; /* what the kernel must have, for the reader of `doctor` */
	/* Name and description of the first metric, where they differ; else NULL. */
	const char *metric;
	const char *what;
	/* Loaded and attached by their section, NULL-terminated. */
	const char *programs[PROBE_PROGRAMS];
	/* Loaded only: the probe attaches or runs them itself. */
	const char *loaded[PROBE_PROGRAMS];
	/*
	 * Of `programs`, the one that sees the end of each event, and of `again` the one that does
	 * so, too (NULL: none does). An event is lost if the kernel runs neither.
	 */
	const char *end_program, *end_again;
	/*
	 * Those that see its start, if `end_again` cannot tell an event that `end_program` has
	 * handled from one whose start neither of them saw; else NULL.
	 */
	const char *start_program, *start_again;
	/*
	 * Attached, too, where the kernel may preempt `programs`: each does the work of one of them
	 * when the kernel did not run that one. NULL-terminated.
	 */
	const char *again[PROBE_AGAIN];
	/* A BPF trampoline runs them, the one that was attached last first; else in order. */
	bool by_trampoline;
	const char *unused_map; /* not created; NULL: all maps are used */
	uint32_t lacks; /* splits it cannot do: mask of 1 << enum lat_by */
	bool lacks_tasks; /* it cannot filter by task */
	uint32_t lacks_metrics; /* optional metrics it cannot do: mask of 1 << index */
	bool x86; /* it exists on x86-64 only */
};

/* What a probe is asked for. */
struct probe_request {
	const struct lat_config *config; /* filters, splits, tail; NULL: all default */
	const char *method; /* NULL: the best that works */
	const void *own; /* options of this probe alone, see its header; NULL: the defaults */
	bool untimed; /* the kernel does not measure the run time of its programs */
};

/* The common part of an open probe; each kind of probe has it as its first member. */
struct probe {
	const struct probe_ops *ops;
	/* Set by the session. */
	struct run_probe *entry; /* where the probe puts its results */
	struct run_data *delta; /* what the interval adds to the totals of the entry */
	struct names *names; /* of tasks, cgroups and disks */
	/* Set by open(): what the process has to keep until the window is over. */
	unsigned int capability; /* CAP_...; 0: none */
	bool times_calls; /* it times system calls, which a filter would slow down */
	/* Set by a step: it has all that it wants, the window can end. */
	bool done;
	/* Why the last step failed; empty: the errno says all. */
	char why[RUN_TEXT];
};

/* The steps through a window, in this order. All probes take one before any takes the next. */
enum probe_step {
	PROBE_PREPARE, /* what takes long */
	PROBE_BEFORE_OPEN,
	PROBE_OPEN, /* no more than a store: the same instant for all probes and CPUs */
	PROBE_AFTER_OPEN,
	PROBE_START, /* the window is open */
	PROBE_POLL, /* at least every ops->poll_ns while it is open */
	PROBE_BEFORE_SHUT,
	PROBE_SHUT, /* no more than a store */
	PROBE_IN_FLIGHT, /* at once: a wait that ends before that would be in neither number */
	PROBE_AFTER_SHUT,
	PROBE_STOP, /* every program that saw the window open has returned */
	PROBE_INTERVAL, /* an interval ends; the last one after PROBE_STOP */
	PROBE_STEPS,
};

/* `at_ns` on CLOCK_MONOTONIC: when the window opened, from PROBE_POLL on what the step is up to. */
typedef int probe_step_fn(struct probe *probe, uint64_t at_ns);

struct probe_ops {
	const char *name;
	const char *what; /* what it measures, in one line; NULL: that of the first metric */
	bool by_default; /* part of `record`, unless asked for */
	bool needs_bpf; /* it cannot run where the kernel permits no BPF */
	unsigned int nr_metrics;
	struct run_metric metrics[RUN_METRICS];
	/* The last metrics, measured only if asked for: mask of 1 << index. */
	uint32_t optional;
	uint32_t splits; /* mask of 1 << enum lat_by */
	const struct probe_method *methods; /* best first */
	unsigned int nr_methods;
	/* Does another method lose fewer events on this kernel than this one? NULL: none. */
	bool (*second_best)(const struct probe_method *method);
	/* What all methods do differently on this kernel, for `doctor`. NULL: nothing. */
	const char *(*differs)(void);

	/*
	 * Opens it, but measures nothing yet. On failure `why` says the reason. -EINVAL: the
	 * request is wrong; -EOPNOTSUPP: this machine cannot.
	 */
	int (*open)(struct probe **probe, const struct probe_ops *ops,
		    const struct probe_request *request, char why[RUN_TEXT]);
	/*
	 * Fills in what the probe is and how it measures, with an empty table if it has one. Again
	 * after the window, when more is known.
	 */
	int (*describe)(struct probe *probe);
	probe_step_fn *steps[PROBE_STEPS]; /* NULL: nothing to do */
	uint64_t poll_ns;
	/*
	 * What the user should know now, each text once; NULL: no more. Asked before the window and
	 * after each step. NULL: there is never any.
	 */
	const char *(*trouble)(struct probe *probe);
	/* Detaches all and frees it. -errno with `why`: not all is as it was before open. */
	int (*close)(struct probe *probe, char why[RUN_TEXT]);
};

/* All probes, in the order of reports; NULL-terminated. */
extern const struct probe_ops *const probe_list[];

const struct probe_ops *probe__find(const char *name); /* NULL: unknown */
/* 1 << index of the optional metric named; 0: there is none. */
uint32_t probe__find_metric(const struct probe_ops *ops, const char *name);

const struct probe_method *probe__find_method(const struct probe_ops *ops, const char *name);

/* The methods in the order in which they are tried on this kernel; `nth` below ops->nr_methods. */
const struct probe_method *probe__nth_method(const struct probe_ops *ops, unsigned int nth);

/* Is the filter, or a part of it, one by task? */
bool probe__filters_tasks(const struct lat_config *config);

/* The requested option that the method cannot do, "--by page"; NULL if it can do all. */
const char *probe__beyond(const struct probe_method *method, const struct lat_config *config,
			  char option[RUN_TEXT]);

/* A reason of open() without the method's name in front; NULL: of several methods, as it is. */
const char *probe__reason(const char *why, const char *method);

/* As ops->open() and ops->close(); NULL is fine to close. */
int probe__open(struct probe **probe, const struct probe_ops *ops,
		const struct probe_request *request, char why[RUN_TEXT]);
int probe__close(struct probe *probe, char why[RUN_TEXT]);

/* Takes a step, if there is anything to do in it. */
int probe__step(struct probe *probe, enum probe_step step, uint64_t at_ns);

#endif
