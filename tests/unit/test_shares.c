// SPDX-License-Identifier: BSD-2-Clause
/* Shares of a whole in compare: groups of made-up recordings with a table of parts. */
#include "compared.h"
#include "fields.h"

#define MS 1000000
#define RUNS 4

enum column { COMM, CGROUP, LIFE, WORK, LOCK, DISK, OF_WORK };

static const struct table_column columns[] = {
	[COMM] = { "comm", "", "name", TABLE_TEXT, true },
	[CGROUP] = { "cgroup", "", "its cgroup", TABLE_TEXT, true },
	[LIFE] = { "life_ns", "ns", "the whole", TABLE_INTEGER, false },
	[WORK] = { "work_ns", "ns", "a part", TABLE_INTEGER, false, "work_ns", "life_ns", 1 },
	[LOCK] = { "lock_ns", "ns", "a part", TABLE_INTEGER, false, "lock_ns", "life_ns", 1 },
	[DISK] = { "disk_ns", "ns", "a part", TABLE_INTEGER, false, "disk_ns", "life_ns", 1 },
	[OF_WORK] = { "user_ns", "ns", "of work_ns", TABLE_INTEGER, false },
};

struct part {
	const char *comm;
	uint64_t lock_us, disk_us; /* of each second; the rest is work */
	unsigned int swing; /* in percent of both, from run to run */
};

struct made {
	struct table *table;
	const struct part *parts;
	unsigned int run;
};

static void add_rows(struct run_data *delta, unsigned int interval, const void *arg)
{
	const struct made *made = arg;

	(void)delta;
	for (const struct part *part = made->parts; part->comm; part++) {
		uint64_t percent = 100 + part->swing * (made->run % 2);
		int64_t lock_ns = (int64_t)(part->lock_us * percent * 10);
		int64_t disk_ns = (int64_t)(part->disk_us * percent * 10);

		assert_int_equal(table__add_row(made->table, interval * RECORDING_INTERVAL_NS), 0);
		table__set_text(made->table, COMM, part->comm);
		table__set_text(made->table, CGROUP, "/a.slice");
		table__set_integer(made->table, LIFE, 1000 * MS);
		table__set_integer(made->table, WORK, 1000 * MS - lock_ns - disk_ns);
		table__set_integer(made->table, LOCK, lock_ns);
		table__set_integer(made->table, DISK, disk_ns);
		table__set_integer(made->table, OF_WORK, 7);
	}
}

static void write_one(const char *name, const struct part *parts, unsigned int run,
		      unsigned int intervals)
{
	struct run *made = begin_memlat();
	struct run_probe *probe = sample_probe(made, "whole", "m", "for tests");
	struct made with = { .parts = parts, .run = run };

	assert_int_equal(table__new(&probe->table, columns, sizeof(columns) / sizeof(columns[0])),
			 0);
	with.table = probe->table;
	recording_write(made, dir, name, intervals, add_rows, &with);
}

static void write_group(const char *side, const struct part *parts, unsigned int runs,
			unsigned int intervals)
{
	char name[32];

	for (unsigned int i = 0; i < runs; i++) {
		snprintf(name, sizeof(name), "%s/%u", side, i);
		write_one(name, parts, i, intervals);
	}
}

static const struct part quiet[] = {
	{ "mysqld", 20000, 100000, 10 }, { "other", 50000, 0, 10 }, { "off only", 1, 1, 0 }, { 0 }
};
static const struct part locked[] = {
	{ "mysqld", 310000, 100000, 10 }, { "other", 50000, 0, 10 }, { "on only", 9, 1, 0 }, { 0 }
};

static void start(void)
{
	begin();
	rules.judge.statistics = JUDGE_ALL;
}

/* NULL: it was not compared. */
static const struct share_change *find(const char *name, const char *part)
{
	for (size_t i = 0; i < comparison.shares.nr; i++) {
		const struct share_change *change = &comparison.shares.changes[i];

		if (!strcmp(change->key->name, name) && !strcmp(change->part, part))
			return change;
	}
	return NULL;
}

static const struct judged *share_of(const char *name, const char *part)
{
	const struct share_change *change = find(name, part);

	assert_non_null(change);
	return &change->judged;
}

static void assert_share(const struct judged *judged, double off, double on,
			 enum judge_verdict verdict)
{
	assert_true(fabs(judged->off - off) < 1e-9);
	assert_true(fabs(judged->on - on) < 1e-9);
	assert_int_equal(judged->verdict, verdict);
}

TEST(a_longer_wait_of_one_process_is_named)
{
	write_group("off", quiet, RUNS, 2);
	write_group("on", locked, RUNS, 2);
	assert_int_equal(compare(), 0);
	assert_false(comparison.rules.judge.batches);
	/* Every other run has 10 % more. */
	assert_share(share_of("mysqld", "lock_ns"), 0.021, 0.3255, JUDGE_MORE);
	assert_share(share_of("mysqld", "work_ns"), 0.874, 0.5695, JUDGE_LESS);
	assert_share(share_of("mysqld", "disk_ns"), 0.105, 0.105, JUDGE_NO_DIFFERENCE);
	assert_share(share_of("other", "lock_ns"), 0.0525, 0.0525, JUDGE_NO_DIFFERENCE);
	assert_true(share_of("mysqld", "lock_ns")->low > 10);
	assert_true(share_of("mysqld", "lock_ns")->high < 20);
	/* The whole: three threads, of which one waits longer. */
	assert_int_equal(share_of("", "lock_ns")->verdict, JUDGE_MORE);
	/* It is neither better nor worse. */
	assert_int_equal(comparison.verdicts[JUDGE_WORSE], 0);
	assert_non_null(strstr(text(), "mysqld: lock 2.10 % -> 32.6 %"));
	assert_non_null(strstr(text(), "shares without a difference shown: other\n"));
}

