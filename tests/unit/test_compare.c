// SPDX-License-Identifier: BSD-2-Clause
#include "compared.h"
#include "fields.h"

/* 136 slow events of 16,165 against 186 of 273,286: more, and yet a twelfth of the share. */
TEST(shares_are_not_counts)
{
	const char *table, *summary;

	write_mix("off", 16165, 136, 10);
	write_mix("on", 273286, 186, 10);
	assert_int_equal(compare(), 0);
	assert_int_equal(statistic(JUDGE_TAIL)->verdict, JUDGE_NO_DIFFERENCE);
	assert_true(statistic(JUDGE_TAIL)->ratio < 0.1);
	rules.judge.run_spread = 0.25;
	assert_int_equal(compare(), 0);
	assert_int_equal(statistic(JUDGE_TAIL)->verdict, JUDGE_BETTER);
	assert_int_equal(comparison.verdicts[JUDGE_WORSE], 0);
	assert_int_equal(comparison.rows[0].total[0].tail, 136);
	assert_int_equal(comparison.rows[0].total[1].tail, 186);
	table = strstr(text(), "verdict\n") + strlen("verdict\n");
	assert_memory_equal(table, "tail      0.84 %   0.068 %  -0.77 pp", 36);
	assert_order(table, "better", "rate");
	assert_order(table, "rate", "p50");
	assert_order(table, "max", "events");
	assert_order(table, "events", "136       186");
	summary = strstr(table, "0 worse; ");
	assert_non_null(summary);
	assert_string_equal(summary,
			    "0 worse; 2 better (memlat tail, memlat p99.9); 1 more (memlat "
			    "rate); 5 no\n  difference shown; 1 cannot tell\n");
}

TEST(one_run_a_group)
{
	write_mix("off", 100000, 1000, 40);
	write_mix("on", 100000, 1200, 20);
	assert_int_equal(compare(), 0);
	assert_true(comparison.rules.judge.batches);
	assert_int_equal(comparison.groups[0].recordings[0].intervals, 40);
	assert_int_equal(comparison.groups[0].recordings[0].observations, 4);
	assert_int_equal(comparison.groups[1].recordings[0].observations, 3);
	assert_int_equal(statistic(JUDGE_TAIL)->verdict, JUDGE_NO_DIFFERENCE);
	assert_true(statistic(JUDGE_TAIL)->low < 0.7);
	assert_true(fabs(statistic(JUDGE_TAIL)->off - 0.01) < 1e-9);
}

#define STEADY_INTERVALS 400

/* Nearly the same each time: slow swings by 0.2 %. */
static void fill_steady(struct run_data *delta, unsigned int interval, const void *body_ns)
{
	double swing = 1 + 0.002 * sin(interval / 20.0);
	uint64_t body = (uint64_t)(*(const uint64_t *)body_ns * swing);

	sample_record(&delta->metrics[0], body, 19800);
	sample_record(&delta->metrics[0], 20000, 200);
}

static void write_steady(const char *name, uint64_t body_ns)
{
	recording_write(begin_memlat(), dir, name, STEADY_INTERVALS, fill_steady, &body_ns);
}

/* Nothing varies within the runs, so nearly all is what runs are assumed to differ by. */
TEST(one_run_a_group_long_and_steady)
{
	const struct judged *mean;
	double width;

	write_steady("off", 1500);
	write_steady("on", 1575);
	assert_int_equal(compare(), 0);
	mean = statistic(JUDGE_MEAN);
	assert_true(mean->ratio > 1.02 && mean->ratio < 1.06);
	assert_true(mean->tested);
	/* Normal distribution; a spread of 100 % is a variance of log(2) per group. */
	width = log(mean->high / mean->low) / (2 * 1.96 * sqrt(2 * log(2)));
	assert_true(fabs(width - 1) < 0.01);
	assert_true(mean->p > 0.9);
	assert_int_equal(comparison.verdicts[JUDGE_WORSE], 0);
	assert_int_equal(comparison.verdicts[JUDGE_BETTER], 0);
}

