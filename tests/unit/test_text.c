// SPDX-License-Identifier: BSD-2-Clause
#include "sample.h"
#include "sheet.h"

#include "core/summary.h"
#include "print/text.h"
#include "store/writer.h"

static struct run *run;

static void begin(void)
{
	run = sample_run();
}

static void end(void)
{
	sample_free(run);
}

static const struct text_style plain, verbose = { .all_metrics = true };

static char *print_probe(unsigned int probe, struct text_style style)
{
	text__probe(unit_print(), run, &run->probes[probe], &style);
	return sheet();
}

static char *print_plain(void)
{
	return print_probe(0, plain);
}

static void assert_text(const char *got, const char *expected)
{
	if (strcmp(got, expected)) {
		fprintf(stderr, "got:\n%s", got);
		fail_msg("not as expected");
	}
}

static const char iolat[] =
	"iolat device: block request, first issue to completion\n"
	"  10 s, 147,001 events, 14,700/s\n"
	"\n"
	"                     p50      p90      p99    p99.9   p99.99      max     mean\n"
	"  device         40.5 us  40.9 us  41.0 us  41.0 us  41.0 us  4.56 ms  40.0 us\n"
	"  queue          81.0 us  81.8 us  82.0 us  82.0 us  82.0 us  4.56 ms  79.6 us\n"
	"  total           121 us   122 us   122 us   122 us   122 us  4.56 ms   119 us\n"
	"  tail: 100 %, 147,001 events of 8 us or more\n"
	"\n"
	"process                  events    mean     p50     p99     max     tail   total\n"
	"a-name-1..s (4194303)   200,000 45.0 us 45.0 us 45.0 us 45.0 us    100 %  9.00 s\n"
	"fio (12)                  1,001 40.0 us 40.0 us 40.0 us 40.0 us    100 % 40.0 ms\n"
	"(other)                  90.0 M 50.0 us 50.0 us 50.0 us 50.0 us    100 % 4,500 s\n"
	"\n"
	"disk                     events    mean     p50     p99     max     tail   total\n"
	"sda                           3 40.0 us 40.0 us 40.0 us 40.0 us    100 %  120 us\n"
	"vdb                           1 1.00 us 1.00 us 1.00 us 1.00 us      0 % 1.00 us\n"
	"\n"
	"  us                    events    share\n"
	"  [16, 32)               1,234   0.84 % |.                                     |\n"
	"  [32, 64)             145,766   99.2 % |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
	"  [64, 128)                  0      0 % |                                      |\n"
	"  [128, 256)                 0      0 % |                                      |\n"
	"  [256, 512)                 0      0 % |                                      |\n"
	"  [512, 1K)                  0      0 % |                                      |\n"
	"  [1K, 2K)                   0      0 % |                                      |\n"
	"  [2K, 4K)                   0      0 % |                                      |\n"
	"  [4K, 8K)                   1  <0.01 % |.                                     |\n"
	"  seen 147,011 = 147,001 recorded + 10 missed_start (time unknown); up to 7 more\n"
	"    were not seen (recursion_missed)\n"
	"  in flight at end: 3, the oldest for 1.23 s\n";

TEST(a_probe)
{
	assert_text(print_probe(0, (struct text_style){ .top = 10 }), iolat);
}

/* How it was measured is for those who ask. */
TEST(test_method_and_cost_are_verbose)
{
	static const char method[] =
		"    2 requeued\n"
		"  in flight at end: 3, the oldest for 1.23 s\n"
		"  method: stamps: issue and completion are the kernel's own stamps in the\n"
		"    request, read when the request completes\n"
		"  cost: 0.18 % of one CPU: 123 ns per event, timed in the first 100 ms (1,000\n"
		"    events)\n";

	assert_has(print_probe(0, verbose), method);
	assert_lacks(print_plain(), "method:", "cost:", "checked against", "requeued");
}

TEST(a_refused_probe)
{
	assert_text(print_probe(1, plain),
		    "memlat: not measured: the kernel does not allow kprobes here (lockdown)\n");
}

/* Missing events that could hide a tail are printed first, with reasons; fewer are not. */
TEST(missing_events_come_first)
{
	__u64 *abandoned = &run->probes[0].total.metrics[0].counts[LAT_ABANDONED];

	*abandoned = 138;
	assert_has(print_plain(), "14,700/s\n"
				  "  MISSING: 0.10 % of the events (148 of 147,149) were not "
				  "measured (time\n"
				  "    unknown): 138 abandoned, 10 missed_start\n\n"
				  "                     p50 ");
	*abandoned = 136;
	assert_lacks(print_plain(), "MISSING");
}

