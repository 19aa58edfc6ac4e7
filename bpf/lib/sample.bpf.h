/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a sample is counted. A probe declares the maps with these types and passes them; this header
 * defines no map, no global and no licence.
 */
#ifndef LATSCOPE_SAMPLE_BPF_H
#define LATSCOPE_SAMPLE_BPF_H

#include "kernel.bpf.h"
#include <latscope/event.h>

/* User space sizes these: cells to one entry per CPU, rows by lat_config.rows. */
#define CELLS_MAP(metrics)                               \
	struct {                                         \
		__uint(type, BPF_MAP_TYPE_ARRAY);        \
		__uint(map_flags, BPF_F_MMAPABLE);       \
		__uint(max_entries, 1);                  \
		__type(key, __u32);                      \
		__type(value, struct lat_cell[metrics]); \
	}

struct keys_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct lat_key);
	__type(value, __u32);
};

struct owners_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lat_owner);
};

struct rows_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lat_hist);
};

struct light_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct lat_key);
	__type(value, struct lat_light);
};

/* The metrics of this CPU. NULL cannot happen: the map has an entry per possible CPU. */
static __always_inline struct lat_cell *cells_here(void *cells)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(cells, &cpu);
}

/*
 * Slot of a sample. Old verifiers must see its bound at the access. So it is in one 64-bit
 * register, which the compiler must neither copy nor narrow between the check and the access.
 */
static __always_inline __u64 bounded_slot(__u64 ns)
{
	__u64 slot = hist_slot(ns);

	barrier_var(slot);
	if (slot > HIST_OVERFLOW_SLOT) /* never */
		slot = HIST_OVERFLOW_SLOT;
	barrier_var(slot);
	return slot;
}

/* Adds to a histogram that only this program writes on this CPU. */
static __always_inline void hist_add(struct lat_hist *hist, __u64 ns, __u64 tail_ns)
{
	__u64 slot = bounded_slot(ns);

	hist->slots[slot]++;
	hist->sum_ns += ns;
	if (ns > hist->max_ns)
		hist->max_ns = ns;
	if (ns >= tail_ns)
		hist->tail++;
}

static __always_inline void raise_max(__u64 *at, __u64 ns)
{
	__u64 max;

	/* after 8 failed attempts, another CPU has set a larger one */
	for (int i = 0; i < 8; i++) {
		max = *at;
		if (ns <= max || __sync_val_compare_and_swap(at, max, ns) == max)
			break;
	}
}

/* The same for a row, which all CPUs share. */
static __always_inline void hist_add_shared(struct lat_hist *hist, __u64 ns, __u64 tail_ns)
{
	__u64 slot = bounded_slot(ns);

	__sync_fetch_and_add(&hist->slots[slot], 1);
	__sync_fetch_and_add(&hist->sum_ns, ns);
	if (ns >= tail_ns)
		__sync_fetch_and_add(&hist->tail, 1);
	raise_max(&hist->max_ns, ns);
}

/*
 * Adds to a count of this CPU's cell. If the programs are attached twice, one may be preempted
 * between load and store while the other counts in the same cell: only then an atomic is used.
 */
#define COUNT_MORE(config, to, n)                       \
	({                                              \
		if ((config)->again)                    \
			__sync_fetch_and_add(&(to), n); \
		else                                    \
			(to) += (n);                    \
	})
#define COUNT(config, to) COUNT_MORE(config, to, 1)

static __always_inline void hist_add_cell(const volatile struct lat_config *config,
					  struct lat_hist *hist, __u64 ns)
{
	if (config->again)
		hist_add_shared(hist, ns, config->tail_ns);
	else
		hist_add(hist, ns, config->tail_ns);
}

#ifdef LATSCOPE_FAULTS
#include "inject.bpf.h"
#else
#define inject_fault(config, metric, cell, ns) true
#endif

static __always_inline void add_in_flight(struct lat_in_flight *waits, __u64 count, __u64 age)
{
	waits->count += count;
	waits->sum_ns += count * age;
	if (age > waits->oldest_ns)
		waits->oldest_ns = age;
}

/*
 * Counts a wait in flight. Its task continues to run, so the caller has read the start once, and
 * `now` may be before it.
 */
static __always_inline void count_in_flight(struct lat_in_flight *waits, __u64 start, __u64 now)
{
	add_in_flight(waits, 1, now > start ? now - start : 0);
}

/* Counts `count` waits that began before the attach, and are at least as old as that. */
static __always_inline void count_in_flight_before(struct lat_in_flight *waits, __u64 count,
						   __u64 attached, __u64 now)
{
	waits->before += count;
	add_in_flight(waits, count, now > attached ? now - attached : 0);
}

