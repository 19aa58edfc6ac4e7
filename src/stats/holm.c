// SPDX-License-Identifier: BSD-2-Clause
#include "holm.h"

#include <errno.h>
#include <stdlib.h>

static int by_value(const void *left, const void *right)
{
	double a = **(double *const *)left, b = **(double *const *)right;

	return a < b ? -1 : a > b;
}

int holm__adjust(double *p, size_t nr)
{
	double **ranked, least = 0;

	ranked = calloc(nr + 1, sizeof(*ranked));
	if (!ranked)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		ranked[i] = &p[i];
	qsort(ranked, nr, sizeof(*ranked), by_value);
	for (size_t i = 0; i < nr; i++) {
		double adjusted = *ranked[i] * (double)(nr - i);

		/* If a hypothesis is not rejected, no later one is either. */
		if (adjusted > least)
			least = adjusted > 1 ? 1 : adjusted;
		*ranked[i] = least;
	}
	free(ranked);
	return 0;
}
