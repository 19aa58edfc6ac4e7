// SPDX-License-Identifier: BSD-2-Clause
/*
 * The decision which share of the pages to move, in a closed loop with two simulated tiers that
 * queue: so many requests are in flight, and each tier's latency grows with its own rate.
 */
#include "unit.h"

#include "probes/tierlat/act.h"
#include "probes/tierlat/steer.h"

#define EQUAL 0.05
#define BOUND 60 /* quanta */

/* ns, requests per second; how suddenly the latency grows near the capacity */
struct queue {
	double idle, service, capacity, power;
};

struct machine {
	struct queue near, far;
	double requests; /* in flight */
};

/* That of tests/emu; and two whose tiers are fast up to their capacity. */
static const struct machine gentle = { { 80, 20, 4e8, 1 }, { 150, 20, 2e8, 1 }, 80 };
static const struct machine steep = { { 80, 60, 4e8, 4 }, { 150, 60, 2e8, 4 }, 80 };
static const struct machine steeper = { { 80, 100, 4e8, 8 }, { 200, 100, 1e8, 8 }, 100 };

struct state {
	double near_ns, far_ns, rate;
};

static double latency(const struct queue *queue, double rate)
{
	double used = rate / queue->capacity;

	return used >= 1 ? INFINITY
			 : queue->idle + queue->service * pow(used, queue->power) / (1 - used);
}

/* By Little's law; the number in flight rises with the rate. */
static struct state balance(const struct machine *machine, double p)
{
	double low = 0, high = 2e9;
	struct state state;

	for (unsigned int i = 0; i < 60; i++) {
		double rate = (low + high) / 2, near = p * rate, far = rate - near, in_flight;

		state = (struct state){ latency(&machine->near, near), latency(&machine->far, far),
					rate };
		in_flight = (near * state.near_ns + far * state.far_ns) * 1e-9;
		if (in_flight < machine->requests)
			low = rate;
		else
			high = rate;
	}
	state.near_ns = latency(&machine->near, p * low);
	state.far_ns = latency(&machine->far, (1 - p) * low);
	state.rate = low;
	return state;
}

static double imbalance(const struct state *state)
{
	return fabs(state->near_ns - state->far_ns) / fmax(state->near_ns, state->far_ns);
}

static double noisy(double value, double noise)
{
	double normal = -6;

	for (unsigned int i = 0; i < 12; i++)
		normal += unit_uniform();
	return value * (1 + noise * normal);
}

static struct steer_load measure(const struct state *state, double p, double noise)
{
	double near = p * state->rate, far = (1 - p) * state->rate;

	return (struct steer_load){ .known = true,
				    .placement = p,
				    .load = { noisy(near * state->near_ns, noise),
					      noisy(near, noise), noisy(far * state->far_ns, noise),
					      noisy(far, noise) } };
}

static struct steer steer;

static void begin(void)
{
	const struct steer_config config = { COLLOID_DELTA, COLLOID_MAX_SHIFT };

	steer__begin(&steer, &config);
}

/* One quantum; *p follows. */
static struct steer_answer quantum(const struct machine *machine, double *p, double noise)
{
	struct state state = balance(machine, *p);
	struct steer_load load = measure(&state, *p, noise);
	struct steer_answer answer = steer__decide(&steer, &load);

	if (answer.verdict == STEER_MOVE) {
		assert_true(fabs(answer.shift) <= COLLOID_MAX_SHIFT);
		*p = fmin(fmax(*p + answer.shift, 0.001), 0.999);
		steer__moved(&steer, answer.shift, answer.shift);
	}
	return answer;
}

/* The quantum from which on the tiers are equal, of 120; *moves: after the first 60. */
static unsigned int settle(const struct machine *machine, double *p, double noise)
{
	unsigned int since = 0;

	for (unsigned int i = 0; i < 2 * BOUND; i++) {
		struct state state;

		assert_int_not_equal(quantum(machine, p, noise).verdict, STEER_STOP);
		state = balance(machine, *p);
		if (imbalance(&state) > EQUAL)
			since = i + 1;
	}
	return since;
}

