// SPDX-License-Identifier: BSD-2-Clause
/* The rows of --raw: the arithmetic of docs/tierlat.md on them gives the printed values. */
#include "rig.h"

#include "probes/tierlat/columns.h"

#define EXACT 1e-9
#define SAME 0.5 /* of a count */

static double real(const struct table *table, size_t row, unsigned int column)
{
	struct table_value value = table__value(table, row, column);

	assert_true(value.known);
	return value.kind == TABLE_INTEGER ? (double)value.integer : value.real;
}

static bool known(const struct table *table, size_t row, unsigned int column)
{
	return table__value(table, row, column).known;
}

static bool is_same_tier(const struct table *table, size_t row, size_t other)
{
	return table__value(table, row, TIER_SOCKET).integer ==
		       table__value(table, other, TIER_SOCKET).integer &&
	       !strcmp(table__value(table, row, TIER_NAME).text,
		       table__value(table, other, TIER_NAME).text);
}

/* Sums over the rows of the boxes. */
struct sums {
	unsigned int boxes, counting, inferring;
	double occupancy_ns, inserts, rate, open;
};

static void add_row(struct sums *sums, const struct table *table, size_t row)
{
	double clock_ns = real(table, row, TIER_RAW_CLOCK_NS), ns = real(table, row, TIER_RAW_NS);
	bool own = known(table, row, TIER_RAW_OCCUPANCY);
	bool inserts = known(table, row, TIER_RAW_INSERTS);

	if (own && inserts) {
		sums->boxes++;
		sums->occupancy_ns += real(table, row, TIER_RAW_OCCUPANCY) * clock_ns;
		sums->inserts += real(table, row, TIER_RAW_INSERTS);
	}
	if (inserts) {
		sums->counting++;
		sums->rate += real(table, row, TIER_RAW_INSERTS) / ns * 1e9;
	} else {
		sums->inferring++;
		sums->open += real(table, row, TIER_RAW_OCCUPANCY) * clock_ns / ns;
	}
	if (known(table, row, TIER_RAW_CLOCKS))
		rig__assert_near("clock", ns / real(table, row, TIER_RAW_CLOCKS), clock_ns, EXACT);
}

/* The row of a tier from those of the boxes. */
static void assert_follows(const struct table *table, size_t row, unsigned int all)
{
	struct sums sums = { 0 };
	double latency, rate;

	for (size_t i = 0; i < table__rows(table); i++) {
		if (tier_rows__is_raw(table, i) && is_same_tier(table, row, i))
			add_row(&sums, table, i);
	}
	latency = sums.occupancy_ns / sums.inserts;
	rate = (sums.rate + sums.open * 1e9 / latency) * all / (sums.counting + sums.inferring);
	assert_int_equal(sums.boxes, real(table, row, TIER_BOXES_USED));
	assert_true(fabs(sums.inserts - real(table, row, TIER_REQUESTS)) < SAME);
	rig__assert_near("latency", latency, real(table, row, TIER_LATENCY), EXACT);
	rig__assert_near("rate", rate, real(table, row, TIER_RATE), EXACT);
	rig__assert_near("mean",
			 real(table, row, TIER_OUTSTANDING_EWMA) / real(table, row, TIER_RATE_EWMA),
			 real(table, row, TIER_LATENCY_EWMA) / 1e9, EXACT);
}

static void assert_arithmetic(const struct rig_setup *setup)
{
	const struct tier_rows_config config = {
		.weight = TIER_WEIGHT, .max_shift = COLLOID_MAX_SHIFT, .raw = true, .far = 1
	};
	struct tier_rows *rows;
	struct table *table;
	struct rig rig;

	rig__machine(setup);
	emu__tell("stream name=pmm memory=pmm rate=5e7 latency=300");
	emu__tell("stream name=near skew=1 spread=10");
	emu__tell("stream name=far skew=2 spread=10");
	rig__start(&rig, setup);
	assert_int_equal(table__new(&table, tier_columns, TIER_RAW_COLUMNS), 0);
	assert_int_equal(tier_rows__new(&rows, rig.tier, &config), 0);
	for (unsigned int i = 1; i <= 4; i++) {
		unsigned int tiers = 0;

		emu__tell("clock hz=%g", 1e9 + 3e8 * i);
		assert_int_equal(rig__read(&rig, 1e7), 0);
		assert_int_equal(tier_rows__add(rows, table, i, rig.samples), 0);
		for (size_t row = 0; row < table__rows(table); row++) {
			if (tier_rows__is_raw(table, row))
				continue;
			tiers++;
			assert_follows(table, row, setup->boxes);
		}
		assert_int_equal(tiers, tier__samples(rig.tier));
		assert_int_equal(table__fold(table), 0);
	}
	tier_rows__free(rows);
	table__free(table);
	rig__finish(&rig);
}

TEST(the_latency_follows_from_the_counts)
{
	for (unsigned int i = 0; i < RIG_GENERATIONS; i++) {
		struct rig_setup setup = { .gen = &rig_generations[i], .sockets = 2, .boxes = 12 };

		assert_arithmetic(&setup);
	}
}

/* Some boxes have no clock, others do not count their own inserts. */
TEST(so_it_does_of_three_tiers)
{
	struct rig_setup setup = { .gen = &rig_generations[2],
				   .tiers = "local-ddr,remote-ddr,local-pmm",
				   .sockets = 2,
				   .boxes = 20 };

	assert_arithmetic(&setup);
}

/* A box that does not count has no row. */
TEST(a_lost_box_has_no_row)
{
	struct rig_setup setup = { .gen = &rig_generations[2], .boxes = 6 };
	struct tier_raw raw;
	struct rig rig;

	rig__machine(&setup);
	rig__start(&rig, &setup);
	emu__tell("poke reg=0xe01 value=0x400000");
	assert_int_equal(rig__read(&rig, 1e7), 0);
	assert_false(tier__raw(rig.tier, 0, 0, RIG_NEAR, &raw));
	assert_true(tier__raw(rig.tier, 0, 2, RIG_NEAR, &raw));
	assert_int_equal(raw.id, 2);
	assert_true(raw.own);
	assert_true(tier__raw(rig.tier, 0, 1, RIG_NEAR, &raw));
	assert_false(raw.own);
	assert_int_equal(rig__close(&rig), 0);
}

UNIT_FIXTURES(.all = { emu__begin, emu__end })
