// SPDX-License-Identifier: BSD-2-Clause
/* Reading what the programs counted: cells by memory, rows by system call. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include <base/hist.h>

#include "light.h"

static int map_fd(const struct probe *probe, const char *name)
{
	return bpf_object__find_map_fd_by_name(probe->obj, name);
}

static const struct lat_cell *cells_of(const struct probe *probe, int cpu)
{
	return (const void *)((const char *)probe->cells + cpu * probe->cell_stride);
}

uint64_t probe__seen(const struct probe *probe)
{
	uint64_t seen = 0;

	for (int cpu = 0; cpu < probe->cpus; cpu++)
		seen += cells_of(probe, cpu)->counts[LAT_SEEN];
	return seen;
}

static void read_cells(const struct probe *probe, struct run_data *total, struct run_data *delta)
{
	struct lat_cell now, copy;

	for (unsigned int i = 0; i < probe->nr_metrics; i++) {
		memset(&now, 0, sizeof(now));
		for (int cpu = 0; cpu < probe->cpus; cpu++) {
			run__copy_cell(&copy, &cells_of(probe, cpu)[i]);
			hist__add_cell(&now, &copy);
		}
		/* Not of the cells: see light__read(). */
		now.counts[LAT_OTHER_MOST_NS] = total->metrics[i].counts[LAT_OTHER_MOST_NS];
		hist__delta_cell(&delta->metrics[i], &now, &total->metrics[i]);
		total->metrics[i] = now;
	}
}

int probe__add_key(struct probe *probe, struct run_data *total, struct run_data *delta,
		   const struct lat_key *key, const char *name, uint32_t row)
{
	int err;

	err = run__add_key(total, key, name);
	if (!err)
		err = run__add_key(delta, key, name);
	if (!err)
		probe->rows[probe->nr_keys++] = row;
	return err;
}

/* The keys "(other)" come first, so that the rest can grow. */
static int add_other_keys(struct probe *probe, struct run_data *total, struct run_data *delta,
			  struct names *names)
{
	struct lat_key key = { .id = RUN_OTHER_ID };
	char name[RUN_NAME];
	int err;

	for (key.by = 0; key.by < LAT_BY_COUNT; key.by++) {
		if (!(probe->knobs.by & 1U << key.by))
			continue;
		for (key.metric = 0; key.metric < probe->nr_metrics; key.metric++) {
			names__key(names, &key, NULL, name);
			err = probe__add_key(probe, total, delta, &key, name,
					     LAT_OTHER_ROW(probe->knobs.rows, key.by, key.metric));
			if (err)
				return err;
		}
	}
	return 0;
}

struct reading {
	struct probe *probe;
	struct run_data *total, *delta;
	struct names *names;
};

static int add_new_key(void *context, const void *at, const void *value)
{
	const struct lat_key_info *info = value;
	struct reading *reading = context;
	const struct lat_key *key = at;
	char name[RUN_NAME];
	int err;

	if (reading->probe->row_read[info->row])
		return 0;
	names__key(reading->names, key, info->comm, name);
	err = probe__add_key(reading->probe, reading->total, reading->delta, key, name, info->row);
	if (err)
		return err;
	reading->probe->row_read[info->row] = true;
	reading->probe->rows_read++;
	return 0;
}

/*
 * Adds the keys that were made since the last time. A row is handed out before its key is there, or
 * in vain, if another CPU makes the key first: nothing is new only when every row is accounted for.
 */
static int add_new_keys(struct probe *probe, struct run_data *total, struct run_data *delta,
			struct names *names)
{
	struct reading reading = { probe, total, delta, names };
	uint32_t rows = __atomic_load_n(&probe->control->next_row, __ATOMIC_RELAXED);

	if (rows > probe->knobs.first_rows)
		rows = probe->knobs.first_rows;
	if (probe->rows_read == rows - 1)
		return 0;
	return probe__each_entry(bpf_object__find_map_by_name(probe->obj, "keys"), add_new_key,
				 &reading);
}

static int read_rows(struct probe *probe, struct run_data *total, struct run_data *delta)
{
	int fd = map_fd(probe, "rows");
	struct lat_hist now, gained;
	int err = 0;

	for (size_t i = 0; !err && i < probe->nr_keys; i++) {
		if (bpf_map_lookup_elem(fd, &probe->rows[i], &now))
			return -errno;
		hist__cut_tail(&now); /* the kernel copies the slots first */
		light__adjust(probe, i, &now);
		sparse__expand(&total->keys[i].hist, &gained);
		hist__delta(&gained, &now, &gained);
		err = sparse__set(&delta->keys[i].hist, &gained);
		if (!err)
			err = sparse__set(&total->keys[i].hist, &now);
	}
	return err;
}

static int start_keys(struct probe *probe, struct run_data *total, struct run_data *delta,
		      struct names *names)
{
	probe->rows = calloc(LAT_ROWS_TOTAL(probe->knobs.rows), sizeof(*probe->rows));
	probe->row_read = calloc(probe->knobs.rows, sizeof(*probe->row_read));
	if (!probe->rows || !probe->row_read || light__new(probe))
		return -ENOMEM;
	return add_other_keys(probe, total, delta, names);
}

int probe__read(struct probe *probe, struct run_data *total, struct run_data *delta,
		struct names *names)
{
	int err = 0;

	read_cells(probe, total, delta);
	if (!probe->knobs.by)
		return 0;
	if (!probe->rows)
		err = start_keys(probe, total, delta, names);
	if (!err)
		err = add_new_keys(probe, total, delta, names);
	if (!err)
		err = light__read(probe, total, delta, names);
	return err ? err : read_rows(probe, total, delta);
}

int probe__rename(struct probe *probe, struct run_data *data, struct names *names)
{
	int fd = probe->knobs.by ? map_fd(probe, "keys") : -1;
	struct lat_key_info info;

	for (size_t i = 0; i < probe->nr_keys; i++)
		if (!bpf_map_lookup_elem(fd, &data->keys[i].key, &info))
			names__key(names, &data->keys[i].key, info.comm, data->keys[i].name);
	return 0;
}
