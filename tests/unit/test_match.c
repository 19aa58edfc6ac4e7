// SPDX-License-Identifier: BSD-2-Clause
/* Which probes, metrics and thresholds of two groups are compared. */
#include "compared.h"

static void write_as(const char *name, const char *method, const char *metric)
{
	write_run(recording_begin("memlat", method, metric), name, 100000, 1000, 20);
}

TEST(not_measured_alike)
{
	write_as("off", "kprobe", "handle_mm_fault");
	write_as("on", "perf-event", "page_fault");
	assert_int_equal(compare(), -ENODATA);
	assert_int_equal(comparison.nr_refusals, 1);
	assert_string_equal(comparison.refusals[0].probe, "memlat");
	assert_string_equal(comparison.refusals[0].why,
			    "different metrics: handle_mm_fault by method kprobe, but page_fault "
			    "by method perf-event on ON; record both with one --method");
}

TEST(another_method)
{
	write_as("off", "kprobe", "handle_mm_fault");
	write_as("on", "fentry", "handle_mm_fault");
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.nr_refusals, 0);
	assert_string_equal(
		comparison.warnings.lines[0],
		"memlat: method kprobe on OFF, but fentry on ON: the methods may explain "
		"a difference");
}

/* A metric that one recording has in addition is left out, whichever group it is in. */
TEST(metrics_in_common)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct run *run = begin_memlat();

		if (i)
			sample_metric(&run->probes[0], "more", "made up");
		write_run(run, i ? "off" : "on", 100000, 1000, 20);
	}
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.nr, 1);
	assert_string_equal(comparison.warnings.lines[0],
			    "memlat: not all recordings have the same metrics; only those that all "
			    "have are compared");
}

TEST(a_probe_that_one_group_lacks)
{
	struct run *run = begin_memlat();

	sample_metric(sample_probe(run, "runqlat", "stamps", "for tests"), "run_queue", "made up");
	write_run(run, "off", 100000, 1000, 20);
	run = begin_memlat();
	strcpy(sample_probe(run, "iolat", "", "")->refused, "not permitted");
	write_run(run, "on", 100000, 1000, 20);
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.nr, 1);
	assert_int_equal(comparison.nr_refusals, 2);
	assert_string_equal(comparison.refusals[0].why, "not recorded on ON");
	assert_string_equal(comparison.refusals[1].why, "not recorded on OFF");
}

TEST(a_refused_probe)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct run *run = begin_memlat();

		strcpy(sample_probe(run, "iolat", "", "")->refused, "not permitted");
		write_run(run, i ? "on" : "off", 100000, 1000, 20);
	}
	assert_int_equal(compare(), 0);
	assert_string_equal(comparison.refusals[0].why, "could not run on OFF: not permitted");
}

/* Of recordings that differ in the threshold of their tail. */
static void compare_thresholds(uint64_t off_ns, uint64_t on_ns)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct run *run = begin_memlat();

		run->probes[0].tail_ns = i ? on_ns : off_ns;
		write_run(run, i ? "on" : "off", 100000, 1000, 20);
	}
	assert_int_equal(compare(), 0);
}

TEST(thresholds_that_differ)
{
	/* The tail of ON was counted from elsewhere on: only the slots have the reference. */
	compare_thresholds(8000, 30000);
	assert_int_equal(comparison.tails[0].ns, 8000);
	assert_int_equal(comparison.rows[0].total[1].tail, 1000);
	rules.tails.ns = 30000;
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.rows[0].total[0].tail, 0);
	rules.tails.ns = 30001;
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.tails[0].ns, 0);
}

static void mix_both(struct run_data *delta, unsigned int interval, const void *arg)
{
	recording_mix(&delta[0], interval, arg);
	recording_mix(&delta[1], interval, arg);
}

TEST(a_threshold_for_each_probe)
{
	struct recording_mix mix = { 100000, 1000, 20, 0 };
	for (unsigned int i = 0; i < 2; i++) {
		struct run *run = begin_memlat();

		sample_metric(sample_probe(run, "iolat", "stamps", "for tests"), "device",
			      "made up");
		recording_write(run, dir, i ? "on" : "off", 20, mix_both, &mix);
	}
	strcpy(rules.tails.of[rules.tails.nr].probe, "memlat");
	rules.tails.of[rules.tails.nr++].ns = 32000;
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.nr, 2);
	assert_int_equal(comparison.rows[0].tail->ns, 32000);
	assert_int_equal(comparison.rows[1].tail->ns, SAMPLE_TAIL_NS);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(comparison.rows[0].total[i].tail, 0);
		assert_int_equal(comparison.rows[1].total[i].tail, 1000);
	}
}

TEST(a_group_without_threshold_has_that_of_the_other)
{
	compare_thresholds(0, 8000);
	assert_int_equal(comparison.tails[0].ns, 8000);
}

TEST(thresholds_that_cannot_be_joined)
{
	compare_thresholds(8001, 8003);
	assert_int_equal(comparison.tails[0].ns, 0);
	assert_false(statistic(JUDGE_TAIL)->tested);
	assert_has(statistic(JUDGE_TAIL)->why, "different thresholds");
	assert_true(statistic(JUDGE_MEAN)->tested);
	assert_order(text(), "tail           -         -         -", "no difference shown");
	/* If both groups have the same threshold, it may be any value. */
	unit_empty_dir();
	compare_thresholds(8001, 8001);
	assert_int_equal(comparison.tails[0].ns, 8001);
}

UNIT_FIXTURES(.each = { begin, end })
