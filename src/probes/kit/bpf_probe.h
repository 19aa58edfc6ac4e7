/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF histograms: probes whose programs count latencies into cells and rows. They differ in
 * struct bpf_probe_ops only; the same functions open, read and close all of them.
 *
 * This is the state of one that is open, and what is done with its programs and maps. Above it are
 * rows.h, read.h, light_keys.h, renew.h, cost.h, kernel_check.h and why.h, then bpf_open.h and
 * bpf_steps.h, which call these. Calls go down only.
 */
#ifndef LATSCOPE_PROBES_KIT_BPF_PROBE_H
#define LATSCOPE_PROBES_KIT_BPF_PROBE_H

#include <stddef.h>

#include <bpf/libbpf.h>

#include <host/account.h>

#include "cost.h"
#include "inject.h"
#include "kernel_check.h"
#include "kernel_types.h"
#include "probe.h"
#include "why.h"

struct bpf_probe;

/* Sets the config of a skeleton that is open and not loaded. */
#ifdef LATSCOPE_FAULTS
#define PROBE_CONFIGURE(skel, probe) \
	((skel)->rodata->config = (probe)->config, (skel)->rodata->inject = inject__fault)
#else
#define PROBE_CONFIGURE(skel, probe) ((skel)->rodata->config = (probe)->config)
#endif

/* What differs between these probes. */
struct bpf_probe_ops {
	/* Opens the skeleton with the options of probe->types, and sets its config. */
	int (*open)(struct bpf_probe *probe, struct bpf_object_skeleton **skeleton);
	/* Can this method be tried on this kernel? If not, gives the reason. NULL: always. */
	int (*suits)(const struct bpf_probe *probe, const struct probe_method *method,
		     char why[RUN_TEXT]);
	/* Selects more programs than the method names (by config and kernel). NULL: nothing. */
	int (*prepare)(struct bpf_probe *probe, struct bpf_object *obj);
	/* After load: sets the control block and attaches what must be attached by hand. */
	int (*start)(struct bpf_probe *probe, struct lat_control **control);
	/* After each interval. NULL: nothing to do. */
	int (*tick)(struct bpf_probe *probe, const struct run_data *now);
	/* Counts the waits that are in flight now. */
	int (*in_flight)(struct bpf_probe *probe, struct lat_in_flight *waits, bool *age_known);
	/*
	 * Called soon after the window has opened and shortly before it closes: adds to
	 * probe->missed the ends for which no program ran, if the kernel does not count these
	 * itself. NULL: it does.
	 */
	void (*count_missed)(struct bpf_probe *probe, bool closes);
	/* After the window: corrects what no program saw. NULL: nothing. */
	void (*count_unseen)(const struct bpf_probe *probe, struct run_probe *entry);
	/* Its programs may change the account of threads, see account_host.h. */
	bool hosts_account;
	/* Maps of `why` that the other probes do not have; ends with an empty name. NULL: none. */
	const struct why_map *why_maps;
	/*
	 * With config.why, soon after each poll: sets what the programs need to explain samples.
	 * `text` (NULL: not wanted) gets what is known of disks, see struct run_why. NULL: nothing.
	 */
	void (*learn)(struct bpf_probe *probe, char *text, size_t size);
	/* Adds to the sentence on the mechanism what the window has shown. NULL: nothing. */
	void (*conclude)(const struct bpf_probe *probe, const struct run_data *data,
			 char text[RUN_TEXT]);
	/* The kernel's own account of the same events; without waits there may be switches. */
	enum account_kind account;
	/*
	 * Prepares the comparison with the account. Fills in the probe's sums, `known` and a
	 * tolerance of check->events and, if the account has times, of check->time; check->why.
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
	struct kernel_types types; /* while it is loaded */
	struct bpf_object *obj; /* owned by the skeleton */
	void *skel; /* owned by the ops */
	struct lat_control *control; /* in the skeleton's .bss */
	struct bpf_link **links;
	size_t nr_links, max_links;
	int cpus; /* possible CPUs */
	unsigned int nr_metrics; /* metrics that are measured */
	struct why_reader *why; /* NULL: slow samples are not explained */
	struct why_request why_request;
	struct why_control *why_control; /* in the skeleton's .bss; set by the ops */
	uint64_t why_row_ns; /* time of the rows of the last interval */
	uint64_t missed; /* ends for which no program ran, as counted by count_missed() */
	struct lat_oldest oldest; /* whose wait in flight is the oldest, by in_flight() */
	const struct run_metric *metric; /* its first metric; NULL: as the method or the ops say */
	uint64_t skipped_at_open; /* skipped runs of the end program when the window opened */
	const char *skipped; /* a better method that the verifier refused; NULL: none */
	struct cost cost;
	struct verify verify;
	uint64_t start_ns; /* of the window, CLOCK_MONOTONIC */
	bool closed; /* the window was measured */

