// SPDX-License-Identifier: BSD-2-Clause
#include "bursts.h"
#include "fields.h"
#include "sheet.h"

#include "core/coverage.h"
#include "host/pressure_files.h"
#include "print/text.h"

#define PSI(some, full)                                           \
	"some avg10=1.00 avg60=2.00 avg300=3.00 total=" some "\n" \
	"full avg10=0.00 avg60=0.00 avg300=0.00 total=" full "\n"

#define ON_FILES(name) TEST(name, NULL, close_here)

/* ---- reading the kernel's files ---- */

static struct pressure *pressure;
static struct table *table;
static char why[RUN_TEXT];
static const char *of_group; /* NULL: the machine */

static void write_psi(const char *cpu, const char *memory, const char *io)
{
	unit_write(dir, "proc/pressure/cpu", cpu);
	unit_write(dir, "proc/pressure/memory", memory);
	unit_write(dir, "proc/pressure/io", io);
}

static void write_limited(const char *group, const char *limit, const char *us)
{
	unit_write(dir, unit_text("sys/fs/cgroup/%s/cpu.max", group), limit);
	unit_write(dir, unit_text("sys/fs/cgroup/%s/cpu.stat", group),
		   unit_text("usage_usec 9\nnr_throttled 3\nthrottled_usec %s\n", us));
}

static void open_here(void)
{
	assert_int_equal(table__new(&table, pressure_columns, PRESSURE_COLUMNS), 0);
	assert_int_equal(pressure__open(&pressure, dir, of_group, why), 0);
	assert_int_equal(pressure__read(pressure, NULL, 0), 0);
}

static void close_here(void)
{
	of_group = NULL;
	pressure__close(pressure);
	table__free(table);
}

/* The newest row's value; -1: unknown. */
static int64_t value(enum pressure_column column)
{
	struct table_value found = table__value(table, table__rows(table) - 1, column);

	return found.known ? found.integer : -1;
}

ON_FILES(rows_are_what_the_counters_gained)
{
	write_psi(PSI("100", "7"), PSI("1000", "500"), PSI("30", "20"));
	unit_write(dir, "proc/vmstat",
		   "pgmajfault 5\npgscan_anon 10\npgscan_file 20\npgscan_direct 3\n"
		   "pgscan_direct_throttle 4\nallocstall_normal 1\nallocstall_movable 2\n"
		   "workingset_refault_anon 1\nworkingset_refault_file 2\npswpin 8\npswpout 9\n");
	open_here();
	write_psi(PSI("150", "99"), PSI("1300", "600"), PSI("30", "25"));
	unit_write(dir, "proc/vmstat",
		   "pgmajfault 9\npgscan_anon 11\npgscan_file 40\npgscan_direct 5\n"
		   "pgscan_direct_throttle 400\nallocstall_normal 2\nallocstall_movable 6\n"
		   "workingset_refault_anon 1\nworkingset_refault_file 7\npswpin 8\npswpout 10\n");
	assert_int_equal(pressure__read(pressure, table, 1000000000), 0);
	assert_int_equal(value(PRESSURE_CPU_SOME), 50000);
	assert_int_equal(value(PRESSURE_MEMORY_SOME), 300000);
	assert_int_equal(value(PRESSURE_MEMORY_FULL), 100000);
	assert_int_equal(value(PRESSURE_IO_SOME), 0);
	assert_int_equal(value(PRESSURE_IO_FULL), 5000);
	assert_int_equal(value(PRESSURE_MAJOR_FAULTS), 4);
	assert_int_equal(value(PRESSURE_SCANNED), 21);
	assert_int_equal(value(PRESSURE_SCANNED_DIRECT), 2);
	assert_int_equal(value(PRESSURE_DIRECT_STALLS), 5);
	assert_int_equal(value(PRESSURE_REFAULTS), 5);
	assert_int_equal(value(PRESSURE_SWAPPED_IN), 0);
	assert_int_equal(value(PRESSURE_SWAPPED_OUT), 1);
}

