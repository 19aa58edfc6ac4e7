// SPDX-License-Identifier: BSD-2-Clause
/* Compares the reported latency with the reference, for every generation and all kinds of load. */
#include "rig.h"

#define NOTHING_CHANGES 0.01
#define SOMETHING_CHANGES 0.02

static double worst; /* of what is off, by share */
static struct rig_setup setup;
static struct rig rig;

static void make_machine(struct rig_setup wanted)
{
	setup = wanted;
	rig__machine(&setup);
}

/* Nothing else is said to the machine. */
static void start(struct rig_setup wanted)
{
	make_machine(wanted);
	rig__start(&rig, &setup);
}

static void near_to(const char *what, double got, double wanted, double share)
{
	worst = fmax(worst, fabs(got / wanted - 1));
	rig__assert_near(what, got, wanted, share);
}

static void assert_tier(const struct tier_latency *result, double latency, double rate,
			double share)
{
	assert_true(result->latency_known);
	near_to("latency", result->latency_ns, latency, share);
	near_to("rate", result->rate, rate, share);
	near_to("outstanding", result->outstanding, rate * latency * 1e-9, share);
}

static void assert_tiers(double share)
{
	for (unsigned int i = 0; i < tier__sockets(rig.tier); i++) {
		assert_tier(rig__latency(&rig, i, RIG_NEAR), 90, 2e8, share);
		assert_tier(rig__latency(&rig, i, RIG_FAR), 180, 1e8, share);
	}
}

/* Fault 11: none of the original's constants is valid for another CPU. */
TEST(every_generation_is_right)
{
	for (unsigned int i = 0; i < RIG_GENERATIONS; i++) {
		start((struct rig_setup){ .gen = &rig_generations[i], .sockets = 2 });
		for (unsigned int j = 0; j < 3; j++) {
			assert_int_equal(rig__read(&rig, EMU_SECOND / 10), 0);
			assert_tiers(NOTHING_CHANGES);
			near_to("clock", rig__latency(&rig, 0, RIG_NEAR)->clock_hz, 2e9,
				NOTHING_CHANGES);
		}
		rig__finish(&rig);
	}
}

/* Those of one socket, which have one tier, and Cooper Lake, which has four. */
TEST(further_generations_are_right)
{
	static const struct rig_generation gens[] = {
		{ "cpx", "local,remote", "drd", 28, true },
		{ "snr", "memory", "drd_opt", 6, false },
		{ "grr", "memory", "drd_opt", 6, false },
	};

	for (unsigned int i = 0; i < 3; i++) {
		make_machine((struct rig_setup){ .gen = &gens[i], .sockets = i ? 1 : 4 });
		if (i)
			emu__tell("stream name=far rate=0");
		rig__start(&rig, &setup);
		for (unsigned int j = 0; j < 3; j++) {
			assert_int_equal(rig__read(&rig, EMU_SECOND / 10), 0);
			if (i)
				assert_tier(rig__latency(&rig, 0, RIG_NEAR), 90, 2e8,
					    NOTHING_CHANGES);
			else
				assert_tiers(NOTHING_CHANGES);
		}
		rig__finish(&rig);
	}
}

/* Sockets differ in their clocks: each one must use its own. */
TEST(sockets_have_clocks_of_their_own)
{
	make_machine((struct rig_setup){ .gen = &rig_generations[2], .sockets = 2 });
	emu__tell("clock socket=1 hz=1.1e9");
	rig__start(&rig, &setup);
	assert_int_equal(rig__read(&rig, EMU_SECOND / 10), 0);
	assert_tiers(NOTHING_CHANGES);
	near_to("clock", rig__latency(&rig, 1, RIG_NEAR)->clock_hz, 1.1e9, NOTHING_CHANGES);
	rig__finish(&rig);
}

TEST(a_clock_that_changes_is_followed)
{
	for (unsigned int i = 0; i < RIG_GENERATIONS; i++) {
		start((struct rig_setup){ .gen = &rig_generations[i], .boxes = 12 });
		emu__tell("advance ns=3e7");
		emu__tell("clock hz=0.8e9");
		emu__tell("advance ns=3e7");
		emu__tell("clock hz=2.5e9");
		assert_int_equal(rig__read(&rig, 4e7), 0);
		assert_tiers(SOMETHING_CHANGES);
		rig__finish(&rig);
	}
}

