// SPDX-License-Identifier: BSD-2-Clause
#include "renew.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "light_keys.h"
#include "rows.h"

#define PAUSE_NS 10000000000ULL

bool renew__is_due(const struct bpf_probe *probe, uint64_t now_ns)
{
	uint32_t first = probe->config.first_rows;

	return probe->control && probe->rows && now_ns - probe->renewed_ns >= PAUSE_NS &&
	       __atomic_load_n(&probe->control->next_row, __ATOMIC_RELAXED) >= first - first / 8;
}

/* Returns when each CPU has left the programs that it ran. It fails with nohz_full: then waits. */
static void wait_for_programs(void)
{
	const struct timespec while_running = { .tv_nsec = 20000000 };

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&while_running, NULL);
}

static int delete_key(void *map, const void *key, const void *row)
{
	(void)row;
	return bpf_map_delete_elem(*(const int *)map, key) && errno != ENOENT ? -errno : 0;
}

/* No row is found without the hash any more. */
static void forget_recent(struct lat_control *control)
{
	memset(control->recent, 0, sizeof(control->recent));
}

int renew__begin(struct bpf_probe *probe, uint64_t now_ns)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(probe->obj, "keys");
	int fd = bpf_map__fd(map);

	probe->renewed_ns = now_ns;
	__atomic_store_n(&probe->control->next_row, probe->config.first_rows, __ATOMIC_SEQ_CST);
	light__stop(probe);
	wait_for_programs(); /* none adds a key any more */
	if (probe__each_entry(map, delete_key, &fd))
		return -EIO;
	wait_for_programs(); /* none finds a row any more, except by control->recent */
	forget_recent(probe->control);
	wait_for_programs(); /* none has a row of a key any more */
	return 0;
}

/* The rows (other) follow those of the keys, and stay. */
static int empty_rows(const struct bpf_probe *probe)
{
	uint32_t rows = probe->config.rows, nr;
	struct rows_view view;
	int err;

	for (uint32_t first = 0; first < rows; first += nr) {
		nr = rows - first < ROWS_AT_ONCE ? rows - first : ROWS_AT_ONCE;
		err = rows__map(probe, first, nr, PROT_READ | PROT_WRITE, &view);
		if (err)
			return err;
		memset(view.rows, 0, nr * sizeof(*view.rows));
		rows__unmap(&view);
	}
	return 0;
}

static void cut_keys(struct run_data *data, size_t nr)
{
	while (data->nr_keys > nr)
		sparse__clear(&data->keys[--data->nr_keys].hist);
}

int renew__end(struct bpf_probe *probe, struct run_probe *entry, struct run_data *delta)
{
	size_t others = 0;
	int err;

	/* Again, for a program that was preempted for longer than renew__begin() has waited. */
	forget_recent(probe->control);
	err = empty_rows(probe);

	if (err)
		return err;
	while (others < probe->nr_keys && probe->rows[others] >= probe->config.rows)
		others++;
	memset(probe->key_of, 0, probe->config.rows * sizeof(*probe->key_of));
	memset(probe->settled, 0, probe->config.rows * sizeof(*probe->settled));
	for (uint32_t row = 0; row < probe->config.rows; row++)
		__atomic_store_n(&probe->owners[row].ready, 0, __ATOMIC_RELAXED);
	probe->nr_keys = others;
	cut_keys(&entry->total, others);
	cut_keys(delta, others);
	light__restart(probe, others);
	entry->generation++;
	__atomic_store_n(&probe->control->next_row, 1, __ATOMIC_SEQ_CST);
	return 0;
}