TEST(many_events)
{
	static const struct {
		uint64_t events;
		const char *row;
	} table[] = {
		{ 999999, "events   999,999   999,999\n" },
		{ 1000000, "events       1 M       1 M\n" },
		{ 999499999, "events     999 M     999 M\n" },
		{ 999500000, "events       1 G       1 G\n" },
		{ 1000000000, "events       1 G       1 G\n" },
		{ 999500000000, "events       1 T       1 T\n" },
	};

	for (size_t i = 0; i < COUNT_OF(table); i++) {
		write_mix("off", table[i].events, 1000, 10);
		write_mix("on", table[i].events, 1000, 10);
		assert_int_equal(compare(), 0);
		assert_has(text(), table[i].row);
		assert_lacks(text(), "e+");
		end();
		unit_empty_dir();
		begin();
	}
}

TEST(too_few_intervals)
{
	write_mix("off", 100000, 1000, 1);
	write_mix("on", 100000, 5000, 9);
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.family, 0);
	assert_int_equal(comparison.untested, JUDGE_STATISTICS);
	assert_has(statistic(JUDGE_TAIL)->why, "too few intervals on OFF");
	assert_memory_equal(text(), "CANNOT TELL: made up: too few intervals on OFF", 46);
	assert_order(text(), "compare\n  groups of 3 recordings or more (1 run against 1)\n",
		     "0 no difference shown; 9 cannot tell");
}

/* 60 intervals of which all but a few are empty, as of an idle disk, against a busy one. */
static void fill_idle(struct run_data *delta, unsigned int interval, const void *unused)
{
	if (interval == 7 || interval == 50)
		sample_record(&delta->metrics[0], 1500, 2);
}

TEST(idle_against_busy)
{
	recording_write(begin_memlat(), dir, "off", 60, fill_idle, NULL);
	write_mix("on", 100000, 5000, 60);
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.groups[0].nr_windows, 5);
	assert_int_equal(statistic(JUDGE_RATE)->verdict, JUDGE_MORE);
	assert_int_equal(statistic(JUDGE_TAIL_RATE)->verdict, JUDGE_MORE);
	assert_true(fabs(statistic(JUDGE_RATE)->off - 4.0 / 60) < 1e-9);
	assert_false(statistic(JUDGE_MEAN)->tested);
	assert_lacks(text(), "too few intervals");
	assert_order(text(), "rate      0.07/s", "2 more (memlat rate");
	assert_has(statistic(JUDGE_MEAN)->why,
		   "batches of intervals on OFF have events: 2 of 5, 3 are needed");
}

static void write_group(const char *group, unsigned int runs, uint64_t events, uint64_t tail)
{
	for (unsigned int i = 0; i < runs; i++) {
		write_mix(unit_text("%s/%u", group, i), events + 10 * i, tail + tail * (i % 3) / 50,
			  2);
	}
}

TEST(replicates)
{
	write_group("off", 3, 100000, 1000);
	write_group("on", 4, 100000, 2000);
	unit_write(dir, "on/notes.txt", "not a recording");
	unit_write(dir, "on/other/notes.txt", "nor is this");
	assert_int_equal(compare(), 0);
	assert_false(comparison.rules.judge.batches);
	assert_int_equal(comparison.groups[1].nr, 4);
	assert_int_equal(comparison.groups[1].recordings[3].observations, 1);
	assert_int_equal(statistic(JUDGE_TAIL)->verdict, JUDGE_WORSE);
	assert_true(fabs(statistic(JUDGE_TAIL)->ratio - 2) < 0.05);
	assert_int_equal(comparison.warnings.nr, 0);
	assert_int_equal(comparison.rows[0].total[0].duration_ns, 6000000000);
}

/* Two of three are not three. */
TEST(two_runs)
{
	write_group("off", 2, 100000, 1000);
	write_group("on", 3, 100000, 2000);
	assert_int_equal(compare(), 0);
	assert_true(comparison.rules.judge.batches);
}

TEST(no_recordings)
{
	write_mix("off", 1000, 10, 2);
	assert_int_equal(compare(), -ENOENT);
	assert_string_equal(comparison.groups[0].failed, "");
	assert_has(comparison.groups[1].failed, "/on");
	unit_write(dir, "on/notes.txt", "");
	assert_int_equal(compare(), -ENOENT);
	unit_write(dir, "on/x/run.db", "this is no database, but it is long enough to see");
	assert_int_equal(compare(), -EMEDIUMTYPE);
	assert_has(comparison.groups[1].failed, "/on/x");
}

