// SPDX-License-Identifier: BSD-2-Clause
#include "read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <core/hist.h>

#include "light_keys.h"
#include "rows.h"

static void read_cells(const struct bpf_probe *probe, struct run_data *total,
		       struct run_data *delta)
{
	struct lat_cell now;

	for (unsigned int i = 0; i < probe->nr_metrics; i++) {
		memset(&now, 0, sizeof(now));
		bpf_probe__add_cells(probe, i, &now);
		/* These counts are not in the cells: see light__read(). */
		now.counts[LAT_OTHER_MOST_NS] = total->metrics[i].counts[LAT_OTHER_MOST_NS];
		hist__settle_tail(&now.hist, &total->metrics[i].hist, probe->config.tail_ns);
		hist__delta_cell(&delta->metrics[i], &now, &total->metrics[i]);
		total->metrics[i] = now;
	}
}

/* The keys "(other)" come first, so that the rest can grow. */
static int add_other_keys(struct bpf_probe *probe, struct run_data *total, struct run_data *delta,
			  struct names *names)
{
	struct lat_key key = { .id = RUN_OTHER_ID };
	char name[RUN_NAME];
	int err;

	for (key.by = 0; key.by < LAT_BY_COUNT; key.by++) {
		if (!(probe->config.by & 1U << key.by))
			continue;
		for (key.metric = 0; key.metric < probe->nr_metrics; key.metric++) {
			names__key(names, &key, NULL, name);
			err = rows__add_key(probe, total, delta, &key, name,
					    LAT_OTHER_ROW(probe->config.rows, key.by, key.metric));
			if (err)
				return err;
		}
	}
	return 0;
}

/*
 * Adds the keys made since the last call. A row is assigned before its key is stored. It stays
 * without a key if another CPU stores the key first.
 */
static int add_new_keys(struct bpf_probe *probe, struct run_data *total, struct run_data *delta,
			struct names *names)
{
	uint32_t rows = __atomic_load_n(&probe->control->next_row, __ATOMIC_RELAXED);
	char name[RUN_NAME];
	int err = 0;

	if (rows > probe->config.first_rows)
		rows = probe->config.first_rows;
	for (uint32_t row = 1; !err && row < rows; row++) {
		const struct lat_owner *owner = &probe->owners[row];

		if (probe->key_of[row] || !__atomic_load_n(&owner->ready, __ATOMIC_ACQUIRE))
			continue;
		names__key(names, &owner->key, owner->comm, name);
		err = rows__add_key(probe, total, delta, &owner->key, name, row);
	}
	return err;
}

/* ---- rows ---- */

/* The row of a key from which nothing was moved. */
static int read_unmoved(const struct bpf_probe *probe, const struct lat_hist *row,
			struct sparse *total, struct sparse *delta)
{
	const struct sparse before = *total;
	struct sparse *now = probe->spare;
	int err = sparse__read(now, row);

	if (err)
		return err;
	sparse__settle_tail(now, total, probe->config.tail_ns);
	err = sparse__delta(delta, now, total);
	if (err)
		return err;
	*total = *now;
	*now = before; /* its memory is for the next one */
	return 0;
}

static int read_key(const struct bpf_probe *probe, size_t key, const struct lat_hist *row,
		    struct sparse *total, struct sparse *delta)
{
	struct lat_hist now, gained;
	int err;

	if (!probe->moved[key])
		return read_unmoved(probe, row, total, delta);

	rows__copy(probe, key, row, &now);
	sparse__expand(total, &gained);
	hist__settle_tail(&now, &gained, probe->config.tail_ns);
	hist__delta(&gained, &now, &gained);
	err = sparse__set(delta, &gained);
	return err ? err : sparse__set(total, &now);
}

static bool have_keys(const struct bpf_probe *probe, uint32_t first, uint32_t nr)
{
	for (uint32_t row = first; row < first + nr; row++)
		if (probe->key_of[row])
			return true;
	return false;
}

/*
 * Most rows get nothing between two readings, and copying a row takes a microsecond. If its sum
 * and its first slot, which holds the samples that add nothing to the sum, are the same, the row
 * is. A sample that reached the sum, but not yet its slot, is found by one more reading.
 */
