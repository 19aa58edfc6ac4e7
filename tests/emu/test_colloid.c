// SPDX-License-Identifier: BSD-2-Clause
/*
 * Colloid's decision in a closed loop: the emulated load uses two tiers that queue; each quantum is
 * measured and decided, and the requests are distributed as decided.
 */
#include "rig.h"

#include "msrfs/random.h"
#include "probes/tierlat/columns.h"

#define QUANTUM 1e7 /* ns */
#define EQUAL 0.05 /* latencies that differ by no more are equal */
#define CALM 30 /* quanta without any inequality, more for a longer mean: it has settled */

enum form { SEARCH, CLOSED };

struct controller {
	enum form form;
	double weight; /* weight of a new quantum in the mean */
	struct tier_ewma near, far;
	struct colloid_search search;
	struct rig rig;
	/* A user that applies the shift to where pages are now, not to the measured p. */
	bool moves_pages;
	double most; /* of the shift */
	double noise; /* of what is measured, standard deviation */
	uint64_t seed;
};

static const struct colloid_params params = { COLLOID_DELTA, COLLOID_EPSILON };

static double noisy(struct controller *controller, double value)
{
	double normal = -6;

	for (unsigned int i = 0; i < 12; i++)
		normal += random_unit(&controller->seed);
	return value * (1 + controller->noise * normal);
}

static void add(struct controller *controller, struct tier_ewma *ewma, unsigned int tier)
{
	struct tier_latency result = *rig__latency(&controller->rig, 0, tier);

	result.rate = noisy(controller, result.rate);
	result.outstanding = noisy(controller, result.outstanding);
	tier_ewma__add(ewma, controller->weight, &result);
}

static struct colloid_move decide(struct controller *controller)
{
	struct colloid_load load;

	add(controller, &controller->near, RIG_NEAR);
	add(controller, &controller->far, RIG_FAR);
	load = (struct colloid_load){ controller->near.outstanding, controller->near.rate,
				      controller->far.outstanding, controller->far.rate };
	if (controller->form == CLOSED)
		return colloid__closed(&load);
	return colloid_search__step(&controller->search, &params, &load);
}

static void share_out(double p)
{
	emu__tell("loop p=%.17g", fmin(fmax(p, 0.001), 0.999));
}

/* Measures, decides, and distributes from the measured p. */
static void quantum(struct controller *controller)
{
	struct colloid_move move;

	assert_int_equal(rig__read(&controller->rig, QUANTUM), 0);
	move = decide(controller);
	assert_true(move.known);
	if (controller->moves_pages)
		share_out(emu__number("/p") + colloid__limited(move.shift, controller->most));
	else
		share_out(move.p + move.shift);
}

/* The quantum from which the tiers are equal and stay so. */
static unsigned int settle(struct controller *controller, unsigned int bound)
{
	unsigned int quanta = 0, since = 0, calm = fmax(CALM, 8 / controller->weight);

	while (quanta - since < calm && since <= bound) {
		quantum(controller);
		quanta++;
		if (emu__imbalance() > EQUAL)
			since = quanta;
	}
	if (since > bound)
		fail_msg("after %u quanta the tiers differ by %.1f %%", quanta,
			 emu__imbalance() * 100);
	return since;
}

static void begin(struct controller *controller, double p)
{
	static const struct rig_setup setup = { .gen = &rig_generations[2], .boxes = 2 };

	controller->near.begun = controller->far.begun = false;
	colloid_search__begin(&controller->search);
	rig__machine(&setup);
	emu__tell("time step=100"); /* so that a quantum has one p from beginning to end */
	emu__tell("stream name=near idle=80 service=20 capacity=4e8");
	emu__tell("stream name=far idle=150 service=20 capacity=2e8");
	emu__tell("loop requests=80");
	share_out(p);
	rig__start(&controller->rig, &setup);
}

/* From each of so many splits, and again when the load has risen or fallen. */
static void converges(enum form form, double weight, unsigned int splits, unsigned int bound)
{
	static const double loads[] = { 150, 60, 100 };
	struct controller controller = { .form = form, .weight = weight };
	unsigned int first = 0, again = 0;

	for (unsigned int i = 0; i < splits; i++) {
		begin(&controller, i / (splits - 1.0));
		first = fmax(first, settle(&controller, bound));
		for (unsigned int j = 0; j < 3; j++) {
			emu__tell("loop requests=%g", loads[j]);
			again = fmax(again, settle(&controller, bound));
		}
		rig__finish(&controller.rig);
	}
	print_message("equal within %u quanta, after a step in load within %u\n", first, again);
}