static void settles(const struct machine *like, const double *loads, unsigned int nr_loads,
		    double noise, unsigned int may_be_late)
{
	unsigned int worst = 0, late = 0, all = 0;

	for (unsigned int i = 0; i < nr_loads * 11; i++) {
		struct machine machine = *like;
		double p = fmin(fmax(i % 11 / 10.0, 0.001), 0.999);

		begin();
		for (unsigned int step = 0; step < 2; step++) { /* of the load */
			unsigned int quanta;

			machine.requests = loads[(i / 11 + step) % nr_loads];
			quanta = settle(&machine, &p, noise);
			worst = quanta > worst ? quanta : worst;
			late += quanta > BOUND;
			all++;
		}
	}
	print_message("noise %.0f %%: of %u, %u took more than %u quanta, at most %u\n",
		      noise * 100, all, late, BOUND, worst);
	assert_true(late <= may_be_late);
}

TEST(test_it_settles_from_any_start)
{
	static const double loads[] = { 60, 80, 100, 150 };

	settles(&gentle, loads, 4, 0, 0);
	settles(&gentle, loads, 4, 0.01, 0);
	settles(&gentle, loads, 4, 0.03, 1);
}

TEST(test_it_settles_on_steep_curves)
{
	static const double loads[] = { 80, 100, 150 };

	settles(&steep, loads, 3, 0, 0);
	settles(&steep, loads, 3, 0.03, 3);
	settles(&steeper, loads, 3, 0, 0);
	settles(&steeper, loads, 3, 0.03, 6);
}

/* No limit cycle: once settled, almost nothing moves, and the tiers stay equal. */
TEST(test_it_holds_for_1000_quanta)
{
	for (unsigned int start = 0; start <= 10; start++) {
		double p = fmin(fmax(start / 10.0, 0.001), 0.999);
		unsigned int moves = 0;

		begin();
		settle(&gentle, &p, 0.03);
		for (unsigned int i = 0; i < 1000; i++) {
			struct state now;

			moves += quantum(&gentle, &p, 0.03).verdict == STEER_MOVE;
			now = balance(&gentle, p);
			assert_true(imbalance(&now) <= EQUAL);
		}
		assert_in_range(moves, 0, 5);
	}
}

/* If the default tier is always faster, all goes there, and it stays. */
TEST(test_all_goes_to_a_tier_that_is_always_faster)
{
	struct machine idle = gentle;
	struct steer_answer answer = { 0 };
	double p = 0.5;

	idle.requests = 10;
	begin();
	for (unsigned int i = 0; i < BOUND; i++) {
		struct state now = balance(&idle, fmax(fmin(p, 0.999), 0.001));
		struct steer_load load = measure(&now, fmax(fmin(p, 0.999), 0.001), 0.03);

		load.placement = p;
		answer = steer__decide(&steer, &load);
		if (answer.verdict == STEER_MOVE) {
			p += answer.shift;
			assert_true(p <= 1);
			steer__moved(&steer, answer.shift, answer.shift);
		}
	}
	assert_true(p > 0.999);
	assert_int_equal(answer.verdict, STEER_STAY);
	assert_string_equal(answer.why, "nothing left to move");
}

TEST(test_noise_alone_moves_little)
{
	struct machine machine = gentle;
	unsigned int moves = 0;

	for (unsigned int run = 0; run < 20; run++) {
		double p = 0.74; /* equal */

		begin();
		for (unsigned int i = 0; i < 100; i++)
			moves += quantum(&machine, &p, 0.03).verdict == STEER_MOVE;
		assert_true(fabs(p - 0.74) < 0.03);
	}
	assert_in_range(moves, 0, 30);
}

/* Whole pages, each `unit` of all bytes, as many as are asked for; the first one anyway. */
static double move_whole(double p, double shift, double unit, bool first)
{
	double nr = floor(fabs(shift) / unit + 0.25);

	nr = first ? fmax(nr, 1) : nr;
	return fmin(fmax(p + copysign(nr * unit, shift), 0), 1);
}

/* Shares of all bytes that moved to and fro, and from start to end. */
struct travel {
	double moved, net;
	unsigned int late; /* moves after the first 100 quanta */
};

static struct travel travel(const struct machine *machine, double from, double unit, double noise)
{
	struct travel travel = { 0 };
	double p = from, after;
	bool seen = false;