/* From 0.1 % on: 148 of 147,149. They are no bound of both sides, so there is no "up to". */
TEST(faults_without_an_event_are_missing)
{
	run->probes[0].recursion_missed = 0;
	run->probes[0].no_event = 138;
	assert_has(
		flat(print_plain()),
		"MISSING: 0.10 % of the events (148 of 147,149) were not measured (time "
		"unknown): 138 no_event, 10 missed_start",
		"balances; at least 138 more, which the kernel counts, have no event (no_event)");
	run->probes[0].no_event = 136;
	assert_lacks(print_plain(), "MISSING");
}

TEST(nothing_missed_balances)
{
	run->probes[0].recursion_missed = 0;
	assert_has(print_plain(), "  seen 147,011 = 147,001 recorded + 10 missed_start (time "
				  "unknown): balances\n");
}

/* A few events with much time are missing, too: 0.01 % of them, half of the waiting. */
TEST(test_missing_time_comes_first)
{
	__u64 *counts = run->probes[0].total.metrics[0].counts;

	run->probes[0].recursion_missed = 0;
	counts[LAT_MISSED_START_NS] = 5900000000;
	assert_has(
		print_plain(),
		"14,700/s\n"
		"  MISSING: <0.01 % of the events (10 of 147,011) were not measured (at most 5.90\n"
		"    s): 10 missed_start\n\n",
		" + 10 missed_start (at most 5.90 s): balances\n");
	counts[LAT_UNTIMED] = 3;
	assert_has(flat(print_plain()), "(at most 5.90 s, plus some of unknown time): 10");
	counts[LAT_MISSED_START_NS] = 5000000; /* less than 0.1 % of 5.88 s */
	assert_lacks(print_plain(), "MISSING");
}

TEST(test_each_term_has_its_time)
{
	__u64 *counts = run->probes[0].total.metrics[0].counts;

	run->probes[0].recursion_missed = 0;
	counts[LAT_SEEN] += 6;
	counts[LAT_FILTERED] = 1;
	counts[LAT_FILTERED_NS] = 1500;
	counts[LAT_UNMATCHED] = 1;
	counts[LAT_UNMATCHED_NS] = 2500;
	counts[LAT_MAP_FULL] = 1;
	counts[LAT_EXCLUDED] = 2;
	counts[LAT_CONTINUED] = 1;
	run->probes[0].in_flight.sum_ns = 2000000000;
	assert_has(flat(print_plain()),
		   "recorded + 1 filtered (1.50 us) + 10 missed_start (time unknown) + 1 unmatched "
		   "(at most 2.50 us) + 1 map_full (time unknown) + 2 excluded + 1 continued: "
		   "balances ",
		   " in flight at end: 3, for 2.00 s in total, the oldest for 1.23 s ");
	run->probes[0].in_flight.before = 1;
	assert_has(flat(print_plain()),
		   " in flight at end: 3 (1 began before latscope was attached), for at least "
		   "2.00 s in total, the oldest for at least 1.23 s ");
}

/* alarm NULL: there is none. */
static void assert_checked(struct run_check check, const char *expected, const char *alarm)
{
	const char *text;

	run->probes[0].check = check;
	text = flat(print_probe(0, verbose));
	assert_has(text, expected);
	if (alarm)
		assert_has(text, alarm);
	else
		assert_lacks(text, "MISMATCH");
}

TEST(test_kernel_check_is_printed)
{
	struct run_check check = { .source = "/proc/schedstat",
				   .events = { true, 1000, 1000, 1000, 1002, 8 },
				   .time = { true, 9000, 9000, 9998, 10002, 1000 } };

	assert_checked(check,
		       " checked against /proc/schedstat: events 0 %, time -9.98 % in flight",
		       NULL);
	check.time.tolerance = 100;
	assert_checked(
		check, "time -9.98 %",
		" MISMATCH: time differs from /proc/schedstat by -9.98 % (tolerance 1.00 %); "
		"likely cause: waits that reach over an edge of the window, which a longer window "
		"makes less important; do not rely on the values below ");
	check.events.ours_low = check.events.ours_high = 2000;
	assert_checked(
		check, "events +100 %, time",
		" MISMATCH: events differ from /proc/schedstat by +100 % (tolerance 0.80 %); ");
}

TEST(test_a_small_mismatch_says_what_it_makes_doubtful)
{
	struct run_check check = { .source = "/proc/stat",
				   .events = { true, 9984, 9984, 10000, 10000, 10 } };

	assert_checked(check, "events -0.16 %",
		       " MISMATCH: events differ from /proc/stat by -0.16 % (tolerance 0.10 %); "
		       "likely cause: events for which the kernel, or the hypervisor, ran no "
		       "program; percentiles above p99.84 may be off ");
	check.events.ours_low = check.events.ours_high = 10100;
	assert_checked(check, "events +1.00 %",
		       " likely cause: an account that leaves a CPU or a disk out; sums and means "
		       "may be off by as much ");
}

