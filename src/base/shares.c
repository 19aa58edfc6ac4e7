// SPDX-License-Identifier: BSD-2-Clause
#include "shares.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "hist.h"

static unsigned int longest_metric(const struct run_module *module)
{
	for (unsigned int i = 0; i < module->nr_metrics; i++) {
		if (!strcmp(module->metrics[i].name, "total"))
			return i;
	}
	return 0;
}

static int by_id(const void *left, const void *right)
{
	uint64_t a = ((const struct shares_row *)left)->id;
	uint64_t b = ((const struct shares_row *)right)->id;

	return a < b ? -1 : a > b;
}

/* A row for each key, so that a process may have several. */
static int add_column(struct shares *shares, const struct run *run, const struct run_module *module)
{
	unsigned int column = shares->nr_columns++;
	const struct run_data *data = &module->total;

	shares->columns[column] = (struct shares_column){ module, longest_metric(module) };
	for (size_t i = 0; i < data->nr_keys; i++) {
		const struct run_key *key = &data->keys[i];
		struct shares_row *grown;

		if (key->key.by != LAT_BY_PROCESS ||
		    key->key.metric != shares->columns[column].metric || !sparse__count(&key->hist))
			continue;
		grown = grow__one(shares->rows, shares->nr, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		shares->rows = grown;
		grown += shares->nr++;
		*grown = (struct shares_row){ .id = key->key.id,
					      .name = key->name,
					      .life = run__find_life(run, key->key.id),
					      .sum_ns = key->hist.sum_ns };
		grown->wait_ns[column] = key->hist.sum_ns;
	}
	return 0;
}

static void merge_rows(struct shares *shares)
{
	size_t kept = 0;

	for (size_t i = 0; i < shares->nr; i++) {
		struct shares_row *row = &shares->rows[i];
		struct shares_row *last = kept ? &shares->rows[kept - 1] : NULL;

		if (!last || last->id != row->id) {
			shares->rows[kept++] = *row;
			continue;
		}
		for (unsigned int j = 0; j < shares->nr_columns; j++)
			last->wait_ns[j] += row->wait_ns[j];
		last->sum_ns += row->sum_ns;
	}
	shares->nr = kept;
}

static int longest_first(const void *left, const void *right)
{
	const struct shares_row *a = left, *b = right;
	bool a_other = a->id == RUN_OTHER_ID, b_other = b->id == RUN_OTHER_ID;

	if (a_other != b_other)
		return a_other ? 1 : -1;
	if (a->sum_ns != b->sum_ns)
		return a->sum_ns < b->sum_ns ? 1 : -1;
	return by_id(left, right);
}

int shares__of(struct shares *shares, const struct run *run)
{
	int err = 0;

	memset(shares, 0, sizeof(*shares));
	for (unsigned int i = 0; !err && i < run->nr_modules; i++) {
		const struct run_module *module = &run->modules[i];

		if (!module->refused[0] && module->by & 1U << LAT_BY_PROCESS)
			err = add_column(shares, run, module);
	}
	if (err || !shares->nr)
		return err;
	qsort(shares->rows, shares->nr, sizeof(*shares->rows), by_id);
	merge_rows(shares);
	qsort(shares->rows, shares->nr, sizeof(*shares->rows), longest_first);
	return 0;
}

void shares__clear(struct shares *shares)
{
	free(shares->rows);
	shares->rows = NULL;
	shares->nr = 0;
}

static double of_life(const struct shares_row *row, uint64_t ns)
{
	return row->life && row->life->lived_ns ? (double)ns / (double)row->life->lived_ns : NAN;
}

double shares__wait(const struct shares_row *row, unsigned int column)
{
	return of_life(row, row->wait_ns[column]);
}

double shares__threads(const struct shares_row *row)
{
	return of_life(row, row->life ? row->life->thread_ns : 0);
}

const char *shares__unknown(const struct shares *shares, const struct run *run)
{
	size_t unknown = 0;

	for (size_t i = 0; i < shares->nr; i++)
		unknown += !shares->rows[i].life && shares->rows[i].id != RUN_OTHER_ID;
	if (!unknown)
		return NULL;
	if (run->lives_why[0])
		return run->lives_why;
	if (run->nr_lives)
		return "the BPF iterator did not show them";
	if (!run->complete)
		return run->running ? "the recording still goes on" : "the recording was cut off";
	return "it was not recorded";
}