	begin();
	for (unsigned int i = 0; i < 400; i++) {
		double shown = fmin(fmax(p, 0.001), 0.999);
		struct state state = balance(machine, shown);
		struct steer_load load = measure(&state, shown, noise);
		struct steer_answer answer;

		load.placement = p;
		steer__set_unit(&steer, seen ? unit : 0);
		answer = steer__decide(&steer, &load);
		assert_int_not_equal(answer.verdict, STEER_STOP);
		if (answer.verdict != STEER_MOVE)
			continue;
		after = move_whole(p, answer.shift, unit, !seen);
		seen = true;
		travel.moved += fabs(after - p);
		travel.late += i >= 100;
		steer__moved(&steer, answer.shift, after - p);
		p = after;
	}
	travel.net = fabs(p - from);
	return travel;
}

/*
 * Sixteen MiB in large pages, 64 MiB, 256 MiB and 1 GiB: what moved is what had to move, and two
 * pages. It is bounded in a quantum on the average of all.
 */
TEST(test_large_pages_do_not_move_to_and_fro)
{
	static const double units[] = { 1 / 8.0, 1 / 32.0, 1 / 128.0, 1 / 512.0 };
	double worst = 0, noise[] = { 0, 0.03 };
	unsigned int late = 0;

	for (unsigned int i = 0; i < 4 * 3 * 2; i++) {
		double unit = units[i % 4], from = i / 4 % 3 / 2.0;
		struct travel all = travel(&gentle, from, unit, noise[i / 12]);

		print_message("unit %.3f from %.1f: moved %.3f for %.3f\n", unit, from, all.moved,
			      all.net);
		worst = fmax(worst, (all.moved - all.net) / fmax(unit, 0.03));
		late += all.late;
		assert_true(all.moved <= 400 * COLLOID_MAX_SHIFT + unit);
	}
	print_message("at most %.2f of a large page, or of 3 %%, too much; %u late moves\n", worst,
		      late);
	assert_true(worst <= 2);
	assert_in_range(late, 0, 24);
}

/* Pages that are too large for the shift move after as many quanta as allow them. */
TEST(test_the_largest_shift_holds_for_large_pages_on_average)
{
	struct travel all;
	double p = 1;

	begin();
	for (unsigned int i = 0; i < 60; i++) {
		struct state state = balance(&gentle, fmin(p, 0.999));
		struct steer_load load = measure(&state, fmin(p, 0.999), 0);
		struct steer_answer answer;

		load.placement = p;
		steer__set_unit(&steer, 1 / 8.0);
		answer = steer__decide(&steer, &load);
		if (answer.verdict == STEER_MOVE) {
			p += answer.shift;
			steer__moved(&steer, answer.shift, answer.shift);
		}
		assert_true(1 - p <= (i + 1) * COLLOID_MAX_SHIFT + 1e-9);
	}
	assert_true(p < 0.9);
	all = travel(&gentle, 1, 1 / 8.0, 0);
	assert_true(all.net > 0.1);
}

/* All on the default tier: the HMAT's latency of the other one decides whether pages go there. */
TEST(test_an_idle_tier_counts_with_the_latency_that_it_has_without_load)
{
	static const struct {
		double unloaded_ns; /* of the alternate tier, next to 200 ns of the default one */
		enum steer_verdict verdict;
	} cases[] = { { 150, STEER_MOVE }, { 201, STEER_STAY }, { 250, STEER_STAY } };

	for (unsigned int i = 0; i < COUNT_OF(cases); i++) {
		struct steer_load load = { .known = true,
					   .idle_r = true,
					   .placement = 1,
					   .load = { 200, 1, cases[i].unloaded_ns, 1 } };
		struct steer_answer answer = { 0 };

		begin();
		for (unsigned int n = 0; n < 100 && answer.verdict != STEER_MOVE; n++)
			answer = steer__decide(&steer, &load);
		assert_int_equal(answer.verdict, cases[i].verdict);
		if (answer.verdict != STEER_MOVE)
			continue;
		assert_true(answer.shift < 0);
		assert_string_equal(answer.why, "default tier slower, by the HMAT");
		/* It has another latency when it is used: that is no effect of the move. */
		steer__moved(&steer, answer.shift, answer.shift);
		load.idle_r = false;
		load.load.occ_r = 300;
		load.placement += answer.shift;
		answer = steer__decide(&steer, &load);
		assert_int_not_equal(answer.verdict, STEER_STOP);
		assert_true(fabs(steer.ratio - log(1.5)) < 1e-9);
		assert_true(steer.slope < 10);
	}
}

