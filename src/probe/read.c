// SPDX-License-Identifier: BSD-2-Clause
/* Reading what the programs counted: cells by memory, rows by system call. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include <base/hist.h>

static int map_fd(const struct probe *probe, const char *name)
{
	return bpf_object__find_map_fd_by_name(probe->obj, name);
}

static void read_cells(const struct probe *probe, struct run_data *data)
{
	const struct lat_cell *cells;

	memset(data->metrics, 0, sizeof(data->metrics));
	for (int cpu = 0; cpu < probe->cpus; cpu++) {
		cells = (const void *)((const char *)probe->cells + cpu * probe->cell_stride);
		for (unsigned int i = 0; i < probe->ops->nr_metrics; i++)
			hist__add_cell(&data->metrics[i], &cells[i]);
	}
}

/* The keys "(other)" come first, so that the rest can grow. */
static int add_other_keys(struct probe *probe, struct run_data *data, struct names *names)
{
	struct lat_key key = { .id = RUN_OTHER_ID };
	char name[RUN_NAME];
	int err;

	for (key.by = 0; key.by < LAT_BY_COUNT; key.by++) {
		if (!(probe->knobs.by & 1U << key.by))
			continue;
		for (key.metric = 0; key.metric < probe->ops->nr_metrics; key.metric++) {
			err = run__add_key(data, &key, names__key(names, &key, NULL, name));
			if (err)
				return err;
			probe->rows[probe->nr_keys++] =
				LAT_OTHER_ROW(probe->knobs.rows, key.by, key.metric);
		}
	}
	return 0;
}

/* Walks the keys for those that were made since the last time. */
static int add_new_keys(struct probe *probe, struct run_data *data, struct names *names)
{
	struct lat_key key, *at = NULL, next;
	int err, fd = map_fd(probe, "keys");
	uint32_t rows = __atomic_load_n(&probe->control->next_row, __ATOMIC_RELAXED);
	struct lat_key_info info;
	char name[RUN_NAME];

	if (rows == probe->seen_rows)
		return 0;
	while (!bpf_map_get_next_key(fd, at, &next)) {
		key = next;
		at = &key;
		if (bpf_map_lookup_elem(fd, &key, &info) || probe->row_read[info.row])
			continue;
		err = run__add_key(data, &key, names__key(names, &key, info.comm, name));
		if (err)
			return err;
		probe->rows[probe->nr_keys++] = info.row;
		probe->row_read[info.row] = true;
	}
	probe->seen_rows = rows;
	return 0;
}

static int read_rows(struct probe *probe, struct run_data *data)
{
	int fd = map_fd(probe, "rows");

	for (size_t i = 0; i < probe->nr_keys; i++)
		if (bpf_map_lookup_elem(fd, &probe->rows[i], &data->keys[i].hist))
			return -errno;
	return 0;
}

int probe__read(struct probe *probe, struct run_data *data, struct names *names)
{
	int err;

	if (probe->knobs.by && !probe->rows) {
		probe->rows = calloc(LAT_ROWS_TOTAL(probe->knobs.rows), sizeof(*probe->rows));
		probe->row_read = calloc(probe->knobs.rows, sizeof(*probe->row_read));
		if (!probe->rows || !probe->row_read)
			return -ENOMEM;
		err = add_other_keys(probe, data, names);
		if (err)
			return err;
	}
	read_cells(probe, data);
	if (!probe->knobs.by)
		return 0;
	err = add_new_keys(probe, data, names);
	return err ? err : read_rows(probe, data);
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
