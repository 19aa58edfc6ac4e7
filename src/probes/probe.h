/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A probe: BPF programs that count into cells and rows, and what it takes to get them running on
 * this kernel. Each module (memlat, runqlat, iolat) is an instance of struct probe_ops in
 * probe_list[]; all are opened, read and closed by the same functions. -errno upwards, nothing is
 * printed.
 */
#ifndef LATSCOPE_PROBES_PROBE_H
#define LATSCOPE_PROBES_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include <core/account.h>
#include <core/names.h>
#include <core/run.h>

struct probe;
struct bpf_object;
struct bpf_object_skeleton;

#define PROBE_PROGRAMS 8
#define PROBE_AGAIN 4

/* One way to measure. A method is taken if all its programs load and attach. */
struct probe_method {
	const char *name;
	const char *mechanism; /* how the number is got, for the reader of the result */
	const char *needs; /* what the kernel must have, for the reader of `doctor` */
	const char *metric; /* name of the first metric, where it differs; else NULL */
	const char *what;
	const char *programs[PROBE_PROGRAMS]; /* loaded and attached by their section,
						 NULL-terminated */
	const char
		*loaded[PROBE_PROGRAMS]; /* loaded only: the probe attaches or runs them itself */
	/*
	 * Of `programs`, the one that sees the end of each event, and of `again` the one that does
	 * so, too (NULL: none does). What the kernel runs neither for is lost.
	 */
	const char *end_program, *end_again;
	/*
	 * Those that see its start, if `end_again` cannot tell an event that `end_program` has
	 * handled from one whose start neither of them saw; else NULL.
	 */
	const char *start_program, *start_again;
	/*
	 * Attached, too, where the kernel may preempt `programs`: each does what one of them was
	 * not run for. NULL-terminated.
	 */
	const char *again[PROBE_AGAIN];
	/* They are run by a BPF trampoline, the one that was attached last first; else in order. */
	bool by_trampoline;
	const char *unused_map; /* not to be created; NULL: all are used */
	uint32_t lacks; /* splits it cannot do: mask of 1 << enum lat_by */
	bool lacks_tasks; /* nor a filter by task */
	uint32_t lacks_metrics; /* nor these optional metrics: mask of 1 << index */
};

struct probe_ops {
	const char *name;
	unsigned int nr_metrics;
	struct run_metric metrics[RUN_METRICS];
	/* The last metrics, measured only if asked for: mask of 1 << index. */
	uint32_t optional;
	uint32_t splits; /* mask of 1 << enum lat_by */
	const struct probe_method *methods; /* best first */
	unsigned int nr_methods;

	/* Opens the skeleton and sets its config. */
	int (*open)(struct probe *probe, struct bpf_object_skeleton **skeleton);
	/* May this method be tried on this kernel? If not, says why. NULL: always. */
	int (*suits)(const struct probe_method *method, char why[RUN_TEXT]);
	/*
	 * Does another method lose fewer events on this kernel, though this one works? NULL: none.
	 */
	bool (*second_best)(const struct probe_method *method);
	/* Loads more than the method names (by config and kernel). NULL: nothing. */
	int (*prepare)(struct probe *probe, struct bpf_object *obj);
	/* After load: control block and what must be attached by hand. */
	int (*start)(struct probe *probe, struct lat_control **control);
	/* Now and then while the window is open. NULL: nothing to do. */
	int (*tick)(struct probe *probe, const struct run_data *now);
	/* Waits that are open now. */
	int (*in_flight)(struct probe *probe, struct lat_open *open, bool *age_known);
	/*
	 * Called soon after the window has opened and shortly before it shuts: adds to
	 * probe->missed the ends that no program was run for, where the kernel does not count
	 * these itself. NULL: it does.
	 */
	void (*count_missed)(struct probe *probe, bool shuts);
	/* What all methods do differently on this kernel. NULL: nothing. */
	const char *(*differs)(void);
	/* What the window has shown of the mechanism, to follow its sentence. NULL: nothing. */
	void (*conclude)(const struct probe *probe, const struct run_data *data,
			 char text[RUN_TEXT]);
	/* The kernel's own account of the same events; without waits there may be switches. */
	enum account_kind account;
	/*
	 * What it must say, by what the module has counted: fills in of check->events and, if it
	 * has a time, check->time what is ours, known and a tolerance of its own; and check->why.
	 */
	void (*expect)(const struct probe *probe, const struct run_probe *entry,
		       enum account_kind kind, struct run_check *check);
	void (*close)(struct probe *probe);
};

/* All modules, in the order of reports; NULL-terminated. */
extern const struct probe_ops *const probe_list[];

const struct probe_ops *probe__find(const char *name); /* NULL: no such module */
/* 1 << index of the optional metric named; 0: there is none. */
uint32_t probe__find_metric(const struct probe_ops *ops, const char *name);

const struct probe_method *probe__find_method(const struct probe_ops *ops, const char *name);

/* The methods in the order in which they are tried on this kernel; `nth` below ops->nr_methods. */
const struct probe_method *probe__nth_method(const struct probe_ops *ops, unsigned int nth);

/* Is the filter, or a part of it, one by task? */
bool probe__filters_tasks(const struct lat_config *config);

/* What the method cannot do of what is asked, as an option, "--by page"; NULL if it can do all. */
const char *probe__beyond(const struct probe_method *method, const struct lat_config *config,
			  char option[RUN_TEXT]);

/* What probe__open() says of a method, without its name in front; NULL: of several, as it is. */
const char *probe__reason(const char *why, const char *method);

/*
 * Opens a probe on the method named, on the best that works if NULL. The programs run from then on
 * and count nothing until armed. On failure `why` says which methods were tried and what each
 * lacked. -EINVAL: no method has that name; -EOPNOTSUPP: none works here.
 */
int probe__open(struct probe **probe, const struct probe_ops *ops, const struct lat_config *config,
		const char *method, char why[RUN_TEXT]);
void probe__close(struct probe *probe); /* detaches all; NULL is fine */

/* What the module does differently on this kernel, for the reader of `doctor`; NULL: nothing. */
const char *probe__differs(const struct probe_ops *ops);

/* Fills in what the module is and how it measures; again at the end, when more is known of that. */
void probe__describe(const struct probe *probe, struct run_probe *entry);

/* Opens and shuts the window: a store, the same instant for all CPUs. */
void probe__arm(struct probe *probe, bool armed);

/* To be called while the window is open: once at its start and, with `shuts`, once at its end. */
void probe__count_missed(struct probe *probe, bool shuts);

/*
 * Brings `total` up to date and leaves in `delta` what came since the last call. Both start out
 * empty and get the same keys in the same order. 0 or -errno.
 */
int probe__read(struct probe *probe, struct run_data *total, struct run_data *delta,
		struct names *names);

/* Names of the keys once more, for those whose task has taken another since. */
int probe__rename(struct probe *probe, struct run_data *data, struct names *names);

int probe__tick(struct probe *probe, const struct run_data *now);
int probe__in_flight(struct probe *probe, struct lat_open *open, bool *age_known);

/* Events of the first metric so far: the sum that probe__read() would give as LAT_SEEN. */
uint64_t probe__seen(const struct probe *probe);

/* Sums over the probe's programs: runs and their time, while the kernel's BPF statistics are on. */
struct probe_usage {
	uint64_t runs;
	uint64_t run_ns;
	/*
	 * Ends of events that no program was run for, counted always; an upper bound where two
	 * programs see each end, a lower bound where probe__count_missed() counts them.
	 */
	uint64_t recursion_missed;
};
int probe__usage(const struct probe *probe, struct probe_usage *usage);

#endif