/* The maps of one probe for the samples of a split. */
struct split {
	void *keys;
	void *owners;
	void *rows;
	void *light;
	struct lat_control *control;
	const volatile struct lat_config *config;
};

static __always_inline void write_owner(void *owners, __u32 row, const struct lat_key *key,
					const char *comm)
{
	struct lat_owner *owner = bpf_map_lookup_elem(owners, &row);

	if (!owner)
		return;
	owner->key = *key;
	if (comm)
		bpf_probe_read_kernel_str(owner->comm, LAT_COMM_LEN, comm);
	store_ordered(&owner->ready, 1);
}

/* Row of a key, made at its first sample, which also gives its name; 0 when no row is left. */
static __always_inline __u32 split_row(const struct split *split, const struct lat_key *key,
				       const char *comm)
{
	__u32 *row = bpf_map_lookup_elem(split->keys, key), fresh;

	if (row)
		return *row;
	if (split->control->next_row >= split->config->first_rows)
		return 0;
	fresh = __sync_fetch_and_add(&split->control->next_row, 1);
	if (fresh >= split->config->first_rows)
		return 0;
	/* Another CPU may have made the key in between: its row is used, this one stays empty. */
	if (!bpf_map_update_elem(split->keys, key, &fresh, BPF_NOEXIST)) {
		write_owner(split->owners, fresh, key, comm);
		return fresh;
	}
	row = bpf_map_lookup_elem(split->keys, key);
	return row ? *row : 0;
}

/* Adds a sample to a row; row 0: to (other). */
static __always_inline void split_add_row(const struct split *split, struct lat_cell *cell,
					  const struct lat_key *key, __u32 row, __u64 ns)
{
	struct lat_hist *hist;

	if (!row) {
		row = LAT_OTHER_ROW(split->config->rows, key->by, key->metric);
		cell->counts[LAT_OTHER_KEY]++;
	}
	hist = bpf_map_lookup_elem(split->rows, &row);
	if (hist)
		hist_add_shared(hist, ns, split->config->tail_ns);
}

static const struct lat_light light_zero = {};

static __always_inline struct lat_light *light_of(void *map, const struct lat_key *key,
						  const char *comm)
{
	struct lat_light *light = bpf_map_lookup_elem(map, key);

	if (light || bpf_map_update_elem(map, key, &light_zero, BPF_NOEXIST))
		return light;
	light = bpf_map_lookup_elem(map, key);
	if (light && comm)
		bpf_probe_read_kernel_str(light->comm, LAT_COMM_LEN, comm);
	return light;
}

/*
 * Adds a sample of a key that has no row to the map `light`; false: the map is full. Not inlined,
 * because it is rare. (It cannot take a struct split: a constant does not contain the address of a
 * map.)
 */
static __noinline bool add_light(void *map, const struct lat_key *key, const char *comm, __u64 ns,
				 __u64 tail_ns)
{
	struct lat_light *light = light_of(map, key, comm);
	__u64 bucket = hist_slot_bucket(bounded_slot(ns));

	barrier_var(bucket);
	if (!light || bucket >= HIST_LOG2_BUCKETS)
		return false;
	__sync_fetch_and_add(&light->counts[bucket], 1);
	__sync_fetch_and_add(&light->sum_ns, ns);
	if (ns >= tail_ns)
		__sync_fetch_and_add(&light->tail, 1);
	raise_max(&light->max_ns, ns);
	return true;
}

static __always_inline void split_add_at(const struct split *split, struct lat_cell *cell,
					 const struct lat_key *key, __u32 row, const char *comm,
					 __u64 ns)
{
	split_add_row(split, cell, key, row, ns);
	if (!row && !add_light(split->light, key, comm, ns, split->config->tail_ns))
		__sync_fetch_and_add(&split->control->unnamed_ns, ns);
}

/*
 * Adds a sample to the row of one key. `comm` is the name of the task or disk behind it, in memory
 * of any kind; NULL if the key is neither.
 */
static __always_inline void split_add(const struct split *split, struct lat_cell *cell,
				      const struct lat_key *key, const char *comm, __u64 ns)
{
	split_add_at(split, cell, key, split_row(split, key, comm), comm, ns);
}

/*
 * The same for a cgroup. There are fewer cgroups than tasks, so its row is mostly found without the
 * hash, which takes longer than the rest of a sample.
 */
static __always_inline void split_add_cgroup(const struct split *split, struct lat_cell *cell,
					     const struct lat_key *key, __u64 ns)
{
	volatile __u64 *recent = &split->control->recent[LAT_RECENT_AT(key->id, key->metric)];
	__u64 kept = *recent;
	__u32 row = kept;

	if (!row || kept >> 32 != (__u32)key->id) {
		row = split_row(split, key, NULL);
		if (row)
			*recent = key->id << 32 | row;
	}
	split_add_at(split, cell, key, row, NULL, ns);
}