ON_FILES(what_a_kernel_lacks_is_unknown_not_zero)
{
	unit_write(dir, "proc/vmstat", "pgmajfault 5\nworkingset_refault 4\n");
	open_here();
	unit_write(dir, "proc/vmstat", "pgmajfault 6\nworkingset_refault 6\n");
	assert_int_equal(pressure__read(pressure, table, 1), 0);
	assert_int_equal(value(PRESSURE_MAJOR_FAULTS), 1);
	assert_int_equal(value(PRESSURE_REFAULTS), 2); /* before Linux 5.9 */
	for (unsigned int i = 0; i < PRESSURE_COLUMNS; i++)
		if (i != PRESSURE_MAJOR_FAULTS && i != PRESSURE_REFAULTS)
			assert_int_equal(value((enum pressure_column)i), -1);
	assert_has(why, "PSI: no /proc/pressure", "psi=1", "throttling: no cgroups of version 2");
	assert_lacks(why, "vmstat");
}

ON_FILES(nothing_at_all_is_no_error)
{
	open_here();
	assert_int_equal(pressure__read(pressure, table, 1), 0);
	for (unsigned int i = 0; i < PRESSURE_COLUMNS; i++)
		assert_int_equal(value((enum pressure_column)i), -1);
	assert_has(why, "reclaim: /proc/vmstat: No such file");
}

ON_FILES(a_counter_that_falls_is_unknown)
{
	unit_write(dir, "proc/vmstat", "pgmajfault 50\npswpin 5\n");
	open_here();
	unit_write(dir, "proc/vmstat", "pgmajfault 40\npswpin 6\n");
	assert_int_equal(pressure__read(pressure, table, 1), 0);
	assert_int_equal(value(PRESSURE_MAJOR_FAULTS), -1);
	assert_int_equal(value(PRESSURE_SWAPPED_IN), 1);
}

ON_FILES(throttling_is_that_of_cgroups_with_a_limit)
{
	unit_write(dir, "proc/self/mounts", "none /sys/fs/cgroup cgroup2 rw 0 0\n");
	write_limited("a", "50000 100000", "1000");
	write_limited("a/b", "20000 100000", "70");
	write_limited("free", "max 100000", "5");
	open_here();
	assert_lacks(why, "throttling");
	write_limited("a", "50000 100000", "1400");
	write_limited("free", "max 100000", "900");
	assert_int_equal(pressure__read(pressure, table, 1), 0);
	assert_int_equal(value(PRESSURE_THROTTLED), 400000);
	/* One that is removed takes nothing away; the kernel then refuses to be read. */
	unit_write(dir, "sys/fs/cgroup/a/cpu.stat", "");
	write_limited("a/b", "20000 100000", "75");
	assert_int_equal(pressure__read(pressure, table, 2), 0);
	assert_int_equal(value(PRESSURE_THROTTLED), 5000);
}

ON_FILES(without_a_limit_throttling_is_unknown)
{
	unit_write(dir, "proc/self/mounts", "none /sys/fs/cgroup cgroup2 rw 0 0\n");
	write_limited("free", "max 100000", "5");
	open_here();
	assert_int_equal(pressure__read(pressure, table, 1), 0);
	assert_int_equal(value(PRESSURE_THROTTLED), -1);
	assert_has(why, "throttling: no cgroup has a CPU limit");
}

static void write_group(const char *name, const char *content)
{
	unit_write(dir, unit_text("sys/fs/cgroup/a/%s", name), content);
}

/* A cgroup, and around it the machine, which gains other amounts. */
static void write_state(bool after)
{
	write_psi(after ? PSI("900", "7") : PSI("100", "7"),
		  after ? PSI("9000", "700") : PSI("1000", "500"), PSI("30", "20"));
	unit_write(dir, "proc/vmstat", after ? "pgmajfault 55\noom_kill 9\n" : "pgmajfault 5\n");
	write_limited("a/b", "20000 100000", after ? "75" : "70");
	write_limited("other", "20000 100000", after ? "970" : "70");
	write_group("cpu.pressure", PSI("1", "0"));
	write_group("memory.pressure", after ? PSI("6210", "40") : PSI("10", "0"));
	write_group("io.pressure", PSI("3", "0"));
	write_group("memory.stat", after ? "pgscan 104\npgsteal 52\npgmajfault 8\n"
					 : "pgscan 4\npgsteal 2\npgmajfault 7\n");
	write_group("memory.events", after ? "low 0\nhigh 173\nmax 1\noom 0\noom_kill 2\n"
					   : "low 0\nhigh 3\nmax 1\noom 0\noom_kill 0\n");
}

