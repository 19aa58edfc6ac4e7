// SPDX-License-Identifier: BSD-2-Clause
#include "sequential.h"

#include <math.h>

#include "inference.h"
#include "judge.h"

bool sequential__plans_again(const struct sequential *plan, size_t runs)
{
	return plan->effect > 0 && runs >= JUDGE_LEAST_OBSERVATIONS &&
	       (runs == JUDGE_LEAST_OBSERVATIONS || sequential__is_look(plan, runs));
}

void sequential__plan(struct sequential *plan, size_t runs, size_t needed)
{
	plan->planned = needed && needed < plan->most ? needed : plan->most;
	if (plan->planned < runs)
		plan->planned = runs;
}

bool sequential__is_look(const struct sequential *plan, size_t runs)
{
	return runs >= plan->planned ||
	       (runs == (plan->planned + 1) / 2 && runs >= JUDGE_LEAST_OBSERVATIONS);
}

double sequential__level(const struct sequential *plan, size_t runs)
{
	double z = dist__normal_quantile(1 - plan->alpha / 2), until;

	if (runs >= plan->planned)
		return fmax(plan->alpha - plan->spent, 0);
	until = dist__t_both_tails(z / sqrt((double)runs / (double)plan->planned), INFINITY);
	return fmax(until - plan->spent, 0);
}

double sequential__effect(double spread, size_t runs, double level)
{
	double n = (double)runs, df = 2 * n - 2;
	double sum = dist__t_quantile(1 - level / 2, df) + dist__t_quantile(SEQUENTIAL_POWER, df);

	return expm1(spread * sqrt(2 / n) * sum);
}

size_t sequential__needed(double spread, double effect, double level)
{
	size_t low = JUDGE_LEAST_OBSERVATIONS, high = SEQUENTIAL_MOST_RUNS;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sequential__effect(spread, middle, level) <= effect)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
