// SPDX-License-Identifier: BSD-2-Clause
/*
 * From counts to latencies and decisions. Several tests are of a fault in Colloid's code for the
 * TPP kernel module or for HeMem; each would fail on that code.
 */
#include "unit.h"

#include "probes/tierlat/colloid.h"
#include "probes/tierlat/latency.h"

#define BOXES 40

static struct tier_share shares[BOXES];
static struct tier_delta deltas[BOXES];

static void assert_close(double got, double wanted, double share)
{
	if (fabs(got - wanted) <= share * fabs(wanted))
		return;
	fail_msg("%g instead of %g", got, wanted);
}

/* Requests of a tier in a second, and how long each takes. */
struct load {
	double rate, latency_ns;
};

/* A box that gets `share` of all requests. */
static void count_box(unsigned int i, const struct load *loads, double clock, double seconds,
		      double share)
{
	const struct load *own = &loads[shares[i].tier];

	for (unsigned int n = 0; n < TIER_COUNTERS; n++) {
		int event = shares[i].events[n];
		double count = 0;

		if (event == TIER_OCCUPANCY)
			count = own->rate * seconds * share * own->latency_ns * 1e-9 * clock;
		else if (event == TIER_CLOCKTICKS)
			count = clock * seconds;
		else if (event != TIER_NO_TIER)
			count = loads[event].rate * seconds * share;
		deltas[i].counts[n] = (uint64_t)count;
	}
}

/* An interval in which each box gets `weights` of all requests (NULL: the same). */
static void count(unsigned int boxes, const struct load *loads, const double *weights, double clock,
		  double seconds)
{
	double all = 0;

	for (unsigned int i = 0; i < boxes; i++)
		all += weights ? weights[i] : 1;
	for (unsigned int i = 0; i < boxes; i++) {
		deltas[i] = (struct tier_delta){
			.valid = true,
			.elapsed_ns = (uint64_t)(seconds * 1e9),
			.counted_ns = (uint64_t)(seconds * 1e9),
		};
		count_box(i, loads, clock, seconds, (weights ? weights[i] : 1) / all);
	}
}

/* The position of the clock if counter 2 has it: with one or two tiers. */
#define CLOCKS counts[2]

/* Shares boxes out to tiers, and counts for a second of 2 GHz. */
static void share_and_count(unsigned int boxes, unsigned int tiers, const struct load *loads)
{
	tier_share__out(shares, boxes, tiers, false);
	count(boxes, loads, NULL, 2e9, 1);
}

static const struct load two[] = { { 1e9, 90 }, { 2e8, 180 } };

static struct tier_latency figures_of(unsigned int tier, unsigned int boxes)
{
	struct tier_latency result;

	tier_latency__of(&result, tier, shares, deltas, boxes, 100);
	return result;
}

static void assert_tiers(unsigned int boxes, unsigned int tiers, const struct load *loads,
			 double clock, double share)
{
	for (unsigned int tier = 0; tier < tiers; tier++) {
		struct tier_latency result = figures_of(tier, boxes);

		assert_true(result.latency_known && result.rate_known);
		assert_close(result.latency_ns, loads[tier].latency_ns, share);
		assert_close(result.latency_clocks, loads[tier].latency_ns * clock / 1e9, share);
		assert_close(result.rate, loads[tier].rate, share);
		assert_close(result.outstanding, loads[tier].rate * loads[tier].latency_ns / 1e9,
			     share);
		assert_close(result.clock_hz, clock, share);
	}
}

static void skew(double *weights, unsigned int boxes)
{
	for (unsigned int i = 0; i < boxes; i++)
		weights[i] = 1 + (double)(unit_random() % 1000) / 111;
}

TEST(littles_law_gives_the_latency)
{
	tier_share__out(shares, BOXES, 2, false);
	count(BOXES, two, NULL, 2.4e9, 1);
	assert_tiers(BOXES, 2, two, 2.4e9, 1e-4);
	assert_int_equal(figures_of(0, BOXES).boxes, BOXES / 2);
	assert_int_equal(figures_of(0, BOXES).all_boxes, BOXES);
}

