// SPDX-License-Identifier: BSD-2-Clause
#include "cpus.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LIST 4096 /* sysfs gives no more than a page */

static int parse(const char *text, bool *online, unsigned int limit)
{
	unsigned int from, to;
	int length;

	for (; *text && *text != '\n'; text += *text == ',') {
		if (sscanf(text, "%u%n", &from, &length) != 1)
			return -EUCLEAN;
		text += length;
		to = from;
		if (*text == '-') {
			if (sscanf(text, "-%u%n", &to, &length) != 1)
				return -EUCLEAN;
			text += length;
		}
		for (; from <= to && from < limit; from++)
			online[from] = true;
	}
	return 0;
}

int cpus__online(const char *path, bool *online, unsigned int limit)
{
	FILE *stream = fopen(path, "re");
	char text[LIST] = "";
	int err = 0;

	if (!stream)
		return -errno;
	memset(online, 0, limit * sizeof(*online));
	if (!fgets(text, sizeof(text), stream))
		err = -EUCLEAN;
	fclose(stream);
	return err ? err : parse(text, online, limit);
}
