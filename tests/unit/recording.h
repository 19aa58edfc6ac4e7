/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings on disk, through the writer, with what a test puts into them. */
#ifndef LATSCOPE_TESTS_RECORDING_H
#define LATSCOPE_TESTS_RECORDING_H

#include "sample.h"

#include "store/writer.h"

#define RECORDING_INTERVAL_NS 1000000000ULL

/* A run of one probe that is not written yet. */
static inline struct run *recording_begin(const char *module, const char *method,
					  const char *metric)
{
	static uint64_t start;
	struct run *run = calloc(1, sizeof(*run));
	struct run_probe *made;

	assert_non_null(run);
	strcpy(run->start_utc, "2026-11-20T23:15:00Z");
	run->start_mono_ns = ++start * 1000000000000;
	run->interval_ns = RECORDING_INTERVAL_NS;
	run->complete = true;
	run->host = strdup("{\"kernel\":\"6.1.0\",\"cpus_online\":2}");
	made = sample_probe(run, module, method, "for tests");
	sample_metric(made, metric, "made up");
	return run;
}

/* Fills in an interval; `delta` has one element for each probe. */
typedef void recording_fill(struct run_data *delta, unsigned int interval, const void *arg);

/* Writes it to where/name with so many intervals, and frees it. Without `fill` they are empty. */
static inline void recording_write(struct run *run, const char *where, const char *name,
				   unsigned int intervals, recording_fill *fill, const void *arg)
{
	struct run_data *deltas = calloc(RUN_PROBES, sizeof(*deltas));
	struct writer writer = { .ops = &writer_db, .dir = strdup(unit_path(where, name)) };

	assert_non_null(deltas);
	unit_parents(where, name);
	assert_int_equal(mkdir(writer.dir, 0777), 0);
	assert_int_equal(writer.ops->open(&writer, run), 0);
	for (unsigned int i = 0; i < intervals; i++) {
		const struct run_interval interval = { .start_ns = i * RECORDING_INTERVAL_NS,
						       .end_ns = (i + 1) * RECORDING_INTERVAL_NS,
						       .delta = deltas };

		for (unsigned int j = 0; j < run->nr_probes; j++)
			run__zero_data(&deltas[j]);
		if (fill)
			fill(deltas, i, arg);
		assert_int_equal(writer.ops->interval(&writer, run, &interval), 0);
		assert_int_equal(run__end_rows(run, true), 0);
		for (unsigned int j = 0; j < run->nr_probes; j++)
			assert_int_equal(run__add_data(&run->probes[j].total, &deltas[j]), 0);
	}
	run->duration_ns = intervals * RECORDING_INTERVAL_NS;
	assert_int_equal(writer.ops->close(&writer, run), 0);
	for (unsigned int j = 0; j < run->nr_probes; j++)
		run__clear_data(&deltas[j]);
	free(deltas);
	free((char *)writer.dir);
	sample_free(run);
}

/* Events of each interval in most tests: a body around 1.5 us, a tail of 20 us. */
struct recording_mix {
	uint64_t events, tail; /* of the whole recording */
	unsigned int intervals;
	uint64_t body_ns; /* 0: 1.5 us */
};

static inline void recording_mix(struct run_data *delta, unsigned int interval, const void *arg)
{
	const struct recording_mix *mix = arg;
	struct lat_cell *cell = &delta->metrics[0];
	uint64_t next = interval + 1, nr = mix->intervals;
	uint64_t tail = mix->tail * next / nr - mix->tail * interval / nr;
	uint64_t body =
		(mix->events - mix->tail) * next / nr - (mix->events - mix->tail) * interval / nr;
	uint64_t middle = (mix->body_ns ? mix->body_ns : 1500) + 10 * (interval % 4);

	for (unsigned int i = 0; i < 8; i++)
		sample_record(cell, middle * (6 + i) / 10, body / 8);
	sample_record(cell, middle, body % 8);
	sample_record(cell, 20000, tail);
}

#endif
