// SPDX-License-Identifier: BSD-2-Clause
/* Samples that were sent before there was a threshold: their parts go to who had them. */
#include "unit.h"

#include <probes/kit/why_candidates.c>

static int print_pair(void *context, const struct why_pair *pair)
{
	(void)context;
	fprintf(unit_output.out, "%u of %llu: %llu, ", pair->part, pair->culprit.id,
		pair->amount.ns);
	return 0;
}

static const char *pairs_of(const struct why_event *event)
{
	unit_print();
	assert_int_equal(why_candidates__pairs(event, print_pair, NULL), 0);
	return unit_printed();
}

TEST(parts_without_culprit_are_of_nobody)
{
	static const struct why_event event = { .ns = 9, .part_ns = { 0, 4, 5 } };

	assert_string_equal(pairs_of(&event), "1 of 0: 4, 2 of 0: 5, ");
}

TEST(a_culprit_has_its_share_and_nobody_the_rest)
{
	static const struct why_event event = {
		.ns = 9,
		.part_ns = { 0, 4, 5 },
		.culprits = { { .who.id = 7, .part = 2, .ns = 3 } },
	};

	assert_string_equal(pairs_of(&event), "2 of 7: 3, 1 of 0: 4, 2 of 0: 2, ");
}

/* A probe sets the place of its part. */
TEST(a_culprit_after_an_empty_place_is_not_lost)
{
	static const struct why_event event = {
		.ns = 9,
		.part_ns = { 0, 4, 5 },
		.culprits = { [2] = { .who.id = 7, .part = 2, .ns = 5 } },
	};

	assert_string_equal(pairs_of(&event), "2 of 7: 5, 1 of 0: 4, ");
}

TEST(a_culprit_has_no_more_than_the_part)
{
	static const struct why_event event = {
		.ns = 9,
		.part_ns = { 0, 4, 5 },
		.culprits = { { .who.id = 7, .part = 1, .ns = 5 }, { .who.id = 8, .part = 99 } },
	};

	assert_string_equal(pairs_of(&event), "1 of 0: 4, 2 of 0: 5, ");
}
