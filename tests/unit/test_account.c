// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include "host/account.h"

static struct account account;
static char why[RUN_TEXT];

static int read_kind(enum account_kind kind)
{
	return account__read(&account, kind, dir, why);
}

/* Reads it again, and returns whether it is of other parts than before. */
static bool has_other_parts(enum account_kind kind)
{
	struct account before = account;

	assert_int_equal(read_kind(kind), 0);
	return account.parts != before.parts;
}

#define STAT "10 1 80 100 20 2 160 200 0 5 6 3 0 24 30 4 40\n"
#define DOMAIN "domain0 3 0 0 0 0 0 0 0 0 0 0\n"

TEST(test_waits_are_summed_over_cpus)
{
	static const char *const versions[] = { "15", "16", "17" };

	for (int i = 0; i < 3; i++) {
		unit_write(dir, "proc/schedstat",
			   unit_text("version %s\ntimestamp 4294893713\n"
				     "cpu0 1 2 3 4 5 6 7 1000000000000 20\n" DOMAIN
				     "cpu1 0 0 0 0 0 0 9 5 3\n" DOMAIN,
				     versions[i]));
		assert_int_equal(read_kind(ACCOUNT_WAITS), 0);
		assert_int_equal(account.events, 23);
		assert_int_equal(account.ns, 1000000000005);
		assert_int_equal(account.step_ns, 0);
	}
}

/* A file of the kernel, and what is read from it. */
TEST(test_files_of_the_kernel)
{
	static const struct {
		const char *file, *text;
		enum account_kind kind;
		int err;
		uint64_t events;
		const char *why;
	} cases[] = {
		{ "proc/none", "", ACCOUNT_WAITS, -ENOENT, 0,
		  "this kernel has none (CONFIG_SCHEDSTATS)" },
		{ "sys/block/zram0/stat", STAT, ACCOUNT_REQUESTS, -ENODEV, 0,
		  "no disk has requests of its own" },
		{ "proc/vmstat", "pgmajfault 7\npgfault 12345\nthp_fault_alloc 1\n", ACCOUNT_FAULTS,
		  0, 12345, NULL },
		{ "proc/vmstat", "nr_free_pages 7\n", ACCOUNT_FAULTS, -ENODATA, 0,
		  "it has no pgfault" },
		{ "proc/stat", "cpu  1 2 3\nintr 77 0 0\nctxt 54321\nbtime 9\n", ACCOUNT_SWITCHES,
		  0, 54321, NULL },
		{ "proc/schedstat", "version 18\ncpu0 0 0 0 0 0 0 0 1 1\n", ACCOUNT_WAITS,
		  -EPROTONOSUPPORT, 0, "version 18 of its format is unknown" },
		{ "proc/schedstat", "version 15\n", ACCOUNT_WAITS, -ENODATA, 0, NULL },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		unit_write(dir, cases[i].file, cases[i].text);
		if (read_kind(cases[i].kind) != cases[i].err)
			fail_msg("%s: %s", cases[i].file, cases[i].text);
		if (!cases[i].err)
			assert_int_equal(account.events, cases[i].events);
		if (cases[i].why)
			assert_string_equal(why, cases[i].why);
	}
	assert_string_equal(account__source(ACCOUNT_FAULTS), "/proc/vmstat");
}

TEST(test_a_cpu_that_goes_is_noticed)
{
	unit_write(dir, "proc/schedstat",
		   "version 15\ncpu0 0 0 0 0 0 0 0 1 1\ncpu1 0 0 0 0 0 0 0 1 1\n");
	assert_int_equal(read_kind(ACCOUNT_WAITS), 0);
	assert_false(has_other_parts(ACCOUNT_WAITS));
	unit_write(dir, "proc/schedstat", "version 15\ncpu1 0 0 0 0 0 0 0 2 2\n");
	assert_true(has_other_parts(ACCOUNT_WAITS));
}

