// SPDX-License-Identifier: BSD-2-Clause
#include "nearest.h"

#include <string.h>

#define MOST_LENGTH 32
/* Letters that are wrong, missing, too many, or swapped with the next one. */
#define MOST_DISTANCE 2

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Optimal string alignment distance. */
static unsigned int distance(const char *a, const char *b, size_t len_a, size_t len_b)
{
	unsigned int of[MOST_LENGTH + 1][MOST_LENGTH + 1];

	for (size_t i = 0; i <= len_a; i++)
		of[i][0] = (unsigned int)i;
	for (size_t j = 0; j <= len_b; j++)
		of[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= len_a; i++) {
		for (size_t j = 1; j <= len_b; j++) {
			of[i][j] = least(of[i - 1][j] + 1, of[i][j - 1] + 1);
			of[i][j] = least(of[i][j], of[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				of[i][j] = least(of[i][j], of[i - 2][j - 2] + 1);
		}
	}
	return of[len_a][len_b];
}

void nearest__add(struct nearest *nearest, const char *word, const char *name)
{
	size_t len = strlen(word), of_name = strlen(name);
	unsigned int found;

	if (len < 2 || len > MOST_LENGTH || of_name > MOST_LENGTH)
		return;
	found = distance(word, name, len, of_name);
	if (found > MOST_DISTANCE || (found > 1 && 3 * found > of_name) ||
	    (nearest->name && found >= nearest->distance))
		return;
	*nearest = (struct nearest){ name, found };
}
