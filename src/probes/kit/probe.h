/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lifecycle of a probe. Each probe is a struct probe_ops NAME_probe, in the folder NAME; PROBES
 * in mk/arch.mk lists those that are built. A session opens probes, takes them through one
 * window and closes them. Functions return 0 or -errno and print nothing.
 */
#ifndef LATSCOPE_PROBES_KIT_PROBE_H
#define LATSCOPE_PROBES_KIT_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include <core/run.h>
#include <host/names.h>

struct probe_ops;
struct symbols;

#define PROBE_TAIL_NS 8000 /* of probes that measure the kernel; a disk is slower */
#define PROBE_PROGRAMS 8
#define PROBE_COPIES 4

/* One way to measure. A method can be used if all its programs load and attach. */
struct probe_method {
	const char *name;
	const char *mechanism; /* how it gets the number, for the reader of the result */
	const char *needs; /* what the kernel must have, for the reader of `doctor` */
	/* Name and description of the first metric, where they differ; else NULL. */
	const char *metric;
	const char *what;
	/* Loaded, and attached by their section; NULL-terminated. */
	const char *programs[PROBE_PROGRAMS];
	/* Loaded only: the probe attaches or runs them itself. */
	const char *loaded[PROBE_PROGRAMS];
	/*
	 * end_program sees the end of each event; end_copy, one of `copies`, sees it too; NULL: no
	 * copy sees it. An event is lost if the kernel runs neither program.
	 */
	const char *end_program, *end_copy;
	/*
	 * The programs that see its start, if `end_copy` cannot distinguish an event that
	 * `end_program` has handled from one whose start neither of them saw; else NULL.
	 */
	const char *start_program, *start_copy;
	/*
	 * Attached if the kernel may preempt `programs`: each does the work of one of them when the
	 * kernel did not run that one. Their names end in _again. NULL-terminated.
	 */
	const char *copies[PROBE_COPIES];
	/*
	 * A BPF trampoline runs the programs in reverse order of attachment; else they run in
	 * order.
	 */
	bool by_trampoline;
	uint32_t lacks; /* splits it cannot do: mask of 1 << enum lat_by */
	bool lacks_tasks; /* it cannot filter by task */
	bool explains; /* it can say why samples were slow */
	bool x86; /* it exists on x86-64 only */
};

/* What is requested of a probe. */
struct probe_request {
	const struct lat_config *config; /* filters, splits, tail; NULL: all default */
	const char *method; /* NULL: the best that works */
	const void *own; /* options of this probe alone, see its header; NULL: the defaults */
	const struct why_request *why; /* with config->why: which samples are slow; NULL: default */
	bool untimed; /* do not time the BPF programs */
};

/* The common part of an open probe, and its first member. */
struct probe {
	const struct probe_ops *ops;
	/* Set by the session. */
	struct run_probe *entry; /* where the probe puts its results */
	struct run_data *delta; /* the part of the totals that is of this interval */
	struct names *names; /* names of tasks, cgroups and disks */
	struct symbols *symbols; /* for the stacks of slow samples; NULL: not wanted */
	bool renews; /* the window has no end: keys are given up for new ones */
	pid_t workload; /* it runs while the window is open; 0: none */
	/* In the next interval: leave the keys to a later one; compare with the kernel's account.
	 */
	bool skip_keys, check;
	/* Set by open(): what the process must keep until the window closes. */
	unsigned int capability; /* CAP_...; 0: none */
	bool times_calls; /* it times system calls, which a filter would slow down */
	/* Set by a step: the probe needs no more samples, the window can close. */
	bool done;
	/* Why the last step failed; empty: the errno is enough. */
	char why[RUN_TEXT];
};

/* The steps through a window, in this order. All probes take a step before any takes the next. */
enum probe_step {
	PROBE_PREPARE, /* slow preparations */
	PROBE_BEFORE_OPEN,
	PROBE_OPEN, /* only a store: the same instant for all probes and CPUs */
	PROBE_AFTER_OPEN,
	PROBE_START, /* the window is open */
	PROBE_POLL, /* called at least every ops->poll_ns */
	PROBE_BEFORE_CLOSE,
	PROBE_CLOSE, /* only a store */
	/*
	 * at once: a wait that ends before this would not be in flight, and not in the window
	 * either
	 */
	PROBE_IN_FLIGHT,
	PROBE_AFTER_CLOSE,
	PROBE_STOP, /* every program that saw the window open has returned */
	PROBE_INTERVAL, /* an interval ends; the last time after PROBE_STOP */
	PROBE_STEPS,
};