ON_FILES(pressure_of_a_cgroup_is_not_that_of_the_machine)
{
	static const struct {
		enum pressure_column column;
		int64_t value;
	} gained[] = {
		{ PRESSURE_CPU_SOME, 0 },	 { PRESSURE_MEMORY_SOME, 6200000 },
		{ PRESSURE_MEMORY_FULL, 40000 }, { PRESSURE_MAJOR_FAULTS, 1 },
		{ PRESSURE_SCANNED, 100 },	 { PRESSURE_RECLAIMED, 50 },
		{ PRESSURE_MEMORY_HIGH, 170 },	 { PRESSURE_MEMORY_MAX, 0 },
		{ PRESSURE_OOM_KILLS, 2 },	 { PRESSURE_THROTTLED, 5000 },
	};

	of_group = "/a";
	unit_write(dir, "proc/self/mounts", "none /sys/fs/cgroup cgroup2 rw 0 0\n");
	write_state(false);
	open_here();
	write_state(true);
	assert_int_equal(pressure__read(pressure, table, 1), 0);
	for (size_t i = 0; i < sizeof(gained) / sizeof(gained[0]); i++)
		if (value(gained[i].column) != gained[i].value)
			fail_msg("%s", pressure_columns[gained[i].column].name);
	assert_string_equal(why, "");
}

ON_FILES(a_cgroup_without_files_is_unknown_not_the_machine)
{
	of_group = "/gone";
	unit_write(dir, "proc/self/mounts", "none /sys/fs/cgroup cgroup2 rw 0 0\n");
	write_psi(PSI("100", "7"), PSI("1000", "500"), PSI("30", "20"));
	unit_write(dir, "proc/vmstat", "pgmajfault 5\n");
	open_here();
	assert_int_equal(pressure__read(pressure, table, 1), 0);
	for (unsigned int i = 0; i < PRESSURE_COLUMNS; i++)
		assert_int_equal(value((enum pressure_column)i), -1);
	assert_has(why, "PSI: cannot read *.pressure of the cgroup",
		   "reclaim: memory.stat: No such file", "reclaim: memory.events: No such file");
}

/* ---- how much of it samples can be ---- */

static struct run covered;

static struct run_probe *cover(const char *name, const char *filter, int64_t stall_ns,
			       uint64_t samples_ns)
{
	struct run_probe *probe = &covered.probes[0];

	memset(&covered, 0, sizeof(covered));
	strcpy(probe->name, name);
	covered.nr_probes = 1;
	covered.complete = true;
	covered.filter = strdup(filter);
	covered.pressure.cgroup = strdup("/a");
	probe->total.metrics[why__words(name)->metric].hist.sum_ns = samples_ns;
	assert_int_equal(table__new(&covered.pressure.table, pressure_columns, PRESSURE_COLUMNS),
			 0);
	for (uint64_t i = 1; i <= 2; i++) {
		assert_int_equal(table__add_row(covered.pressure.table, i * 5000000000), 0);
		table__set_integer(covered.pressure.table, PRESSURE_MEMORY_SOME, stall_ns / 2);
		table__set_integer(covered.pressure.table, PRESSURE_IO_SOME, stall_ns / 2);
		table__set_integer(covered.pressure.table, PRESSURE_MEMORY_HIGH, 85);
		assert_int_equal(table__fold(covered.pressure.table), 0);
	}
	return probe;
}

static const char *said(const struct run_probe *probe)
{
	coverage_text__probe(unit_print(), &covered, probe);
	return flat(sheet());
}

static void uncover(void)
{
	run__clear(&covered);
}

TEST(a_stall_outside_page_faults_is_told, NULL, uncover)
{
	const struct run_probe *probe =
		cover("memlat", "cgroup a, disk sda (iolat)", 6200000000, 190000000);

	assert_string_equal(
		said(probe),
		" memory stall of the cgroup 6.20 s (PSI); explained at most 3.06 % (page faults: "
		"190 ms); memory.high struck 170 times. The rest is at the return to user mode, "
		"where memory.high holds tasks up, or in other system calls ");
}

