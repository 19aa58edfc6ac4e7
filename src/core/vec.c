// SPDX-License-Identifier: BSD-2-Clause
#include "vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void *vec__grow(void *array, size_t nr, size_t size)
{
	if (nr & (nr - 1))
		return array;
	return reallocarray(array, nr ? nr * 2 : 1, size);
}

int vec__append(void *array, size_t *nr, const void *element, size_t size)
{
	char *first;

	memcpy(&first, array, sizeof(first)); /* a pointer of any type */
	first = vec__grow(first, *nr, size);
	if (!first)
		return -ENOMEM;
	memcpy(array, &first, sizeof(first));
	memcpy(first + (*nr)++ * size, element, size);
	return 0;
}