/* Fault 2: by the TSC, the same latency would differ when the uncore clock scales. */
TEST(it_is_in_time_whatever_the_clock)
{
	tier_share__out(shares, BOXES, 2, false);
	for (double clock = 0.8e9; clock < 3e9; clock += 0.1e9) {
		count(BOXES, two, NULL, clock, 0.1);
		assert_tiers(BOXES, 2, two, clock, 1e-3);
	}
}

/* Fault 3: TPP's value is proportional to the time its loop took. */
TEST(it_does_not_depend_on_the_interval)
{
	tier_share__out(shares, BOXES, 2, false);
	for (double seconds = 0.001; seconds < 20; seconds *= 3) {
		count(BOXES, two, NULL, 2e9, seconds);
		assert_tiers(BOXES, 2, two, 2e9, 1e-2);
	}
}

/* Fault 1: one box of many does not represent all. */
TEST(all_boxes_are_used)
{
	double weights[BOXES];

	tier_share__out(shares, BOXES, 2, false);
	skew(weights, BOXES);
	weights[0] = 100;
	count(BOXES, two, weights, 2e9, 1);
	assert_tiers(BOXES, 2, two, 2e9, 1e-3);
}

/* Clocks of their own, as dies have. */
TEST(boxes_may_have_different_clocks)
{
	share_and_count(BOXES, 2, two);
	for (unsigned int i = 0; i < BOXES; i += 3) {
		deltas[i].CLOCKS = deltas[i].CLOCKS * 3 / 4;
		deltas[i].counts[0] = deltas[i].counts[0] * 3 / 4;
	}
	for (unsigned int tier = 0; tier < 2; tier++)
		assert_close(figures_of(tier, BOXES).latency_ns, two[tier].latency_ns, 1e-3);
}

/*
 * Fault 4: without its busy loop TPP's values are so small that two constants replace them, and the
 * direction never changes. Here with the values of HeMem's log, and then with l the slower one.
 */
TEST(a_small_count_is_not_replaced)
{
	static const struct load logged[] = { { 17741975, 93.2984 }, { 1245568, 121.504 } };
	static const struct load turned[] = { { 17741975, 200 }, { 1245568, 121.504 } };
	struct colloid_load load;

	tier_share__out(shares, 2, 2, false);
	for (unsigned int i = 0; i < 2; i++) {
		struct tier_latency l, r;

		count(2, i ? turned : logged, NULL, 2e9, 0.01);
		assert_tiers(2, 2, i ? turned : logged, 2e9, 1e-3);
		l = figures_of(0, 2);
		r = figures_of(1, 2);
		load = (struct colloid_load){ l.outstanding, l.rate, r.outstanding, r.rate };
		assert_true(i ? colloid__closed(&load).shift < 0
			      : colloid__closed(&load).shift > 0);
	}
}

/* Fault 5. */
TEST(counters_wrap_at_48_bits)
{
	assert_true(tier_delta__wrapped((1ULL << 48) - 5, 7) == 12);
	assert_true(tier_delta__wrapped(7, 7) == 0);
	assert_true(tier_delta__wrapped(0, (1ULL << 48) - 1) == (1ULL << 48) - 1);
	assert_true(tier_delta__wrapped(100, 99) == (1ULL << 48) - 1);
}

/* Fault 8: without requests there is no latency, not an infinite or a negligible one. */
TEST(too_few_requests_are_no_latency)
{
	struct tier_latency result;

	tier_share__out(shares, 4, 2, false);
	memset(deltas, 0, sizeof(deltas));
	for (unsigned int i = 0; i < 4; i++)
		deltas[i] = (struct tier_delta){
			.valid = true, .CLOCKS = 1000000, .elapsed_ns = 500000, .counted_ns = 500000
		};
	tier_latency__of(&result, 0, shares, deltas, 4, 0);
	assert_false(result.latency_known);
	assert_true(result.rate_known && result.rate == 0);
	deltas[0].counts[1] = 99;
	deltas[0].counts[0] = 9900;
	tier_latency__of(&result, 0, shares, deltas, 4, 100);
	assert_false(result.latency_known);
	tier_latency__of(&result, 0, shares, deltas, 4, 99);
	assert_true(result.latency_known && result.latency_clocks == 100);
}

