/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording of memlat with 60 intervals, slow in bursts, and what correlates with it. */
#ifndef LATSCOPE_TESTS_BURSTS_H
#define LATSCOPE_TESTS_BURSTS_H

#include "recording.h"

#include "stats/correlation.h"
#include "print/report.h"

#define INTERVALS 60

static struct run read_run;
static struct rundb *db;
static struct timeline timeline;
static struct correlation correlation;

static inline bool bursts(unsigned int interval)
{
	return "..............##..##..##......##........##..##....##........"[interval] == '#';
}

/* Of 1000 events of an interval. */
static inline unsigned int bursts_record(struct run_data *delta, unsigned int interval)
{
	unsigned int slow = bursts(interval) ? 40 : 0;

	sample_record(&delta[0].metrics[0], 10000, 1000 - slow);
	sample_record(&delta[0].metrics[0], 1000000, slow);
	return slow;
}

/* Writes the run and reads it again. */
static inline void bursts_read(struct run *run, recording_fill *fill, const void *arg)
{
	static const struct timeline_rules rules = { .confidence = 0.95, .lines = REPORT_LINES };

	recording_write(run, dir, "run", INTERVALS, fill, arg);
	assert_int_equal(rundb__open(&db, unit_path(dir, "run"), &read_run), 0);
	assert_int_equal(timeline__read(&timeline, db, &read_run, &rules), 0);
}

static inline void bursts_correlate(struct run *run, recording_fill *fill, const void *arg)
{
	bursts_read(run, fill, arg);
	assert_int_equal(correlation__read(&correlation, &timeline, db), 0);
}

static inline void bursts_end(void)
{
	correlation__clear(&correlation);
	timeline__clear(&timeline);
	rundb__close(db);
	run__clear(&read_run);
}

#endif
