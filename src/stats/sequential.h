/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When to look at an experiment whose runs come one after another, how strict each look has to be,
 * and how many runs an effect needs. Each look spends a part of the error probability (K. K. G.
 * Lan, D. L. DeMets, Biometrika 70 (1983) 659-663; the function of P. C. O'Brien, T. R. Fleming,
 * Biometrics 35 (1979) 549-556). The parts add up to it, so it holds for any tests, however they
 * depend on each other.
 */
#ifndef LATSCOPE_STATS_SEQUENTIAL_H
#define LATSCOPE_STATS_SEQUENTIAL_H

#include <stdbool.h>
#include <stddef.h>

#define SEQUENTIAL_POWER 0.8 /* probability of finding the effect that was asked for */
#define SEQUENTIAL_MOST_RUNS 1000000

struct sequential {
	size_t planned; /* runs on each side */
	size_t most; /* if they are planned by an effect */
	double effect; /* plan by it: the ratio to find is 1 + effect; 0: `planned` is fixed */
	double alpha; /* error probability of the whole experiment */
	double spent; /* by the looks before */
};

/*
 * Plan again when so many runs are there on each side? With an effect, as soon as the spread is
 * known and before each look. This uses the spread only and not the difference, so it does not
 * make errors more frequent.
 */
bool sequential__plans_again(const struct sequential *plan, size_t runs);

/* `needed`: the most that any test needs; 0: not known. */
void sequential__plan(struct sequential *plan, size_t runs, size_t needed);

/*
 * Look when so many runs are there on each side? After half of them, if these are enough to
 * measure their spread, and after all.
 */
bool sequential__is_look(const struct sequential *plan, size_t runs);

/* The error probability that a look at so many runs may spend. */
double sequential__level(const struct sequential *plan, size_t runs);

/*
 * Runs on each side that find a ratio of 1 + effect with SEQUENTIAL_POWER, in a test at `level`. At
 * least 3, at most SEQUENTIAL_MOST_RUNS. `spread`: standard deviation of the logarithm from run to
 * run.
 */
size_t sequential__needed(double spread, double effect, double level);

/* The reverse: the effect that so many runs on each side find. */
double sequential__effect(double spread, size_t runs, double level);

#endif