TEST(uncounted_values_are_not_zero)
{
	struct tier_latency result;

	share_and_count(4, 2, two);
	for (unsigned int i = 0; i < 4; i++)
		deltas[i].valid = false;
	result = figures_of(0, 4);
	assert_false(result.rate_known || result.latency_known);
	assert_int_equal(result.boxes, 0);
	/* A clock that stood still. */
	count(4, two, NULL, 2e9, 1);
	for (unsigned int i = 0; i < 4; i++)
		deltas[i].CLOCKS = 0;
	assert_false(figures_of(0, 4).rate_known);
}

/* The other boxes represent those that are lost. */
TEST(the_rate_is_of_all_boxes)
{
	share_and_count(BOXES, 2, two);
	for (unsigned int i = 0; i < BOXES / 4; i++)
		deltas[i].valid = false;
	assert_tiers(BOXES, 2, two, 2e9, 1e-3);
}

/* perf: a group that ran for half of the time. */
TEST(multiplexed_counts_are_scaled)
{
	tier_share__out(shares, BOXES, 2, false);
	count(BOXES, two, NULL, 2e9, 0.5);
	for (unsigned int i = 0; i < BOXES; i++)
		deltas[i].elapsed_ns = 1000000000;
	assert_tiers(BOXES, 2, two, 2e9, 1e-3);
}

static bool counts_event(unsigned int box, int event)
{
	for (unsigned int n = 1; n < TIER_COUNTERS; n++) {
		if (shares[box].events[n] == event)
			return true;
	}
	return false;
}

/* No event twice in a box, and up to three tiers are all known to it. */
static void assert_share(unsigned int box, unsigned int tiers)
{
	const int *events = shares[box].events;
	unsigned int known = 0;

	assert_int_equal(shares[box].tier, box % tiers);
	assert_int_equal(events[0], TIER_OCCUPANCY);
	for (unsigned int n = 1; n < TIER_COUNTERS; n++) {
		for (unsigned int m = 1; m < n; m++)
			assert_true(events[n] == TIER_NO_TIER || events[n] != events[m]);
	}
	for (int tier = 0; tier < (int)tiers; tier++)
		known += counts_event(box, tier) || shares[box].tier == tier;
	assert_int_equal(known, tiers < 3 ? tiers : 3);
	if (tiers < 3)
		assert_true(events[1] == shares[box].tier && events[2] == TIER_CLOCKTICKS);
}

/* Every tier has boxes for its latency, some box a clock, and others count as much of each tier. */
TEST(boxes_are_shared_out_in_turn)
{
	for (unsigned int tiers = 1; tiers <= 5; tiers++) {
		for (unsigned int boxes = tier_share__least(tiers); boxes <= BOXES; boxes++) {
			unsigned int own[5] = { 0 }, all[5] = { 0 }, clocks = 0;

			tier_share__out(shares, boxes, tiers, false);
			for (unsigned int i = 0; i < boxes; i++) {
				assert_share(i, tiers);
				clocks += counts_event(i, TIER_CLOCKTICKS);
				own[shares[i].tier] += counts_event(i, shares[i].tier);
				for (unsigned int tier = 0; tier < tiers; tier++)
					all[tier] += counts_event(i, (int)tier);
			}
			assert_int_equal(clocks, tiers < 3 ? boxes : boxes / (tiers + 1));
			for (unsigned int tier = 0; tier < tiers; tier++) {
				assert_true(own[tier] >= boxes / (tiers + 1));
				assert_true(all[tier] >= boxes / 2);
			}
		}
	}
}

/* Clocks and a tier's own inserts find room in one box only if there are at most two tiers. */
TEST(three_tiers_need_a_box_more)
{
	static const unsigned int least[] = { 1, 2, 4, 5, 6 };

	for (unsigned int tiers = 1; tiers <= 5; tiers++)
		assert_int_equal(tier_share__least(tiers), least[tiers - 1]);
}

TEST(each_filter_selects_one_tier)
{
	tier_share__out(shares, BOXES, 2, true);
	for (unsigned int i = 0; i < BOXES; i++) {
		assert_int_equal(shares[i].events[1], shares[i].tier);
		assert_int_equal(shares[i].events[2], TIER_CLOCKTICKS);
		assert_int_equal(shares[i].events[3], TIER_NO_TIER);
	}
}

