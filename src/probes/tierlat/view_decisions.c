// SPDX-License-Identifier: BSD-2-Clause
/* --decisions: what Colloid decided, a line for each interval and socket, for what moves pages. */
#include <errno.h>

#include "columns.h"
#include "view.h"

static int decisions__open(struct writer *writer, const struct run *run)
{
	(void)run;
	fputs("time_ns,socket,p,p_target,shift,move_to\n", writer->state);
	return fflush(writer->state) ? -errno : 0;
}

static void print_row(FILE *out, const struct table *table, size_t at)
{
	if (!table__value(table, at, TIER_SHIFT).known)
		return;
	fprintf(out, "%llu,%lld", (unsigned long long)table__time_ns(table, at),
		(long long)table__value(table, at, TIER_SOCKET).integer);
	fprintf(out, "," TABLE_PRECISION "," TABLE_PRECISION "," TABLE_PRECISION ",%s\n",
		table__value(table, at, TIER_P).real, table__value(table, at, TIER_P_TARGET).real,
		table__value(table, at, TIER_SHIFT).real,
		table__value(table, at, TIER_MOVE_TO).text);
}

static int decisions__interval(struct writer *writer, const struct run *run,
			       const struct run_interval *interval)
{
	FILE *out = writer->state;

	(void)interval;
	for (unsigned int i = 0; i < run->nr_probes; i++) {
		const struct table *table = run->probes[i].table;

		for (size_t at = 0; table && at < table__rows(table); at++)
			print_row(out, table, at);
	}
	/* At once: the reader is to act on it before the next interval. */
	return fflush(out) ? -errno : 0;
}

static int decisions__close(struct writer *writer, const struct run *run)
{
	(void)run;
	return fclose(writer->state) ? -errno : 0;
}

const struct writer_ops writer_decisions = {
	.name = "decisions",
	.open = decisions__open,
	.interval = decisions__interval,
	.close = decisions__close,
};