TEST(skewed_traffic_is_seen_whole)
{
	for (unsigned int i = 0; i < RIG_GENERATIONS; i++) {
		const struct rig_generation *gen = &rig_generations[i];
		make_machine((struct rig_setup){ .gen = gen, .sockets = 2 });
		emu__tell("stream name=near skew=%u spread=10", 2 * i);
		emu__tell("stream name=far skew=%u spread=10", 2 * i + 1);
		rig__start(&rig, &setup);
		if (gen->takes_turns)
			assert_int_equal(rig__read(&rig, EMU_SECOND / 10), 0);
		assert_int_equal(rig__read(&rig, EMU_SECOND / 10), 0);
		assert_tiers(SOMETHING_CHANGES);
		rig__finish(&rig);
	}
}

/*
 * Each tier has 117 open requests in a box, which in 19 minutes at 2 GHz are 95 % of 2^48: the
 * occupancies wrap in 19 of 20 intervals, and never twice. Clocks would take 39 hours.
 */
TEST(counters_may_wrap_in_every_interval)
{
	const double minutes_19 = 19 * 60 * EMU_SECOND, rate = 20 * 117 / 90e-9;

	for (unsigned int i = 0; i < RIG_GENERATIONS; i++) {
		make_machine((struct rig_setup){ .gen = &rig_generations[i], .boxes = 20 });
		emu__tell("stream name=near rate=%.17g", rate);
		emu__tell("stream name=far rate=%.17g", rate / 2);
		rig__start(&rig, &setup);
		for (unsigned int j = 0; j < 20; j++) {
			assert_int_equal(rig__read(&rig, minutes_19), 0);
			assert_null(tier__trouble(rig.tier));
			assert_tier(rig__latency(&rig, 0, RIG_NEAR), 90, rate, NOTHING_CHANGES);
			if (j || !setup.gen->takes_turns)
				assert_tier(rig__latency(&rig, 0, RIG_FAR), 180, rate / 2,
					    NOTHING_CHANGES);
		}
		assert_true(emu__number("/wraps") >= 20 * 18);
		rig__finish(&rig);
	}
}

/* All counters are about to wrap when they begin, in intervals that users choose. */
TEST(counters_may_wrap_in_short_intervals)
{
	for (unsigned int i = 0; i < RIG_GENERATIONS; i++) {
		make_machine((struct rig_setup){ .gen = &rig_generations[i], .boxes = 12 });
		for (unsigned int j = 0; j < 5; j++) {
			rig_first = (1ULL << TIER_BITS) - 100000;
			emu__tell("mark");
			rig__start(&rig, &setup);
			rig_first = 0;
			assert_int_equal(rig__read(&rig, EMU_SECOND / 10), 0);
			assert_tiers(NOTHING_CHANGES);
			assert_true(emu__number("/wraps") >= 12 * 3);
			rig__finish(&rig);
		}
	}
}

TEST(tiers_are_distinguished)
{
	static const char *const names[] = { "local-ddr", "remote-ddr", "local-pmm", "remote-pmm",
					     "local-cxl" };
	const struct tier_model *model;

	make_machine((struct rig_setup){ .gen = &rig_generations[4], .tiers = "all" });
	emu__tell("stream name=pmm memory=pmm rate=5e7 latency=300");
	emu__tell("stream name=pmm2 memory=pmm remote=1 rate=4e7 latency=400");
	emu__tell("stream name=cxl memory=cxl rate=3e7 latency=250");
	rig__start(&rig, &setup);
	assert_int_equal(rig__read(&rig, EMU_SECOND), 0);
	model = tier__model(rig.tier);
	assert_int_equal(rig.measured, 5);
	for (unsigned int i = 0; i < 5; i++) {
		static const double latency[] = { 90, 180, 300, 400, 250 };
		static const double rate[] = { 2e8, 1e8, 5e7, 4e7, 3e7 };
		unsigned int j = 0;

		while (strcmp(names[j], model->tiers[rig.samples[i].tier].name))
			j++;
		assert_tier(rig__latency(&rig, 0, i), latency[j], rate[j], NOTHING_CHANGES);
	}
	rig__finish(&rig);
}

/*
 * With more than three tiers each box counts only some, so rates are wrong if addresses spread
 * unevenly: this shows by how much. Latencies need no scaling, and are right.
 */