static const struct load three[] = { { 1e9, 90 }, { 2e8, 180 }, { 3e8, 250 } };

/* For any distribution over the boxes, and for as few boxes as possible. */
TEST(three_tiers_are_counted_whole)
{
	double weights[BOXES];

	for (unsigned int boxes = 4; boxes <= BOXES; boxes++) {
		tier_share__out(shares, boxes, 3, false);
		skew(weights, boxes);
		count(boxes, three, weights, 2e9, 1);
		assert_tiers(boxes, 3, three, 2e9, 1e-4);
	}
}

/* Some boxes are nearer to memory: inferring inserts from occupancy adds a small error. */
TEST(latencies_need_not_be_the_same)
{
	tier_share__out(shares, BOXES, 3, false);
	for (unsigned int round = 0; round < 1000; round++) {
		count(BOXES, three, NULL, 2e9, 1);
		for (unsigned int i = 0; i < BOXES; i++)
			deltas[i].counts[0] *= 0.9 + (double)(unit_random() % 201) / 1000;
		for (unsigned int tier = 0; tier < 3; tier++)
			assert_close(figures_of(tier, BOXES).rate, three[tier].rate, 0.02);
	}
}

/* Dies that each have their own clock: boxes 0 to 21, of which 19 has the last, and the others. */
TEST(a_box_without_a_clock_has_its_neighbours)
{
	double hz = 0;

	share_and_count(BOXES, 3, three);
	for (unsigned int i = 22; i < BOXES; i++) {
		deltas[i].counts[0] /= 2;
		if (shares[i].events[1] == TIER_CLOCKTICKS)
			deltas[i].counts[1] /= 2;
	}
	for (unsigned int tier = 0; tier < 3; tier++) {
		struct tier_latency result = figures_of(tier, BOXES);

		assert_close(result.latency_ns, three[tier].latency_ns, 1e-4);
		assert_close(result.rate, three[tier].rate, 1e-4);
		hz += result.clock_hz / 3;
	}
	assert_close(hz, 1.5e9, 0.05);
}

/* Boxes with a clock that stood still, or are lost, are no clock for others. */
TEST(without_any_clock_nothing_is_known)
{
	for (unsigned int lost = 0; lost < 2; lost++) {
		share_and_count(BOXES, 3, three);
		for (unsigned int i = 3; i < BOXES - 4; i += 4) {
			memset(deltas[i].counts, 0, sizeof(deltas[i].counts));
			deltas[i].valid = !lost;
		}
		assert_tiers(BOXES, 3, three, 2e9, 1e-4);
		deltas[BOXES - 1].counts[1] = 0;
		assert_false(figures_of(0, BOXES).latency_known);
		assert_false(figures_of(0, BOXES).rate_known);
	}
}

/* A box's time is too long, and one part of so many is uncertain. */
TEST(a_box_of_uncertain_time_has_the_clock_of_others)
{
	static const struct {
		const char *name;
		unsigned int boxes, tiers, box;
		uint64_t percent, parts;
		double share;
	} cases[] = {
		{ "the next one", 4, 2, 0, 10, 10, 1e-3 },
		{ "the first box, which is the only one", 2, 2, 1, 50, 3, 1e-4 },
		{ "of three tiers, it is no clock of others", BOXES, 3, 7, 50, 3, 1e-4 },
	};

	for (unsigned int i = 0; i < COUNT_OF(cases); i++) {
		unsigned int boxes = cases[i].boxes, tiers = cases[i].tiers;
		struct tier_delta *box;

		print_message("%s\n", cases[i].name);
		share_and_count(boxes, tiers, three);
		box = &deltas[cases[i].box];
		box->counted_ns = box->counted_ns * (100 + cases[i].percent) / 100;
		box->uncertain_ns = box->counted_ns / cases[i].parts;
		assert_tiers(boxes, tiers, three, 2e9, cases[i].share);
	}
}

/* If only occupancy is known, neither the number of requests that began nor a latency is known. */
TEST(too_few_requests_are_scaled)
{
	static const struct load few[] = { { 1e9, 90 }, { 2e8, 180 }, { 40, 250 } };
	struct tier_latency result;

	share_and_count(4, 3, few);
	deltas[3].counts[0] = 0;
	result = figures_of(2, 4);
	assert_true(result.rate_known && !result.latency_known);
	assert_close(result.rate, 40, 1e-9);
	result = figures_of(0, 4); /* it is box 3 that has no inserts of it */
	assert_close(result.rate, 0.75e9, 1e-4);
}

