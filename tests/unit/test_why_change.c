// SPDX-License-Identifier: BSD-2-Clause
#include "sample.h"

#include <core/why.h>

#include "stats/why_change.h"

#define RUNS 3

/* Groups of recordings of one second each, in which nothing was slow yet. */
struct pair {
	struct group groups[2];
	struct group_recording recordings[2][RUNS];
};

static void make(struct pair *pair, size_t off, size_t on)
{
	const size_t nr[2] = { off, on };

	memset(pair, 0, sizeof(*pair));
	for (size_t i = 0; i < 2; i++) {
		pair->groups[i].recordings = pair->recordings[i];
		pair->groups[i].nr = nr[i];
		for (size_t j = 0; j < nr[i]; j++) {
			struct run *run = calloc(1, sizeof(*run));

			pair->recordings[i][j].run = run;
			run->duration_ns = 1000000000;
			run->nr_probes = 1;
			strcpy(run->probes[0].name, "runqlat");
			assert_int_equal(why__new(&run->probes[0].why, "runqlat"), 0);
			run->probes[0].why->over_low_ns = run->probes[0].why->over_high_ns = 1000;
		}
	}
}

static void clear(struct pair *pair)
{
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < pair->groups[i].nr; j++)
			run__free(pair->recordings[i][j].run);
}

/* culprit NULL: the part has none. */
static void add(const struct pair *pair, int side, size_t recording, const char *part,
		const char *culprit, int64_t ns)
{
	struct run_why *why = pair->recordings[side][recording].run->probes[0].why;

	assert_int_equal(table__add_row(why->parts, 0), 0);
	assert_int_equal(table__set_text(why->parts, WHY_VICTIM, "web (1)"), 0);
	assert_int_equal(table__set_text(why->parts, WHY_PART, part), 0);
	assert_int_equal(table__set_text(why->parts, WHY_CULPRIT, culprit), 0);
	table__set_integer(why->parts, WHY_NS, ns);
	table__set_integer(why->parts, WHY_EVENTS, 1);
	assert_int_equal(table__fold(why->parts), 0);
	why->slow_ns += (uint64_t)ns;
}

UNIT_TEST(the_part_that_grew_is_first)
{
	struct why_changes changes;
	struct pair pair;

	make(&pair, 1, 1);
	add(&pair, 0, 0, "idle", NULL, 5000);
	add(&pair, 0, 0, "other", "backup (2)", 1000);
	add(&pair, 1, 0, "idle", NULL, 4000);
	add(&pair, 1, 0, "other", "backup (77)", 6000);
	add(&pair, 1, 0, "other", "cron (78)", 1000);
	assert_int_equal(why_changes__of(&changes, pair.groups, "runqlat"), 1);
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
			    "The slow time of runqlat grew by 5.00 us per second (too few "
			    "recordings to tell this from chance); 120 % of that: another process "
			    "had the CPU (backup)");
	why_changes__clear(&changes);
	clear(&pair);
}

UNIT_TEST(an_interval_needs_three_recordings_of_each)
{
	struct why_changes changes;
	struct pair pair;

	make(&pair, 3, 3);
	for (size_t i = 0; i < RUNS; i++) {
		add(&pair, 0, i, "quota", NULL, 1000 + 10 * (int64_t)i);
		add(&pair, 1, i, "quota", NULL, 9000 + 10 * (int64_t)i);
	}
	assert_int_equal(why_changes__of(&changes, pair.groups, "runqlat"), 1);
	assert_true(changes.whole.has_interval);
	assert_true(changes.whole.low > 7900 && changes.whole.low < 8000);
	assert_true(changes.whole.high > 8000 && changes.whole.high < 8100);
	assert_string_equal(changes.sentence, "The slow time of runqlat grew by 8.00 us per "
					      "second; 100 % of that: the cgroup was out of its "
					      "CPU quota");
	why_changes__clear(&changes);
	clear(&pair);
}

UNIT_TEST(chance_is_not_called_growth)
{
	struct why_changes changes;
	struct pair pair;

	make(&pair, 3, 3);
	for (size_t i = 0; i < RUNS; i++) {
		add(&pair, 0, i, "quota", NULL, 1000 + 900 * (int64_t)i);
		add(&pair, 1, i, "quota", NULL, 1100 + 900 * (int64_t)i);
	}
	assert_int_equal(why_changes__of(&changes, pair.groups, "runqlat"), 1);
	assert_non_null(strstr(changes.sentence, "this may be chance"));
	why_changes__clear(&changes);
	clear(&pair);
}

/* A recording without `why` does not count as one in which nothing was slow. */
UNIT_TEST(recordings_without_parts_do_not_count)
{
	struct why_changes changes;
	struct pair pair;

	make(&pair, 2, 1);
	add(&pair, 0, 0, "idle", NULL, 4000);
	add(&pair, 1, 0, "idle", NULL, 6000);
	pair.recordings[0][1].run->probes[0].why->over_high_ns = 0;
	assert_int_equal(why_changes__of(&changes, pair.groups, "runqlat"), 1);
	assert_true(changes.whole.rate[0] == 4000);
	why_changes__clear(&changes);
	assert_int_equal(why_changes__of(&changes, pair.groups, "iolat"), 0);
	why_changes__clear(&changes);
	why__free(pair.recordings[1][0].run->probes[0].why);
	pair.recordings[1][0].run->probes[0].why = NULL;
	assert_int_equal(why_changes__of(&changes, pair.groups, "runqlat"), 0);
	why_changes__clear(&changes);
	clear(&pair);
}

UNIT_MAIN()
