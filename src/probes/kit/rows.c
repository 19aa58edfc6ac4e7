// SPDX-License-Identifier: BSD-2-Clause
#include "rows.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <core/hist.h>

int rows__add_key(struct bpf_probe *probe, struct run_data *total, struct run_data *delta,
		  const struct lat_key *key, const char *name, uint32_t row)
{
	int err;

	err = run__add_key(total, key, name);
	if (!err)
		err = run__add_key(delta, key, name);
	if (err)
		return err;
	probe->rows[probe->nr_keys++] = row;
	probe->key_of[row] = probe->nr_keys;
	return 0;
}

int rows__map(const struct bpf_probe *probe, uint32_t first, uint32_t nr, int access,
	      struct rows_view *view)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), start = first * sizeof(struct lat_hist);
	size_t before = start % page;

	view->size = before + nr * sizeof(struct lat_hist);
	view->map =
		mmap(NULL, view->size, access, MAP_SHARED,
		     bpf_object__find_map_fd_by_name(probe->obj, "rows"), (off_t)(start - before));
	if (view->map == MAP_FAILED)
		return -errno;
	view->rows = (void *)((char *)view->map + before);
	return 0;
}

void rows__unmap(const struct rows_view *view)
{
	munmap(view->map, view->size);
}

/* Adds what was moved. The largest sample may have been moved, too. */
static void add_moved(struct lat_hist *row, const struct lat_hist *moved)
{
	uint32_t top = HIST_SLOTS;
	uint64_t most;

	hist__add(row, moved);
	while (top && !row->slots[top - 1])
		top--;
	if (!top || top == HIST_SLOTS)
		return;
	most = hist_slot_low_ns(top) - 1;
	row->max_ns = row->max_ns < most ? row->max_ns : most;
}

/*
 * The tail first, as hist__settle_tail() requires. From mapped memory: during a system call for a
 * map, the kernel runs no programs of kprobes and perf events on that CPU, even while the caller is
 * preempted.
 */
void rows__copy(const struct bpf_probe *probe, size_t key, const struct lat_hist *row,
		struct lat_hist *copy)
{
	copy->tail = __atomic_load_n(&row->tail, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < HIST_SLOTS; i++)
		copy->slots[i] = __atomic_load_n(&row->slots[i], __ATOMIC_ACQUIRE);
	copy->sum_ns = __atomic_load_n(&row->sum_ns, __ATOMIC_ACQUIRE);
	copy->max_ns = __atomic_load_n(&row->max_ns, __ATOMIC_ACQUIRE);
	if (probe->moved[key])
		add_moved(copy, probe->moved[key]);
}