TEST(the_search_converges_and_holds)
{
	converges(SEARCH, 1, 11, 20);
}

TEST(the_search_converges_on_means)
{
	converges(SEARCH, 1 / 4.0, 5, 60);
}

/*
 * Uses means, as HeMem does. Single quanta react too fast for tiers near their capacity: at a load
 * of 150 the decision would oscillate for ever.
 */
TEST(the_closed_form_converges_on_means)
{
	converges(CLOSED, 1 / 4.0, 5, 150);
}

/*
 * Uses the mean that latscope and HeMem use by default. Each quantum moves by the mean of the
 * sixteen before, so it goes past the balance several times on its way.
 */
TEST(both_forms_converge_by_default)
{
	converges(SEARCH, TIER_WEIGHT, 3, 240);
	converges(CLOSED, TIER_WEIGHT, 3, 260);
}

/* After going past the balance, the search comes back and stays. */
TEST(the_search_does_not_flap)
{
	static const double weights[] = { 1, 1 / 4.0, TIER_WEIGHT };

	for (unsigned int i = 0; i < 3; i++) {
		struct controller controller = { .form = SEARCH, .weight = weights[i] };
		double p;

		begin(&controller, 0.5);
		settle(&controller, 240);
		p = emu__number("/p");
		for (unsigned int j = 0; j < 200; j++) {
			quantum(&controller);
			assert_true(fabs(emu__number("/p") - p) < 0.005);
		}
		rig__finish(&controller.rig);
	}
}

#define QUANTA 260

/* The quantum after which the tiers differ by at most `bound`; *tail: by how much at the end. */
static unsigned int last_above(struct controller *controller, double bound, double *tail)
{
	unsigned int last = 0;

	*tail = 0;
	for (unsigned int i = 0; i < QUANTA; i++) {
		double differs;

		quantum(controller);
		differs = emu__imbalance();
		if (differs > bound)
			last = i + 1;
		if (i >= QUANTA - 60)
			*tail = fmax(*tail, differs);
	}
	return last;
}

/* Noise makes the tiers differ, because it moves p, and more so near their capacity. */
TEST(moving_pages_within_the_limit_settles)
{
	static const double weights[] = { 1 / 4.0, TIER_WEIGHT }, noises[] = { 0, 0.01, 0.03 };
	static const unsigned int most[] = { 80, 230 };

	for (unsigned int i = 0; i < 2 * 3; i++) {
		double noise = noises[i % 3], bound = 0.08 + 5 * noise, worst = 0, tail;
		unsigned int settled = 0;

		for (unsigned int start = 0; start < 3; start++) {
			struct controller controller = { .weight = weights[i / 3],
							 .moves_pages = true,
							 .most = COLLOID_MAX_SHIFT,
							 .noise = noise,
							 .seed = 3 * i + start };

			begin(&controller, start / 2.0);
			settled = fmax(settled, last_above(&controller, bound, &tail));
			worst = fmax(worst, tail);
			rig__finish(&controller.rig);
		}
		print_message("weight %.4f, noise %.0f %%: within %.0f %% after %u quanta, %.0f %% "
			      "in the last 60\n",
			      weights[i / 3], noise * 100, bound * 100, settled, worst * 100);
		assert_true(settled <= most[i / 3]);
	}
}

/* Why there is a limit: because of the mean, the shift is requested until made many times. */
TEST(moving_pages_without_a_limit_swings)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct controller controller = { .weight = TIER_WEIGHT,
						 .moves_pages = true,
						 .most = 1,
						 .noise = 0.03 * i,
						 .seed = i };
		double tail;

		begin(&controller, 0.5);
		last_above(&controller, 1, &tail);
		print_message("noise %u %%: differs by %.0f %% in the last 60\n", 3 * i,
			      tail * 100);
		assert_true(tail > 0.3);
		rig__finish(&controller.rig);
	}
}

UNIT_FIXTURES(.all = { emu__begin, emu__end })