/* Pages of a process that replaces so much of them in a quantum. */
struct turnover {
	double rate; /* of the pages that are ever replaced */
	double stays; /* share of those that never are */
	double weighted, young, old; /* shares on the near node: by weights, and of the pages */
};

static double placement(const struct turnover *pages)
{
	return pages->stays * pages->old + (1 - pages->stays) * pages->young;
}

/* One quantum of an actor that only sets weights. */
static void weigh(const struct machine *machine, struct turnover *pages, double noise)
{
	double p = fmin(fmax(placement(pages), 0.001), 0.999);
	struct state state = balance(machine, p);
	struct steer_load load = measure(&state, p, noise);
	struct steer_answer answer;

	steer__follow(&steer, p);
	answer = steer__decide(&steer, &load);
	assert_int_not_equal(answer.verdict, STEER_STOP);
	if (answer.verdict == STEER_MOVE)
		pages->weighted = act_weights__aim(p, pages->weighted, answer.shift);
	pages->young += pages->rate * (pages->weighted - pages->young);
}

/* So many quanta; returns in how many of the last 500 the tiers were not equal. */
static unsigned int weigh_long(struct turnover *pages, double noise, unsigned int quanta)
{
	unsigned int above = 0;

	begin();
	for (unsigned int i = 0; i < quanta + 500; i++) {
		struct state now;

		weigh(&gentle, pages, noise);
		now = balance(&gentle, fmin(fmax(placement(pages), 0.001), 0.999));
		above += i >= quanta && imbalance(&now) > EQUAL;
	}
	return above;
}

/* Whether pages are replaced at once or slowly, the weights do not overshoot for good. */
TEST(test_weights_settle_at_any_turnover)
{
	static const double rates[] = { 1, 0.5, 0.2, 0.05, 0.02 };

	for (unsigned int i = 0; i < 5; i++) {
		for (unsigned int start = 0; start <= 4; start++) {
			double q = start / 4.0;
			struct turnover pages = { rates[i], 0, q, q, q };
			unsigned int above = weigh_long(&pages, 0.03, 100 + 30 / rates[i]);

			print_message("turnover %.2f from %.2f: not equal in %u of 500 at %.3f\n",
				      rates[i], q, above, placement(&pages));
			assert_true(above <= 10);
		}
	}
}

/* Where they stay, nothing stops, and the weights stay near the placement. */
TEST(test_weights_wait_for_pages_that_stay)
{
	struct turnover none = { 0, 0, 0.98, 1, 1 }, half = { 0.5, 0.5, 1, 1, 1 };

	weigh_long(&none, 0.03, 0);
	assert_true(fabs(none.weighted - 0.899) < 1e-9);
	/* 0.9 is the lowest that weights of at least 0.1 less can give: 0.5 + 0.8 / 2. */
	weigh_long(&half, 0.03, 0);
	assert_true(fabs(half.weighted - placement(&half) + 0.1) < 0.02);
	assert_true(placement(&half) < 0.92);
}

/* Decisions after so many quanta that are all the same. */
static struct steer_answer repeat(struct steer_load load, unsigned int quanta, double follows)
{
	struct steer_answer answer = { 0 };

	for (unsigned int i = 0; i < quanta; i++) {
		answer = steer__decide(&steer, &load);
		if (answer.verdict == STEER_MOVE)
			steer__moved(&steer, answer.shift, answer.shift * follows);
	}
	return answer;
}

/* The default tier takes 80 ns, the alternate one 160 ns, half of the requests each. */
static const struct steer_load unequal = { .known = true,
					   .placement = 0.5,
					   .load = { 80, 1, 160, 1 } };