static __always_inline bool config_split(const volatile struct lat_config *config, __u32 by)
{
	return config->by & (1U << by);
}

/* Does a split need the names of tasks? */
static __always_inline bool config_names(const volatile struct lat_config *config)
{
	return config->by & (1U << LAT_BY_PROCESS | 1U << LAT_BY_THREAD);
}

/* The task that waited. The names are only set if a split needs them. */
struct identity {
	__u32 tgid;
	__u32 tid;
	__u64 cgroup;
	const char *comm; /* of the thread */
	const char *leader_comm; /* the name of the process */
};

/*
 * The name of a task's process is the name of its leader, also when the leader has exited. At the
 * end of its own exit a task may outlive its leader, and another task may use the leader's memory:
 * then only the task's own name is safe.
 */
static __always_inline const char *leader_comm(struct task_struct *task, bool raw)
{
	struct task_struct *leader = READ(raw, task, group_leader);

	if (READ(raw, task, exit_state) && READ(raw, leader, tgid) != READ(raw, task, tgid))
		return task->comm;
	return leader->comm;
}

#define LAT_BY_TASK (1U << LAT_BY_PROCESS | 1U << LAT_BY_THREAD | 1U << LAT_BY_CGROUP)

static __always_inline void rename_key(const struct split *split, __u32 by, __u64 id, __u32 metric,
				       const char *comm)
{
	struct lat_key key = { .id = id, .by = by, .metric = metric };
	__u32 *row = bpf_map_lookup_elem(split->keys, &key);
	struct lat_owner *owner = row ? bpf_map_lookup_elem(split->owners, row) : NULL;

	if (owner)
		bpf_probe_read_kernel_str(owner->comm, LAT_COMM_LEN, comm);
}

/* A task changes its name, by exec or otherwise: renames its keys. */
static __always_inline void split_rename(const struct split *split, __u32 metrics,
					 struct task_struct *task, const char *comm)
{
	__u32 tid = BPF_CORE_READ(task, pid), tgid = BPF_CORE_READ(task, tgid);

#pragma unroll
	for (__u32 metric = 0; metric < metrics; metric++) {
		rename_key(split, LAT_BY_THREAD, tid, metric, comm);
		if (tid == tgid) /* a process has the name of its first thread */
			rename_key(split, LAT_BY_PROCESS, tgid, metric, comm);
	}
}

/* As split_add(), for a key that is a task, which may be unknown. */
static __always_inline void split_add_known(const struct split *split, struct lat_cell *cell,
					    const struct lat_key *key, bool known, const char *comm,
					    __u64 ns)
{
	if (known)
		split_add(split, cell, key, comm, ns);
	else
		split_add_row(split, cell, key, 0, ns);
}

/*
 * The splits by the task that waited. `who` is NULL if it is unknown: the sample goes to (other).
 */
static __always_inline void split_by_identity(const struct split *split, struct lat_cell *cell,
					      __u32 metric, const struct identity *who, __u64 ns)
{
	struct lat_key key = { .metric = metric };

	if (config_split(split->config, LAT_BY_PROCESS)) {
		key.by = LAT_BY_PROCESS;
		key.id = who ? who->tgid : 0;
		split_add_known(split, cell, &key, who, who ? who->leader_comm : NULL, ns);
	}
	if (config_split(split->config, LAT_BY_THREAD)) {
		key.by = LAT_BY_THREAD;
		key.id = who ? who->tid : 0;
		split_add_known(split, cell, &key, who, who ? who->comm : NULL, ns);
	}
	if (config_split(split->config, LAT_BY_CGROUP)) {
		key.by = LAT_BY_CGROUP;
		key.id = who ? who->cgroup : 0;
		if (who)
			split_add_cgroup(split, cell, &key, ns);
		else
			split_add_row(split, cell, &key, 0, ns);
	}
}

/* The same for a task that is available. */
static __always_inline void split_by_task(const struct split *split, struct lat_cell *cell,
					  __u32 metric, struct task_struct *task, bool raw,
					  __u64 ns)
{
	struct identity who = { .comm = task->comm };

	if (!(split->config->by & LAT_BY_TASK))
		return;
	if (config_names(split->config)) {
		who.tgid = READ(raw, task, tgid);
		who.tid = READ(raw, task, pid);
		who.leader_comm = leader_comm(task, raw);
	}
	if (config_split(split->config, LAT_BY_CGROUP))
		who.cgroup = task_cgroup(task, raw);
	split_by_identity(split, cell, metric, &who, ns);
}

#endif
