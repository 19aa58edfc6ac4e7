// SPDX-License-Identifier: BSD-2-Clause
#include "notes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <core/vec.h>

int notes__add(struct notes *notes, const char *format, ...)
{
	char **grown;
	va_list args;
	int len;

	grown = vec__grow(notes->lines, notes->nr, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	notes->lines = grown;
	va_start(args, format);
	len = vasprintf(&grown[notes->nr], format, args);
	va_end(args);
	if (len < 0)
		return -ENOMEM;
	notes->nr++;
	return 0;
}

void notes__clear(struct notes *notes)
{
	for (size_t i = 0; i < notes->nr; i++)
		free(notes->lines[i]);
	free(notes->lines);
	notes->lines = NULL;
	notes->nr = 0;
}
