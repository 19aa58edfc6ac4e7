// SPDX-License-Identifier: BSD-2-Clause
#include "bars.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/vec.h>

#define IDLE_PER 1000 /* of its life one part: less is idle */

const struct bar_look bar_looks[BAR_PARTS] = {
	[BAR_CPU] = { "CPU", "on a CPU", 'C', 2 },
	[BAR_READY] = { "wait CPU", "waited for a CPU", 'W', 1 },
	[BAR_DISK] = { "disk", "waited for a disk", 'D', 4 },
	[BAR_MEMORY] = { "memory", "waited for memory or in page faults", 'M', 3 },
	[BAR_LOCK] = { "lock", "waited for a kernel lock", 'L', 0 },
	[BAR_FUTEX] = { "futex", "waited for a futex", 'F', 5 },
	[BAR_SOCKET] = { "socket", "waited for a socket or pipe", 'S', 6 },
	[BAR_OTHER] = { "other", "waited for something else, or unknown", 'O', 7 },
	[BAR_IDLE] = { "idle", "waited for work, a timer or a child, or stopped", '.', 8 },
};

uint64_t bar__waited(const struct bar *bar)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < BAR_PARTS; i++)
		ns += bar->waits_ns[i];
	return ns;
}

enum bar_part bar__largest(const struct bar *bar)
{
	enum bar_part most = BAR_IDLE;

	for (unsigned int i = 0; i < BAR_PARTS; i++)
		if (bar->waits_ns[i] > (most == BAR_IDLE ? 0 : bar->waits_ns[most]))
			most = i;
	return most;
}

bool bar__is_idle(const struct bar *bar)
{
	return bar->ns[BAR_CPU] + bar__waited(bar) <= bar->life_ns / IDLE_PER;
}

void bar__cells(const struct bar *bar, unsigned int width, unsigned int cells[BAR_PARTS])
{
	double sum = 0, all = 0;
	unsigned int edge = 0, before = 0;

	for (unsigned int i = 0; i < BAR_PARTS; i++)
		all += (double)bar->ns[i];
	for (unsigned int i = 0; i < BAR_PARTS; i++, before = edge) {
		sum += (double)bar->ns[i];
		edge = all > 0 ? (unsigned int)(sum / all * width + 0.5) : 0;
		cells[i] = edge - before;
	}
}

void bar__add(struct bar *to, const struct bar *from)
{
	to->life_ns += from->life_ns;
	for (unsigned int i = 0; i < BAR_PARTS; i++) {
		to->ns[i] += from->ns[i];
		to->waits_ns[i] += from->waits_ns[i];
	}
}

/* ---- several ---- */

struct bar *bars__add(struct bars *bars, uint64_t id, const char *name)
{
	struct bar *grown = vec__grow(bars->bars, bars->nr, sizeof(*grown)), *bar;

	if (!grown)
		return NULL;
	bars->bars = grown;
	bar = &bars->bars[bars->nr++];
	memset(bar, 0, sizeof(*bar));
	bar->id = id;
	snprintf(bar->name, sizeof(bar->name), "%s", name);
	return bar;
}

static int by_name(const void *left, const void *right)
{
	const struct bar *a = left, *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return strcmp(a->name, b->name);
}

void bars__merge(struct bars *bars)
{
	size_t kept = 0;

	if (!bars->nr)
		return;
	qsort(bars->bars, bars->nr, sizeof(*bars->bars), by_name);
	for (size_t i = 1; i < bars->nr; i++) {
		if (!by_name(&bars->bars[kept], &bars->bars[i]))
			bar__add(&bars->bars[kept], &bars->bars[i]);
		else
			bars->bars[++kept] = bars->bars[i];
	}
	bars->nr = kept + 1;
}

struct bar *bars__find(const struct bars *bars, uint64_t id, const char *name)
{
	struct bar key = { .id = id };

	snprintf(key.name, sizeof(key.name), "%s", name);
	return bars->nr ? bsearch(&key, bars->bars, bars->nr, sizeof(key), by_name) : NULL;
}

/* Who always runs waits long, and loses little. */
static double weight_of(const struct bar *bar)
{
	double waited = (double)bar__waited(bar);

	return waited > 0 ? waited * waited / (waited + (double)bar->ns[BAR_CPU]) : 0;
}

static int most_first(const void *left, const void *right)
{
	const struct bar *a = left, *b = right;
	double of_a = weight_of(a), of_b = weight_of(b);

	if (a->rank != b->rank)
		return a->rank && (a->rank < b->rank || !b->rank) ? -1 : 1;
	if (of_a != of_b)
		return of_a < of_b ? 1 : -1;
	if (a->ns[BAR_CPU] != b->ns[BAR_CPU])
		return a->ns[BAR_CPU] < b->ns[BAR_CPU] ? 1 : -1;
	return by_name(a, b);
}

void bars__sort(struct bars *bars)
{
	if (bars->nr)
		qsort(bars->bars, bars->nr, sizeof(*bars->bars), most_first);
}

void bars__clear(struct bars *bars)
{
	free(bars->bars);
	*bars = (struct bars){ 0 };
}

/* ---- rows ---- */

static int new_table(struct table **to, const struct table *from)
{
	struct table_column columns[TABLE_COLUMNS];
	unsigned int nr = from ? table__columns(from) : 0;

	for (unsigned int i = 0; i < nr; i++)
		columns[i] = *table__column(from, i);
	return nr ? table__new(to, columns, nr) : 0;
}

int bars__new_rows(struct run_probe *to, const struct run_probe *from)
{
	int err = new_table(&to->table, from->table);

	for (unsigned int i = 0; !err && i < RUN_MORE; i++)
		err = new_table(&to->more[i], from->more[i]);
	return err;
}

void bars__free_rows(struct run_probe *probe)
{
	table__free(probe->table);
	probe->table = NULL;
	for (unsigned int i = 0; i < RUN_MORE; i++) {
		table__free(probe->more[i]);
		probe->more[i] = NULL;
	}
}

static int keep(struct table *to, const struct table *from)
{
	int err = 0, failed;

	for (size_t row = 0; to && !err && row < table__rows(from); row++)
		err = table__copy_row(to, from, row, 0);
	failed = to ? table__fold(to) : 0;
	return err ? err : failed;
}

int bars__keep_rows(struct run_probe *to, const struct run_probe *from)
{
	int err = to->table ? 0 : bars__new_rows(to, from);

	if (!err)
		err = keep(to->table, from->table);
	for (unsigned int i = 0; !err && i < RUN_MORE; i++)
		err = keep(to->more[i], from->more[i]);
	return err;
}