TEST(test_stolen_counters_stop_it)
{
	struct steer_load load = unequal;

	load.stolen = true;
	assert_int_equal(repeat(load, STEER_PATIENCE - 1, 1).verdict, STEER_UNKNOWN);
	assert_int_equal(repeat(unequal, 1, 1).verdict, STEER_MOVE);
	assert_int_equal(repeat(load, STEER_PATIENCE, 1).verdict, STEER_STOP);
	/* Once stopped, it does not begin again. */
	assert_int_equal(repeat(unequal, 1, 1).verdict, STEER_STOP);
}

TEST(test_a_placement_that_does_not_follow_stops_it)
{
	struct steer_answer answer;

	answer = repeat(unequal, STEER_PATIENCE + 1, 0.2);
	assert_int_equal(answer.verdict, STEER_STOP);
	assert_string_equal(answer.why, "the placement does not follow");
	begin();
	assert_int_equal(repeat(unequal, 20, 0.3).verdict, STEER_MOVE);
	/* Pages that went the other way did not follow either. */
	begin();
	assert_int_equal(repeat(unequal, STEER_PATIENCE + 1, -1).verdict, STEER_STOP);
}

TEST(test_tiers_that_both_become_slower_stop_it)
{
	struct steer_load load = unequal;
	struct steer_answer answer = { 0 };
	unsigned int quanta = 0;

	for (; quanta < 20 && answer.verdict != STEER_STOP; quanta++) {
		answer = repeat(load, 1, 1);
		load.load.occ_l *= 1.1;
		load.load.occ_r *= 1.1;
	}
	assert_int_equal(answer.verdict, STEER_STOP);
	assert_string_equal(answer.why, "both tiers became slower");
	assert_int_equal(quanta, STEER_RISES + 1);
	/* One tier that becomes slower is what moves are for. */
	begin();
	load = unequal;
	for (unsigned int i = 0; i < 20; i++) {
		assert_int_not_equal(repeat(load, 1, 1).verdict, STEER_STOP);
		load.load.occ_l *= 1.02;
	}
}

TEST(test_without_latency_nothing_moves)
{
	struct steer_load load = unequal;

	load.known = false;
	assert_int_equal(repeat(load, 100, 1).verdict, STEER_UNKNOWN);
	load.known = true;
	load.load.ins_r = 0;
	assert_int_equal(repeat(load, 100, 1).verdict, STEER_UNKNOWN);
}

/* The dead band is Colloid's delta, less the error: 2 % is equal, 7 % is not. */
TEST(test_differences_within_delta_are_equal)
{
	struct steer_load load = unequal;

	load.load = (struct colloid_load){ 100, 1, 102, 1 };
	assert_int_equal(repeat(load, 200, 1).verdict, STEER_STAY);
	begin();
	load.load = (struct colloid_load){ 100, 1, 107, 1 };
	assert_int_equal(steer__decide(&steer, &load).verdict, STEER_WAIT);
	for (unsigned int i = 0; i < 60; i++)
		if (steer__decide(&steer, &load).verdict == STEER_MOVE)
			return;
	fail();
}

/* Equal latency is not always the highest rate: docs/tierlat.md has this table. */
TEST(test_equal_latency_is_near_the_highest_rate)
{
	static const struct machine *const machines[] = { &gentle, &steep, &steeper };
	static const char *const names[] = { "gentle", "steep", "steeper" };

	for (unsigned int i = 0; i < 3; i++) {
		double local = balance(machines[i], 0.999).rate, best = 0, at = 0, p = 0.5, ours;

		for (double q = 0.001; q < 1; q += 0.001) {
			double rate = balance(machines[i], q).rate;

			if (rate > best) {
				best = rate;
				at = q;
			}
		}
		begin();
		settle(machines[i], &p, 0.03);
		ours = balance(machines[i], p).rate;
		print_message("%-8s all local 1, 1:1 %.2f, by bandwidth %.2f, ours %.2f at %.3f, "
			      "best %.2f at %.3f\n",
			      names[i], balance(machines[i], 0.5).rate / local,
			      balance(machines[i],
				      machines[i]->near.capacity / (machines[i]->near.capacity +
								    machines[i]->far.capacity))
					      .rate /
				      local,
			      ours / local, p, best / local, at);
		assert_true(ours > local);
		assert_true(ours > 0.9 * best);
	}
}

UNIT_FIXTURES(.each = { begin })