static void add_disk(const char *name, const char *iostats, const char *stat)
{
	unit_write(dir, unit_text("sys/block/%s/mq/0/cpu_list", name), "0\n");
	unit_write(dir, unit_text("sys/block/%s/queue/iostats", name), iostats);
	unit_write(dir, unit_text("sys/block/%s/stat", name), stat);
}

TEST(test_requests_of_all_kinds_and_disks_are_summed)
{
	add_disk("sda", "1\n", STAT);
	add_disk("sdb", "1\n", "1 0 0 2 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
	unit_write(dir, "sys/block/zram0/stat", STAT);
	unit_write(dir, "sys/block/zram0/queue/iostats", "0\n");
	assert_int_equal(read_kind(ACCOUNT_REQUESTS), 0);
	assert_int_equal(account.events, 10 + 20 + 3 + 4 + 1);
	assert_int_equal(account.ns, (100 + 200 + 30 + 40 + 2) * 1000000ULL);
	assert_int_equal(account.step_ns, 8 * 1000000);
}

TEST(test_a_disk_without_account_spoils_the_sum)
{
	add_disk("sda", "1\n", STAT);
	add_disk("sdb", "0\n", STAT);
	assert_int_equal(read_kind(ACCOUNT_REQUESTS), -ENODATA);
	assert_string_equal(why, "sdb keeps no account (queue/iostats)");
}

TEST(test_a_disk_that_was_replaced_is_noticed)
{
	add_disk("sda", "1\n", STAT);
	assert_int_equal(read_kind(ACCOUNT_REQUESTS), 0);
	assert_false(has_other_parts(ACCOUNT_REQUESTS));
	assert_int_equal(
		rename(unit_path(dir, "sys/block/sda"), strdupa(unit_path(dir, "sys/gone"))), 0);
	add_disk("sda", "1\n", STAT);
	assert_true(has_other_parts(ACCOUNT_REQUESTS));
}

/* It goes between the reading of the directory, and of its files. */
TEST(test_a_disk_that_goes_meanwhile_is_left_out)
{
	struct account before;

	add_disk("sda", "1\n", STAT);
	assert_int_equal(read_kind(ACCOUNT_REQUESTS), 0);
	before = account;
	unit_write(dir, "sys/block/sdb/mq/0/cpu_list", "0\n");
	assert_int_equal(read_kind(ACCOUNT_REQUESTS), 0);
	assert_int_equal(account.events, before.events);
	unit_write(dir, "sys/block/sdb/queue/iostats", "1\n");
	assert_int_equal(read_kind(ACCOUNT_REQUESTS), 0);
	assert_int_equal(account.events, before.events);
}

/* Ours, the kernel's, tolerance. */
static struct run_checked sums(uint64_t ours_low, uint64_t ours_high, uint64_t kernel_low,
			       uint64_t kernel_high, uint64_t tolerance)
{
	return (struct run_checked){
		true, ours_low, ours_high, kernel_low, kernel_high, tolerance
	};
}

TEST(test_ranges_that_touch_agree)
{
	struct run_checked same = sums(100, 110, 110, 120, 0), all = sums(0, UINT64_MAX, 5, 5, 0);

	assert_int_equal(account__off(&same), 0);
	assert_false(account__disagrees(&same));
	assert_int_equal(account__off(&all), 0);
}

TEST(test_too_few_and_too_many_both_disagree)
{
	struct run_checked few = sums(900, 980, 1000, 1000, 19),
			   many = sums(1020, 1100, 999, 1000, 19);

	assert_int_equal(account__off(&few), -20);
	assert_true(account__disagrees(&few));
	assert_int_equal(account__off(&many), 20);
	assert_true(account__disagrees(&many));
	assert_true(account__off_share(&few) > -0.0201 && account__off_share(&few) < -0.0199);
	few.tolerance = many.tolerance = 20;
	assert_false(account__disagrees(&few));
	assert_false(account__disagrees(&many));
}