static bool is_unchanged(const struct bpf_probe *probe, uint32_t row, const struct lat_hist *now,
			 const struct sparse *total)
{
	bool has_first = total->nr && !total->slots[0].slot;

	return probe->settled[row] && !probe->moved[probe->key_of[row] - 1] &&
	       __atomic_load_n(&now->sum_ns, __ATOMIC_ACQUIRE) == total->sum_ns &&
	       __atomic_load_n(&now->slots[0], __ATOMIC_ACQUIRE) ==
		       (has_first ? total->slots[0].count : 0);
}

static int read_row(const struct bpf_probe *probe, uint32_t row, const struct lat_hist *now,
		    struct sparse *total, struct sparse *delta)
{
	int err;

	if (!probe->closed && is_unchanged(probe, row, now, total)) {
		sparse__zero(delta);
		return 0;
	}
	err = read_key(probe, probe->key_of[row] - 1, now, total, delta);
	probe->settled[row] = !delta->nr && !delta->sum_ns;
	return err;
}

static int read_some(const struct bpf_probe *probe, uint32_t first, uint32_t nr,
		     const struct run_data *total, const struct run_data *delta)
{
	struct rows_view view;
	int err;

	if (!have_keys(probe, first, nr))
		return 0;
	err = rows__map(probe, first, nr, PROT_READ, &view);
	if (err)
		return err;
	for (uint32_t i = 0; !err && i < nr; i++) {
		uint32_t key = probe->key_of[first + i];

		if (key)
			err = read_row(probe, first + i, &view.rows[i], &total->keys[key - 1].hist,
				       &delta->keys[key - 1].hist);
	}
	rows__unmap(&view);
	return err;
}

static int read_rows(const struct bpf_probe *probe, const struct run_data *total,
		     const struct run_data *delta)
{
	uint32_t rows = LAT_ROWS_TOTAL(probe->config.rows);
	int err = 0;

	for (uint32_t first = 0; !err && first < rows; first += ROWS_AT_ONCE)
		err = read_some(probe, first,
				rows - first < ROWS_AT_ONCE ? rows - first : ROWS_AT_ONCE, total,
				delta);
	return err;
}

static int start_keys(struct bpf_probe *probe, struct run_data *total, struct run_data *delta,
		      struct names *names)
{
	probe->rows = calloc(LAT_ROWS_TOTAL(probe->config.rows), sizeof(*probe->rows));
	probe->key_of = calloc(LAT_ROWS_TOTAL(probe->config.rows), sizeof(*probe->key_of));
	probe->settled = calloc(LAT_ROWS_TOTAL(probe->config.rows), sizeof(*probe->settled));
	probe->spare = calloc(1, sizeof(*probe->spare));
	if (!probe->rows || !probe->key_of || !probe->settled || !probe->spare || light__new(probe))
		return -ENOMEM;
	return add_other_keys(probe, total, delta, names);
}

int read__interval(struct bpf_probe *probe, struct run_data *total, struct run_data *delta,
		   struct names *names)
{
	int err = 0;

	read_cells(probe, total, delta);
	if (!probe->config.by)
		return 0;
	if (probe->common.skip_keys) {
		for (size_t i = 0; i < delta->nr_keys; i++)
			sparse__zero(&delta->keys[i].hist);
		/* Their names now: a cgroup may be gone when its row is read. */
		return probe->rows && names__are_cheap(names)
			       ? add_new_keys(probe, total, delta, names)
			       : 0;
	}
	if (!probe->rows)
		err = start_keys(probe, total, delta, names);
	if (!err)
		err = add_new_keys(probe, total, delta, names);
	if (!err)
		err = light__read(probe, total, delta, names);
	return err ? err : read_rows(probe, total, delta);
}

/* The name that a cgroup had is better than none. */
static bool is_forgotten(const struct names *names, const struct lat_key *key)
{
	return key->by == LAT_BY_CGROUP && !names__cgroup_path(names, key->id);
}

void read__names(const struct bpf_probe *probe, struct run_data *data, struct names *names)
{
	for (size_t i = 0; i < probe->nr_keys; i++) {
		struct run_key *key = &data->keys[i];

		if (probe->rows[i] < probe->config.rows && !is_forgotten(names, &key->key))
			names__key(names, &key->key, probe->owners[probe->rows[i]].comm, key->name);
	}
}
