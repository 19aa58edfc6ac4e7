// SPDX-License-Identifier: BSD-2-Clause
/* With LD_PRELOAD: reallocarray() call number NO_MEMORY fails, and says so on stderr. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void *reallocarray(void *array, size_t nr, size_t size)
{
	static int calls;
	const char *which = getenv("NO_MEMORY");

	if (++calls == (which ? atoi(which) : 0)) {
		fputs("no memory\n", stderr);
		errno = ENOMEM;
		return NULL;
	}
	return size && nr > SIZE_MAX / size ? NULL : realloc(array, nr * size);
}
