/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_STATS_HOLM_H
#define LATSCOPE_STATS_HOLM_H

#include <stddef.h>

/*
 * Corrects p-values for their number, in place, by Holm's step-down method (S. Holm, Scand. J.
 * Stat. 6 (1979) 65-70). If those up to alpha are rejected, the probability of any error is at most
 * alpha, whatever the dependence between the tests. 0 or -ENOMEM.
 */
int holm__adjust(double *p, size_t nr);

#endif
