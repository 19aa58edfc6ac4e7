// SPDX-License-Identifier: BSD-2-Clause
#include "cpus.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <core/number_list.h>
#include <host/first_line.h>

#define LIST 4096 /* sysfs returns at most a page */

struct marks {
	bool *listed;
	unsigned int limit;
};

static int mark(void *to, unsigned long low, unsigned long high)
{
	const struct marks *marks = to;

	for (; low <= high && low < marks->limit; low++)
		marks->listed[low] = true;
	return 0;
}

int cpus__parse(const char *text, bool *listed, unsigned int limit)
{
	struct marks marks = { listed, limit };

	memset(listed, 0, limit * sizeof(*listed));
	return *text && number_list__each(text, INT_MAX, mark, &marks) ? -EUCLEAN : 0;
}

int cpus__read(const char *path, bool *listed, unsigned int limit)
{
	char text[LIST];
	int err = first_line__read("", path, text, sizeof(text));

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
