// SPDX-License-Identifier: BSD-2-Clause
#include "cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST 4096 /* sysfs returns at most a page */

int cpus__parse(const char *text, bool *listed, unsigned int limit)
{
	unsigned int from, to;
	int length;

	memset(listed, 0, limit * sizeof(*listed));
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
			listed[from] = true;
	}
	return 0;
}

int cpus__read(const char *path, bool *listed, unsigned int limit)
{
	FILE *stream = fopen(path, "re");
	char text[LIST] = "";
	int err = 0;

	if (!stream)
		return -errno;
	if (!fgets(text, sizeof(text), stream))
		err = -EUCLEAN;
	fclose(stream);
	return err ? err : cpus__parse(text, listed, limit);
}

/* A kernel without CPU isolation has no such file, or an empty one. */
static void add_isolated(struct cpus *cpus, const char *path, bool *listed)
{
	if (cpus__read(path, listed, cpus->nr))
		return;
	for (unsigned int cpu = 0; cpu < cpus->nr; cpu++)
		cpus->isolated[cpu] |= listed[cpu];
}

int cpus__new(struct cpus *cpus, unsigned int nr)
{
	bool *listed = calloc(nr, sizeof(*listed));
	int err = -ENOMEM;

	*cpus = (struct cpus){ nr, calloc(nr, 1), calloc(nr, 1), calloc(nr, 1) };
	if (!listed || !cpus->present || !cpus->online || !cpus->isolated)
		goto free_listed;
	add_isolated(cpus, CPUS_ISOLATED, listed);
	add_isolated(cpus, CPUS_NOHZ_FULL, listed);
	err = cpus__read(CPUS_PRESENT, cpus->present, nr);
	if (!err)
		err = cpus__look(cpus);
free_listed:
	free(listed);
	return err;
}

void cpus__free(struct cpus *cpus)
{
	free(cpus->present);
	free(cpus->online);
	free(cpus->isolated);
}

int cpus__look(struct cpus *cpus)
{
	return cpus__read(CPUS_ONLINE, cpus->online, cpus->nr);
}
