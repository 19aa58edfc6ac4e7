/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF histograms: probes whose programs count latencies into cells and rows. memlat, runqlat
 * and iolat differ in what struct bpf_probe_ops says; all are opened, read and closed by the same
 * functions.
 */
#ifndef LATSCOPE_PROBES_BPF_PROBE_H
#define LATSCOPE_PROBES_BPF_PROBE_H

#include <stddef.h>

#include <bpf/libbpf.h>

#include <core/account.h>

#include "cost.h"
#include "inject.h"
#include "kernel_check.h"
#include "probe.h"

struct bpf_probe;

/* Gives the settings to a skeleton that is open and not loaded. */
#ifdef LATSCOPE_FAULTS
#define PROBE_CONFIGURE(skel, probe) \
	((skel)->rodata->config = (probe)->config, (skel)->rodata->inject = inject__fault)
#else
#define PROBE_CONFIGURE(skel, probe) ((skel)->rodata->config = (probe)->config)
#endif

/* What is different in each of them. */
struct bpf_probe_ops {
	struct probe_ops common; /* first: see BPF_PROBE_LIFECYCLE */

	/* Opens the skeleton and sets its config. */
	int (*open)(struct bpf_probe *probe, struct bpf_object_skeleton **skeleton);
	/* May this method be tried on this kernel? If not, says why. NULL: always. */
	int (*suits)(const struct probe_method *method, char why[RUN_TEXT]);
	/* Loads more than the method names (by config and kernel). NULL: nothing. */
	int (*prepare)(struct bpf_probe *probe, struct bpf_object *obj);
	/* After load: control block and what must be attached by hand. */
	int (*start)(struct bpf_probe *probe, struct lat_control **control);
	/* After each interval. NULL: nothing to do. */
	int (*tick)(struct bpf_probe *probe, const struct run_data *now);
	/* Counts the waits that are in flight now. */
	int (*in_flight)(struct bpf_probe *probe, struct lat_open *open, bool *age_known);
	/*
	 * Called soon after the window has opened and shortly before it shuts: adds to
	 * probe->missed the ends that no program was run for, where the kernel does not count
	 * these itself. NULL: it does.
	 */
	void (*count_missed)(struct bpf_probe *probe, bool shuts);
	/* What the window has shown of the mechanism, to follow its sentence. NULL: nothing. */
	void (*conclude)(const struct bpf_probe *probe, const struct run_data *data,
			 char text[RUN_TEXT]);
	/* The kernel's own account of the same events; without waits there may be switches. */
	enum account_kind account;
	/*
	 * What the account must say, by what the probe has counted. Fills in our sums, `known` and
	 * a tolerance of check->events and, if the account has times, of check->time; check->why.
	 */
	void (*expect)(const struct bpf_probe *probe, const struct run_probe *entry,
		       enum account_kind kind, struct run_check *check);
	void (*close)(struct bpf_probe *probe);
};

struct bpf_probe {
	struct probe common; /* first */
	const struct bpf_probe_ops *ops;
	const struct probe_method *method;
	struct lat_config config;
	struct bpf_object *obj; /* owned by the skeleton */
	void *skel; /* owned by the ops */
	struct lat_control *control; /* in the skeleton's .bss */
	struct bpf_link **links;
	size_t nr_links, max_links;
	int cpus; /* possible */
	unsigned int nr_metrics; /* those that are measured */
	bool again; /* the method's programs `again` are attached */
	struct fault_events *events; /* of memlat by perf-event; else NULL */
	uint64_t missed; /* ends that no program was run for, as struct bpf_probe_ops counts them */
	uint64_t skipped_ends; /* runs of the end program left out when the window opened */
	const char *unmarked; /* why faults open at the start are not known; NULL: they are */
	const char *skipped; /* a better method that the verifier refused; NULL: none */
	struct cost cost;
	struct verify verify;
	uint64_t start_ns; /* of the window, CLOCK_MONOTONIC */
	bool shut; /* the window was measured */

	const void *cells; /* mapped: per CPU, nr_metrics cells, cell_stride bytes apart */
	size_t cell_stride, cells_size;
	uint32_t *rows; /* row of each key read so far, in the order of data->keys */
	uint32_t *key_of; /* by row: the number of its key, from 1; 0: it has none yet */
	struct lat_owner *owners; /* mapped, by row: the map `owners` */
	size_t nr_keys; /* keys of data that are not "(other)" */
	struct light *light; /* keys without a row; NULL: none yet */
	struct lat_hist **moved; /* by key: what is added to its row; NULL: nothing */
};

static inline struct bpf_probe *bpf_probe(struct probe *common)
{
	return (struct bpf_probe *)common;
}

extern const struct bpf_probe_ops memlat_ops;
extern const struct bpf_probe_ops runqlat_ops;
extern const struct bpf_probe_ops iolat_ops;
extern const struct bpf_probe_ops softirq_ops;

