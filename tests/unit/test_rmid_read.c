// SPDX-License-Identifier: BSD-2-Clause
/* Meaning of readings of the monitoring counters, and the order in which RMIDs are read. */
#include "unit.h"

#include "../../kmod/rmid/count.h"
#include "../../kmod/rmid/turns.h"

#define SECOND 1000000000ULL

/* As in a current machine: 24 bits, 56 KiB. */
static const struct count_format format = { .scale = 57344, .width = 24 };
static struct count_past past;
static struct latscope_rmid_read record;

static void set_up(void)
{
	past = (struct count_past){ 0 };
	memset(&record, 0xaa, sizeof(record));
}

static void decode(__u32 event, __u64 raw, __u64 now_ns, __u64 owned_ns)
{
	count__decode(&format, event, raw, now_ns, owned_ns, &past, &record);
}

TEST(test_the_format_is_that_of_cpuid, set_up)
{
	struct count_format narrow = count__format(0, 65536, COUNT_WIDTH_INTEL);
	struct count_format wide = count__format(20, 64, COUNT_WIDTH_INTEL);

	assert_int_equal(narrow.width, 24);
	assert_int_equal(narrow.scale, 65536);
	assert_int_equal(wide.width, 44);
	assert_int_equal(count__format(0x6ff, 1, COUNT_WIDTH_INTEL).width,
			 62); /* other bits of EAX, and no more than fit */
	/* Where CPUID does not say. */
	assert_int_equal(count__format(0x600, 64, COUNT_WIDTH_AMD).width, 44);
	assert_int_equal(count__format(0, 64, COUNT_WIDTH_HYGON).width, 32);
	assert_int_equal(count__format(8, 64, COUNT_WIDTH_AMD).width, 32);
}

TEST(test_occupancy_is_in_bytes_at_once, set_up)
{
	decode(LATSCOPE_RMID_OCCUPANCY, 10, 5, 1);
	assert_int_equal(record.status, LATSCOPE_RMID_VALUE);
	assert_int_equal(record.bytes, 10 * 57344);
	assert_int_equal(record.time_ns, 5);
	assert_int_equal(record.since_ns, 5);
	assert_int_equal(record.event, LATSCOPE_RMID_OCCUPANCY);
}

/* 2^24 counts of 57344 bytes, at 1000 bytes a ns */
#define ROUND_NS ((1ULL << 24) * 57344 / 1000)

/* Readings of bandwidth, one after the other. */
static const struct {
	const char *name; /* of a history; NULL: it goes on */
	__u64 raw, now_ns, owned_ns;
	__u32 status;
	__u64 counts; /* bytes, divided by the scale */
	__u64 since_ns;
} readings[] = {
	{ "it counts from the reading before", 1000, 10, 1, LATSCOPE_RMID_BASELINE, 0, 10 },
	{ NULL, 1007, 2000010, 1, LATSCOPE_RMID_VALUE, 7, 10 },
	{ "nothing moved is a value of 0", 1000, 10, 1, LATSCOPE_RMID_BASELINE, 0, 10 },
	{ NULL, 1000, 20, 1, LATSCOPE_RMID_VALUE, 0, 10 },
	{ "it goes round at its width", 0xffffff, 10, 1, LATSCOPE_RMID_BASELINE, 0, 10 },
	{ NULL, 2, 1000010, 1, LATSCOPE_RMID_VALUE, 3, 10 },
	/* Bits above the width mean nothing. */
	{ NULL, 0xf000004, 2000010, 1, LATSCOPE_RMID_VALUE, 2, 1000010 },
	{ "too long a gap gives no value", 5, 10, 1, LATSCOPE_RMID_BASELINE, 0, 10 },
	{ NULL, 6, 10 + ROUND_NS - 60000, 1, LATSCOPE_RMID_VALUE, 1, 10 },
	{ NULL, 7, 10 + 2 * ROUND_NS, 1, LATSCOPE_RMID_WRAPPED, 0, 10 + ROUND_NS - 60000 },
	{ NULL, 8, 20 + 2 * ROUND_NS, 1, LATSCOPE_RMID_VALUE, 1, 10 + 2 * ROUND_NS },
	{ "no data is no baseline", 1000, 10, 1, LATSCOPE_RMID_BASELINE, 0, 10 },
	{ NULL, 1ULL << 62, 20, 1, LATSCOPE_RMID_UNAVAILABLE, 0, 20 },
	{ NULL, 1001, 30, 1, LATSCOPE_RMID_VALUE, 1, 10 },
	{ "a new owner begins anew", 1000, 10, 1, LATSCOPE_RMID_BASELINE, 0, 10 },
	{ NULL, 1500, 20, 15, LATSCOPE_RMID_BASELINE, 0, 20 },
	{ NULL, 1501, 30, 15, LATSCOPE_RMID_VALUE, 1, 20 },
};

