// SPDX-License-Identifier: BSD-2-Clause
/* Each output has each value under its own name, and keeps what it must keep. */
#include "fields.h"
#include "sample.h"

#include <sys/syscall.h>

#include "store/csv.h"
#include "store/json.h"
#include "store/recording.h"
#include "store/writer.h"

/* So different that no two values can be confused: a slot is 3 % wide. */
#define SAMPLES 1000
#define SLOT (1.0 / 32)

static const struct {
	const char *csv, *json;
	unsigned int rank;
} statistics[] = {
	{ "p50_us", "percentiles/p50_us", 500 }, { NULL, "percentiles/p90_us", 900 },
	{ "p99_us", "percentiles/p99_us", 990 }, { "p999_us", "percentiles/p99_9_us", 999 },
	{ NULL, "percentiles/p99_99_us", 1000 }, { "max_us", "max_us", 1000 },
};

#define STATISTICS (COUNT_OF(statistics))

static double sample_us(unsigned int rank)
{
	return rank <= 900 ? pow(1.01, rank) : pow(1.01, 900) * pow(1.1, rank - 900);
}

static double mean_us(void)
{
	double sum = 0;

	for (unsigned int rank = 1; rank <= SAMPLES; rank++)
		sum += sample_us(rank);
	return sum / SAMPLES;
}

static unsigned int syncs;

/* Replaces the C library's function, for SQLite too. */
int fdatasync(int fd)
{
	syncs++;
	return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
	syncs++;
	return (int)syscall(SYS_fsync, fd);
}

static void assert_statistic(const char *name, double got, double expected)
{
	if (got < expected * (1 - SLOT) || got > expected * (1 + SLOT))
		fail_msg("%s is %f, not %f", name, got, expected);
}

static struct run *spread_run(void)
{
	struct run *run = sample_bare();
	struct run_data *data = &run->probes[0].total;

	for (unsigned int rank = 1; rank <= SAMPLES; rank++) {
		uint64_t ns = (uint64_t)(sample_us(rank) * 1000);

		sample_record(&data->metrics[0], ns, 1);
		sample_key(data, 12, LAT_BY_PROCESS, 0, "fio (12)", ns, 1);
	}
	return run;
}

/* The value below a head. */
static double column(const char *head, const char *row, const char *name)
{
	size_t len = strlen(name);

	while (strncmp(head, name, len) || (head[len] != ',' && head[len] != '\n')) {
		head = strchr(head, ',');
		row = strchr(row, ',');
		if (!head++ || !row++)
			fail_msg("there is no column %s", name);
	}
	return strtod(row, NULL);
}

TEST(csv_columns_hold_what_their_heads_say)
{
	struct run *run = spread_run();
	const char *text, *row;

	assert_int_equal(csv__split(unit_print(), &run->probes[0].total, LAT_BY_PROCESS, 0), 0);
	text = unit_printed();
	row = strchr(text, '\n') + 1;
	for (size_t i = 0; i < STATISTICS; i++)
		if (statistics[i].csv)
			assert_statistic(statistics[i].csv, column(text, row, statistics[i].csv),
					 sample_us(statistics[i].rank));
	assert_statistic("mean_us", column(text, row, "mean_us"), mean_us());
	assert_true(column(text, row, "events") == SAMPLES);
	sample_free(run);
}

TEST(json_fields_hold_what_their_names_say)
{
	struct run *run = spread_run();
	struct json_object *summary = json__summary(run, &run->probes[0]);

	for (size_t i = 0; i < STATISTICS; i++)
		assert_statistic(statistics[i].json, field_number(summary, statistics[i].json),
				 sample_us(statistics[i].rank));
	assert_statistic("mean_us", field_number(summary, "mean_us"), mean_us());
	json_object_put(summary);
	sample_free(run);
}

TEST(nothing_is_kept_before_it_is_on_the_disk)
{
	static struct run_data delta[RUN_PROBES];
	struct writer writer = { .ops = &writer_db, .dir = dir };
	struct run *run = sample_run();
	struct run_interval interval = { .end_ns = 1000000000, .delta = delta };

	assert_int_equal(writer.ops->open(&writer, run), 0);
	assert_int_equal(writer.ops->interval(&writer, run, &interval), 0);
	syncs = 0;
	assert_int_equal(writer.ops->close(&writer, run), 0);
	assert_true(syncs > 0);
	sample_free(run);
}

static unsigned int intervals, closes;
static int err_of_close;

static int accept_all(struct writer *writer, const struct run *run)
{
	return 0;
}

static int fail_interval(struct writer *writer, const struct run *run,
			 const struct run_interval *interval)
{
	intervals++;
	return -ENOSPC;
}

static int count_close(struct writer *writer, const struct run *run)
{
	closes++;
	return err_of_close;
}

TEST(a_writer_that_failed_is_only_closed)
{
	static const struct writer_ops failing = { "failing", accept_all, fail_interval,
						   count_close };
	struct recording recording = { 0 };
	struct run *run = sample_run();
	struct run_interval interval = { .end_ns = 1000000000 };
	const struct writer *failed = NULL;

	recording__add(&recording, &failing);
	assert_int_equal(recording__open(&recording, run, &failed), 0);
	assert_int_equal(recording__interval(&recording, run, &interval, &failed), -ENOSPC);
	assert_ptr_equal(failed->ops, &failing);
	assert_int_equal(recording__interval(&recording, run, &interval, NULL), 0);
	assert_int_equal(intervals, 1);
	assert_int_equal(recording__close(&recording, run, NULL), 0);
	assert_int_equal(closes, 1);
	sample_free(run);
}

static int accept_interval(struct writer *writer, const struct run *run,
			   const struct run_interval *interval)
{
	return accept_all(writer, run);
}

/* Whichever writer it is, and whatever those after it write. */
TEST(a_recording_is_complete_if_all_is_written)
{
	static const struct writer_ops whole = { "whole", accept_all, accept_interval, accept_all };
	static const struct writer_ops failing = { "failing", accept_all, accept_interval,
						   count_close };
	const struct writer *failed;

	err_of_close = -ENOSPC;
	for (int at = 0; at <= 3; at++) { /* 3: none */
		struct recording recording = { 0 };
		struct run *run = sample_run();

		for (int i = 0; i < 3; i++)
			recording__add(&recording, i == at ? &failing : &whole);
		run->complete = true;
		failed = NULL;
		assert_int_equal(recording__open(&recording, run, NULL), 0);
		assert_int_equal(recording__close(&recording, run, &failed), at < 3 ? -ENOSPC : 0);
		assert_ptr_equal(failed, at < 3 ? &recording.writers[at] : NULL);
		assert_int_equal(run->complete, at == 3);
		sample_free(run);
	}
}
