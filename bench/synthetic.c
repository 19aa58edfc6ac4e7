// SPDX-License-Identifier: BSD-2-Clause
#include "synthetic.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#define LOCATION 2000.0 /* ns, median of the body */
#define SIGMA 0.5 /* of its logarithm */
#define TAIL_FROM 4000.0 /* ns, where the Pareto part begins */
#define TAIL_SHAPE 1.3

static uint64_t state[4];

static uint64_t rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

/* xoshiro256** (D. Blackman, S. Vigna, ACM Trans. Math. Softw. 47 (2021) 36). */
static uint64_t next(void)
{
	uint64_t result = rotate(state[1] * 5, 7) * 9, shifted = state[1] << 17;

	state[2] ^= state[0];
	state[3] ^= state[1];
	state[1] ^= state[2];
	state[0] ^= state[3];
	state[2] ^= shifted;
	state[3] = rotate(state[3], 45);
	return result;
}

/* SplitMix64 fills the state, as its authors advise. */
void synthetic__seed(uint64_t seed)
{
	for (unsigned int i = 0; i < 4; i++) {
		uint64_t z = seed += 0x9e3779b97f4a7c15;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
		z = (z ^ z >> 27) * 0x94d049bb133111eb;
		state[i] = z ^ z >> 31;
	}
}

double synthetic__uniform(void)
{
	return (double)(next() >> 11) * 0x1p-53;
}

unsigned int synthetic__below(unsigned int limit)
{
	return (unsigned int)(synthetic__uniform() * limit);
}

double synthetic__normal(void)
{
	double radius = sqrt(-2 * log(1 - synthetic__uniform()));

	return radius * cos(2 * M_PI * synthetic__uniform());
}

/* Counts exponential gaps; for small means. */
static uint64_t poisson_small(double mean)
{
	double product = 1 - synthetic__uniform(), limit = exp(-mean);
	uint64_t count = 0;

	for (; product > limit; count++)
		product *= 1 - synthetic__uniform();
	return count;
}

/* Transformed rejection: W. Hoermann, Insur. Math. Econ. 12 (1993) 39-45, algorithm PTRS. */
static uint64_t poisson_large(double mean)
{
	double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
	double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), low = 0.9277 - 3.6224 / (b - 2);

	for (;;) {
		double u = synthetic__uniform() - 0.5, v = 1 - synthetic__uniform();
		double us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + mean + 0.43);

		if (us >= 0.07 && v <= low)
			return (uint64_t)k;
		if (k < 0 || (us < 0.013 && v > us))
			continue;
		if (log(v * inverse_alpha / (a / (us * us) + b)) <=
		    k * log(mean) - mean - lgamma(k + 1))
			return (uint64_t)k;
	}
}

static uint64_t poisson(double mean)
{
	return mean < 10 ? poisson_small(mean) : poisson_large(mean);
}

/* Share of the events below an edge; `pareto` is the share in the Pareto part alone. */
static double below(double log_edge, double pareto, double location, double tail)
{
	double z = (location - log_edge) / SIGMA;
	double body = z < -6 ? 1 : 0.5 * erfc(z / M_SQRT2);

	return (1 - tail) * body + tail * pareto;
}

static double pareto_below(double edge)
{
	return edge > TAIL_FROM ? 1 - pow(TAIL_FROM / edge, TAIL_SHAPE) : 0;
}

/* Returns the share of the Pareto part that puts this share of all events into the tail. */
static double pareto_part(double tail)
{
	double of_body = 1 - below(log(SYNTHETIC_TAIL_NS), 0, log(LOCATION), 0);
	double of_pareto = 1 - pareto_below(SYNTHETIC_TAIL_NS);

	return (tail - of_body) / (of_pareto - of_body);
}

void synthetic__start(const struct synthetic *model, struct synthetic_run *run)
{
	double part = pareto_part(model->tail);

	run->location = log(LOCATION) + model->run_location * synthetic__normal();
	run->tail = log(part / (1 - part)) + model->run_tail * synthetic__normal();
	run->rate = log(model->rate) + model->run_rate * synthetic__normal();
	run->length = model->run_length > 0 ? exp(model->run_length * synthetic__normal()) : 1;
	for (unsigned int i = 0; i < 3; i++)
		run->states[i] = synthetic__normal();
}

static void drift(const struct synthetic *model, struct synthetic_run *run)
{
	double keep = model->correlation, add = sqrt(1 - keep * keep);

	for (unsigned int i = 0; i < 3; i++)
		run->states[i] = keep * run->states[i] + add * synthetic__normal();
}

static void add_events(struct lat_hist *hist, uint32_t slot, uint64_t count)
{
	uint64_t low = hist_slot_low_ns(slot), high = hist_slot_low_ns(slot + 1);

	hist->slots[slot] += count;
	hist->sum_ns += count * ((low + high) / 2);
	if (low >= SYNTHETIC_TAIL_NS)
		hist->tail += count;
	if (count && hist->max_ns < high - 1)
		hist->max_ns = high - 1;
}

/* For the lower edge of every slot. */
static struct {
	double log;
	double pareto;
} edges[HIST_SLOTS];

static void fill_edges(void)
{
	for (uint32_t i = 1; i < HIST_SLOTS; i++) {
		edges[i].log = log((double)hist_slot_low_ns(i));
		edges[i].pareto = pareto_below((double)hist_slot_low_ns(i));
	}
}

void synthetic__interval(const struct synthetic *model, struct synthetic_run *run,
			 struct lat_hist *hist)
{
	double location = run->location + model->location * run->states[0];
	double tail = 1 / (1 + exp(-run->tail - model->tail_drift * run->states[1]));
	double rate = exp(run->rate + model->rate_drift * run->states[2]);
	double before = 0, after, pareto;

	if (edges[1].log == 0)
		fill_edges();
	for (uint32_t slot = 0; slot < HIST_OVERFLOW_SLOT; slot++) {
		pareto = model->run_length > 0
				 ? pareto_below((double)hist_slot_low_ns(slot + 1) / run->length)
				 : edges[slot + 1].pareto;
		after = below(edges[slot + 1].log, pareto, location, tail);
		add_events(hist, slot, poisson(rate * (after - before)));
		before = after;
		if (rate * (1 - before) < 1e-6)
			break;
	}
	drift(model, run);
}

void synthetic__print_share(const char *name, double share, unsigned int pairs, const char *bound,
			    double limit)
{
	printf("figure=%s value=%.1f unit=%%", name, share * 100);
	if (limit > 0)
		printf(" %s=%g", bound, limit);
	printf(" error=%.1f\n", sqrt(share * (1 - share) / pairs) * 100);
	fflush(stdout);
}