TEST(samples_of_amd_are_latencies_already)
{
	const struct tier_model *zen5 = tier_model__find("zen5"), *zen4 = tier_model__find("zen4");
	struct tier_latency result;

	memset(deltas, 0, sizeof(deltas));
	for (unsigned int i = 0; i < 4; i++)
		deltas[i] = (struct tier_delta){
			.valid = true, .counts = { 10500, 1000 }, .counted_ns = 1, .elapsed_ns = 1
		};
	tier_latency__of_samples(&result, zen5, deltas, 4, 100);
	assert_true(result.latency_known && !result.rate_known);
	assert_true(tier_latency__in_ns(&result));
	assert_close(result.latency_ns, 105, 1e-9);
	assert_true(isnan(result.latency_clocks) && isnan(result.outstanding));
	/* The unit is clocks, so there is no latency in time. */
	tier_latency__of_samples(&result, zen4, deltas, 4, 100);
	assert_true(isnan(result.latency_ns) && !tier_latency__in_ns(&result));
	assert_close(result.latency_clocks, 105, 1e-9);
	tier_latency__of_samples(&result, zen5, deltas, 4, 4001);
	assert_false(result.latency_known);
}

/* Fault 6: a mean that starts at 0 is too low for as many samples as it is long. */
TEST(the_mean_begins_with_the_first_sample)
{
	struct tier_latency result = { .rate_known = true,
				       .latency_known = true,
				       .rate = 1e8,
				       .outstanding = 9,
				       .latency_ns = 90 };
	struct tier_ewma ewma = { 0 };

	assert_true(isnan(tier_ewma__latency_ns(&ewma)));
	tier_ewma__add(&ewma, 1.0 / 16, &result);
	assert_close(tier_ewma__latency_ns(&ewma), 90, 1e-12);
	assert_close(ewma.rate, 1e8, 1e-12);
	result.outstanding = 18;
	tier_ewma__add(&ewma, 1.0 / 16, &result);
	assert_close(ewma.outstanding, 9 + 9.0 / 16, 1e-12);
	assert_close(tier_ewma__latency_ns(&ewma), 90 * (1 + 1.0 / 16), 1e-12);
	result.latency_known = false;
	result.outstanding = 1e9;
	tier_ewma__add(&ewma, 1.0 / 16, &result);
	assert_close(ewma.outstanding, 9 + 9.0 / 16, 1e-12);
}

/* There is still a mean of the latency, but no clocks are shown as ns. */
TEST(the_mean_needs_no_rate)
{
	struct tier_latency result = { .latency_known = true,
				       .latency_ns = 105,
				       .outstanding = NAN };
	struct tier_ewma ewma = { 0 };

	tier_ewma__add(&ewma, 1.0 / 16, &result);
	result.latency_ns = 121;
	tier_ewma__add(&ewma, 1.0 / 16, &result);
	assert_close(tier_ewma__latency_ns(&ewma), 106, 1e-12);
	result.latency_ns = NAN;
	tier_ewma__add(&ewma, 1.0 / 16, &result);
	assert_close(tier_ewma__latency_ns(&ewma), 106, 1e-12);
}

/* As in the artifact's log: what HeMem counted, and what it wanted to move. */
static const struct colloid_load published = { 1.655294, 177419.75, 0.151341, 12455.68 };
static const struct colloid_params defaults = { COLLOID_DELTA, COLLOID_EPSILON };

TEST(the_closed_form_is_as_published)
{
	struct colloid_move move = colloid__closed(&published);

	assert_true(move.known);
	assert_close(move.p, 177419.75 / (177419.75 + 12455.68), 1e-12);
	assert_close(move.shift, 0.014449, 1e-4); /* the local tier is the faster one */
}

