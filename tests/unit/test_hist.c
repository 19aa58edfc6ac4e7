// SPDX-License-Identifier: BSD-2-Clause
#include "sample.h"

/* The definition of the scheme in 128 bits, by division and search: shares nothing with hist.h. */
static uint32_t defined_slot(uint64_t ns)
{
	unsigned __int128 v = ((unsigned __int128)ns << 5) / 1000;
	uint32_t octave = 0;

	if (v < 32)
		return (uint32_t)v;
	while (v >= (unsigned __int128)64 << octave)
		octave++;
	if (octave >= 36)
		return 32 + 32 * 36;
	return 32 + 32 * octave + (uint32_t)((v >> octave) - 32);
}

TEST(slots_follow_the_definition_at_every_edge)
{
	for (uint32_t slot = 1; slot < HIST_SLOTS; slot++) {
		uint64_t edge = hist_slot_low_ns(slot);

		for (uint64_t ns = edge - 1; ns <= edge + 1; ns++)
			assert_int_equal(hist_slot(ns), defined_slot(ns));
		assert_int_equal(hist_slot(edge), slot);
		assert_int_equal(hist_slot(edge - 1), slot - 1);
	}
	assert_int_equal(hist_slot(0), 0);
	assert_int_equal(hist_slot(UINT64_MAX), HIST_OVERFLOW_SLOT);
	assert_int_equal(hist_slot(HIST_LIMIT_NS), HIST_OVERFLOW_SLOT);
	assert_int_equal(hist_slot(HIST_LIMIT_NS - 1), HIST_OVERFLOW_SLOT - 1);
}

TEST(slots_follow_the_definition_everywhere)
{
	for (uint64_t ns = 0; ns < 3000000; ns++)
		assert_int_equal(hist_slot(ns), defined_slot(ns));
	for (int i = 0; i < 3000000; i++) {
		uint64_t ns = unit_random() >> (unit_random() % 64);

		assert_int_equal(hist_slot(ns), defined_slot(ns));
	}
	/* where the multiplication gives way to the division */
	for (uint64_t ns = (1ULL << 30) - 100000; ns < (1ULL << 30) + 100000; ns++)
		assert_int_equal(hist_scale(ns), (uint64_t)(((unsigned __int128)ns << 5) / 1000));
}

/* The slot of a time below HIST_SCALE_SHORT_NS, by its octave. */
static uint32_t octave_slot(uint64_t ns)
{
	uint64_t v = hist_scale_short(ns);

	return hist_octave_slot(v, hist_octave(v));
}

TEST(slots_by_octave_are_the_same)
{
	for (uint32_t slot = 1; hist_slot_low_ns(slot) < HIST_SCALE_SHORT_NS; slot++) {
		assert_int_equal(octave_slot(hist_slot_low_ns(slot) - 1), slot - 1);
		assert_int_equal(octave_slot(hist_slot_low_ns(slot)), slot);
	}
	assert_int_equal(octave_slot(HIST_SCALE_SHORT_NS - 1), hist_slot(HIST_SCALE_SHORT_NS - 1));
}

TEST(octaves_begin_at_powers_of_two_of_us)
{
	for (uint32_t k = 0; k <= HIST_OCTAVES; k++) {
		uint32_t slot = hist_slot((1ULL << k) * 1000);

		assert_int_equal(slot, 32 + 32 * k);
		assert_int_equal(hist_slot_low_ns(slot), (1ULL << k) * 1000);
		assert_int_equal(hist_slot((1ULL << k) * 1000 - 1), slot - 1);
		assert_int_equal(hist_slot_bucket(slot), k);
	}
	assert_int_equal(hist_slot_bucket(0), 0);
	assert_int_equal(hist_slot_bucket(hist_slot(1999)), 0);
	assert_int_equal(hist_slot_bucket(hist_slot(2000)), 1);
	assert_int_equal(hist_slot_bucket(HIST_OVERFLOW_SLOT), HIST_LOG2_BUCKETS - 1);
}

TEST(slots_are_monotone_and_narrow)
{
	for (uint32_t slot = 0; slot < HIST_OVERFLOW_SLOT; slot++) {
		uint64_t low = hist_slot_low_ns(slot), high = hist_slot_low_ns(slot + 1);

		assert_true(high > low);
		/* edges are rounded up to whole ns: one ns of slack */
		assert_true(high - low <= (low < 1000 ? 1000 : low) / 32 + 1);
	}
}

