// SPDX-License-Identifier: BSD-2-Clause
#include "vec.h"

#include <stdlib.h>

void *vec__grow(void *array, size_t nr, size_t size)
{
	if (nr & (nr - 1))
		return array;
	return reallocarray(array, nr ? nr * 2 : 1, size);
}