	const void *cells; /* mapped: per CPU, nr_metrics cells, cell_stride bytes apart */
	size_t cell_stride, cells_size, owners_size;
	uint32_t *rows; /* row of each key read so far, in the order of data->keys */
	uint32_t *key_of; /* by row: the number of its key, from 1; 0: no key yet */
	struct lat_owner *owners; /* mapped, by row: the map `owners` */
	bool *settled; /* by row: nothing was new at the last reading */
	struct sparse *spare; /* work space of a reading */
	bool renewing; /* see renew.h: between its two steps */
	uint64_t renewed_ns;
	size_t nr_keys; /* keys of data that are not "(other)" */
	struct light *light; /* keys without a row; NULL: none yet */
	struct lat_hist **moved; /* by key: what is added to its row; NULL: nothing */
};

static inline struct bpf_probe *bpf_probe(struct probe *common)
{
	return (struct bpf_probe *)common;
}

/* ---- its programs ---- */

/*
 * Takes ownership of a link, which is destroyed with the probe. On failure the link is destroyed at
 * once.
 */
int bpf_probe__keep_link(struct bpf_probe *probe, struct bpf_link *link);

/* Adds a program to those of the method, between open and load. */
int probe__load_too(struct bpf_object *obj, const char *program);

/* Attaches a program by its section. */
int bpf_probe__attach(struct bpf_probe *probe, const char *name);

/* Runs an iterator program once, limited by the options; NULL: not. */
int probe__run_iterator(const struct bpf_program *program,
			const struct bpf_iter_attach_opts *options);

/* The same, without options, by name of the program. */
int bpf_probe__iterate(struct bpf_probe *probe, const char *program);

/* A descriptor from which the program's output is read, or -errno. */
int probe__open_iterator(const struct bpf_program *program,
			 const struct bpf_iter_attach_opts *options);

/* Sums over the probe's programs: runs and their time, while the kernel's BPF statistics are on. */
struct bpf_probe_usage {
	uint64_t runs;
	uint64_t run_ns;
	/*
	 * Ends of events for which no program ran, always counted. An upper bound if two programs
	 * see each end, a lower bound if count_missed() counts them.
	 */
	uint64_t recursion_missed;
};
int bpf_probe__usage(const struct bpf_probe *probe, struct bpf_probe_usage *usage);

/* Runs of the method's end program that the kernel has skipped since the window opened. */
uint64_t bpf_probe__skipped_ends(const struct bpf_probe *probe);

/* ---- its maps ---- */

/*
 * The memory of an array, for bpf_probe__unmap(), which does nothing for NULL. NULL with errno: the
 * object has no such map, or the kernel refuses.
 */
void *bpf_probe__map(const struct bpf_probe *probe, const char *name, int access, size_t *size);
void bpf_probe__unmap(const void *at, size_t size);

/*
 * Calls `each` with the entries of a hash until one call does not return 0; returns that value.
 * Concurrent changes do not make it repeat or skip other entries. 0 or -errno.
 */
typedef int probe_entry(void *context, const void *key, const void *value);
int probe__each_entry(const struct bpf_map *map, probe_entry *each, void *context);

/* Events of the first metric so far: the sum of LAT_SEEN; on one CPU. */
uint64_t bpf_probe__seen(const struct bpf_probe *probe);
uint64_t bpf_probe__seen_on(const struct bpf_probe *probe, int cpu);

/* Adds the cells of all CPUs of a metric so far. */
void bpf_probe__add_cells(const struct bpf_probe *probe, unsigned int metric, struct lat_cell *sum);

/* ---- for its ops ---- */

/* Does the filter leave this CPU? */
bool probe__wants_cpu(const struct lat_config *config, unsigned int cpu);

/* Adds waits in flight, which all began at start_ns (CLOCK_MONOTONIC). */
void probe__count_in_flight(struct lat_in_flight *waits, uint64_t count, uint64_t start_ns);

#endif
