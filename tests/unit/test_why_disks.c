// SPDX-License-Identifier: BSD-2-Clause
/* What is concluded about a disk from sums that are written down here. */
#include "unit.h"

#include <core/hist.h>
#include <probes/iolat/why_disks.h>

#define MS 1000000ULL
#define QUEUE 5

static struct why_kind kinds[WHY_KINDS];
static struct why_load loads[WHY_DISKS];
static const struct why_disks disks = { kinds, loads };

static void set_up(void)
{
	memset(kinds, 0, sizeof(kinds));
	memset(loads, 0, sizeof(loads));
	loads[QUEUE] = (struct why_load){ .queue = QUEUE + 1, .disk = 7, .started = 1000 };
}

static struct why_kind *add_kind(__u32 op, __u32 size, __u64 requests)
{
	struct why_kind *kind = kinds;

	while (kind->key)
		kind++;
	kind->key = WHY_KIND(QUEUE, op, size);
	kind->requests = requests;
	kind->kib = requests * (4 << size);
	return kind;
}

static void add_alone(struct why_kind *kind, __u64 ns, __u32 times)
{
	kind->alones += times;
	kind->alones_ns += ns * times;
	kind->alone_slots[why_kind_slot(ns)] += times;
}

/* So many batches of this time and size. */
static void add_batches(__u64 us, __u64 kib, __u64 times, __u64 open)
{
	struct why_load *load = &loads[QUEUE];

	load->batches += times;
	load->us += times * us;
	load->batch_kib += times * kib;
	load->kib_kib += times * kib * kib;
	load->kib_us += times * kib * us;
	load->us_us += times * us * us;
	load->batch_open += times * open;
}

/* The same, half of them so much shorter, and half so much longer. */
static void add_uneven(__u64 us, __u64 by_us, __u64 kib, __u64 times)
{
	add_batches(us - by_us, kib, times / 2, 8);
	add_batches(us + by_us, kib, times / 2, 8);
}

static double alone_ns(const struct why_kind *kind, __u64 ns)
{
	return (double)kind->alone[why_kind_slot(ns)] * WHY_ALONE_NS;
}

static const char *name(void *context, __u64 disk, char *out)
{
	sprintf(out, "sd%llu", disk);
	return out;
}

static const char *described(void)
{
	static char text[512];

	why_disks__describe(&disks, name, NULL, text, sizeof(text));
	return text;
}

/* 90 of 100 took 1 ms and 10 took 50 ms, alone as well as with others. */
TEST(the_slowest_are_compared_with_the_slowest_alone)
{
	struct why_kind *kind = add_kind(LAT_OP_READ, 0, 2000);

	add_alone(kind, 1 * MS, 90);
	add_alone(kind, 50 * MS, 10);
	kind->total_slots[why_kind_slot(1 * MS)] = 1800;
	kind->total_slots[why_kind_slot(50 * MS)] = 200;
	why_disks__learn(&disks);
	assert_int_equal(kind->known, WHY_KNOWS_ALONE);
	assert_near(alone_ns(kind, 1 * MS), MS, 0.05 * MS);
	assert_near(alone_ns(kind, 50 * MS), 50.0 * MS, 2.5 * MS);
	assert_near(alone_ns(kind, 500 * MS), 50.0 * MS, 2.5 * MS);
}

TEST(without_one_alone_the_fastest_are_a_bound)
{
	struct why_kind *kind = add_kind(LAT_OP_WRITE, 4, 100);

	kind->device_slots[why_kind_slot(2 * MS)] = 10;
	kind->device_slots[why_kind_slot(90 * MS)] = 90;
	add_alone(kind, 1 * MS, WHY_DISKS_ALONE - 1); /* too few */
	why_disks__learn(&disks);
	assert_int_equal(kind->known, WHY_KNOWS_BOUND);
	assert_near(alone_ns(kind, 90 * MS), 2 * MS, 0.1 * MS);
	assert_has(
		described(),
		"sd7: how many it serves at a time, cannot tell; a write of 64 KiB takes at most");
	assert_has(described(), "(none alone, the fastest of 100)");
}

TEST(few_requests_cannot_tell)
{
	add_kind(LAT_OP_READ, 0, 3);
	assert_has(described(), "how long a read of 4 KiB takes alone, cannot tell");
}

/* A batch takes 10 ms for each MiB, whatever it consists of. */
TEST(bytes_cost_where_bytes_take_the_time)
{
	struct why_kind *small = add_kind(LAT_OP_READ, 0, 500),
			*large = add_kind(LAT_OP_WRITE, 4, 500);

	add_alone(small, 1 * MS, 100);
	add_alone(large, 1 * MS, 100);
	add_batches(3000, 300, 20, 8);
	add_batches(7000, 700, 20, 8);
	why_disks__learn(&disks);
	assert_near((double)small->cost_kib_ns, 10000, 10);
	assert_true(small->cost_ns < 1000);
	assert_int_equal(large->cost_kib_ns, small->cost_kib_ns);
	assert_int_equal(large->cost_is_sure, 1);
	assert_has(described(), "sd7 serves 3 at a time"); /* 16 of 1 ms in 5 ms */
}

