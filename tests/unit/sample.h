/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording made up for the tests of what reads and writes recordings. */
#ifndef LATSCOPE_TESTS_SAMPLE_H
#define LATSCOPE_TESTS_SAMPLE_H

#include "unit.h"

#include "core/hist.h"
#include "core/run.h"

#define SAMPLE_TAIL_NS 8000

static inline void sample_add(struct lat_hist *hist, uint64_t ns, uint64_t count)
{
	hist->slots[hist_slot(ns)] += count;
	hist->sum_ns += ns * count;
	if (ns >= SAMPLE_TAIL_NS)
		hist->tail += count;
	if (hist->max_ns < ns && count)
		hist->max_ns = ns;
}

/* Into the metric, and the conservation line with it. */
static inline void sample_record(struct lat_cell *cell, uint64_t ns, uint64_t count)
{
	sample_add(&cell->hist, ns, count);
	cell->counts[LAT_SEEN] += count;
}

static inline void sample_key(struct run_data *data, uint64_t id, enum lat_by by,
			      unsigned int metric, const char *name, uint64_t ns, uint64_t count)
{
	struct lat_key key = { .id = id, .by = by, .metric = metric };
	struct run_key *found = run__find_key(data, &key);
	struct lat_hist hist;

	if (!found) {
		assert_int_equal(run__add_key(data, &key, name), 0);
		found = run__find_key(data, &key);
	}
	sparse__expand(&found->hist, &hist);
	sample_add(&hist, ns, count);
	assert_int_equal(sparse__set(&found->hist, &hist), 0);
}

static inline void sample_metric(struct run_probe *probe, const char *name, const char *what)
{
	struct run_metric *metric = &probe->metrics[probe->nr_metrics++];

	strcpy(metric->name, name);
	strcpy(metric->what, what);
}

static inline struct run_probe *sample_probe(struct run *run, const char *name, const char *method,
					     const char *mechanism)
{
	struct run_probe *probe = &run->probes[run->nr_probes++];

	strcpy(probe->name, name);
	strcpy(probe->method, method);
	strcpy(probe->mechanism, mechanism);
	probe->tail_ns = SAMPLE_TAIL_NS;
	return probe;
}

/* Three probes: with three metrics and keys, refused, and without events. No samples yet. */
static inline struct run *sample_bare(void)
{
	struct run *run = calloc(1, sizeof(*run));
	struct run_probe *probe;

	assert_non_null(run);
	strcpy(run->start_utc, "2026-11-20T23:15:00Z");
	run->start_mono_ns = 123456789012;
	run->duration_ns = 10000000000;
	run->interval_ns = 1000000000;
	run->why_by = 1 + LAT_BY_CGROUP;
	run->workload = strdup("fio --name=\"a b\"");
	run->workload_status = 3 << 8;
	run->complete = true;
	run->host =
		strdup("{\"kernel\":\"6.1.0\",\"cpus\":2,\"mitigations\":{\"meltdown\":\"PTI\"}}");
	run->filter = strdup("pid 12, disk sda (iolat)");
	run->nr_labels = 2;
	strcpy(run->labels[0].key, "case");
	strcpy(run->labels[0].value, "off");
	strcpy(run->labels[1].key, "who");
	strcpy(run->labels[1].value, "J. \"Doe\", x=y");
	probe = sample_probe(
		run, "iolat", "stamps",
		"issue and completion are the kernel's own stamps in the request, read "
		"when the request completes");
	sample_metric(probe, "device", "block request, first issue to completion");
	sample_metric(probe, "queue", "block request, arrival to first issue");
	sample_metric(probe, "total", "block request, arrival to completion");
	probe->by = 1U << LAT_BY_PROCESS | 1U << LAT_BY_DISK;
	probe = sample_probe(run, "memlat", "", "");
	strcpy(probe->refused, "the kernel does not allow kprobes here (lockdown)");
	sample_metric(probe, "fault", "page fault");
	probe = sample_probe(run, "runqlat", "tp_btf", "wakeup to switch-in, kept with the task");
	sample_metric(probe, "wait", "time a runnable task waits for a CPU");
	return run;
}

/* One round of samples for probe 0, a different one for each seed. */
static inline void sample_fill(struct run_data *data, unsigned int seed)
{
	for (unsigned int metric = 0; metric < 3; metric++) {
		struct lat_cell *cell = &data->metrics[metric];

		sample_record(cell, 20000 + 1000 * metric, 1234);
		sample_record(cell, 40000 * (metric + 1) + 100 * seed, 145766);
		sample_record(cell, 4560000 + seed, 1);
		cell->counts[LAT_SEEN] += 10;
		cell->counts[LAT_MISSED_START] += 10;
		cell->counts[LAT_REQUEUED] += 2;
	}
	sample_key(data, 12, LAT_BY_PROCESS, 0, "fio (12)", 40000, 1000 + seed);
	sample_key(data, 13, LAT_BY_PROCESS, 0, "a-name-15-bytes (4194303)", 45000, 200000);
	sample_key(data, RUN_OTHER_ID, LAT_BY_PROCESS, 0, "(other)", 50000, 90000000);
	sample_key(data, 8ULL << 20, LAT_BY_DISK, 0, "sda", 40000, 3);
	sample_key(data, 8ULL << 20, LAT_BY_DISK, 1, "sda", 50000, 3);
	if (seed % 2)
		sample_key(data, 100 + seed, LAT_BY_DISK, 0, "vdb", 1000, 1);
}

static inline struct run *sample_run(void)
{
	struct run *run = sample_bare();
	struct run_probe *probe = &run->probes[0];

	sample_fill(&probe->total, 1);
	probe->in_flight = (struct lat_in_flight){ .count = 3, .oldest_ns = 1234000000 };
	probe->in_flight_age_known = true;
	probe->recursion_missed = 7;
	probe->filter = strdup("pid 12, disk sda");
	probe->cost = (struct run_cost){
		.runs = 2000, .run_ns = 123000, .timed_ns = 100000000, .timed_events = 1000
	};
	return run;
}

static inline void sample_free(struct run *run)
{
	run__clear(run);
	free(run);
}

#endif
