// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include "host/disk_requests.h"

static struct disk_list then, now;

/* A disk that has completed so many reads and writes, and has others in flight. */
static void set_disk(const char *name, int minor, int reads, int writes, int in_driver)
{
	unit_write(dir, unit_text("sys/block/%s/mq/0/cpu_list", name), "0\n");
	unit_write(dir, unit_text("sys/block/%s/dev", name), unit_text("8:%d\n", minor));
	unit_write(dir, unit_text("sys/block/%s/stat", name),
		   unit_text("%d 5 80 100 %d 6 160 200 9 5 6 0 0 0 0 0 0\n", reads, writes));
	unit_write(dir, unit_text("sys/block/%s/inflight", name),
		   unit_text("%8d %8d\n", in_driver / 2, in_driver - in_driver / 2));
}

static struct disk_older compare(void)
{
	struct disk_older older;

	assert_int_equal(disk_list__read(&now, dir, 0), 0);
	older = disk_list__older(&then, &now);
	disk_list__free(&now);
	return older;
}

static void begin(void)
{
	assert_int_equal(disk_list__read(&then, dir, 0), 0);
}

static void assert_older(uint64_t least, uint64_t most, const char *name)
{
	struct disk_older older = compare();

	assert_int_equal(older.least, least);
	assert_int_equal(older.most, most);
	assert_string_equal(older.name, name);
	disk_list__free(&then);
}

TEST(what_hangs_is_older_and_its_disk_is_named)
{
	set_disk("sda", 0, 10, 10, 1);
	set_disk("sdb", 16, 10, 10, 0);
	begin();
	set_disk("sdb", 16, 900, 10, 4);
	assert_older(1, 1, "sda");
}

/* Then, and now: reads and requests in flight; and how many of these are older. */
TEST(what_ends_or_begins_later_is_not_older)
{
	static const struct {
		int reads_then, then, reads, now;
		uint64_t least, most;
	} cases[] = {
		{ 10, 3, 13, 8, 0, 3 }, /* it may have been three others that ended */
		{ 10, 0, 10, 5, 0, 0 }, { 10, 5, 12, 3, 3, 3 }, { 10, 5, 12, 9, 3, 5 },
		{ 10, 5, 10, 2, 2, 2 }, /* some were given back, and are not issued again */
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		set_disk("sda", 0, cases[i].reads_then, 10, cases[i].then);
		begin();
		set_disk("sda", 0, cases[i].reads, 10, cases[i].now);
		assert_older(cases[i].least, cases[i].most, cases[i].most ? "sda" : "");
	}
}

TEST(two_disks_that_may_hang_are_not_named)
{
	set_disk("sda", 0, 10, 10, 1);
	set_disk("sdb", 16, 10, 10, 2);
	begin();
	assert_older(3, 3, "");
}

TEST(a_disk_that_was_replaced_has_nothing_older)
{
	set_disk("sda", 0, 10, 10, 1);
	begin();
	then.disks[0].instance++;
	assert_older(0, 0, "");
}

TEST(only_the_wanted_disk_is_read)
{
	set_disk("sda", 0, 10, 10, 1);
	set_disk("sdb", 16, 10, 10, 2);
	unit_write(dir, "sys/block/zram0/inflight", "0 7\n");
	assert_int_equal(disk_list__read(&then, dir, 8 << 20 | 16), 0);
	assert_int_equal(then.nr, 1);
	assert_string_equal(then.disks[0].name, "sdb");
	assert_int_equal(disk_list__in_driver(&then), 2);
	disk_list__free(&then);
	begin();
	assert_int_equal(then.nr, 2);
	assert_int_equal(disk_list__in_driver(&then), 3);
	disk_list__free(&then);
}

TEST(lists_are_the_same_if_nothing_began_or_ended)
{
	static const struct {
		int reads, writes, in_driver;
		bool same;
	} cases[] = { { 10, 10, 1, true },
		      { 11, 10, 1, false },
		      { 10, 11, 1, false },
		      { 10, 10, 2, false } };

	set_disk("sda", 0, 10, 10, 1);
	begin();
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		set_disk("sda", 0, cases[i].reads, cases[i].writes, cases[i].in_driver);
		assert_int_equal(disk_list__read(&now, dir, 0), 0);
		assert_int_equal(disk_list__same(&then, &now), cases[i].same);
		disk_list__free(&now);
	}
	disk_list__free(&then);
}
