// SPDX-License-Identifier: BSD-2-Clause
#include "grow.h"

#include <stdlib.h>

void *grow__one(void *array, size_t nr, size_t size)
{
	if (nr & (nr - 1))
		return array;
	return reallocarray(array, nr ? nr * 2 : 1, size);
}