/* p |L_l - L_r| / (beta L_r + L_l), written in latencies. */
TEST(the_closed_form_is_that_of_latencies)
{
	for (unsigned int i = 0; i < 1000; i++) {
		struct colloid_load load = { 1 + (double)(unit_random() % 1000),
					     1 + (double)(unit_random() % 1000),
					     1 + (double)(unit_random() % 1000),
					     1 + (double)(unit_random() % 1000) };
		double p = load.ins_l / (load.ins_l + load.ins_r), beta = p / (1 - p);
		double l = load.occ_l / load.ins_l, r = load.occ_r / load.ins_r;

		assert_close(colloid__closed(&load).shift, p * (r - l) / (beta * r + l), 1e-9);
	}
}

TEST(the_search_is_as_published)
{
	struct colloid_search search;
	struct colloid_move move;
	double p = 177419.75 / (177419.75 + 12455.68);

	colloid_search__begin(&search);
	assert_true(search.p_lo == 0 && search.p_hi == 1);
	move = colloid_search__step(&search, &defaults, &published);
	assert_close(search.p_lo, p, 1e-12);
	assert_true(search.p_hi == 1);
	assert_close(move.shift, (p + 1) / 2 - p, 1e-9);
}

/* Latencies that differ by less than delta are left alone. */
TEST(the_search_has_a_dead_band)
{
	struct colloid_load load = { 100, 1000, 104, 1000 };
	struct colloid_search search;
	struct colloid_move move;

	colloid_search__begin(&search);
	move = colloid_search__step(&search, &defaults, &load);
	assert_true(move.known && move.shift == 0 && search.p_lo == 0 && search.p_hi == 1);
	load.occ_r = 106;
	move = colloid_search__step(&search, &defaults, &load);
	assert_true(move.shift > 0 && search.p_lo == 0.5);
}

/* If the bounds meet, the load has changed, and the other bound is reset. */
TEST(the_search_begins_anew)
{
	const struct colloid_load faster = { 50, 500, 100, 500 }, slower = { 100, 500, 50, 500 };
	const struct {
		const struct colloid_load *load;
		struct colloid_search before, after;
		double shift;
	} cases[] = {
		{ &faster, { .p_lo = 0.1, .p_hi = 0.505 }, { .p_lo = 0.5, .p_hi = 1 }, 0.25 },
		{ &slower, { .p_lo = 0.495, .p_hi = 0.9 }, { .p_lo = 0, .p_hi = 0.5 }, -0.25 },
		/* p beyond the other end. */
		{ &faster, { .p_lo = 0.1, .p_hi = 0.3 }, { .p_lo = 0.5, .p_hi = 1 }, 0.25 },
		{ &slower, { .p_lo = 0.7, .p_hi = 0.9 }, { .p_lo = 0, .p_hi = 0.5 }, -0.25 },
	};

	for (unsigned int i = 0; i < COUNT_OF(cases); i++) {
		struct colloid_search search = cases[i].before;

		assert_close(colloid_search__step(&search, &defaults, cases[i].load).shift,
			     cases[i].shift, 1e-12);
		assert_true(search.p_lo == cases[i].after.p_lo);
		assert_true(search.p_hi == cases[i].after.p_hi);
	}
}

/* Fault 8: an infinite beta makes HeMem's move not a number. */
TEST(without_requests_there_is_no_decision)
{
	static const struct colloid_load loads[] = {
		{ 1, 100, 0, 0 },     { 0, 0, 1, 100 },	  { 0, 0, 0, 0 },
		{ 1, 100, NAN, NAN }, { 1, 100, NAN, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(loads); i++) {
		struct colloid_search search = { 0.25, 0.75 };

		assert_false(colloid_search__step(&search, &defaults, &loads[i]).known);
		assert_true(search.p_lo == 0.25 && search.p_hi == 0.75);
		assert_false(colloid__closed(&loads[i]).known);
	}
}

/* Fault 12: with equal latencies the direction of TPP's decision flips with the noise. */
TEST(noise_moves_nothing)
{
	struct colloid_search search;

	colloid_search__begin(&search);
	for (unsigned int i = 0; i < 1000; i++) {
		double noise = 1 + ((double)(unit_random() % 1000) - 500) / 500 * 0.02;
		struct colloid_load load = { 100 * noise, 1000, 50, 500 };

		assert_true(colloid_search__step(&search, &defaults, &load).shift == 0);
	}
}
