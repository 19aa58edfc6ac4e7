/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a sample is counted. A probe declares the maps with these types and passes them; this header
 * defines no map, no global and no licence.
 */
#ifndef LATSCOPE_PROBES_KIT_SAMPLE_BPF_H
#define LATSCOPE_PROBES_KIT_SAMPLE_BPF_H

#include "kernel.bpf.h"
#include <latscope/event.h>

/* User space sizes these: cells to one entry per CPU, rows by lat_config.rows. */
#define CELLS_MAP(cells_of_cpu)                     \
	struct {                                    \
		__uint(type, BPF_MAP_TYPE_ARRAY);   \
		__uint(map_flags, BPF_F_MMAPABLE);  \
		__uint(max_entries, 1);             \
		__type(key, __u32);                 \
		__type(value, struct cells_of_cpu); \
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
 * Old verifiers must see the bound of a slot at the access. So it is in one 64-bit register, which
 * the compiler must neither copy nor narrow between the check and the access.
 */
static __always_inline __u64 bounded_slot(__u64 slot)
{
	barrier_var(slot);
	if (slot > HIST_OVERFLOW_SLOT) /* never */
		slot = HIST_OVERFLOW_SLOT;
	barrier_var(slot);
	return slot;
}

/* A latency, and its slot, which takes longer to compute than the rest of a sample. */
struct sample {
	__u64 ns;
	__u64 slot;
};

/* Global and not inlined, because it is rare, and so that the verifier checks it once. */
__noinline int slot_of_long(__u64 ns)
{
	return hist_slot(ns);
}

/*
 * Where `ns` has a bound, the compiler leaves out the division and the test for the last slot,
 * which only longer samples need.
 */
static __always_inline __u64 slot_of(__u64 ns)
{
	return ns < HIST_SCALE_SHORT_NS ? hist_slot(ns) : slot_of_long(ns);
}

static __always_inline struct sample sample_of(__u64 ns)
{
	return (struct sample){ .ns = ns, .slot = slot_of(ns) };
}

/* Adds to a histogram that only this program writes on this CPU. */
static __always_inline void hist_add_sample(struct lat_hist *hist, struct sample sample,
					    __u64 tail_ns)
{
	hist->slots[bounded_slot(sample.slot)]++;
	hist->sum_ns += sample.ns;
	if (sample.ns > hist->max_ns)
		hist->max_ns = sample.ns;
	if (sample.ns >= tail_ns)
		hist->tail++;
}

static __always_inline void hist_add(struct lat_hist *hist, __u64 ns, __u64 tail_ns)
{
	hist_add_sample(hist, sample_of(ns), tail_ns);
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
static __always_inline void hist_add_shared(struct lat_hist *hist, struct sample sample,
					    __u64 tail_ns)
{
	__sync_fetch_and_add(&hist->slots[bounded_slot(sample.slot)], 1);
	__sync_fetch_and_add(&hist->sum_ns, sample.ns);
	if (sample.ns >= tail_ns)
		__sync_fetch_and_add(&hist->tail, 1);
	raise_max(&hist->max_ns, sample.ns);
}

/*
 * Adds to a count of this CPU's cell. If the programs are attached twice, one may be preempted
 * between load and store while the other counts in the same cell: only then an atomic is used.
 */
#define COUNT_MORE(config, to, n) COUNT_BY((config)->again, to, n)
#define COUNT_BY(again, to, n)                          \
	({                                              \
		if (again)                              \
			__sync_fetch_and_add(&(to), n); \
		else                                    \
			(to) += (n);                    \
	})
#define COUNT(config, to) COUNT_MORE(config, to, 1)

static __always_inline void hist_add_cell(const volatile struct lat_config *config,
					  struct lat_hist *hist, struct sample sample)
{
	if (config->again)
		hist_add_shared(hist, sample, config->tail_ns);
	else
		hist_add_sample(hist, sample, config->tail_ns);
}

#ifdef LATSCOPE_FAULTS
#include "inject.bpf.h"
#else
#define inject_fault(config, metric, cell, ns) true
#define injects() false
#define injected(fault) false
#define injected_third(fault) false
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

/* Keeps the process of the oldest wait. */
static __always_inline void note_oldest(struct lat_oldest *oldest, __u64 age_ns,
					struct task_struct *task)
{
	if (age_ns <= oldest->age_ns)
		return;
	oldest->age_ns = age_ns;
	oldest->tgid = task->tgid;
	bpf_probe_read_kernel_str(oldest->process, LAT_COMM_LEN,
				  untrusted(task)->group_leader->comm);
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

static __noinline int write_owner(void *owners, __u32 row, const struct lat_key *key,
				  const char *comm)
{
	struct lat_owner *owner = bpf_map_lookup_elem(owners, &row);

	if (!owner)
		return 0;
	owner->key = *key;
	if (comm)
		bpf_probe_read_kernel_str(owner->comm, LAT_COMM_LEN, comm);
	else
		owner->comm[0] = 0; /* the row may have had another key */
	store_ordered(&owner->ready, 1);
	return 0;
}

/* The words of `recent` where the rows of a key may be. */
static __always_inline volatile __u64 *recent_words(struct lat_control *control, __u64 id, __u32 by)
{
	__u64 at = LAT_RECENT_AT(id, by);

	barrier_var(at); /* so that old verifiers see the bound */
	at &= LAT_RECENT - LAT_RECENT_METRICS;
	return control->recent + at;
}

static __always_inline volatile __u64 *recent_word(struct lat_control *control,
						   const struct lat_key *key)
{
	__u64 metric = key->metric;

	barrier_var(metric);
	metric &= LAT_RECENT_METRICS - 1;
	return recent_words(control, key->id, key->by) + metric;
}

/* The row that a word of `recent` has for a key, if it is below 1 << LAT_RECENT_ROW_BITS. */
static __always_inline __u64 row_in_word(__u64 word, __u64 id, __u32 by)
{
	return word ^ LAT_RECENT_WORD(id, by, 0);
}

/* Are the rows of the first metrics of a key all there? */
static __always_inline bool recent_rows(struct lat_control *control, __u32 by, __u32 id,
					__u32 metrics)
{
	volatile __u64 *words = recent_words(control, id, by);
	__u64 rows = 0;

#pragma unroll
	for (__u32 metric = 0; metric < metrics; metric++)
		rows |= row_in_word(words[metric], id, by);
	return rows < 1U << LAT_RECENT_ROW_BITS;
}

/*
 * Row of a key by the hash; 0: it has none. This and the next one are rare, therefore not inlined.
 * (They cannot take a struct split: a constant does not contain the address of a map.)
 */
static __noinline __u32 known_row(void *keys, struct lat_control *control,
				  const struct lat_key *key)
{
	__u32 *row = bpf_map_lookup_elem(keys, key);

	if (!row)
		return 0;
	*recent_word(control, key) = LAT_RECENT_WORD(key->id, key->by, *row);
	return *row;
}

/* Takes a row for a key; 0: none is left, or another CPU has made the key in between. */
static __noinline __u32 take_row(void *keys, struct lat_control *control, __u32 first_rows,
				 const struct lat_key *key)
{
	__u32 row = __sync_fetch_and_add(&control->next_row, 1);

	if (row >= first_rows || bpf_map_update_elem(keys, key, &row, BPF_NOEXIST))
		return 0;
	return row;
}

/* Row of a key that has one, otherwise 0. The hash takes longer than the rest of a sample. */
static __always_inline __u32 find_row(const struct split *split, const struct lat_key *key,
				      const volatile __u64 *word)
{
	__u64 row = row_in_word(*word, key->id, key->by);

	return row < 1U << LAT_RECENT_ROW_BITS ? row : known_row(split->keys, split->control, key);
}

/* Row of a key, made at its first sample, which also gives its name; 0 when no row is left. */
static __always_inline __u32 split_row(const struct split *split, const struct lat_key *key,
				       const volatile __u64 *word, const char *comm)
{
	__u32 row = find_row(split, key, word);

	if (row || split->control->next_row >= split->config->first_rows)
		return row;
	row = take_row(split->keys, split->control, split->config->first_rows, key);
	if (!row) /* that of the other CPU; the one that was taken stays empty */
		return known_row(split->keys, split->control, key);
	write_owner(split->owners, row, key, comm);
	return row;
}

/* Adds a sample to a row; row 0: to (other). */
static __always_inline void split_add_row(const struct split *split, struct lat_cell *cell,
					  const struct lat_key *key, __u32 row,
					  struct sample sample)
{
	struct lat_hist *hist;

	if (!row) {
		row = LAT_OTHER_ROW(split->config->rows, key->by, key->metric);
		COUNT(split->config, cell->counts[LAT_OTHER_KEY]);
	}
	hist = bpf_map_lookup_elem(split->rows, &row);
	if (hist)
		hist_add_shared(hist, sample, split->config->tail_ns);
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

/* Adds a sample of a key that has no row to the map `light`; false: the map is full. */
static __noinline bool add_light(void *map, const struct lat_key *key, const char *comm, __u64 ns,
				 __u64 tail_ns)
{
	struct lat_light *light = light_of(map, key, comm);
	__u64 bucket = hist_slot_bucket(hist_slot(ns));

	barrier_var(bucket); /* as in bounded_slot() */
	if (!light || bucket >= HIST_LOG2_BUCKETS)
		return false;
	__sync_fetch_and_add(&light->counts[bucket], 1);
	__sync_fetch_and_add(&light->sum_ns, ns);
	if (ns >= tail_ns)
		__sync_fetch_and_add(&light->tail, 1);
	raise_max(&light->max_ns, ns);
	return true;
}

/*
 * Adds a sample to the row of one key, with its word of `recent`. `comm` is the name of the task or
 * disk behind the key, in memory of any kind; NULL if it is neither.
 */
static __always_inline void split_add_word(const struct split *split, struct lat_cell *cell,
					   const struct lat_key *key, const volatile __u64 *word,
					   const char *comm, struct sample sample)
{
	__u32 row = split_row(split, key, word, comm);

	split_add_row(split, cell, key, row, sample);
	if (!row && !add_light(split->light, key, comm, sample.ns, split->config->tail_ns))
		__sync_fetch_and_add(&split->control->unnamed_ns, sample.ns);
}

static __always_inline void split_add(const struct split *split, struct lat_cell *cell,
				      const struct lat_key *key, const char *comm,
				      struct sample sample)
{
	split_add_word(split, cell, key, recent_word(split->control, key), comm, sample);
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

/*
 * The name of a task's process is the name of its leader, also when the leader has exited. At the
 * end of its own exit a task may outlive its leader, and another task may use the leader's memory:
 * then only the task's own name is safe.
 */
static __always_inline const char *leader_comm(struct task_struct *task)
{
	struct task_struct *leader = untrusted(task)->group_leader;

	if (task->exit_state && leader->tgid != task->tgid)
		return task->comm;
	return leader->comm;
}

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

static __always_inline void split_by_cpu(const struct split *split, struct lat_cell *cell,
					 __u32 metric, __u32 cpu, struct sample sample)
{
	const struct lat_key key = { .by = LAT_BY_CPU, .id = cpu, .metric = metric };

	if (config_split(split->config, LAT_BY_CPU))
		split_add(split, cell, &key, NULL, sample);
}

/* The splits by the task that waited. */
static __always_inline void split_by_task(const struct split *split, struct lat_cell *cell,
					  __u32 metric, struct task_struct *task,
					  struct sample sample)
{
	struct lat_key key = { .metric = metric };

	if (config_split(split->config, LAT_BY_PROCESS)) {
		key.by = LAT_BY_PROCESS;
		key.id = (__u32)task->tgid;
		split_add(split, cell, &key, leader_comm(task), sample);
	}
	if (config_split(split->config, LAT_BY_THREAD)) {
		key.by = LAT_BY_THREAD;
		key.id = (__u32)task->pid;
		split_add(split, cell, &key, task->comm, sample);
	}
	if (config_split(split->config, LAT_BY_CGROUP)) {
		key.by = LAT_BY_CGROUP;
		key.id = task_cgroup(task);
		split_add(split, cell, &key, NULL, sample);
	}
}

#endif