TEST(four_skewed_tiers_have_right_latencies)
{
	static const double latency[] = { 90, 180, 300, 400 }, rate[] = { 2e8, 1e8, 5e7, 4e7 };
	double off = 0;

	for (unsigned int seed = 0; seed < 250; seed++) {
		make_machine((struct rig_setup){ .gen = &rig_generations[2], .tiers = "all" });
		emu__tell("stream name=pmm memory=pmm rate=5e7 latency=300");
		emu__tell("stream name=pmm2 memory=pmm remote=1 rate=4e7 latency=400");
		emu__tell("stream name=near skew=%u spread=10", 4 * seed);
		emu__tell("stream name=far skew=%u spread=10", 4 * seed + 1);
		emu__tell("stream name=pmm skew=%u spread=10", 4 * seed + 2);
		emu__tell("stream name=pmm2 skew=%u spread=10", 4 * seed + 3);
		rig__start(&rig, &setup);
		assert_true(tier__scales(rig.tier));
		assert_int_equal(rig__read(&rig, EMU_SECOND / 10), 0);
		for (unsigned int i = 0; i < 4; i++) {
			near_to("latency", rig__latency(&rig, 0, i)->latency_ns, latency[i],
				SOMETHING_CHANGES);
			off = fmax(off, fabs(rig__latency(&rig, 0, i)->rate / rate[i] - 1));
		}
		rig__finish(&rig);
	}
	print_message("four tiers, skewed: the worst of 1000 rates is %.1f %% off\n", off * 100);
	assert_true(off < 0.25);
}

TEST(too_few_requests_give_no_latency)
{
	make_machine((struct rig_setup){ .gen = &rig_generations[2], .min_inserts = 1000 });
	emu__tell("stream name=near rate=0");
	emu__tell("stream name=far rate=10000");
	rig__start(&rig, &setup);
	assert_int_equal(rig__read(&rig, EMU_SECOND / 10), 0);
	assert_false(rig__latency(&rig, 0, RIG_NEAR)->latency_known);
	assert_false(rig__latency(&rig, 0, RIG_FAR)->latency_known);
	assert_true(rig__latency(&rig, 0, RIG_NEAR)->rate_known);
	assert_true(rig__latency(&rig, 0, RIG_NEAR)->rate == 0);
	assert_int_equal(rig__read(&rig, EMU_SECOND), 0);
	assert_false(rig__latency(&rig, 0, RIG_NEAR)->latency_known);
	assert_true(rig__latency(&rig, 0, RIG_FAR)->latency_known);
	rig__finish(&rig);
}

/*
 * Fault 7: values that are read one after the other are not from one moment, unless the box is
 * frozen. A sample takes longer than the interval here, and a box is frozen for a twentieth of the
 * time.
 */
TEST(slow_reads_do_no_harm)
{
	start((struct rig_setup){ .gen = &rig_generations[2], .boxes = 6 });
	emu__tell("time step=200000");
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(rig__read(&rig, 1e7), 0);
		if (i) /* the counters were set going at another pace */
			assert_tiers(NOTHING_CHANGES);
	}
	rig__finish(&rig);
}

TEST(a_register_gives_the_number_of_boxes)
{
	for (unsigned int i = 0; i < RIG_GENERATIONS; i++) {
		make_machine((struct rig_setup){
			.gen = &rig_generations[i], .boxes = 26, .count = true });
		if (!strcmp(setup.gen->name, "spr") || !strcmp(setup.gen->name, "emr")) {
			assert_int_equal(rig__open(&rig, &setup), -EOPNOTSUPP);
			continue;
		}
		rig__start(&rig, &setup);
		assert_int_equal(tier__boxes(rig.tier, 0), 26);
		rig__finish(&rig);
	}
}

static double between(double low, double high)
{
	return low + (high - low) * ((unit_random() >> 11) * 0x1p-53);
}

static double about(double low, double high)
{
	return exp(between(log(low), log(high)));
}

static unsigned int one_of(unsigned int count)
{
	return unit_random() % count;
}

/*
 * Requests that must not count: other opcodes, hits, other memory. latscope shares fault 10, that
 * most traffic is not seen if prefetchers run ahead, because the events do not count it.
 */
static void random_noise(const struct rig_generation *gen, unsigned int tiers)
{
	emu__tell("stream name=rfo opcode=rfo rate=%g latency=%g remote=%u", about(1e6, 1e9),
		  about(20, 2000), one_of(2));
	emu__tell("stream name=pref opcode=llcprefdata rate=%g latency=%g remote=%u",
		  about(1e6, 1e9), about(20, 2000), one_of(2));
	emu__tell("stream name=hits opcode=%s hit=1 rate=%g latency=%g", gen->opcode,
		  about(1e6, 1e9), about(5, 100));
	if (strstr(gen->tiers, "ddr"))
		emu__tell("stream name=pmm memory=pmm rate=%g latency=%g remote=%u",
			  about(1e6, 1e9), about(100, 1000), tiers > 2 ? 1 : one_of(2));
}