TEST(without_intervals_json_has_the_means, NULL, uncover)
{
	struct json_object *object = json_object_new_object();

	assert_int_equal(table__new(&covered.pressure.table, pressure_columns, PRESSURE_COLUMNS),
			 0);
	report__add_pressure_means(object, &covered);
	assert_int_equal(json_object_object_length(object), 0); /* never read */
	uncover();
	cover("memlat", "cgroup a", 6200000000, 0);
	covered.duration_ns = 9900000000; /* it was read 0.1 s later */
	report__add_pressure_means(object, &covered);
	assert_field(object, "pressure/cgroup", "\"/a\"");
	assert_field(object, "pressure/unknown", "null");
	assert_int_equal(field_length(object, "pressure/columns"), 3); /* others are unknown */
	assert_field(object, "pressure/columns/0/name", "\"memory_some\"");
	assert_field(object, "pressure/columns/0/unit", "\"share\"");
	assert_field(object, "pressure/columns/0/mean", "0.62");
	assert_field(object, "pressure/columns/2/name", "\"memory_high_events\"");
	assert_field(object, "pressure/columns/2/unit", "\"1/s\"");
	assert_field(object, "pressure/columns/2/mean", "17");
	json_object_put(object);
}

TEST(what_is_in_flight_may_explain_it, NULL, uncover)
{
	struct run_probe *probe = cover("memlat", "cgroup a", 6200000000, 190000000);

	probe->in_flight.count = 1;
	probe->in_flight_age_known = true;
	probe->in_flight.sum_ns = 6000000000;
	assert_has(said(probe), "explained at most ", "(page faults: 6.19 s)");
	assert_lacks(said(probe), "The rest");
	probe->in_flight_age_known = false;
	assert_has(said(probe), "how much of it are page faults is unknown");
}

TEST(samples_of_many_tasks_can_be_all_of_it, NULL, uncover)
{
	struct run_probe *probe = cover("iolat", "cgroup a", 1000000000, 3000000000);

	assert_string_equal(said(probe),
			    " I/O stall of the cgroup 1.00 s (PSI); block requests can "
			    "be all of it: 3.00 s together ");
	probe->total.metrics[2].counts[LAT_MAP_FULL] = 3;
	assert_has(said(probe), "3.00 s together; 3 were not measured");
}

TEST(no_other_filter_may_be_in_force, NULL, uncover)
{
	struct coverage coverage;

	assert_false(coverage__of(&coverage, &covered,
				  cover("memlat", "process 7, cgroup a", 1000000000, 1)));
	uncover();
	assert_false(coverage__of(&coverage, &covered,
				  cover("iolat", "cgroup a, disk sda (iolat)", 1000000000, 1)));
}

/* ---- in a recording ---- */

/* The same in every test, and nothing to do with the bursts. */
static int64_t scatter(unsigned int interval)
{
	return interval * 271 % 1000;
}

/*
 * Tasks wait for memory during the probe's bursts, at most half of the time; for the CPU at random;
 * never for I/O. Swap is unknown.
 */
static void fill(struct run_data *delta, unsigned int interval, const void *arg)
{
	struct table *rows = *(struct table *const *)arg;
	unsigned int slow = bursts_record(delta, interval);
	int64_t part = RECORDING_INTERVAL_NS / 1000, noise = scatter(interval + 100) / 10;

	if (!rows)
		return;
	assert_int_equal(table__add_row(rows, (interval + 1) * RECORDING_INTERVAL_NS), 0);
	table__set_integer(rows, PRESSURE_MEMORY_SOME, part * ((slow ? 400 : 50) + noise));
	table__set_integer(rows, PRESSURE_CPU_SOME, part * scatter(interval));
	table__set_integer(rows, PRESSURE_IO_SOME, 0);
	table__set_integer(rows, PRESSURE_MAJOR_FAULTS, slow ? 300 + noise : noise);
}

static void make(const struct table_column *columns, unsigned int nr)
{
	struct run *run = recording_begin("memlat", "fentry", "fault");

	if (columns)
		assert_int_equal(table__new(&run->pressure.table, columns, nr), 0);
	strcpy(run->pressure.why, "throttling: for tests");
	bursts_correlate(run, fill, &run->pressure.table);
}

static void begin(void)
{
	make(pressure_columns, PRESSURE_COLUMNS);
}

static const struct correlation_pair *pair_of(enum pressure_column column)
{
	return &correlation__pressure(&correlation, column)->pairs[0];
}

