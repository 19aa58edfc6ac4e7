// SPDX-License-Identifier: BSD-2-Clause
#include "sample.h"

#include "stats/why_change.h"

#define RUNS 3

/* Groups of recordings of one second each, in which nothing was slow yet. */
static struct group groups[2];
static struct group_recording recordings[2][RUNS];
static struct why_changes changes;

static void make(size_t off, size_t on)
{
	const size_t nr[2] = { off, on };

	for (size_t i = 0; i < 2; i++) {
		groups[i].recordings = recordings[i];
		groups[i].nr = nr[i];
		for (size_t j = 0; j < nr[i]; j++) {
			struct run *run = calloc(1, sizeof(*run));

			recordings[i][j].run = run;
			run->duration_ns = 1000000000;
			run->nr_probes = 1;
			strcpy(run->probes[0].name, "runqlat");
			assert_int_equal(why__new(&run->probes[0].why, "runqlat"), 0);
			run->probes[0].why->over_low_ns = run->probes[0].why->over_high_ns = 1000;
		}
	}
}

static void end(void)
{
	why_changes__clear(&changes);
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < groups[i].nr; j++)
			run__free(recordings[i][j].run);
}

static int changes_of(const char *probe)
{
	why_changes__clear(&changes);
	return why_changes__of(&changes, groups, probe);
}

/* culprit NULL: the part has none. */
static void add(int side, size_t recording, const char *part, const char *culprit, int64_t ns)
{
	struct run_why *why = recordings[side][recording].run->probes[0].why;

	assert_int_equal(table__add_row(why->parts, 0), 0);
	assert_int_equal(table__set_text(why->parts, WHY_VICTIM, "web (1)"), 0);
	assert_int_equal(table__set_text(why->parts, WHY_PART, part), 0);
	assert_int_equal(table__set_text(why->parts, WHY_CULPRIT, culprit), 0);
	table__set_integer(why->parts, WHY_NS, ns);
	table__set_integer(why->parts, WHY_EVENTS, 1);
	assert_int_equal(why__sum(why), 0);
	assert_int_equal(table__fold(why->parts), 0);
	why->slow_ns += (uint64_t)ns;
}

TEST(the_part_that_grew_is_first)
{
	make(1, 1);
	add(0, 0, "idle", NULL, 5000);
	add(0, 0, "other", "backup (2)", 1000);
	add(1, 0, "idle", NULL, 4000);
	add(1, 0, "other", "backup (77)", 6000);
	add(1, 0, "other", "cron (78)", 1000);
	assert_int_equal(changes_of("runqlat"), 1);
	assert_int_equal(changes.nr_parts, 2);
	assert_string_equal(changes.parts[0].part, "other");
	assert_true(changes.parts[0].rate[0] == 1000 && changes.parts[0].rate[1] == 7000);
	assert_true(changes.parts[1].rate[0] == 5000 && changes.parts[1].rate[1] == 4000);
	assert_true(changes.whole.rate[0] == 6000 && changes.whole.rate[1] == 11000);
	/* The same program has another ID in each recording. */
	assert_int_equal(changes.nr_culprits, 2);
	assert_string_equal(changes.culprits[0].culprit, "backup");
	assert_true(changes.culprits[0].rate[0] == 1000 && changes.culprits[0].rate[1] == 6000);
	assert_false(changes.whole.has_interval);
	assert_string_equal(changes.sentence,
			    "Slow waits for a CPU took 5.00 us more in each second (too few "
			    "recordings to tell this from chance); 120 % of that: another process "
			    "had the CPU (backup)");
}

/* Three recordings of each side, of which the later ones have more. */
static void make_quota(int64_t off, int64_t on, int64_t more)
{
	make(RUNS, RUNS);
	for (size_t i = 0; i < RUNS; i++) {
		add(0, i, "quota", NULL, off + more * (int64_t)i);
		add(1, i, "quota", NULL, on + more * (int64_t)i);
	}
	assert_int_equal(changes_of("runqlat"), 1);
}

TEST(an_interval_needs_three_recordings_of_each)
{
	make_quota(1000, 9000, 10);
	assert_true(changes.whole.has_interval);
	assert_true(changes.whole.low > 7900 && changes.whole.low < 8000);
	assert_true(changes.whole.high > 8000 && changes.whole.high < 8100);
	assert_string_equal(changes.sentence, "Slow waits for a CPU took 8.00 us more in each "
					      "second; 100 % of that: the cgroup was out of its "
					      "CPU quota");
}

TEST(several_culprits_together_are_nobody)
{
	make(1, 1);
	add(0, 0, "other", "(other)", 1000);
	add(1, 0, "other", "(other)", 9000);
	assert_int_equal(changes_of("runqlat"), 1);
	assert_has(changes.sentence, "of that: another process had the CPU");
	assert_lacks(changes.sentence, "(other)");
}

TEST(seconds_per_second_are_tasks)
{
	make_quota(1000000000, 3500000000, 10);
	assert_string_equal(changes.sentence,
			    "Slow waits for a CPU kept 2.5 more tasks waiting on average; 100 % of "
			    "that: the cgroup was out of its CPU quota");
}

TEST(chance_is_not_called_growth)
{
	make_quota(1000, 1100, 900);
	assert_has(changes.sentence, "this may be chance");
}

/* A recording without `why` does not count as one in which nothing was slow. */
TEST(recordings_without_parts_do_not_count)
{
	make(2, 1);
	add(0, 0, "idle", NULL, 4000);
	add(1, 0, "idle", NULL, 6000);
	recordings[0][1].run->probes[0].why->over_high_ns = 0;
	assert_int_equal(changes_of("runqlat"), 1);
	assert_true(changes.whole.rate[0] == 4000);
	assert_int_equal(changes_of("iolat"), 0);
	why__free(recordings[1][0].run->probes[0].why);
	recordings[1][0].run->probes[0].why = NULL;
	assert_int_equal(changes_of("runqlat"), 0);
}

UNIT_FIXTURES(.each = { .tear_down = end })