TEST(test_bandwidth_is_the_difference_of_two_readings)
{
	static const __u32 events[] = { LATSCOPE_RMID_MBM_TOTAL, LATSCOPE_RMID_MBM_LOCAL };

	for (size_t i = 0; i < 2 * COUNT_OF(readings); i++) {
		size_t at = i % COUNT_OF(readings);
		__u32 event = events[i != at];

		if (readings[at].name) {
			print_message("%s\n", readings[at].name);
			set_up();
		}
		decode(event, readings[at].raw, readings[at].now_ns, readings[at].owned_ns);
		assert_int_equal(record.event, event);
		assert_int_equal(record.status, readings[at].status);
		assert_int_equal(record.bytes, readings[at].counts * 57344);
		assert_int_equal(record.raw, readings[at].raw);
		assert_int_equal(record.time_ns, readings[at].now_ns);
		assert_int_equal(record.since_ns, readings[at].since_ns);
	}
}

TEST(test_a_wide_counter_does_not_overflow, set_up)
{
	const struct count_format wide = count__format(255, 64, COUNT_WIDTH_INTEL);

	count__decode(&wide, LATSCOPE_RMID_MBM_TOTAL, 1, 10, 1, &past, &record);
	count__decode(&wide, LATSCOPE_RMID_MBM_TOTAL, 3, 10 + 1000 * SECOND, 1, &past, &record);
	assert_int_equal(record.status, LATSCOPE_RMID_VALUE);
	assert_int_equal(record.bytes, 128);
}

TEST(test_error_and_unavailable_are_never_0, set_up)
{
	static const __u32 events[] = { LATSCOPE_RMID_OCCUPANCY, LATSCOPE_RMID_MBM_TOTAL };

	for (size_t i = 0; i < 2; i++) {
		decode(events[i], 1ULL << 63 | 77, 10, 1);
		assert_int_equal(record.status, LATSCOPE_RMID_ERROR);
		decode(events[i], 1ULL << 62 | 77, 20, 1);
		assert_int_equal(record.status, LATSCOPE_RMID_UNAVAILABLE);
		decode(events[i], 3ULL << 62, 30, 1);
		assert_int_equal(record.status, LATSCOPE_RMID_ERROR);
		assert_int_equal(record.raw, 3ULL << 62);
	}
}

TEST(test_those_that_ran_are_read_first)
{
	struct turns turns;

	turns__init(&turns, 200);
	turns__ran(&turns, 150);
	turns__ran(&turns, 3);
	turns__ran(&turns, 0); /* the kernel: has no counter of its own */
	turns__begin(&turns);
	assert_int_equal(turns__next(&turns), 3);
	assert_int_equal(turns__next(&turns), 150);
	assert_int_equal(turns__next(&turns), 1);
	assert_int_equal(turns__next(&turns), 2);
	assert_int_equal(turns__next(&turns), 4);
}

TEST(test_none_is_read_twice_a_tick)
{
	struct turns turns;
	bool seen[LATSCOPE_RMID_MAX + 1] = { false };
	__u32 rmid, count = 0;

	turns__init(&turns, LATSCOPE_RMID_MAX);
	turns__ran(&turns, LATSCOPE_RMID_MAX);
	turns__begin(&turns);
	while ((rmid = turns__next(&turns))) {
		assert_true(rmid <= LATSCOPE_RMID_MAX && !seen[rmid]);
		seen[rmid] = true;
		count++;
	}
	assert_int_equal(count, LATSCOPE_RMID_MAX);
}

TEST(test_the_rest_take_turns_over_ticks)
{
	struct turns turns;
	__u32 reads[11] = { 0 };

	turns__init(&turns, 10);
	for (int tick = 0; tick < 100; tick++) {
		turns__ran(&turns, 7);
		turns__begin(&turns);
		for (int budget = 0; budget < 3; budget++)
			reads[turns__next(&turns)]++;
	}
	assert_int_equal(reads[0], 0);
	assert_int_equal(reads[7], 100); /* ran in each */
	for (int rmid = 1; rmid <= 10; rmid++)
		if (rmid != 7)
			assert_in_range(reads[rmid], 22, 23); /* 200 over the nine others */
}

TEST(test_who_ran_and_found_no_time_comes_first_next_time)
{
	struct turns turns;
	__u32 reads[9] = { 0 };

	turns__init(&turns, 8);
	for (int tick = 0; tick < 80; tick++) {
		for (__u32 rmid = 1; rmid <= 4; rmid++)
			turns__ran(&turns, rmid);
		turns__begin(&turns);
		reads[turns__next(&turns)]++; /* time for one of the four that run all the time */
	}
	for (int rmid = 1; rmid <= 4; rmid++)
		assert_int_equal(reads[rmid], 20);
}