int bpf_probe__open(struct probe **out, const struct probe_ops *ops,
		    const struct probe_request *request, char why[RUN_TEXT]);
int bpf_probe__describe(struct probe *probe);
int bpf_probe__close(struct probe *probe, char why[RUN_TEXT]);
probe_step_fn bpf_probe__prepare, bpf_probe__before_open, bpf_probe__arm, bpf_probe__after_open,
	bpf_probe__start, bpf_probe__poll, bpf_probe__before_shut, bpf_probe__disarm,
	bpf_probe__in_flight, bpf_probe__after_shut, bpf_probe__stop, bpf_probe__interval;

/* What `common` of all of them has. */
#define BPF_PROBE_LIFECYCLE                                                          \
	.needs_bpf = true, .open = bpf_probe__open, .describe = bpf_probe__describe, \
	.close = bpf_probe__close, .poll_ns = COST_POLL_NS,                          \
	.steps = {                                                                   \
		[PROBE_PREPARE] = bpf_probe__prepare,                                \
		[PROBE_BEFORE_OPEN] = bpf_probe__before_open,                        \
		[PROBE_OPEN] = bpf_probe__arm,                                       \
		[PROBE_AFTER_OPEN] = bpf_probe__after_open,                          \
		[PROBE_START] = bpf_probe__start,                                    \
		[PROBE_POLL] = bpf_probe__poll,                                      \
		[PROBE_BEFORE_SHUT] = bpf_probe__before_shut,                        \
		[PROBE_SHUT] = bpf_probe__disarm,                                    \
		[PROBE_IN_FLIGHT] = bpf_probe__in_flight,                            \
		[PROBE_AFTER_SHUT] = bpf_probe__after_shut,                          \
		[PROBE_STOP] = bpf_probe__stop,                                      \
		[PROBE_INTERVAL] = bpf_probe__interval,                              \
	}

/*
 * Brings `total` up to date and leaves in `delta` what came since the last call. Both start out
 * empty and get the same keys in the same order. 0 or -errno.
 */
int bpf_probe__read(struct bpf_probe *probe, struct run_data *total, struct run_data *delta,
		    struct names *names);

/* Sets the names of the keys again, for tasks that have taken another since. */
void bpf_probe__rename(const struct bpf_probe *probe, struct run_data *data, struct names *names);

/* Events of the first metric so far: the sum that bpf_probe__read() would give as LAT_SEEN. */
uint64_t bpf_probe__seen(const struct bpf_probe *probe);

/* Sums over the probe's programs: runs and their time, while the kernel's BPF statistics are on. */
struct bpf_probe_usage {
	uint64_t runs;
	uint64_t run_ns;
	/*
	 * Ends of events that no program was run for, always counted. An upper bound where two
	 * programs see each end, a lower bound where count_missed() counts them.
	 */
	uint64_t recursion_missed;
};
int bpf_probe__usage(const struct bpf_probe *probe, struct bpf_probe_usage *usage);

/*
 * Takes over a key and its row at its end of `total` and `delta`, which is the row of its samples
 * from now on. 0 or -ENOMEM.
 */
int bpf_probe__add_key(struct bpf_probe *probe, struct run_data *total, struct run_data *delta,
		       const struct lat_key *key, const char *name, uint32_t row);

/* Runs of the method's end program that the kernel has left out since the window opened. */
uint64_t bpf_probe__skipped_ends(const struct bpf_probe *probe);

/* Events of the first metric so far, on one CPU. */
uint64_t bpf_probe__seen_on(const struct bpf_probe *probe, int cpu);

/* Copies the row of a key, by its number. 0 or -errno. */
int bpf_probe__read_row(const struct bpf_probe *probe, size_t key, struct lat_hist *copy);

/* Takes a link over; it is destroyed with the probe. On failure the link is destroyed at once. */
int bpf_probe__keep_link(struct bpf_probe *probe, struct bpf_link *link);

/* Attaches a program by its section. */
int bpf_probe__attach(struct bpf_probe *probe, const char *name);

/* Runs an iterator program over all that it iterates over, once. */
int probe__run_iterator(const struct bpf_program *program);

/* The same, over what the options name. */
int probe__run_iterator_of(const struct bpf_program *program,
			   const struct bpf_iter_attach_opts *options);

/* As probe__run_iterator(), by name. */
int bpf_probe__iterate(struct bpf_probe *probe, const char *program);

/*
 * Calls `each` with the entries of a hash until one call returns other than 0, which it returns. No
 * entry is met twice or left out because others come and go meanwhile. 0 or -errno.
 */
typedef int probe_entry(void *context, const void *key, const void *value);
int probe__each_entry(const struct bpf_map *map, probe_entry *each, void *context);

/* Adds waits to a census, the oldest of which began at start_ns (CLOCK_MONOTONIC). */
void probe__count_open(struct lat_open *open, uint64_t count, uint64_t start_ns);

/* Adds a program to those of the method, between open and load. */
int probe__load_too(struct bpf_object *obj, const char *program);

#endif
