// SPDX-License-Identifier: BSD-2-Clause
/* The flight recorder, by made-up intervals: it keeps as much time as it should, and its size. */
#include "recording.h"
#include "unit.h"

#include <serve/recorder.h>
#include <serve/ring_files.h>

#define SECOND 1000000000ULL
#define KEYS 200
#define SAMPLES 60

static struct ring {
	struct run *run;
	struct recording recording;
	struct recorder *recorder;
	struct run_data delta[RUN_PROBES];
	uint64_t end_ns; /* of the last interval */
} ring;

static void begin(uint64_t bytes)
{
	memset(&ring, 0, sizeof(ring));
	ring.run = recording_begin("runqlat", "stamps", "run_queue");
	assert_int_equal(recorder__new(&ring.recorder, ring.run, &ring.recording, dir, bytes), 0);
}

/* Adds an interval with samples of so many keys. */
static void add(uint64_t length_ns, unsigned int keys)
{
	const struct run_interval interval = { .start_ns = ring.end_ns,
					       .end_ns = ring.end_ns + length_ns,
					       .delta = ring.delta };
	struct run_data *delta = ring.delta;

	for (unsigned int i = delta->nr_keys; i < keys; i++) {
		const struct lat_key key = { .id = i + 1, .by = LAT_BY_CGROUP };
		const char *name = unit_text("/cgroup-%u", i);

		assert_int_equal(run__add_key(delta, &key, name), 0);
		assert_int_equal(run__add_key(&ring.run->probes[0].total, &key, name), 0);
	}
	for (unsigned int i = 0; i < keys; i++)
		for (unsigned int j = 0; j < SAMPLES; j++)
			sparse__add_slot(&delta->keys[i].hist, unit_random() % 400, 1);
	delta->metrics[0].hist.slots[5] = delta->metrics[0].counts[LAT_SEEN] = 1;
	ring.end_ns += length_ns;
	assert_int_equal(recorder__add(ring.recorder, &interval, true), 0);
	run__zero_data(delta);
}

static void finish(void)
{
	struct recorder_state state = recorder__state(ring.recorder);

	assert_int_equal(state.lost, 0);
	assert_int_equal(state.err, 0);
	recorder__end(ring.recorder);
	recorder__free(ring.recorder);
	recording__free(&ring.recording);
	run__clear_data(&ring.delta[0]);
	sample_free(ring.run);
}

static uint64_t bytes_of_ring(void)
{
	const struct rundir *rundir = &ring.recording.rundir;

	return ring_files__size(rundir->parent, rundir->name, true);
}

/* The number of its oldest segment, or of its newest. */
static uint64_t number_of(enum recorder_level level, bool is_newest)
{
	struct ring_name *names;
	long nr = ring_files__list(ring.recording.rundir.fd, recorder__level(level), NULL, &names);
	uint64_t number = nr > 0 ? names[is_newest ? nr - 1 : 0].number : 0;

	free(names);
	return number;
}

static uint64_t oldest(enum recorder_level level)
{
	return number_of(level, false);
}

TEST(test_it_has_five_minutes_and_an_hour)
{
	struct recorder_state has;

	begin(256 << 20);
	for (int i = 0; i < 360; i++)
		add(10 * SECOND, 2);
	assert_int_equal(recorder__state(ring.recorder).span_ns[RECORDER_COARSE], 3600 * SECOND);
	assert_int_equal(oldest(RECORDER_COARSE), 1);
	for (int i = 0; i < 360; i++) {
		add(10 * SECOND, 2);
		has = recorder__state(ring.recorder);
		/* A level has at most one segment more than it should. */
		assert_in_range(has.span_ns[RECORDER_FINE], 300 * SECOND, 340 * SECOND);
		assert_in_range(has.span_ns[RECORDER_COARSE], 3600 * SECOND, 3910 * SECOND);
	}
	assert_true(oldest(RECORDER_COARSE) > 1);
	finish();
}

TEST(test_it_does_not_exceed_its_size)
{
	uint64_t most = 0, bytes;

	begin(RECORDER_LEAST);
	for (int i = 0; i < 600 && oldest(RECORDER_COARSE) < 4; i++) {
		add(SECOND, KEYS);
		bytes = bytes_of_ring();
		most = bytes > most ? bytes : most;
	}
	assert_true(oldest(RECORDER_FINE) > 4 && oldest(RECORDER_COARSE) == 4);
	assert_in_range(most, RECORDER_LEAST / 2, RECORDER_LEAST);
	assert_true(recorder__state(ring.recorder).span_ns[RECORDER_COARSE] < 600 * SECOND);
	finish();
}

/* What is left of an earlier process counts. */
TEST(test_the_ring_before_counts)
{
	uint64_t old, most = 0;

	begin(RECORDER_LEAST);
	for (int i = 0; i < 15; i++)
		add(SECOND, KEYS);
	old = bytes_of_ring();
	finish();
	assert_in_range(old, 1 << 20, RECORDER_LEAST / 2);
	begin(RECORDER_LEAST);
	for (int i = 0; i < 600 && oldest(RECORDER_COARSE) < 3; i++) {
		add(SECOND, KEYS);
		most = bytes_of_ring() > most ? bytes_of_ring() : most;
	}
	assert_int_equal(oldest(RECORDER_COARSE), 3);
	assert_in_range(most + old, RECORDER_LEAST / 2, RECORDER_LEAST);
	finish();
}

static int syncs;

int fdatasync(int fd)
{
	syncs++;
	return 0;
}

int fsync(int fd)
{
	return fdatasync(fd);
}

static void nothing(struct run_data *delta, unsigned int interval, const void *arg)
{
}

/* A sync would delay the requests that it measures. Other recordings wait for the disk. */
TEST(test_it_does_not_wait_for_the_disk)
{
	recording_write(recording_begin("runqlat", "stamps", "run_queue"), dir, "other", 1, nothing,
			NULL);
	assert_true(syncs > 0);
	syncs = 0;
	begin(256 << 20);
	for (int i = 0; i < 20; i++)
		add(10 * SECOND, 2);
	assert_true(oldest(RECORDER_FINE) == 1 && number_of(RECORDER_FINE, true) > 4);
	finish();
	assert_int_equal(syncs, 0);
}
