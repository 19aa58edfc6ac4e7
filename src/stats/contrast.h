/* SPDX-License-Identifier: BSD-2-Clause */
/* The difference of the centres of two groups, from independent observations. */
#ifndef LATSCOPE_STATS_CONTRAST_H
#define LATSCOPE_STATS_CONTRAST_H

struct contrast_group {
	double centre;
	double variance; /* of one observation; the centre's is this / observations */
	double observations; /* at least 2 */
	double known; /* variance of the centre that is known, not observed */
};

struct contrast {
	double difference; /* on - off */
	double low, high; /* its interval */
	double p; /* two-sided */
};

/*
 * Student's t by Welch (Biometrika 34 (1947) 28-35) and with a common variance; returns the wider
 * interval and the larger p. With equal numbers of observations that is always Welch's. With 3
 * against 10 or more, Welch's alone errs in 6 to 8 % of cases at a nominal 5 %; the other one is
 * exact if the variances are equal.
 *
 * The null hypothesis is that the difference lies within +-margin; with a margin of 0, that there
 * is no difference. If nothing varies at all, p is 0 or 1.
 */
struct contrast contrast__of(const struct contrast_group *off, const struct contrast_group *on,
			     double confidence, double margin);

#endif