TEST(equal_groups_have_no_verdict)
{
	write_group("off", quiet, RUNS, 2);
	write_group("on", quiet, RUNS, 2);
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.shares.tested, 3 + 3 + 2 + 1);
	assert_int_equal(comparison.shares.verdicts[JUDGE_NO_DIFFERENCE], 3 + 3 + 2 + 1);
	assert_non_null(strstr(text(), "shares: 0 more; 0 less; 9 no difference shown"));
}

TEST(only_keys_and_parts_that_both_groups_have)
{
	write_group("off", quiet, RUNS, 2);
	write_group("on", locked, RUNS, 2);
	assert_int_equal(compare(), 0);
	assert_null(find("off only", "lock_ns"));
	assert_null(find("on only", "lock_ns"));
	assert_null(find("mysqld", "user_ns")); /* no part: it has no whole */
	assert_false(share_of("other", "disk_ns")->tested); /* less than 0.1 % in both */
	assert_null(find("/a.slice", "lock_ns"));
	rules.by = 1U << LAT_BY_CGROUP;
	assert_int_equal(compare(), 0);
	assert_null(find("mysqld", "lock_ns"));
	assert_int_equal(share_of("/a.slice", "lock_ns")->verdict, JUDGE_MORE);
}

TEST(the_busiest_keys_are_compared)
{
	write_group("off", quiet, RUNS, 2);
	write_group("on", locked, RUNS, 2);
	rules.top = 1;
	assert_int_equal(compare(), 0);
	assert_non_null(find("mysqld", "lock_ns"));
	assert_null(find("other", "lock_ns"));
}

/* One recording of a group does not show how much the next one differs. */
TEST(batches_of_one_recording_each)
{
	static const struct part twice[] = { { "mysqld", 40000, 100000, 0 }, { 0 } };
	static const struct part much[] = { { "mysqld", 700000, 100000, 0 }, { 0 } };

	write_one("off", quiet, 0, 20);
	write_one("on", much, 0, 20);
	assert_int_equal(compare(), 0);
	assert_true(comparison.rules.judge.batches);
	assert_share(share_of("mysqld", "lock_ns"), 0.02, 0.7, JUDGE_MORE);
	assert_int_equal(share_of("mysqld", "disk_ns")->verdict, JUDGE_NO_DIFFERENCE);
	unit_shell("rm -r '%s/on'", dir);
	write_one("on", twice, 0, 20);
	assert_int_equal(compare(), 0);
	assert_share(share_of("mysqld", "lock_ns"), 0.02, 0.04, JUDGE_NO_DIFFERENCE);
}

TEST(too_few_intervals_test_nothing)
{
	write_one("off", quiet, 0, 2);
	write_one("on", locked, 0, 2);
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.shares.nr, 0);
}

/* Steady to the nanosecond, and still a part that is 0.05 % larger says nothing. */
TEST(the_smallest_difference_that_is_shown)
{
	static const struct part one[] = { { "a", 500000, 0, 0 }, { 0 } };
	static const struct part other[] = { { "a", 500500, 0, 0 }, { 0 } };

	write_group("off", one, RUNS, 2);
	write_group("on", other, RUNS, 2);
	assert_int_equal(compare(), 0);
	assert_int_equal(share_of("a", "lock_ns")->verdict, JUDGE_NO_DIFFERENCE);
}

TEST(they_can_be_left_out)
{
	write_group("off", quiet, RUNS, 2);
	write_group("on", locked, RUNS, 2);
	rules.judge.statistics = 1U << JUDGE_TAIL;
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.shares.tested, 0);
	assert_int_equal(comparison.shares.verdicts[JUDGE_MORE], 0);
	rules.judge.statistics = JUDGE_ALL;
	rules.probe = "memlat";
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.shares.nr, 0);
	rules.probe = "whole"; /* which has no latencies */
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.nr, 0);
	assert_int_equal(share_of("mysqld", "lock_ns")->verdict, JUDGE_MORE);
}

TEST(shares_in_json_and_csv)
{
	struct json_object *json;
	char *csv;

	write_group("off", quiet, RUNS, 2);
	write_group("on", locked, RUNS, 2);
	assert_int_equal(compare(), 0);
	json = compare__json(&comparison);
	assert_field(json, "shares/4/key", "\"mysqld\"");
	assert_field(json, "shares/4/by", "\"process\"");
	assert_field(json, "shares/4/part", "\"lock\"");
	assert_field(json, "shares/4/verdict", "\"more\"");
	assert_field(json, "shares/4/unit", "\"share\"");
	json_object_put(json);
	compare__print_csv(unit_print(), &comparison);
	csv = unit_printed();
	assert_non_null(strstr(csv, "\nwhole,lock,,,share,"));
	assert_non_null(strstr(csv, "\nwhole,lock,process,mysqld,share,0.021,0.3255,"));
}

UNIT_FIXTURES(.each = { start, end })
