// SPDX-License-Identifier: BSD-2-Clause
#include "view_live.h"

#include <errno.h>
#include <inttypes.h>

#include <core/units.h>
#include <print/streams.h>

#include "columns.h"
#include "view_accounts.h"
#include "view_states.h"

#define NAME_COLUMNS 13 /* so that a line has 80 */

static const struct {
	const char *title;
	uint32_t states; /* mask of 1 << enum where_state */
} columns[] = {
	{ "on CPU", 1U << WHERE_CPU },	 { "ready", 1U << WHERE_READY },
	{ "disk", 1U << WHERE_DISK },	 { "mem", 1U << WHERE_MEMORY | 1U << WHERE_FAULT },
	{ "lock", 1U << WHERE_LOCK },	 { "futex", 1U << WHERE_FUTEX },
	{ "sock", 1U << WHERE_SOCKET },	 { "other", 1U << WHERE_OTHER },
	{ "unkn", 1U << WHERE_UNKNOWN },
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* Of a row: waits that are for something short, in any case. */
static int64_t waited_ns(const struct table *table, size_t row)
{
	int64_t ns = 0;

	for (unsigned int i = 0; i < WHERE_STATES; i++)
		if (where_is_short(i))
			ns += table__value(table, row, PARTS_STATES + i).integer;
	return ns;
}

/* Of those that waited in the interval. */
static void print_most(FILE *out, const struct table *table)
{
	size_t most = 0;

	for (size_t row = 1; row < table__rows(table); row++)
		if (waited_ns(table, row) > waited_ns(table, most))
			most = row;
	if (table__rows(table) && waited_ns(table, most)) {
		const struct table_value comm = table__value(table, most, PARTS_COMM);
		const struct table_value cgroup = table__value(table, most, PARTS_CGROUP);

		fprintf(out, "  %.*s", NAME_COLUMNS,
			comm.known     ? comm.text
			: cgroup.known ? cgroup.text
				       : "?");
	}
	fputc('\n', out);
}

int live__print(FILE *out, const struct run_probe *probe, const struct run_interval *interval,
		unsigned int top)
{
	double ns = (double)(interval->end_ns - interval->start_ns);

	(void)top;
	fprintf(out, "%8.1f s", (double)interval->end_ns / 1e9);
	for (size_t i = 0; i < COLUMNS; i++) {
		double sum = 0;

		for (size_t row = 0; row < table__rows(probe->table); row++)
			for (unsigned int state = 0; state < WHERE_STATES; state++)
				if (columns[i].states & 1U << state)
					sum += (double)table__value(probe->table, row,
								    PARTS_STATES + state)
						       .integer;
		fprintf(out, " %*.*f", i ? 5 : 6, sum / ns < 99.95 ? 2 : 0,
			accounts__share(sum, ns));
	}
	print_most(out, probe->table);
	return 0;
}

static int live__open(struct writer *writer, const struct run *run)
{
	(void)run;
	if (!writer->state)
		writer->state = stdout;
	fprintf(writer->state, "%10s", "threads");
	for (size_t i = 0; i < COLUMNS; i++)
		fprintf(writer->state, " %*s", i ? 5 : 6, columns[i].title);
	fprintf(writer->state, "  %s\n", "waited most");
	streams__flush();
	return 0;
}

static int live__interval(struct writer *writer, const struct run *run,
			  const struct run_interval *interval)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < run->nr_probes; i++)
		if (run->probes[i].table && !run->probes[i].refused[0])
			err = live__print(writer->state, &run->probes[i], interval, writer->top);
	streams__flush();
	return err;
}

const struct writer_ops writer_live_where = {
	.name = "live_where",
	.open = live__open,
	.interval = live__interval,
};