/* If the kernel's sum is only a limit, the output does not say that the sums agree. */
TEST(test_a_one_sided_check_says_so)
{
	struct run_check check = { .source = "/proc/vmstat",
				   .why = "of GUP",
				   .events = { true, 90, UINT64_MAX, 100, 100, 8 },
				   .time = { true, 0, 50, 40, 40, 0 } };

	assert_checked(
		check,
		" checked against /proc/vmstat: events not more, time not less; of GUP in flight",
		NULL);
	check.events = (struct run_checked){ true, 109, UINT64_MAX, 100, 100, 8 };
	check.time = (struct run_checked){ true, 0, 30, 40, 40, 0 };
	assert_checked(check, "events +9.00 %, time -25 %;", "MISMATCH: events differ");
}

TEST(test_what_was_not_checked_says_why)
{
	struct run_check check = { .source = "/proc/schedstat", .why = "it is away" };

	assert_checked(check, " not checked against /proc/schedstat: it is away in flight", NULL);
	check.source[0] = '\0';
	assert_checked(check, " in flight at end", NULL);
}

TEST(a_probe_without_events)
{
	assert_text(print_probe(2, plain), "runqlat wait: time a runnable task waits for a CPU\n"
					   "  10 s, 0 events, 0/s\n"
					   "  seen 0 = 0 recorded: balances\n");
	assert_text(print_probe(2, verbose),
		    "runqlat wait: time a runnable task waits for a CPU\n"
		    "  10 s, 0 events, 0/s\n"
		    "  seen 0 = 0 recorded: balances\n"
		    "  in flight at end: 0\n"
		    "  method: tp_btf: wakeup to switch-in, kept with the task\n"
		    "  cost: not measured\n");
}

TEST(all_metrics_in_full)
{
	assert_has(print_probe(0, (struct text_style){ .all_metrics = true }),
		   "\n\niolat queue: block request, arrival to first issue\n",
		   "\n\niolat total: block request, arrival to completion\n");
}

/* The cost of a single event says nothing about later ones. */
TEST(cost_needs_events)
{
	run->probes[0].cost.timed_events = 99;
	assert_has(print_probe(0, verbose),
		   "\n  cost: not measured: too few events in the first 100 ms\n");
	run->probes[0].cost.timed_events = 100;
	assert_has(print_probe(0, verbose),
		   "\n  cost: 1.81 % of one CPU: 1230 ns per event, timed ");
}

TEST(top_hides_all_but_other)
{
	const char *text = print_probe(0, (struct text_style){ .top = 1 });

	assert_has(text, "\n(other)", "\n1 more with less time\n");
	assert_lacks(text, "fio (12)");
}

static const char *name_at(const void *rows, size_t row)
{
	return ((const char *const *)rows)[row];
}

/* How the names look in a table, one per line. */
static char *cut(const char *const *names, size_t nr)
{
	FILE *out = unit_print();
	unsigned int head = text__name_head(out, name_at, names, nr);

	for (size_t i = 0; i < nr; i++) {
		text__key_name_cut(out, names[i], head);
		fputs("|\n", out);
	}
	return unit_printed();
}

TEST(test_a_long_name_loses_its_middle)
{
	const char *names[] = { "/system.slice/a-long-name.service", "short" };

	assert_string_equal(cut(names, 2), "/system...ame.service|\nshort                |\n");
}

TEST(test_names_that_differ_still_differ_when_they_are_cut)
{
	const char *middle[] = { "/kubepods/pod-1/of-a-service/payload",
				 "/kubepods/pod-2/of-a-service/payload" };
	const char *same[] = { middle[0], middle[0] };
	const char *text = cut(middle, 2);

	assert_has(text, "pod-1", "pod-2");
	assert_has(cut(same, 2), "/kubepod..ice/payload|\n/kubepod..ice/payload|\n");
}

TEST(imbalance_is_loud)
{
	run->probes[0].total.metrics[0].counts[LAT_SEEN] += 5;
	run->probes[0].total.metrics[2].counts[LAT_SEEN] -= 1000;
	assert_has(print_plain(), "\n  total:\n");
	assert_has(flat(print_plain()), ": DOES NOT BALANCE, 5 unaccounted for ",
		   ": DOES NOT BALANCE, 1,000 counted twice ");
}