/* 1,000 of 100,000 at 20 us, against 4,000 of 50,000. */
TEST(distributions)
{
	write_mix("off", 100000, 1000, 20);
	write_mix("on", 50000, 4000, 20);
	assert_int_equal(compare(), 0);
	for (unsigned int i = 0; i < 2; i++) {
		const struct comparison_total *total = &comparison.rows[0].total[i];
		uint64_t sum = 0;

		assert_int_equal(total->buckets[4], i ? 4000 : 1000);
		for (unsigned int j = 0; j < HIST_LOG2_BUCKETS; j++)
			sum += total->buckets[j];
		assert_int_equal(sum, total->events);
	}
	assert_order(text(), "us                 OFF    share          ON    share ON / OFF",
		     "[16, 32)         1,000   1.00 %       4,000   8.00 %    x8.00");
}

static void add_keys(struct run_data *delta, unsigned int interval, const void *arg)
{
	const struct recording_mix *mix = arg;
	unsigned int group = mix->events == 100000;

	recording_mix(delta, interval, arg);
	/* Two processes with one name, with other IDs in the other group. */
	sample_key(delta, 10 + group, LAT_BY_PROCESS, 0, group ? "fio (11)" : "fio (10)", 1000,
		   300);
	sample_key(delta, 20 + group, LAT_BY_PROCESS, 0, group ? "fio (21)" : "fio (20)", 20000, 3);
	sample_key(delta, 30 + group, LAT_BY_PROCESS, 0, group ? "only-on (31)" : "only-off (30)",
		   1000, 10);
	sample_key(delta, 40, LAT_BY_PROCESS, 0, "(40)", 900, 3);
	sample_key(delta, RUN_OTHER_ID, LAT_BY_PROCESS, 0, "(other)", 1000, 1000);
	sample_key(delta, 1, LAT_BY_MODE, 0, "kernel", 1000, 300);
}

TEST(names_of_keys_lose_the_number)
{
	static const struct {
		uint32_t by;
		const char *name, *wanted;
	} names[] = {
		{ LAT_BY_PROCESS, "fio (11)", "fio" }, { LAT_BY_THREAD, "a b (c) (7)", "a b (c)" },
		{ LAT_BY_PROCESS, "x (1)", "x" },      { LAT_BY_PROCESS, "(40)", "(40)" },
		{ LAT_BY_DISK, "md (1)", "md (1)" },
	};
	char name[RUN_NAME];

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct run_key key = { .key = { .by = names[i].by } };

		snprintf(key.name, sizeof(key.name), "%s", names[i].name);
		group__key_name(&key, name);
		assert_string_equal(name, names[i].wanted);
	}
}

static void write_keys(const char *name, uint64_t events)
{
	struct recording_mix mix = { events, 1000, 20, 0 };
	struct run *run = begin_memlat();

	run->probes[0].by = 1U << LAT_BY_PROCESS | 1U << LAT_BY_MODE;
	recording_write(run, dir, name, 20, add_keys, &mix);
}

TEST(keys)
{
	write_keys("off", 90000);
	write_keys("on", 100000);
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.nr, 1);
	rules.by = 1U << LAT_BY_PROCESS;
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.nr, 5);
	assert_false(warned("more names"));
	assert_string_equal(comparison.rows[1].key, "fio");
	assert_int_equal(comparison.rows[1].total[0].events, 6060);
	assert_int_equal(comparison.rows[1].total[1].tail, 60);
	assert_true(comparison.rows[1].statistics[JUDGE_MEAN].tested);
	assert_string_equal(comparison.rows[2].key, "only-off");
	assert_false(comparison.rows[2].statistics[JUDGE_MEAN].tested);
	assert_string_equal(comparison.rows[3].key, "only-on");
	assert_false(comparison.rows[3].statistics[JUDGE_MEAN].tested);
	assert_string_equal(comparison.rows[4].key, "(40)");
	assert_order(text(), "handle_mm_fault, process fio", "handle_mm_fault, process only-off");
	assert_order(text(), "process only-off",
		     "tail, p50, p90, p99, p99.9, p99.99, mean: cannot tell: no events");
	rules.top = 1;
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.nr, 2);
	assert_warned("3 more names by process");
	rules.by = 1U << LAT_BY_DISK | 1U << LAT_BY_MODE;
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.nr, 2);
	assert_warned("memlat handle_mm_fault was not split by disk");
}

