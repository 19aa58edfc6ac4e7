// SPDX-License-Identifier: BSD-2-Clause
#include "process_shares.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hist.h"
#include "vec.h"

static unsigned int longest_metric(const struct run_probe *probe)
{
	for (unsigned int i = 0; i < probe->nr_metrics; i++) {
		if (!strcmp(probe->metrics[i].name, "total"))
			return i;
	}
	return 0;
}

static int by_id(const void *left, const void *right)
{
	uint64_t a = ((const struct process_share_row *)left)->id;
	uint64_t b = ((const struct process_share_row *)right)->id;

	return a < b ? -1 : a > b;
}

/* Adds a row for each key: a process can have several. */
static int add_column(struct process_shares *shares, const struct run *run,
		      const struct run_probe *probe)
{
	unsigned int column = shares->nr_columns++;
	const struct run_data *data = &probe->total;

	shares->columns[column] = (struct process_share_column){ probe, longest_metric(probe) };
	for (size_t i = 0; i < data->nr_keys; i++) {
		const struct run_key *key = &data->keys[i];
		struct process_share_row *grown;

		if (key->key.by != LAT_BY_PROCESS ||
		    key->key.metric != shares->columns[column].metric || !sparse__count(&key->hist))
			continue;
		grown = vec__grow(shares->rows, shares->nr, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		shares->rows = grown;
		grown += shares->nr++;
		*grown = (struct process_share_row){ .id = key->key.id,
						     .name = key->name,
						     .life = run__find_life(run, key->key.id),
						     .sum_ns = key->hist.sum_ns };
		grown->wait_ns[column] = key->hist.sum_ns;
	}
	return 0;
}

static void merge_rows(struct process_shares *shares)
{
	size_t kept = 0;

	for (size_t i = 0; i < shares->nr; i++) {
		struct process_share_row *row = &shares->rows[i];
		struct process_share_row *last = kept ? &shares->rows[kept - 1] : NULL;

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
	const struct process_share_row *a = left, *b = right;
	bool a_other = a->id == RUN_OTHER_ID, b_other = b->id == RUN_OTHER_ID;

	if (a_other != b_other)
		return a_other ? 1 : -1;
	if (a->sum_ns != b->sum_ns)
		return a->sum_ns < b->sum_ns ? 1 : -1;
	return by_id(left, right);
}

int process_shares__of(struct process_shares *shares, const struct run *run)
{
	int err = 0;

	memset(shares, 0, sizeof(*shares));
	for (unsigned int i = 0; !err && i < run->nr_probes; i++) {
		const struct run_probe *probe = &run->probes[i];

		if (!probe->refused[0] && probe->by & 1U << LAT_BY_PROCESS)
			err = add_column(shares, run, probe);
	}
	if (err || !shares->nr)
		return err;
	qsort(shares->rows, shares->nr, sizeof(*shares->rows), by_id);
	merge_rows(shares);
	qsort(shares->rows, shares->nr, sizeof(*shares->rows), longest_first);
	return 0;
}

void process_shares__clear(struct process_shares *shares)
{
	free(shares->rows);
	shares->rows = NULL;
	shares->nr = 0;
}

static double of_life(const struct process_share_row *row, uint64_t ns)
{
	return row->life && row->life->lived_ns ? (double)ns / (double)row->life->lived_ns : NAN;
}

double process_shares__wait(const struct process_share_row *row, unsigned int column)
{
	return of_life(row, row->wait_ns[column]);
}

double process_shares__threads(const struct process_share_row *row)
{
	return of_life(row, row->life ? row->life->thread_ns : 0);
}

const char *process_shares__unknown(const struct process_shares *shares, const struct run *run)
{
	size_t unknown = 0;

	for (size_t i = 0; i < shares->nr; i++)
		unknown += !shares->rows[i].life && shares->rows[i].id != RUN_OTHER_ID;
	if (!unknown)
		return NULL;
	if (run->span_to_ns)
		return "this is a part of the recording";
	if (run->lives_why[0])
		return run->lives_why;
	if (run->nr_lives)
		return "the BPF iterator did not show them";
	if (!run->complete)
		return run->running ? "the recording is still running"
				    : "the recording was cut off";
	return "it was not recorded";
}