TEST(log2_buckets_are_exact)
{
	uint64_t buckets[HIST_LOG2_BUCKETS], expected[HIST_LOG2_BUCKETS] = { 0 };
	struct lat_hist hist = { 0 };

	assert_int_equal(hist__top_bucket(&hist), -1);
	for (int i = 0; i < 100000; i++) {
		uint64_t ns = unit_random() >> (unit_random() % 64), us = ns / 1000;
		unsigned int k = 0;

		while (k < 36 && us >= 2ULL << k)
			k++;
		expected[k]++;
		sample_add(&hist, ns, 1);
	}
	hist__log2(&hist, buckets);
	assert_memory_equal(buckets, expected, sizeof(buckets));
	assert_int_equal(hist__count(&hist), 100000);
	assert_int_equal(hist__top_bucket(&hist), 36);
}

enum { CONSTANT, UNIFORM, LOG_UNIFORM, BIMODAL, HEAVY_TAIL, SUB_US, SHAPES };

static uint64_t draw(int shape)
{
	uint64_t r = unit_random();

	switch (shape) {
	case CONSTANT:
		return 123456;
	case UNIFORM:
		return r % 10000000;
	case LOG_UNIFORM:
		return (r >> 20) >> (unit_random() % 44);
	case BIMODAL:
		return r % 100 < 90 ? 2000 + r % 500 : 40000000 + r % 1000000;
	case HEAVY_TAIL:
		return 1000000000000 / (1 + r % 100000000);
	default:
		return r % 2000;
	}
}

/* The error may be the slot's width: 1/32 of the value; below 1 us 31.25 ns, rounded up. */
static void assert_close(uint64_t got, uint64_t exact)
{
	uint64_t off = got > exact ? got - exact : exact - got;

	assert_true(off <= (exact < 1000 ? 32 : exact / 32 + 1));
}

static void check_quantiles(const struct lat_hist *hist, const uint64_t *sorted, size_t n)
{
	static const struct {
		double q;
		uint64_t part, of;
	} wanted[] = {
		{ 0.07, 7, 100 },  { 0.25, 1, 4 },	 { 0.5, 1, 2 },		  { 0.9, 9, 10 },
		{ 0.99, 99, 100 }, { 0.999, 999, 1000 }, { 0.9999, 9999, 10000 }, { 1.0, 1, 1 },
	};

	for (size_t i = 0; i < COUNT_OF(wanted); i++) {
		uint64_t rank = (n * wanted[i].part + wanted[i].of - 1) / wanted[i].of;
		uint64_t got = hist__quantile_ns(hist, wanted[i].q);

		assert_true(got <= hist->max_ns);
		assert_close(got, sorted[rank - 1]);
	}
	assert_int_equal(hist__quantile_ns(hist, 1.0), sorted[n - 1]);
}

TEST(quantiles_are_within_a_slot)
{
	static const size_t sizes[] = { 1, 2, 3, 10, 99, 100, 101, 1000, 10000, 65537 };
	uint64_t *values = calloc(65537, sizeof(*values));

	for (int shape = 0; shape < SHAPES; shape++) {
		for (size_t s = 0; s < COUNT_OF(sizes); s++) {
			struct lat_hist hist = { 0 };
			uint64_t sum = 0;

			for (size_t i = 0; i < sizes[s]; i++) {
				values[i] = draw(shape);
				sum += values[i];
				sample_add(&hist, values[i], 1);
			}
			qsort(values, sizes[s], sizeof(*values), unit_by_value);
			check_quantiles(&hist, values, sizes[s]);
			assert_true(hist__mean_ns(&hist) == (double)sum / (double)sizes[s]);
		}
	}
	free(values);
}

TEST(quantiles_do_not_fall)
{
	struct lat_hist hist = { 0 };
	uint64_t last = 0;

	for (int i = 0; i < 777; i++)
		sample_add(&hist, draw(LOG_UNIFORM), 1);
	for (int i = 1; i <= 10000; i++) {
		uint64_t now = hist__quantile_ns(&hist, i / 10000.0);

		assert_true(now >= last);
		last = now;
	}
}

/* Ten samples share a slot of 32 us evenly: each lies in the middle of its tenth. */
TEST(samples_of_a_slot_are_spread_over_it)
{
	struct lat_hist hist = { 0 };
	uint32_t slot = hist_slot(1024 * 1000);
	uint64_t low = hist_slot_low_ns(slot), width = hist_slot_low_ns(slot + 1) - low;

	assert_int_equal(width, 32000);
	for (int i = 0; i < 10; i++)
		sample_add(&hist, low + (uint64_t)i, 1);
	for (int i = 0; i < 10; i++)
		sample_add(&hist, 100 * low, 1);
	for (int i = 1; i <= 10; i++)
		assert_int_equal(hist__quantile_ns(&hist, i / 20.0),
				 low + width * (2 * (unsigned int)i - 1) / 20);
}

TEST(the_slot_of_the_maximum_ends_there)
{
	struct lat_hist hist = { 0 };
	uint64_t low = hist_slot_low_ns(hist_slot(1024 * 1000));

	for (unsigned int i = 1; i <= 10; i++)
		sample_add(&hist, low + 100 * i, 1);
	assert_int_equal(hist__quantile_ns(&hist, 0.5), low + 450);
}