TEST(a_probe_follows_the_pressure_that_comes_with_its_bursts)
{
	const struct correlation_pair *pair = pair_of(PRESSURE_MEMORY_SOME);

	assert_int_equal(correlation.nr_keys, 0);
	assert_int_equal(pair->verdict, TIMELINE_POSITIVE);
	assert_int_equal(pair->worst_nr, 14);
	assert_int_equal(pair->other_nr, 46);
	assert_true(fabs(pair->worst - 0.45) < 0.03 && fabs(pair->other - 0.1) < 0.03);
	pair = pair_of(PRESSURE_MAJOR_FAULTS);
	assert_int_equal(pair->verdict, TIMELINE_POSITIVE);
	assert_true(fabs(pair->worst - 350) < 30);
}

TEST(it_does_not_follow_what_comes_at_random)
{
	assert_int_equal(pair_of(PRESSURE_CPU_SOME)->verdict, TIMELINE_NOT_SHOWN);
	assert_false(isnan(pair_of(PRESSURE_CPU_SOME)->adjusted));
}

TEST(it_does_not_follow_what_there_is_none_of)
{
	assert_int_equal(pair_of(PRESSURE_IO_SOME)->verdict, TIMELINE_NOT_SHOWN);
	assert_string_equal(pair_of(PRESSURE_IO_SOME)->why, "there was none in 60 intervals");
	assert_string_equal(pair_of(PRESSURE_SWAPPED_IN)->why, "it is unknown");
	assert_true(isnan(correlation__pressure(&correlation, PRESSURE_SWAPPED_IN)->values[7]));
}

/* Three questions of one probe: not the details, which repeat them. */
TEST(only_the_questions_are_corrected_together)
{
	const struct correlation_pair *memory = pair_of(PRESSURE_MEMORY_SOME);

	assert_true(fabs(memory->adjusted / memory->found.p - 2) < 1e-9); /* and CPU */
}

TEST(a_link_is_a_sentence_and_the_others_are_a_line)
{
	report__print_pressure(unit_print(), &correlation, false);
	assert_has(flat(sheet()), " Slow page faults come with memory pressure: 4",
		   " when they were slowest, ", " % otherwise. ",
		   " Slow page faults: no link found with CPU pressure; I/O pressure: cannot tell, "
		   "there was none in 60 intervals ");
}

TEST(a_sentence_answers_each_question)
{
	struct json_object *object = json_object_new_object();

	report__print_pressure(unit_print(), &correlation, true);
	assert_has(flat(sheet()), " Slow page faults come with memory pressure: 4",
		   " otherwise (14 and 46 intervals): positive correlation: +0.",
		   " Slow page faults are not explained by CPU pressure: ",
		   "I/O pressure: cannot tell, there was none in 60 intervals",
		   "also correlated: major faults +0.", "unknown: throttling: for tests", " mean ");
	report__add_pressure(object, &correlation);
	assert_int_equal(field_length(object, "pressure/intervals"), INTERVALS);
	assert_field(object, "pressure/intervals/0/pages_swapped_in", "null");
	assert_true(field_number(object, "pressure/intervals/0/io_some") == 0);
	json_object_put(object);
}

TEST(recordings_without_it_say_nothing, NULL, bursts_end)
{
	struct json_object *object = json_object_new_object();

	make(NULL, 0);
	assert_null(correlation__pressure(&correlation, PRESSURE_CPU_SOME));
	report__print_pressure(unit_print(), &correlation, true);
	report__add_pressure(object, &correlation);
	assert_string_equal(sheet(), "");
	assert_int_equal(json_object_object_length(object), 0);
	json_object_put(object);
}

/* Before there were columns that only cgroups have. */
TEST(older_recordings_have_it_too, NULL, bursts_end)
{
	make(pressure_columns, PRESSURE_FIRST_COLUMNS);
	assert_int_equal(pair_of(PRESSURE_MEMORY_SOME)->verdict, TIMELINE_POSITIVE);
	assert_null(correlation__pressure(&correlation, PRESSURE_MEMORY_HIGH));
}

/* A file may have any columns under this name. */
TEST(other_columns_are_not_taken_for_it, NULL, bursts_end)
{
	struct table_column columns[PRESSURE_COLUMNS];

	memcpy(columns, pressure_columns, sizeof(columns));
	columns[PRESSURE_OOM_KILLS].name = "other";
	make(columns, PRESSURE_COLUMNS);
	assert_non_null(read_run.pressure.table);
	assert_int_equal(correlation.nr, 0);
}

UNIT_FIXTURES(.each = { begin, bursts_end })