#define MOST_TIERS 3

struct reference {
	unsigned int tiers;
	double latency[MOST_TIERS], rate[MOST_TIERS], ns;
	double skew[2]; /* least and most of how many times the requests of a box another one has */
	bool clocked;
};

static void random_streams(struct reference *reference)
{
	static const char *const names[] = { "name=near", "name=far", "name=third memory=pmm" };

	for (unsigned int i = 0; i < reference->tiers; i++) {
		reference->latency[i] = about(5, 1500);
		/* At least so many that a count more or less in each box does not matter. */
		reference->rate[i] = about(1000, 1e6) * setup.boxes / reference->ns * 1e9;
		emu__tell("stream %s rate=%.17g latency=%.17g skew=%u spread=%g", names[i],
			  reference->rate[i], reference->latency[i], one_of(1 << 30),
			  about(reference->skew[0], reference->skew[1]));
	}
	random_noise(setup.gen, reference->tiers);
}

static void random_interval(struct reference *reference)
{
	double before = between(0, reference->clocked ? reference->ns : 0);

	emu__tell("advance ns=%.0f", before);
	if (reference->clocked)
		emu__tell("clock hz=%g", between(0.8e9, 2.8e9));
	assert_int_equal(rig__read(&rig, reference->ns - before), 0);
}

static void assert_random(const struct reference *reference)
{
	bool changes = reference->skew[1] > 1 || reference->clocked;
	double share = changes ? SOMETHING_CHANGES : NOTHING_CHANGES;

	assert_false(tier__scales(rig.tier));
	for (unsigned int i = 0; i < setup.sockets; i++)
		for (unsigned int j = 0; j < reference->tiers; j++)
			assert_tier(rig__latency(&rig, i, j), reference->latency[j],
				    reference->rate[j], share);
}

static void random_configuration(struct reference reference)
{
	setup.sockets = 1 + one_of(2);
	setup.take = true;
	reference.ns = about(1e7, 1e9);
	reference.clocked = one_of(2);
	rig__machine(&setup);
	emu__tell("clock hz=%g", between(0.8e9, 2.8e9));
	emu__tell("time step=%u", 200 + one_of(2000));
	emu__tell("top short=%g", one_of(2) ? about(1, 1e5) : 0);
	emu__tell("litter seed=%u", one_of(1 << 30));
	emu__tell("mark");
	random_streams(&reference);
	rig__start(&rig, &setup);
	if (setup.gen->takes_turns)
		random_interval(&reference);
	random_interval(&reference);
	assert_random(&reference);
	rig__finish(&rig);
}

TEST(a_thousand_configurations_are_right)
{
	unsigned int count = getenv("LATSCOPE_SOAK") ? 20000 : 1000;

	worst = 0;
	for (unsigned int i = 0; i < count; i++) {
		struct reference reference = { .tiers = 2, .skew = { 1, one_of(2) ? 8 : 1 } };

		setup = (struct rig_setup){ .gen = &rig_generations[one_of(RIG_GENERATIONS)] };
		setup.boxes = one_of(50) ? 2 + one_of(4) : setup.gen->boxes;
		random_configuration(reference);
	}
	print_message("%u configurations, the worst figure is %.3f %% off\n", count, worst * 100);
}

/* On Ice Lake, and Sapphire, Emerald and Granite Rapids; others have two. Boxes from the fewest. */
TEST(a_thousand_of_three_tiers_are_right)
{
	unsigned int count = getenv("LATSCOPE_SOAK") ? 20000 : 1000;

	worst = 0;
	for (unsigned int i = 0; i < count; i++) {
		struct reference reference = { .tiers = 3, .skew = { 10, 10 } };

		setup = (struct rig_setup){ .gen = &rig_generations[2 + one_of(4)],
					    .tiers = "local-ddr,remote-ddr,local-pmm" };
		setup.boxes = one_of(50) ? 4 + one_of(12) : setup.gen->boxes;
		random_configuration(reference);
	}
	print_message("%u configurations of three tiers with one box's requests up to ten times "
		      "another's, the worst figure is %.3f %% off\n",
		      count, worst * 100);
}

UNIT_FIXTURES(.all = { emu__begin, emu__end })