TEST(empty_and_overflow_have_answers)
{
	struct lat_hist hist = { 0 };

	assert_int_equal(hist__quantile_ns(&hist, 0.5), 0);
	assert_true(hist__mean_ns(&hist) == 0);
	sample_add(&hist, HIST_LIMIT_NS + 5, 1);
	sample_add(&hist, HIST_LIMIT_NS + 500, 1);
	assert_true(hist__quantile_ns(&hist, 0.5) >= HIST_LIMIT_NS);
	assert_int_equal(hist__quantile_ns(&hist, 1), HIST_LIMIT_NS + 500);
	/* a maximum below its samples can only come from a damaged file */
	hist.max_ns = 10;
	assert_true(hist__quantile_ns(&hist, 0.5) <= 10);
}

TEST(deltas_add_up)
{
	struct lat_hist now = { 0 }, before = { 0 }, delta, total = { 0 };

	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 200; i++)
			sample_add(&now, draw(HEAVY_TAIL), 1);
		hist__delta(&delta, &now, &before);
		assert_int_equal(hist__count(&delta), 200);
		hist__add(&total, &delta);
		before = now;
	}
	assert_memory_equal(&total, &now, sizeof(now));
}

/* A sample after others, and the maximum of what was gained. */
TEST(max_of_a_delta)
{
	const struct {
		uint64_t ns, max_ns;
	} samples[] = {
		{ 5000, hist_slot_low_ns(hist_slot(5000) + 1) - 1 },
		/* same slot as the maximum of all: the edge is capped by that maximum */
		{ 1000000, 1000000 },
		{ 1000001, 1000001 },
		{ HIST_LIMIT_NS * 2, HIST_LIMIT_NS * 2 },
		{ HIST_LIMIT_NS, HIST_LIMIT_NS * 2 },
	};
	struct lat_hist now = { 0 }, before, delta;

	sample_add(&now, 1000000, 1);
	before = now;
	hist__delta(&delta, &now, &before);
	assert_int_equal(delta.max_ns, 0);
	for (size_t i = 0; i < COUNT_OF(samples); i++) {
		before = now;
		sample_add(&now, samples[i].ns, 1);
		hist__delta(&delta, &now, &before);
		assert_int_equal(delta.max_ns, samples[i].max_ns);
	}
}

TEST(delta_may_be_in_place)
{
	struct lat_cell now = { 0 }, before = { 0 }, delta;

	now.counts[LAT_SEEN] = 7;
	before.counts[LAT_SEEN] = 3;
	sample_add(&before.hist, 5000, 1);
	now.hist = before.hist;
	sample_add(&now.hist, 300, 1);
	sample_add(&now.hist, 70000, 1);
	hist__delta_cell(&delta, &now, &before);
	hist__delta_cell(&now, &now, &before);
	assert_memory_equal(&now, &delta, sizeof(now));
	assert_int_equal(delta.counts[LAT_SEEN], 4);
	assert_int_equal(delta.hist.max_ns, 70000);

	hist__add_cell(&before, &delta);
	assert_int_equal(before.counts[LAT_SEEN], 7);
	assert_int_equal(hist__count(&before.hist), 3);
	assert_int_equal(before.hist.tail, 1);
}

/*
 * Before: 2 samples below the slot of the threshold, 5 in it, 3 above, and a tail of 6. Since then:
 * 1, 2 and 4. `tail` is that of the copy, `is_edge` whether the threshold begins its slot.
 */
static uint64_t settled(uint64_t tail, int is_edge)
{
	struct lat_hist before = { .tail = 6 }, now = { .tail = tail };
	uint32_t slot = 700;
	struct sparse old = { 0 }, new = { 0 };

	before.slots[slot - 1] = 2, now.slots[slot - 1] = 3;
	before.slots[slot] = 5, now.slots[slot] = 7;
	before.slots[HIST_OVERFLOW_SLOT] = 3, now.slots[HIST_OVERFLOW_SLOT] = 7;
	assert_int_equal(sparse__set(&old, &before), 0);
	assert_int_equal(sparse__set(&new, &now), 0);
	hist__settle_tail(&now, &before, hist_slot_low_ns(slot) + !is_edge);
	sparse__settle_tail(&new, &old, hist_slot_low_ns(slot) + !is_edge);
	assert_int_equal(new.tail, now.tail);
	sparse__clear(&old);
	sparse__clear(&new);
	return now.tail;
}

