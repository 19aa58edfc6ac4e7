// SPDX-License-Identifier: BSD-2-Clause
#include "bursts.h"
#include "fields.h"
#include "sheet.h"

#define FAST_NS 10000
#define SLOW_NS 1000000

enum { MEMLAT, RUNQLAT, IOLAT };

/* The intervals in which the probes are slow. */
struct score {
	bool (*slow[3])(unsigned int interval);
	bool quiet; /* iolat has events only when it is slow */
	bool split;
};

static const struct timeline_rules rules = { .confidence = 0.95, .lines = REPORT_LINES };

static void begin(void)
{
	memset(&timeline, 0, sizeof(timeline));
}

static void end(void)
{
	timeline__clear(&timeline);
	run__clear(&read_run);
}

/* By chance, but with a correlation of nearly 0 to bursts(). */
static bool others(unsigned int interval)
{
	return "....####..####....##..........##................##.........."[interval] == '#';
}

static bool never(unsigned int interval)
{
	return false;
}

static void add(struct run_data *data, bool slow, bool split)
{
	unsigned int nr = slow ? 40 : 0;

	sample_record(&data->metrics[0], FAST_NS, 1000 - nr);
	sample_record(&data->metrics[0], SLOW_NS, nr);
	if (!split)
		return;
	sample_key(data, 1, LAT_BY_PROCESS, 0, "steady (1)", FAST_NS, 1000 - nr);
	/* One has the bursts; other slow events, few and always as many, are another's. */
	sample_key(data, 2, LAT_BY_PROCESS, 0, "burst (2)", SLOW_NS, nr);
	sample_record(&data->metrics[0], SLOW_NS, 1);
	sample_key(data, 3, LAT_BY_PROCESS, 0, "always (3)", SLOW_NS, 1);
}

static void fill(struct run_data *delta, unsigned int interval, const void *arg)
{
	const struct score *score = arg;

	for (unsigned int i = 0; i < 3; i++) {
		bool slow = score->slow[i](interval);

		if (i != IOLAT || slow || !score->quiet)
			add(&delta[i], slow, score->split);
	}
}

static void record_and_read(const struct score *score, unsigned int intervals,
			    const struct timeline_rules *with)
{
	struct run *run = recording_begin("memlat", "fentry", "handle_mm_fault");

	sample_metric(sample_probe(run, "runqlat", "stamps", "for tests"), "run_queue", "made up");
	sample_metric(sample_probe(run, "iolat", "stamps", "for tests"), "device", "made up");
	for (unsigned int i = 0; score->split && i < 3; i++)
		run->probes[i].by = 1U << LAT_BY_PROCESS;
	recording_write(run, dir, "run", intervals, fill, score);
	assert_int_equal(rundb__open(&db, unit_path(dir, "run"), &read_run), 0);
	assert_int_equal(timeline__read(&timeline, db, &read_run, with), 0);
	rundb__close(db);
}

static const struct timeline_pair *pair_of(unsigned int a, unsigned int b)
{
	for (unsigned int i = 0; i < timeline.nr_pairs; i++) {
		if (timeline.pairs[i].a == a && timeline.pairs[i].b == b)
			return &timeline.pairs[i];
	}
	fail_msg("no pair %u, %u", a, b);
	return NULL;
}

static char *text(void)
{
	report__print_timeline(unit_print(), &timeline, 10, true);
	return sheet();
}

static void assert_says(const char *part)
{
	assert_has(flat(text()), part);
}

TEST(two_of_three)
{
	const struct score score = { .slow = { others, bursts, bursts } };
	unsigned int nr = 0, both = 0;

	for (unsigned int i = 0; i < INTERVALS; i++) {
		nr += bursts(i);
		both += bursts(i) && others(i);
	}
	record_and_read(&score, INTERVALS, &rules);
	assert_int_equal(timeline.nr_pairs, 3);
	assert_int_equal(pair_of(RUNQLAT, IOLAT)->verdict, TIMELINE_POSITIVE);
	assert_true(pair_of(RUNQLAT, IOLAT)->found.low > 0.9);
	assert_int_equal(pair_of(RUNQLAT, IOLAT)->both, nr);
	assert_int_equal(pair_of(MEMLAT, RUNQLAT)->verdict, TIMELINE_NOT_SHOWN);
	assert_int_equal(pair_of(MEMLAT, RUNQLAT)->both, both);
	assert_int_equal(pair_of(MEMLAT, IOLAT)->verdict, TIMELINE_NOT_SHOWN);
	assert_int_equal(timeline.nr_correlated, nr);
	for (unsigned int i = 0; i < INTERVALS; i++)
		assert_int_equal(timeline.correlated[i], bursts(i));
	assert_says("runqlat and iolat: positive correlation: +1.00");
	assert_says("memlat and runqlat: no correlation shown:");
	assert_says("both are in their worst quarter in ");
	assert_says("; *: two probes correlate, see below");
	assert_says("latscope record --by process,cgroup,disk");
}