TEST(what_makes_it_doubtful)
{
	struct run *run = begin_memlat();

	free(run->host);
	run->host = strdup("{\"kernel\":\"6.1.0\",\"cpus_online\":2,\"io_schedulers\":"
			   "{\"sda\":\"none\",\"sdb\":\"none\"}}");
	write_run(run, "off", 100000, 10, 20);
	run = begin_memlat();
	free(run->host);
	run->host = strdup("{\"kernel\":\"6.12.0\",\"cpus_online\":2,\"io_schedulers\":"
			   "{\"sda\":\"none\",\"loop0\":\"none\"}}");
	run->filter = strdup("pid 12");
	run->probes[0].in_flight = (struct lat_in_flight){ .count = 11 };
	run->probes[0].recursion_missed = 12;
	run->complete = false;
	write_run(run, "on", 100000, 10, 20);
	assert_int_equal(compare(), 0);
	assert_warned("a recording was cut off, so the number of waits in flight is unknown: ");
	assert_warned("differs: kernel (6.1.0, but 6.12.0)");
	assert_false(warned("io_schedulers"));
	assert_warned("the filters differ: none, but pid 12 on ON");
	assert_warned("ON left 11 waits in flight at the end, more than the 10 of its tail");
	assert_warned("ON has lost 12 events, more than the 10 of its tail");
	assert_int_equal(comparison.warnings.nr, 5);
}

static void unbalanced(struct run_data *delta, unsigned int interval, const void *arg)
{
	recording_mix(delta, interval, arg);
	delta->metrics[0].counts[LAT_SEEN]++;
	delta->metrics[0].counts[LAT_CHECKED] += 10000;
}

TEST(accounting_and_stamps)
{
	struct recording_mix mix = { 100000, 1000, 10, 0 };

	write_mix("off", 100000, 1000, 10);
	recording_write(begin_memlat(), dir, "on", 10, unbalanced, &mix);
	assert_int_equal(compare(), 0);
	assert_warned("the accounting does not balance: ");
	assert_warned("own stamps for 0 % of the events of one recording, for 100 % of another");
	assert_int_equal(comparison.warnings.nr, 2);
	/* With one run per group, this cannot be distinguished from a difference. */
	assert_int_equal(comparison.family, 1);
	assert_true(statistic(JUDGE_RATE)->tested);
	assert_has(statistic(JUDGE_TAIL)->why, "the kernel's stamps");
}

TEST(test_a_recording_that_the_kernel_contradicts_is_warned_of)
{
	struct run *run = begin_memlat();

	write_mix("off", 100000, 1000, 10);
	strcpy(run->probes[0].check.source, "/proc/vmstat");
	run->probes[0].check.events = (struct run_checked){ true, 90, 90, 100, 100, 9 };
	write_run(run, "on", 100000, 1000, 10);
	assert_int_equal(compare(), 0);
	assert_warned("memlat: its sums differ from /proc/vmstat beyond the tolerance: ");
	assert_int_equal(comparison.warnings.nr, 1);
}

static const char *brief_text(void)
{
	compare__print_text(unit_print(), &comparison, false, false);
	return flat(sheet());
}

static void compare_groups(uint64_t off_tail, uint64_t on_tail)
{
	end();
	unit_empty_dir();
	begin();
	write_group("off", 12, 100000, off_tail);
	write_group("on", 12, 100000, on_tail);
	assert_int_equal(compare(), 0);
}

static void assert_begins(const char *text, const char *with)
{
	if (strncmp(text, with, strlen(with)) != 0)
		fail_msg("not '%s' at the beginning of: %s", with, text);
}

TEST(test_the_first_line_is_the_verdict)
{
	compare_groups(2000, 9000);
	assert_begins(brief_text(), "WORSE: made up, mean x1.7 [1.7, 1.7], tail 2.04 % -> 9.17 % "
				    "(12 runs against 12) ");
	compare_groups(9000, 2000);
	assert_begins(brief_text(), "BETTER: made up, mean x0.58 [0.57, 0.58], tail ");
	compare_groups(2000, 2000);
	assert_begins(brief_text(), "SAME: made up (mean: differences over ");
	assert_has(brief_text(), " % would have been seen) (12 runs against 12) ");
}

