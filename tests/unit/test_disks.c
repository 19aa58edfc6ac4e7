// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include "host/disks.h"

static void add_disk(const char *name)
{
	unit_write(dir, unit_text("sys/block/%s/mq/0/cpu_list", name), "0\n");
}

/* dm-1 on dm-0 and on a partition of sdb; dm-0 on sda; md on nothing. */
static void make_stack(void)
{
	add_disk("sda");
	unit_link(dir, "sys/dev/block/8:0", "../../block/sda");
	add_disk("sdb");
	unit_write(dir, "sys/block/sdb/sdb1/partition", "1\n");
	unit_link(dir, "sys/dev/block/253:0", "../../block/dm-0");
	unit_link(dir, "sys/dev/block/253:1", "../../block/dm-1");
	unit_link(dir, "sys/block/dm-0/slaves/sda", "../../sda");
	unit_link(dir, "sys/block/dm-1/slaves/dm-0", "../../dm-0");
	unit_link(dir, "sys/block/dm-1/slaves/sdb1", "../../sdb/sdb1");
	unit_link(dir, "sys/dev/block/9:0", "../../block/md0");
	unit_write(dir, "sys/block/md0/mq/.empty", "");
}

TEST(test_disks_without_queues_have_no_requests)
{
	make_stack();
	assert_true(disks__has_requests(dir, 8 << 20));
	assert_false(disks__has_requests(dir, 253 << 20));
	assert_false(disks__has_requests(dir, 9 << 20)); /* an empty mq */
	assert_true(disks__has_requests(dir, 77 << 20)); /* not there: not our error to find */
}

TEST(test_disks_below_are_found_through_the_stack)
{
	char below[64];

	make_stack();
	assert_string_equal(disks__below(dir, 253 << 20, below, sizeof(below)), "sda");
	disks__below(dir, 253 << 20 | 1, below, sizeof(below));
	assert_true(!strcmp(below, "sda, sdb") || !strcmp(below, "sdb, sda"));
	assert_string_equal(disks__below(dir, 9 << 20, below, sizeof(below)), "");
}
