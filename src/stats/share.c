// SPDX-License-Identifier: BSD-2-Clause
#include "inference.h"

#include <math.h>

struct share_interval share__wilson(uint64_t part, uint64_t whole, double confidence)
{
	double n = (double)whole, share = (double)part / n, z, square, middle, half;

	if (!whole)
		return (struct share_interval){ 0, 1 };
	z = dist__normal_quantile(0.5 + confidence / 2);
	square = z * z / n;
	middle = (share + square / 2) / (1 + square);
	half = z * sqrt(share * (1 - share) / n + square / (4 * n)) / (1 + square);
	/* At 0 and 1 the difference is exact except for rounding. */
	return (struct share_interval){ part ? middle - half : 0,
					part < whole ? middle + half : 1 };
}

double share__odds_ratio(double off, double on)
{
	if (off <= 0 || off >= 1 || on < 0 || on >= 1)
		return NAN;
	return on / (1 - on) / (off / (1 - off));
}