TEST(test_one_run_a_group_says_how_little_it_sees)
{
	write_mix("off", 100000, 1000, 20);
	write_mix("on", 100000, 1000, 20);
	assert_int_equal(compare(), 0);
	assert_begins(brief_text(), "UNCLEAR: made up: no difference shown (mean: only differences "
				    "over x");
	assert_has(brief_text(), " (1 run against 1: how much runs differ is assumed) ");
}

TEST(test_equal_warnings_are_one_line)
{
	struct run *run;

	write_group("off", 3, 100000, 1000);
	for (unsigned int i = 0; i < 3; i++) {
		run = begin_memlat();
		run->complete = false;
		write_run(run, unit_text("on/%u", i), 100000, 1000, 10);
	}
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.warnings.nr, 3);
	assert_has(brief_text(), " warning, 3 times: a recording was cut off, so the number of ",
		   "/on/0 and 2 more ");
	assert_lacks(brief_text(), "/on/1");
}

TEST(test_the_method_is_for_those_who_ask)
{
	write_mix("off", 100000, 1000, 20);
	write_mix("on", 100000, 1000, 20);
	assert_int_equal(compare(), 0);
	assert_lacks(brief_text(), "Holm", "Wilson", "OFF: 1 recording");
	assert_has(text(), "Holm", "Wilson", "OFF: 1 recording");
}

TEST(one_recording_twice)
{
	write_mix("on", 100000, 1000, 20);
	assert_int_equal(comparison__run(&comparison, &rules, unit_path(dir, "on/run.db"),
					 unit_path(dir, "on")),
			 0);
	assert_warned("are the same recording");
	for (unsigned int i = 0; i < JUDGE_STATISTICS; i++) {
		assert_int_equal(statistic(i)->verdict, JUDGE_NO_DIFFERENCE);
		assert_true(statistic(i)->ratio == 1);
	}
}

TEST(only_one_probe)
{
	write_mix("off", 100000, 1000, 20);
	write_mix("on", 100000, 1000, 20);
	rules.probe = "memlat";
	assert_int_equal(compare(), 0);
	rules.probe = "iolat";
	assert_int_equal(compare(), -ENODATA);
	assert_int_equal(comparison.nr_refusals, 0);
}

TEST(as_json)
{
	struct json_object *object;
	const char *mean;

	write_mix("off", 16165, 136, 10);
	write_mix("on", 273286, 186, 10);
	rules.judge.run_spread = 0.25;
	assert_int_equal(compare(), 0);
	object = compare__json(&comparison);
	assert_field(object, "observation", "\"batch\"");
	assert_int_equal(field_length(object, "off"), 1);
	assert_field(object, "verdicts/better", "2");
	assert_field(object, "comparisons/0/key", "null");
	assert_field(object, "comparisons/0/on/tail_events", "186");
	assert_field(object, "comparisons/0/statistics/0/statistic", "\"tail\"");
	assert_field(object, "comparisons/0/statistics/0/verdict", "\"better\"");
	assert_true(field_number(object, "comparisons/0/statistics/0/ratio_high") < 0.5);
	/* An unknown value is null; JSON has no NaN. */
	mean = unit_text("comparisons/0/statistics/%d/p", JUDGE_MEAN - 1);
	assert_field(object, mean, "null");
	json_object_put(object);
}

TEST(as_csv)
{
	unsigned int lines = 0;
	const char *text;

	write_mix("off", 16165, 136, 10);
	write_mix("on", 273286, 186, 10);
	assert_int_equal(compare(), 0);
	compare__print_csv(unit_print(), &comparison);
	text = unit_printed();
	assert_has(text, "\nmemlat,handle_mm_fault,,,tail,0.00841",
		   "\nmemlat,handle_mm_fault,,,bucket 4,136,186,0.080");
	for (const char *line = text; (line = strchr(line, '\n')); line++)
		lines++;
	assert_int_equal(lines, 1 + JUDGE_STATISTICS + 2 /* buckets with events */);
}

UNIT_FIXTURES(.each = { begin, end })
