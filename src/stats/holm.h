/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_STATS_HOLM_H
#define LATSCOPE_STATS_HOLM_H

#include <stddef.h>

/*
 * Adjusts p-values for their number, in place, by Holm's step-down method (S. Holm, Scand. J. Stat.
 * 6 (1979) 65-70). Rejecting those up to alpha then makes any error with a probability of at most
 * alpha, however the tests depend on each other. 0 or -ENOMEM.
 */
int holm__adjust(double *p, size_t nr);

#endif
