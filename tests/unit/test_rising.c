// SPDX-License-Identifier: BSD-2-Clause
#include "bursts.h"
#include "fields.h"
#include "sheet.h"

#include <probes/rmid/view_rising.h>

#define SLOTS 4 /* rows of a process in an interval: more would only take longer */
#define SLOT_NS 1000000

static const struct table_column columns[] = {
	{ .name = "process", .unit = "", .what = "number", .kind = TABLE_INTEGER, .key = true },
	{ .name = "pid", .unit = "", .what = "process ID", .kind = TABLE_INTEGER, .key = true },
	{ .name = "comm", .unit = "", .what = "name", .kind = TABLE_TEXT, .key = true },
	{ .name = "cpu_ns", .unit = "ns", .what = "time on CPUs", .kind = TABLE_INTEGER },
	{ .name = "switches", .unit = "", .what = "switches", .kind = TABLE_INTEGER },
	{ .name = "incomplete", .unit = "", .what = "1: lost", .kind = TABLE_INTEGER },
	{ .name = "llc_misses", .unit = "", .what = "misses", .kind = TABLE_INTEGER },
	{ .name = "llc_bytes", .unit = "B", .what = "occupancy", .kind = TABLE_INTEGER },
};
enum { PROCESS, PID, COMM, CPU, SWITCHES, INCOMPLETE, MISSES, BYTES, COLUMNS };

static struct rising rising;

/* A value of -1 is unknown. */
static void add_row(struct table *table, uint64_t time_ns, int64_t process, const char *comm,
		    int64_t cpu_ns, int64_t misses)
{
	assert_int_equal(table__add_row(table, time_ns), 0);
	table__set_integer(table, PROCESS, process);
	if (process)
		table__set_integer(table, PID, 1000 + process);
	assert_int_equal(table__set_text(table, COMM, comm), 0);
	table__set_integer(table, CPU, cpu_ns);
	table__set_integer(table, SWITCHES, 1);
	table__set_integer(table, INCOMPLETE, 0);
	if (misses >= 0)
		table__set_integer(table, MISSES, misses);
}

/*
 * During the bursts of the probe, "hog" runs, a new process each time; "squeezed" runs less;
 * "steady" runs as always, with misses that vary at random; the CPUs are idle (no process) more
 * often. The rows of a burst's last slot come with the next interval.
 */
static void fill(struct run_data *delta, unsigned int interval, const void *arg)
{
	struct table *table = *(struct table *const *)arg;
	bool now = bursts_record(delta, interval) > 0;
	uint64_t end = (interval + 1) * RECORDING_INTERVAL_NS;

	if (!table)
		return;
	if (interval && bursts(interval - 1))
		add_row(table, end - RECORDING_INTERVAL_NS, interval - 1 + 100, "hog", 900000, 7);
	for (unsigned int i = 0; i < SLOTS; i++) {
		uint64_t at = end - (SLOTS - i) * 10 * SLOT_NS;

		if (now)
			add_row(table, at, interval + 100, "hog", 900000, 7);
		add_row(table, at, 1, "squeezed", now ? 50000 : 200000, -1);
		add_row(table, at, 2, "steady", 400000 + interval * 271 % 100,
			interval * 271 % 1000);
		add_row(table, at, 0, "swapper", now ? 500000 : 10, 0);
	}
}

static void make(const struct table_column *of, unsigned int nr)
{
	struct run *run = recording_begin("runqlat", "stamps", "wait");
	struct table *table = NULL;

	if (of) {
		assert_int_equal(table__new(&table, of, nr), 0);
		sample_probe(run, "rmid", "switches", "for tests")->table = table;
	}
	bursts_read(run, fill, &table);
	assert_int_equal(rising__read(&rising, &timeline, db), 0);
}

static void begin(void)
{
	make(columns, COLUMNS);
}

static void end(void)
{
	rising__clear(&rising);
	bursts_end();
}

static const struct correlation_series *series_of(const char *comm, unsigned int column)
{
	for (unsigned int i = 0; i < rising.nr; i++)
		if (rising.series[i].column == column &&
		    !strcmp(rising.groups[rising.series[i].key].comm, comm))
			return &rising.series[i];
	fail_msg("%s has no such series", comm);
	return NULL;
}

TEST(what_runs_with_the_slow_events_rose)
{
	static const struct {
		const char *name, *comm;
		unsigned int column;
		bool rose;
	} cases[] = {
		{ "the one that runs then", "hog", CPU, true },
		{ "and its misses", "hog", MISSES, true },
		{ "a steady one is innocent", "steady", CPU, false },
		{ "and its misses", "steady", MISSES, false },
		{ "one that had less", "squeezed", CPU, false },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		print_message("%s\n", cases[i].name);
		assert_int_equal(rising__rose(&series_of(cases[i].comm, cases[i].column)->pairs[0]),
				 cases[i].rose);
	}
	assert_false(rising.is_incomplete);
	assert_false(isnan(series_of("steady", CPU)->pairs[0].adjusted));
	assert_int_equal(series_of("squeezed", CPU)->pairs[0].verdict, TIMELINE_NEGATIVE);
}

/* One recording has hundreds of short processes of one name. */
TEST(processes_of_a_name_are_one)
{
	assert_int_equal(rising.nr_groups, 3); /* idle CPUs are no process */
	for (unsigned int i = 0; i < rising.nr_groups; i++)
		if (!strcmp(rising.groups[i].comm, "hog"))
			assert_string_equal(rising.groups[i].name, "hog (14 processes)");
		else if (!strcmp(rising.groups[i].comm, "steady"))
			assert_string_equal(rising.groups[i].name, "steady (1002)");
}

/* 14 and 15 are a burst: four slots each, and one that came with the next interval. */
TEST(the_time_of_a_row_decides)
{
	const double *values = series_of("hog", CPU)->values;

	assert_true(values[13] == 0);
	assert_true(fabs(values[14] - 5 * 0.9e-3) < 1e-9);
	assert_true(fabs(values[15] - 5 * 0.9e-3) < 1e-9);
	assert_true(values[16] == 0);
	assert_true(fabs(series_of("steady", MISSES)->values[2] - 4 * 542) < 1e-6);
}

/* Not a counter of 0. */
TEST(misses_without_a_counter_are_unknown)
{
	assert_true(isnan(series_of("squeezed", MISSES)->values[20]));
	assert_string_equal(series_of("squeezed", MISSES)->pairs[0].why, "it is unknown");
	assert_true(series_of("hog", MISSES)->values[0] == 0); /* it did not run */
}

TEST(it_is_printed)
{
	struct json_object *object = json_object_new_object();
	char *text;

	rising__print(unit_print(), &rising);
	text = sheet();
	assert_has(text, "runqlat:\n    hog (14 processes): CPU time rose: 0.0045 CPUs");
	assert_has(flat(text), "CPU time rose: 0.0045 CPUs in 14",
		   "cache misses rose: 35.0/s in 14");
	assert_lacks(text, "steady", "squeezed");
	rising__add_json(object, &rising);
	assert_int_equal(field_length(object, "rising"), rising.nr);
	json_object_put(object);
}

TEST(without_rmid_there_is_nothing, NULL, end)
{
	make(NULL, 0);
	rising__print(unit_print(), &rising);
	assert_string_equal(sheet(), "");
}

UNIT_FIXTURES(.each = { begin, end })