/* Neither keys that are fast at other times nor keys that are absent are slow. */
TEST(no_events_between)
{
	const struct score score = { .slow = { never, bursts, bursts }, .quiet = true };

	record_and_read(&score, INTERVALS, &rules);
	assert_int_equal(pair_of(RUNQLAT, IOLAT)->verdict, TIMELINE_POSITIVE);
	assert_int_equal(timeline.probes[IOLAT].empty, INTERVALS - timeline.nr_correlated);
	assert_string_equal(pair_of(MEMLAT, IOLAT)->why, "one of the two does not vary");
}

static bool in_turn(unsigned int interval)
{
	return !bursts(interval);
}

TEST(one_against_the_other)
{
	const struct score score = { .slow = { others, bursts, in_turn } };

	record_and_read(&score, INTERVALS, &rules);
	assert_int_equal(pair_of(RUNQLAT, IOLAT)->verdict, TIMELINE_NEGATIVE);
	assert_int_equal(timeline.nr_correlated, 0);
	assert_says("runqlat and iolat: negative correlation: -1.00");
}

TEST(whose_they_are)
{
	const struct score score = { .slow = { others, bursts, bursts }, .split = true };
	const struct timeline_contributor *contributors;
	uint64_t slow;

	record_and_read(&score, INTERVALS, &rules);
	contributors = timeline.contributors;
	assert_int_equal(timeline.nr_contributors, 6);
	for (unsigned int i = 0; i < 6; i++) {
		assert_int_equal(contributors[i].probe, i / 2);
		assert_int_equal(contributors[i].key->key.id, i % 2 ? 3 : 2);
	}
	slow = 40 * timeline.nr_correlated;
	assert_int_equal(timeline.probes[IOLAT].slow, slow + INTERVALS);
	assert_int_equal(contributors[4].slow, slow);
	assert_int_equal(contributors[4].slow_correlated, slow);
	assert_int_equal(contributors[5].slow, INTERVALS);
	assert_int_equal(contributors[5].slow_correlated, timeline.nr_correlated);
	assert_int_equal(timeline__slow_correlated(&timeline, IOLAT), 41 * timeline.nr_correlated);
	/* memlat has its bursts at other times. */
	assert_true(contributors[0].slow > 0 &&
		    contributors[0].slow_correlated < contributors[0].slow / 2);
	assert_says("iolat process events slow of slow of slow * burst (2)");
}

TEST(too_little)
{
	const struct score score = { .slow = { never, bursts, bursts } };

	record_and_read(&score, 9, &rules);
	assert_int_equal(pair_of(RUNQLAT, IOLAT)->verdict, TIMELINE_NOT_SHOWN);
	assert_true(isnan(pair_of(RUNQLAT, IOLAT)->adjusted));
	assert_says("runqlat and iolat: no correlation shown: too few intervals: 9, 10 are needed");
}

TEST(no_intervals)
{
	const struct score score = { .slow = { never, never, never } };

	record_and_read(&score, 0, &rules);
	assert_string_equal(text(), "");
}