/*
 * `at_ns` (CLOCK_MONOTONIC): when the window opened; from PROBE_POLL on, the end of the step's
 * time.
 */
typedef int probe_step_fn(struct probe *probe, uint64_t at_ns);

struct probe_ops {
	const char *name;
	/*
	 * Of a BPF histogram, see bpf_probe.h; else NULL. Its open() ends its turn while the kernel
	 * loads: see opening.h.
	 */
	const struct bpf_probe_ops *bpf;
	const char *help; /* of `latscope NAME` in the list of commands */
	const char *examples; /* of its help: a line each; NULL: it has a help of its own */
	const char *what; /* what it measures, in one line; NULL: the text of the first metric */
	bool by_default; /* `record` uses it if no probe is named */
	bool explains; /* one of its methods can say why samples were slow */
	uint64_t over_ns; /* an account explains longer samples of it; 0: as of others, 1 ms */
	/*
	 * It divides the whole time of threads into these states: columns of its table, without
	 * "_ns". Its command explains them. NULL-terminated; NULL: it does not.
	 */
	const char *const *accounts;
	bool needs_bpf; /* it needs BPF */
	unsigned int nr_metrics;
	struct run_metric metrics[RUN_METRICS];
	uint64_t tail_ns; /* default threshold of the tail */
	/* The optional metrics, which are the last ones: mask of 1 << index. */
	uint32_t optional;
	uint32_t splits; /* mask of 1 << enum lat_by */
	/* What --by of its command also takes; its view shows that. NULL-terminated; or NULL. */
	const char *const *more_splits;
	const struct probe_method *methods; /* best first */
	unsigned int nr_methods;
	/* A method that loses fewer events on this kernel than this one. NULL: none. */
	bool (*second_best)(const struct probe_method *method);
	/* What all methods do differently on this kernel, for `doctor`. NULL: nothing. */
	const char *(*differs)(void);

	/*
	 * Opens the probe; it does not measure yet. On failure `why` has the reason. -EINVAL: the
	 * request is wrong; -EOPNOTSUPP: this machine cannot.
	 */
	int (*open)(struct probe **probe, const struct probe_ops *ops,
		    const struct probe_request *request, char why[RUN_TEXT]);
	/*
	 * Describes the probe and how it measures; makes an empty table if it has one. Called again
	 * after the window, when more is known.
	 */
	int (*describe)(struct probe *probe);
	probe_step_fn *steps[PROBE_STEPS]; /* NULL: nothing to do */
	uint64_t poll_ns;
	/*
	 * A message for the user, each one once; NULL: no more. Called before the window and after
	 * each step. NULL: there are never any.
	 */
	const char *(*trouble)(struct probe *probe);
	/*
	 * Detaches everything and frees the probe. -errno with `why`: it could not restore
	 * everything.
	 */
	int (*close)(struct probe *probe, char why[RUN_TEXT]);
};

/* All that are built, in the order of reports; NULL-terminated. */
extern const struct probe_ops *const probe_list[];

const struct probe_ops *probe__find(const char *name); /* NULL: unknown */
/* 1 << index of the optional metric of this name; 0: unknown. */
uint32_t probe__find_metric(const struct probe_ops *ops, const char *name);

const struct probe_method *probe__find_method(const struct probe_ops *ops, const char *name);

/* The methods in the order in which they are tried on this kernel; `nth` below ops->nr_methods. */
const struct probe_method *probe__nth_method(const struct probe_ops *ops, unsigned int nth);

/* Does any filter select tasks? */
bool probe__filters_tasks(const struct lat_config *config);

/* The requested option that the method does not support, "--by page"; NULL: none. */
const char *probe__beyond(const struct probe_method *method, const struct lat_config *config,
			  char option[RUN_TEXT]);

/*
 * The reason from open(), without the method's name in front; unchanged if there are several
 * methods. NULL: none requested.
 */
const char *probe__reason(const char *why, const char *method);

/* As ops->close(). Closing NULL is allowed. */
int probe__close(struct probe *probe, char why[RUN_TEXT]);

/* Takes a step; does nothing if the probe has none. */
int probe__step(struct probe *probe, enum probe_step step, uint64_t at_ns);

#endif