TEST(tail_is_what_the_slots_allow)
{
	assert_int_equal(settled(5, 0), 10); /* `before` has one that is still to come */
	assert_int_equal(settled(6, 0), 10);
	assert_int_equal(settled(10, 0), 10);
	assert_int_equal(settled(11, 0), 11);
	assert_int_equal(settled(12, 0), 12);
	assert_int_equal(settled(13, 0), 12);
	assert_int_equal(settled(5, 1), 12);
	assert_int_equal(settled(12, 1), 12);
	assert_int_equal(settled(13, 1), 12);
}

/* The same samples one by one, in no order, into both forms. */
TEST(sparse_is_the_same)
{
	struct lat_hist dense = { .sum_ns = 7, .max_ns = 5, .tail = 3 }, back;
	struct sparse sparse = { .sum_ns = 7, .max_ns = 5, .tail = 3 };
	uint64_t below = 0;

	for (unsigned int i = 0; i < 3000; i++) {
		uint32_t slot = i < 2 ? HIST_OVERFLOW_SLOT : (uint32_t)(unit_random() % 200) * 5;

		dense.slots[slot] += i % 3;
		below += slot < 500 ? i % 3 : 0;
		assert_int_equal(sparse__add_slot(&sparse, slot, i % 3), 0);
	}
	assert_memory_equal(sparse__expand(&sparse, &back), &dense, sizeof(dense));
	assert_int_equal(sparse__count(&sparse), hist__count(&dense));
	assert_int_equal(sparse__count_from(&sparse, 500), hist__count(&dense) - below);
	for (uint64_t i = 0; i < sparse.nr; i++)
		assert_true(sparse.slots[i].count && sparse.slots[i].slot < HIST_SLOTS);
	sparse__clear(&sparse);
	assert_null(sparse.slots);
}

TEST(sparse_is_set_anew)
{
	static const unsigned int samples[] = { 1, HIST_SLOTS, 0, 16, 17, 300 };
	struct sparse sparse = { 0 }, twice = { 0 };
	struct lat_hist back;

	for (unsigned int i = 0; i < COUNT_OF(samples); i++) {
		struct lat_hist hist = { .sum_ns = i, .max_ns = i, .tail = i };

		for (unsigned int slot = HIST_SLOTS - samples[i]; slot < HIST_SLOTS; slot++)
			hist.slots[slot] = slot + 1;
		assert_int_equal(sparse__set(&sparse, &hist), 0);
		assert_int_equal(sparse.nr, samples[i]);
		assert_memory_equal(sparse__expand(&sparse, &back), &hist, sizeof(hist));
		sparse__zero(&twice);
		assert_int_equal(sparse__add(&twice, &sparse), 0);
		assert_int_equal(sparse__add(&twice, &sparse), 0);
		hist__add(&hist, &hist);
		assert_memory_equal(sparse__expand(&twice, &back), &hist, sizeof(hist));
	}
	sparse__clear(&sparse);
	sparse__clear(&twice);
}

/* Rounds of new samples; each is read and subtracted in both forms. */
TEST(sparse_reads_and_subtracts_as_dense)
{
	struct lat_hist hist = { 0 }, before = { 0 }, delta, back;
	struct sparse now = { 0 }, old = { 0 }, gained = { 0 };

	for (unsigned int round = 0; round < 200; round++) {
		for (uint64_t i = unit_random() % 40; i; i--) {
			uint32_t slot = (uint32_t)(unit_random() % HIST_SLOTS);

			hist.slots[slot] += 1 + unit_random() % 3;
			hist.sum_ns += unit_random() % 1000;
			hist.tail += unit_random() % 4;
			if (hist_slot_low_ns(slot) > hist.max_ns)
				hist.max_ns = hist_slot_low_ns(slot);
		}
		assert_int_equal(sparse__read(&now, &hist), 0);
		assert_memory_equal(sparse__expand(&now, &back), &hist, sizeof(hist));
		assert_int_equal(sparse__delta(&gained, &now, &old), 0);
		hist__delta(&delta, &hist, &before);
		assert_memory_equal(sparse__expand(&gained, &back), &delta, sizeof(delta));
		for (uint64_t i = 0; i < gained.nr; i++)
			assert_true(gained.slots[i].count);
		assert_int_equal(sparse__read(&old, &hist), 0);
		before = hist;
	}
	sparse__clear(&now);
	sparse__clear(&old);
	sparse__clear(&gained);
}

TEST(sparse_does_not_overflow)
{
	struct sparse sparse = { 0 };

	assert_int_equal(sparse__add_slot(&sparse, 7, UINT64_MAX - 1), 0);
	assert_int_equal(sparse__add_slot(&sparse, 7, 1), 0);
	assert_int_equal(sparse__add_slot(&sparse, 7, 1), -EOVERFLOW);
	assert_int_equal(sparse__add(&sparse, &sparse), -EOVERFLOW);
	sparse__clear(&sparse);
}
