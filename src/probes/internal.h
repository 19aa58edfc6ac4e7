/* SPDX-License-Identifier: BSD-2-Clause */
/* What the modules of src/probe share and nobody else sees. */
#ifndef LATSCOPE_PROBES_INTERNAL_H
#define LATSCOPE_PROBES_INTERNAL_H

#include <stddef.h>

#include <bpf/libbpf.h>

#include "inject.h"
#include "probe.h"

/* Gives the settings to a skeleton that is open and not loaded. */
#ifdef LATSCOPE_FAULTS
#define PROBE_CONFIGURE(skel, probe) \
	((skel)->rodata->config = (probe)->config, (skel)->rodata->inject = inject__fault)
#else
#define PROBE_CONFIGURE(skel, probe) ((skel)->rodata->config = (probe)->config)
#endif

struct probe {
	const struct probe_ops *ops;
	const struct probe_method *method;
	struct lat_config config;
	struct bpf_object *obj; /* owned by the skeleton */
	void *skel; /* the module's own */
	struct lat_control *control; /* in the skeleton's .bss */
	struct bpf_link **links;
	size_t nr_links, max_links;
	int cpus; /* possible */
	unsigned int nr_metrics; /* those that are measured */
	bool again; /* the method's programs `again` are attached */
	struct fault_events *events; /* memlat's on the method perf-event; else NULL */
	uint64_t missed; /* ends that no program was run for, as struct probe_ops counts them */
	uint64_t skipped_ends; /* runs of the end program left out when the window opened */
	const char *unmarked; /* why faults open at the start are not known; NULL: they are */
	const char *skipped; /* a better method that the verifier refused; NULL: none */

	const void *cells; /* mapped: per CPU, nr_metrics cells, cell_stride bytes apart */
	size_t cell_stride, cells_size;
	uint32_t *rows; /* row of each key read so far, in the order of data->keys */
	uint32_t *key_of; /* by row: the number of its key, from 1; 0: it has none yet */
	struct lat_owner *owners; /* mapped, by row: the map `owners` */
	size_t nr_keys; /* keys of data that are not "(other)" */
	struct light *light; /* keys without a row; NULL: none yet */
	struct lat_hist **moved; /* by key: what is added to its row; NULL: nothing */
};

extern const struct probe_ops memlat_ops;
extern const struct probe_ops runqlat_ops;
extern const struct probe_ops iolat_ops;

/*
 * Takes over a key and its row at its end of `total` and `delta`, which is the row of its samples
 * from now on. 0 or -ENOMEM.
 */
int probe__add_key(struct probe *probe, struct run_data *total, struct run_data *delta,
		   const struct lat_key *key, const char *name, uint32_t row);

/* Runs of the method's end program that the kernel has left out since the window opened. */
uint64_t probe__skipped_ends(const struct probe *probe);

/* Events of the first metric so far, on one CPU. */
uint64_t probe__seen_on(const struct probe *probe, int cpu);

/* Copies the row of a key, by its number. 0 or -errno. */
int probe__read_row(const struct probe *probe, size_t key, struct lat_hist *copy);

/* Takes a link over; it is destroyed with the probe. On failure the link is destroyed at once. */
int probe__keep_link(struct probe *probe, struct bpf_link *link);

/* Attaches a program by its section. */
int probe__attach(struct probe *probe, const char *name);

/* Runs an iterator program over all that it iterates over, once. */
int probe__run_iterator(const struct bpf_program *program);

/* The same, over what the options name. */
int probe__run_iterator_of(const struct bpf_program *program,
			   const struct bpf_iter_attach_opts *options);

/* As probe__run_iterator(), by name. */
int probe__iterate(struct probe *probe, const char *program);

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
