// SPDX-License-Identifier: BSD-2-Clause
#include "view_totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"

/* The rows of the interval, or the keys of the whole window. */
struct rows_view {
	const struct table *table;
	bool whole;
};

static struct table_value value_at(const struct rows_view *view, size_t at, unsigned int column)
{
	return view->whole ? table__key(view->table, at, column)
			   : table__value(view->table, at, column);
}

static const char *comm_at(const struct rows_view *view, size_t at)
{
	struct table_value comm = value_at(view, at, ROWS_COMM);

	return comm.known ? comm.text : "";
}

/* A renamed process stays one process. Only its name identifies time without a process. */
static int compare_owners(const struct rows_view *view, size_t a, size_t b)
{
	int64_t left = value_at(view, a, ROWS_PROCESS).integer;
	int64_t right = value_at(view, b, ROWS_PROCESS).integer;

	if (left != right)
		return left < right ? -1 : 1;
	return left ? 0 : strcmp(comm_at(view, a), comm_at(view, b));
}

static int compare_places(const void *left, const void *right, void *view)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = compare_owners(view, a, b);

	return order ? order : (a > b) - (a < b);
}

static int compare_processes(const void *left, const void *right)
{
	const struct rmid_total *a = left, *b = right;

	if (!a->process != !b->process)
		return !a->process - !b->process;
	return (a->sum[ROWS_CPU_NS] < b->sum[ROWS_CPU_NS]) -
	       (a->sum[ROWS_CPU_NS] > b->sum[ROWS_CPU_NS]);
}

static void add_column(struct rmid_total *process, const struct rows_view *view, size_t at,
		       unsigned int column)
{
	const struct table_aggregate *aggregate;
	struct table_value value;

	if (view->whole) {
		aggregate = table__aggregate(view->table, at, column);
		process->sum[column] += aggregate->sum;
		process->known[column] += aggregate->rows;
		return;
	}
	value = table__value(view->table, at, column);
	process->sum[column] += value.known ? (double)value.integer : 0;
	process->known[column] += value.known;
}

static void add_place(struct rmid_total *process, const struct rows_view *view, size_t at)
{
	process->pid = value_at(view, at, ROWS_PID);
	process->comm = comm_at(view, at);
	process->rows += view->whole ? table__aggregate(view->table, at, ROWS_CPU_NS)->rows : 1;
	for (unsigned int i = ROWS_CPU_NS; i < table__columns(view->table); i++)
		add_column(process, view, at, i);
}

static size_t count_owners(const struct rows_view *view, const uint32_t *order, size_t nr)
{
	size_t owners = nr > 0;

	for (size_t i = 1; i < nr; i++)
		owners += compare_owners(view, order[i - 1], order[i]) != 0;
	return owners;
}

static void sum_up(struct rmid_totals *totals, const struct rows_view *view, const uint32_t *order,
		   size_t nr)
{
	struct rmid_total *process = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (!i || compare_owners(view, order[i - 1], order[i])) {
			process = &totals->list[totals->nr++];
			process->process = value_at(view, order[i], ROWS_PROCESS).integer;
		}
		add_place(process, view, order[i]);
	}
	for (size_t i = 0; i < totals->nr; i++)
		for (unsigned int j = 0; j < TABLE_COLUMNS; j++)
			totals->known[j] |= totals->list[i].known[j] > 0;
	qsort(totals->list, totals->nr, sizeof(*totals->list), compare_processes);
}

int rmid_totals__of(struct rmid_totals *totals, const struct table *table, bool whole)
{
	struct rows_view view = { table, whole };
	size_t nr = whole ? table__keys(table) : table__rows(table);
	uint32_t *order = calloc(nr + 1, sizeof(*order));

	memset(totals, 0, sizeof(*totals));
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, nr, sizeof(*order), compare_places, &view);
	totals->list = calloc(count_owners(&view, order, nr) + 1, sizeof(*totals->list));
	if (totals->list)
		sum_up(totals, &view, order, nr);
	free(order);
	return totals->list ? 0 : -ENOMEM;
}

void rmid_totals__clear(struct rmid_totals *totals)
{
	free(totals->list);
	memset(totals, 0, sizeof(*totals));
}

bool rmid_totals__know(const struct run_probe *probe)
{
	static const char *const names[ROWS_COLUMNS] = {
		[ROWS_PROCESS] = "process",   [ROWS_PID] = "pid",
		[ROWS_COMM] = "comm",	      [ROWS_CPU_NS] = "cpu_ns",
		[ROWS_SWITCHES] = "switches", [ROWS_INCOMPLETE] = "incomplete",
	};
	const struct table *table = probe->table;
	bool are = table && !strcmp(probe->name, "rmid") && table__columns(table) >= ROWS_COLUMNS;

	for (unsigned int i = 0; are && i < table__columns(table); i++) {
		const struct table_column *column = table__column(table, i);

		are = column->kind == (i == ROWS_COMM ? TABLE_TEXT : TABLE_INTEGER) &&
		      (i >= ROWS_COLUMNS || !strcmp(column->name, names[i]));
	}
	return are;
}
