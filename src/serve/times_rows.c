// SPDX-License-Identifier: BSD-2-Clause
#include "times_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct summed {
	unsigned int probe;
	char service[RUN_NAME * 2]; /* empty: the host */
	uint64_t ns[TABLE_COLUMNS];
};

static int compare(const void *left, const void *right)
{
	const struct summed *a = left, *b = right;

	if (a->probe != b->probe)
		return a->probe < b->probe ? -1 : 1;
	return strcmp(a->service, b->service);
}

static void add(struct summed *to, const uint64_t ns[TABLE_COLUMNS])
{
	for (unsigned int i = 0; i < TABLE_COLUMNS; i++)
		to->ns[i] += ns[i];
}

static void put(const struct run *run, const struct summed *one,
		const struct clickhouse_batch *batch, struct bytes *to, uint32_t *rows)
{
	const struct run_probe *probe = &run->probes[one->probe];
	char state[RUN_NAME];

	for (unsigned int i = 0; i < table__columns(probe->table); i++) {
		const struct sparse time = { .sum_ns = one->ns[i] };
		const struct clickhouse_row row = { .probe = probe->name,
						    .metric = state,
						    .method = probe->method,
						    .service =
							    one->service[0] ? one->service : NULL,
						    .hist = &time };

		if (!one->ns[i] || !times__state(probe->table, i, state))
			continue;
		clickhouse_rows__add(to, batch, &row);
		++*rows;
	}
}

/* Several cgroups may be one service: neighbours of the same name are one row. */
int times_rows__put(struct times *times, const struct run *run,
		    const struct clickhouse_batch *batch, struct bytes *to, uint32_t *rows)
{
	struct summed *all = calloc(times->nr + 1, sizeof(*all));
	struct summed host = { 0 };

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < times->nr; i++) {
		struct spent *one = &times->all[i];

		all[i].probe = one->probe;
		clickhouse_rows__service(all[i].service, one->name,
					 one->path[0] ? one->path : NULL);
		add(&all[i], one->ns);
		memset(one->ns, 0, sizeof(one->ns));
	}
	if (times->nr)
		qsort(all, times->nr, sizeof(*all), compare);
	for (size_t i = 0; i < times->nr; i++) {
		bool ends = i + 1 == times->nr || all[i].probe != all[i + 1].probe;

		if (!ends && !compare(&all[i], &all[i + 1])) {
			add(&all[i + 1], all[i].ns);
			continue;
		}
		put(run, &all[i], batch, to, rows);
		host.probe = all[i].probe;
		add(&host, all[i].ns);
		if (!ends)
			continue;
		put(run, &host, batch, to, rows);
		memset(&host, 0, sizeof(host));
	}
	free(all);
	return 0;
}