TEST(requests_cost_where_requests_take_the_time)
{
	struct why_kind *kind = add_kind(LAT_OP_READ, 0, 500);

	add_alone(kind, 10 * MS, 100);
	add_uneven(160000, 1000, 300, 40);
	add_uneven(160000, 1000, 700, 40);
	why_disks__learn(&disks);
	assert_int_equal(kind->cost_kib_ns, 0);
	assert_near((double)kind->cost_ns, 10.0 * MS, 10);
	assert_has(described(),
		   "sd7 serves 1 at a time; a read of 4 KiB alone takes 9.98 ms (100 alone, ");
}

/* 1 ms for each, and 10 us for each KiB. */
TEST(both_cost_where_both_take_the_time)
{
	struct why_kind *kind = add_kind(LAT_OP_READ, 0, 500);

	add_alone(kind, 1 * MS, 100);
	add_batches(16000 + 1000, 100, 20, 8);
	add_batches(16000 + 10000, 1000, 20, 8);
	add_batches(16000 + 30000, 3000, 20, 8);
	why_disks__learn(&disks);
	assert_near((double)kind->cost_kib_ns, 10000, 10);
	assert_near((double)kind->cost_ns, MS, 1000);
}

/*
 * A limit of bytes that lets pass some more or less at once: a line through the times would say
 * that a quarter of the time is for the requests.
 */
TEST(a_limit_that_is_not_even_is_still_one_of_bytes)
{
	struct why_kind *kind = add_kind(LAT_OP_READ, 0, 500);

	add_alone(kind, 1 * MS, 100);
	add_uneven(52500, 10000, 500, 20);
	add_uneven(67500, 10000, 700, 20);
	add_uneven(60000, 10000, 600, 40);
	why_disks__learn(&disks);
	assert_in_range(kind->cost_kib_ns, 95000, 105000);
	assert_true(kind->cost_ns < 1000);
}

/* The times of batches rise with their bytes, by so much of what bytes alone would explain. */
static __u64 cost_of_kib(__u64 percent)
{
	struct why_kind *kind = add_kind(LAT_OP_READ, 0, 500);

	add_alone(kind, 1 * MS, 100);
	add_uneven(60000 - 100 * percent, 10000, 500, 20);
	add_uneven(60000 + 100 * percent, 10000, 700, 20);
	why_disks__learn(&disks);
	return kind->cost_kib_ns;
}

TEST(a_line_that_is_too_flat_is_still_one_by_bytes)
{
	assert_in_range(cost_of_kib(40), 95000, 105000);
	set_up();
	assert_int_equal(cost_of_kib(10), 0);
}

/* 1 ms alone, but 16 take 160 ms: something limits them. */
TEST(limits_are_said)
{
	struct why_kind *kind = add_kind(LAT_OP_READ, 0, 500);

	add_alone(kind, 1 * MS, 100);
	add_batches(160000, 64, 20, 8);
	assert_has(described(), "sd7 is limited to 100 requests/s");
	loads[QUEUE].batches = loads[QUEUE].us = loads[QUEUE].batch_kib = loads[QUEUE].kib_kib =
		loads[QUEUE].kib_us = loads[QUEUE].us_us = loads[QUEUE].batch_open = 0;
	add_batches(100000, 1024, 20, 8);
	add_batches(200000, 2048, 20, 8);
	assert_has(described(), "sd7 is limited to 10 MiB/s");
}

/* 17 of 10 ms are served in 10 ms, and there were never more. */
TEST(a_disk_that_is_not_full_serves_at_least_so_many)
{
	struct why_kind *kind = add_kind(LAT_OP_READ, 0, 500);

	add_alone(kind, 10 * MS, 100);
	add_batches(10000, 64, 20, 16);
	assert_has(described(), "sd7 serves at least 16 at a time");
}

/* With few requests nothing is known; with many and no batch, the disk was never busy for long. */
TEST(costs_are_sure_after_some_requests)
{
	struct why_kind *kind = add_kind(LAT_OP_READ, 0, 500);

	add_alone(kind, 1 * MS, 100);
	loads[QUEUE].started = WHY_DISKS_REQUESTS - 1;
	why_disks__learn(&disks);
	assert_int_equal(kind->cost_is_sure, 0);
	loads[QUEUE].started = WHY_DISKS_REQUESTS;
	why_disks__learn(&disks);
	assert_int_equal(kind->cost_is_sure, 1);
	assert_near((double)kind->cost_ns, MS, 0.05 * MS);
}

TEST(disks_with_little_of_the_time_are_not_named)
{
	struct why_kind *kind = add_kind(LAT_OP_READ, 0, 500),
			*other = add_kind(LAT_OP_READ, 1, 9000);

	loads[QUEUE + 1] = (struct why_load){ .queue = QUEUE + 2, .disk = 8, .started = 9000 };
	other->key = WHY_KIND(QUEUE + 1, LAT_OP_READ, 1);
	kind->total_slots[why_kind_slot(100 * MS)] = 500;
	other->total_slots[why_kind_slot(MS / 10)] = 9000;
	assert_has(described(), "sd7");
	assert_lacks(described(), "sd8");
	other->total_slots[why_kind_slot(10 * MS)] = 9000;
	assert_has(described(), "sd8");
}

TEST(kinds_of_a_disk_that_lost_its_place_are_left_out)
{
	struct why_kind *kind = add_kind(LAT_OP_READ, 0, 500);

	add_alone(kind, 1 * MS, 100);
	loads[QUEUE].queue = QUEUE + WHY_DISKS + 1;
	why_disks__learn(&disks);
	assert_int_equal(kind->known, WHY_KNOWS_ALONE);
	assert_string_equal(described(), "");
}

UNIT_FIXTURES(.each = { set_up, NULL })