TEST(test_metrics_of_other_requests_are_told)
{
	struct lat_cell *total = &run->probes[0].total.metrics[2];

	assert_lacks(print_plain(), "same requests");
	sample_add(&total->hist, 100000, 3);
	total->counts[LAT_SEEN] += 3;
	run->probes[0].total.metrics[0].counts[LAT_SEEN] += 3;
	run->probes[0].total.metrics[0].counts[LAT_EXCLUDED] = 3;
	assert_has(flat(print_plain()),
		   " device and total are not of the same requests: 147,001 and 147,004; 3 are the "
		   "second completion of a flush ");
}

TEST(errors_have_their_kinds)
{
	__u64 *counts = run->probes[0].total.metrics[0].counts;

	counts[LAT_ERRORS] = 4;
	assert_has(flat(print_plain()), "2 requeued, 4 errors in flight");
	counts[LAT_ERRORS_IO] = 1;
	assert_has(flat(print_plain()), "2 requeued, 4 errors (1 io) in flight");
	counts[LAT_ERRORS_TIMEOUT] = 2;
	assert_has(flat(print_plain()), "2 requeued, 4 errors (2 timeout, 1 io) in flight");
}

/* Numbers as large as they get must not push a column out. */
TEST(extremes_fit)
{
	struct run_probe *probe = &run->probes[0];

	for (unsigned int i = 0; i < LAT_COUNTS; i++)
		probe->total.metrics[0].counts[i] = UINT64_MAX / (i + 1);
	memset(probe->metrics[0].what, 'w', RUN_TEXT - 1);
	memset(probe->mechanism, 'm', RUN_TEXT - 1);
	memset(probe->metrics[1].name, 'n', RUN_NAME - 1);
	sample_add(&probe->total.metrics[0].hist, HIST_LIMIT_NS, 1ULL << 60);
	probe->total.metrics[0].hist.max_ns = UINT64_MAX;
	sample_key(
		&probe->total, 5, LAT_BY_PROCESS, 0,
		"\355\225\234\352\270\200\355\225\234\352\270\200\355\225\234\352\270\200\355\225"
		"\234\352\270\200\355\225\234\352\270\200\355\225\234\352\270\200\355\225\234",
		HIST_LIMIT_NS - 1, 1ULL << 50);
	assert_has(print_probe(0, (struct text_style){ .all_metrics = true }), "[64G, inf)");
}

TEST(color_only_when_asked)
{
	assert_has(print_probe(0, (struct text_style){ .color = true }), "\033");
	assert_lacks(print_plain(), "\033");
}

TEST(the_run)
{
	run->complete = false;
	text__run(unit_print(), run);
	assert_text(sheet(), "workload: fio --name=\"a b\": exit status 3\n"
			     "only: pid 12, disk sda (iolat)\n"
			     "labels: case=off, who=J. \"Doe\", x=y\n");
	text__incomplete(unit_print(), run);
	assert_text(sheet(),
		    "incomplete: the recording was cut off; the data ends with the last complete\n"
		    "  interval, and the number of waits in flight is unknown\n");
}

/* A control character of a command line must not reach the terminal. */
TEST(texts_are_clean)
{
	free(run->workload);
	run->workload = strdup("evil \033]0;title\007");
	text__run(unit_print(), run);
	assert_lacks(sheet(), "\033", "\007");
}

TEST(live_lines)
{
	struct run_data *deltas = calloc(3, sizeof(*deltas));
	struct run_interval interval = { .start_ns = 1000000000,
					 .end_ns = 2000000000,
					 .delta = deltas };
	struct writer writer = { .ops = &writer_live, .state = unit_print() };

	sample_fill(&deltas[0], 0);
	assert_int_equal(writer.ops->open(&writer, run), 0);
	assert_int_equal(writer.ops->interval(&writer, run, &interval), 0);
	assert_text(
		sheet(),
		"      time  probe          events/s       p50       p99       max      tail\n"
		"   2.000 s  iolat         147,001/s   40.5 us   41.0 us   4.56 ms     100 %\n"
		"   2.000 s  runqlat             0/s         -         -         -         -\n");
	run__clear_data(&deltas[0]);
	free(deltas);
}

TEST(timing_waits_for_events)
{
	assert_false(summary__is_timed(199999999, 2, 2));
	assert_true(summary__is_timed(200000000, 2, 2));
	assert_false(summary__is_timed(200000000, 2, 1));
	assert_false(summary__is_timed(4999999999, 2, 1));
	assert_true(summary__is_timed(5000000000, 2, 1));
	assert_false(summary__is_timed(5000000000, 2, 0));
}

UNIT_FIXTURES(.each = { begin, end })
