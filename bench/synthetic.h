/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Synthetic recordings of a known distribution: a lognormal body with a Pareto tail. Location, tail
 * and rate differ from run to run and drift within a run; counts are Poisson.
 */
#ifndef LATSCOPE_BENCH_SYNTHETIC_H
#define LATSCOPE_BENCH_SYNTHETIC_H

#include <stdint.h>

#include <latscope/event.h>

#define SYNTHETIC_TAIL_NS 8000

struct synthetic {
	double tail; /* share of the events at or beyond SYNTHETIC_TAIL_NS, above 0.3 % */
	double rate; /* events per interval */
	/* Spreads of the logarithms of location, odds of the Pareto part, and rate: between runs */
	double run_location, run_tail, run_rate;
	double run_length; /* the same of how far the Pareto part reaches */
	double location, tail_drift, rate_drift; /* and between intervals */
	double correlation; /* between neighbouring intervals: AR(1) */
};

struct synthetic_run {
	double location, tail, rate, length; /* of this run */
	double states[3]; /* of the three drifts */
};

void synthetic__seed(uint64_t seed);

/* Uniform in [0, 1), or below a number: xoshiro256**. */
double synthetic__uniform(void);
unsigned int synthetic__below(unsigned int limit);

/* Standard normal. */
double synthetic__normal(void);

/*
 * Prints one figure with its standard error; leaves out `bound`, which is limit or least, if it is
 * 0.
 */
void synthetic__print_share(const char *name, double share, unsigned int pairs, const char *bound,
			    double limit);

void synthetic__start(const struct synthetic *model, struct synthetic_run *run);

/* Adds the next interval of the run. */
void synthetic__interval(const struct synthetic *model, struct synthetic_run *run,
			 struct lat_hist *hist);

#endif
