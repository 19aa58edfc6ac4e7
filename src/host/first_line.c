// SPDX-License-Identifier: BSD-2-Clause
#include "first_line.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

int first_line__read(const char *root, const char *path, char *line, size_t size)
{
	char full[PATH_MAX];
	FILE *stream;
	int err = 0;

	line[0] = '\0';
	if (snprintf(full, sizeof(full), "%s%s", root, path) >= PATH_MAX)
		return -ENAMETOOLONG;
	stream = fopen(full, "re");
	if (!stream)
		return -errno;
	errno = 0;
	if (!fgets(line, (int)size, stream)) {
		err = errno ? -errno : -EUCLEAN;
		line[0] = '\0';
	}
	fclose(stream);
	line[strcspn(line, "\n")] = '\0';
	return err;
}