/* A line has the events of all its intervals. */
TEST(lines)
{
	const struct score score = { .slow = { never, bursts, bursts } };
	const struct timeline_rules all = { .confidence = 0.95 };
	uint64_t events = 0, slow = 0;

	record_and_read(&score, INTERVALS, &rules);
	assert_int_equal(timeline.per_line, 3);
	assert_int_equal(timeline.nr_lines, 20);
	for (size_t i = 0; i < timeline.nr_lines; i++) {
		events += timeline.probes[IOLAT].lines[i].events;
		slow += timeline.probes[IOLAT].lines[i].slow;
	}
	assert_int_equal(events, timeline.probes[IOLAT].events);
	assert_int_equal(slow, timeline.probes[IOLAT].slow);
	assert_says("time line: 3 intervals of 1 s per line (--all-intervals");
	end();
	unit_empty_dir();
	begin();
	record_and_read(&score, INTERVALS, &all);
	assert_int_equal(timeline.nr_lines, INTERVALS);
	assert_memory_equal(timeline.probes[IOLAT].lines, timeline.probes[IOLAT].cells,
			    INTERVALS * sizeof(struct timeline_cell));
}

TEST(what_is_slow)
{
	const struct score score = { .slow = { never, bursts, bursts } };
	const struct timeline_rules asked = { .confidence = 0.95, .slow_ns = FAST_NS };

	record_and_read(&score, INTERVALS, &rules);
	/* 40 of 1,000 in a quarter: 1 % */
	assert_in_range(timeline.probes[IOLAT].slow_ns, FAST_NS + 1, SLOW_NS);
	assert_int_equal(timeline.probes[IOLAT].slow, 40 * timeline.nr_correlated);
	/* If all events are alike, all are slow: no edge is nearer to 1 %. */
	assert_int_equal(timeline.probes[MEMLAT].slow, timeline.probes[MEMLAT].events);
	end();
	unit_empty_dir();
	begin();
	record_and_read(&score, INTERVALS, &asked);
	assert_int_equal(timeline.probes[IOLAT].slow, timeline.probes[IOLAT].events);
	assert_says("that are that long");
}

TEST(as_json)
{
	const struct score score = { .slow = { others, bursts, bursts }, .split = true };
	struct json_object *object = json_object_new_object();

	record_and_read(&score, INTERVALS, &rules);
	report__add_timeline(object, &timeline);
	assert_field(object, "correlation/pairs/2/probes", "[\"runqlat\",\"iolat\"]");
	assert_field(object, "correlation/pairs/2/verdict", "\"positive correlation\"");
	assert_field(object, "correlation/pairs/0/verdict", "\"no correlation shown\"");
	assert_field(object, "correlation/intervals", unit_text("%zu", timeline.nr_correlated));
	assert_field(object, "timeline/probes/1/probe", "\"runqlat\"");
	assert_field(object, "timeline/intervals/59/end_sec", "60");
	assert_field(object, "contributors/2/name", "\"burst (2)\"");
	assert_field(object, "contributors/2/by", "\"process\"");
	json_object_put(object);
}

static bool first_half(unsigned int interval)
{
	return interval < INTERVALS / 2;
}

static bool more_than_half(unsigned int interval)
{
	return interval <= INTERVALS / 2;
}

/* Equal ranks of 31 intervals lie at three quarters, not beyond them; those of 30 do. */
TEST(more_than_half_are_no_worst_quarter)
{
	const struct score score = { .slow = { more_than_half, first_half, never } };

	record_and_read(&score, INTERVALS, &rules);
	assert_int_equal(timeline.probes[MEMLAT].worst, 0);
	assert_int_equal(timeline.probes[RUNQLAT].worst, INTERVALS / 2);
}

/* As if others had been asked for. */
static size_t longer_than(uint64_t asked_ns)
{
	timeline__clear(&timeline);
	run__clear(&read_run);
	assert_int_equal(rundb__open(&db, unit_path(dir, "run"), &read_run), 0);
	read_run.interval_ns = asked_ns;
	assert_int_equal(timeline__read(&timeline, db, &read_run, &rules), 0);
	rundb__close(db);
	return timeline.nr_longer;
}

TEST(intervals_that_took_longer)
{
	const struct score score = { .slow = { never, never, never } };

	record_and_read(&score, INTERVALS, &rules);
	assert_int_equal(timeline.nr_longer, 0);
	assert_says("of 1 s per line (--all-intervals: one line each); slow");
	assert_int_equal(longer_than(666666668), 0);
	assert_int_equal(longer_than(666666667), INTERVALS); /* longer by just half */
	assert_says("; 60 of 60 took at least 50 % longer (longest: 1.00 s) because");
}

UNIT_FIXTURES(.each = { begin, end })
