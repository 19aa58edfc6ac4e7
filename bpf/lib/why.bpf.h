/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a slow sample is explained. A probe declares the maps with these types and passes them in;
 * this file has no map and no global. A probe without `config.why` has no code for it.
 *
 * All maps are in memory that user space reads: a system call for a map keeps the kprobes and perf
 * events of its CPU from running programs.
 */
#ifndef LATSCOPE_WHY_BPF_H
#define LATSCOPE_WHY_BPF_H

#include "sample.bpf.h"
#include <latscope/why.h>

/* User space sizes it: one entry per CPU; one in all if there is no `why`. */
struct why_cells_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct why_cell);
};

/* User space sizes it to WHY_PAIRS. */
struct why_pairs_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct why_pair);
};

/* User space sizes it by its option. */
struct why_events_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

/* One probe's places for its slow samples. */
struct why {
	void *cells;
	void *pairs;
};

/* Whom a task counts as, by lat_config.why. A process is what its leader is called. */
static __always_inline void why_describe(const volatile struct lat_config *config,
					 struct why_who *who, struct task_struct *task)
{
	const char *comm = task->comm;

	if (config->why - 1 == LAT_BY_CGROUP) {
		who->id = task_cgroup(task, false);
		return;
	}
	who->id = task->pid;
	if (config->why - 1 == LAT_BY_PROCESS) {
		who->id = task->tgid;
		comm = leader_comm(task, false);
	}
	bpf_probe_read_kernel_str(who->comm, LAT_COMM_LEN, comm);
}

static __always_inline bool why_slow(const volatile struct lat_config *config,
				     const struct why_control *control, __u64 ns)
{
	return config->why && ns >= control->over_ns;
}

/* Counts a slow sample in the cell of this CPU, which the caller adds the parts to. */
static __always_inline struct why_cell *why_begin(const struct why *why, __u64 ns)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct why_cell *cell = bpf_map_lookup_elem(why->cells, &cpu);

	if (!cell) /* never: the map has an entry per possible CPU */
		return NULL;
	__sync_fetch_and_add(&cell->slow, 1);
	__sync_fetch_and_add(&cell->slow_ns, ns);
	return cell;
}

static __always_inline bool same_pair(const struct why_pair *pair, const struct why_who *victim,
				      const struct why_who *culprit, __u32 part)
{
	return pair->victim.id == victim->id && pair->culprit.id == culprit->id &&
	       pair->part == part;
}

static __always_inline bool claim_pair(struct why_pair *pair, const struct why_who *victim,
				       const struct why_who *culprit, __u32 part)
{
	if (__sync_val_compare_and_swap(&pair->state, WHY_FREE, WHY_CLAIMED) != WHY_FREE)
		return false;
	pair->victim = *victim;
	pair->culprit = *culprit;
	pair->part = part;
	store_ordered(&pair->state, WHY_READY);
	return true;
}

/* A task may have another name by now. */
static __always_inline void rename_who(struct why_who *who, const struct why_who *now)
{
	const __u64 *name = (const void *)now->comm;
	__u64 *old = (void *)who->comm;

	if (!now->comm[0])
		return;
	if (old[0] != name[0])
		old[0] = name[0];
	if (old[1] != name[1])
		old[1] = name[1];
}

static __always_inline __u32 pair_hash(__u64 victim, __u64 culprit, __u32 part)
{
	__u64 hash = (victim * 0x9e3779b97f4a7c15ULL ^ culprit) * 0xbf58476d1ce4e5b9ULL + part;

	return hash >> (64 - WHY_PAIR_BITS);
}

/*
 * Adds time to a pair. Two CPUs that claim the same pair at once may give it two places; user space
 * adds them up. Not inlined: it is the rare case.
 */
static __noinline int why_add_pair(void *pairs, const struct why_who *victim,
				   const struct why_who *culprit, __u32 part, __u64 ns)
{
	__u32 hash = pair_hash(victim->id, culprit->id, part), place;
	struct why_pair *pair;

#pragma clang loop unroll(disable)
	for (int i = 0; i < WHY_PROBES; i++) {
		place = (hash + i) & (WHY_PAIRS - 1);
		if (place < WHY_PARTS)
			continue;
		pair = bpf_map_lookup_elem(pairs, &place);
		if (!pair)
			return 0;
		if (pair->state == WHY_READY ? same_pair(pair, victim, culprit, part)
					     : claim_pair(pair, victim, culprit, part)) {
			rename_who(&pair->victim, victim);
			rename_who(&pair->culprit, culprit);
			__sync_fetch_and_add(&pair->ns, ns);
			__sync_fetch_and_add(&pair->count, 1);
			return 0;
		}
	}
	place = part;
	pair = bpf_map_lookup_elem(pairs, &place);
	if (!pair)
		return 0;
	__sync_fetch_and_add(&pair->ns, ns);
	__sync_fetch_and_add(&pair->count, 1);
	return 0;
}

/* Adds a part of a slow sample to the cell and to its pair. `part` is less than WHY_PARTS. */
static __always_inline void why_add(const struct why *why, struct why_cell *cell,
				    const struct why_who *victim, const struct why_who *culprit,
				    __u32 part, __u64 ns)
{
	if (!ns || part >= WHY_PARTS)
		return;
	__sync_fetch_and_add(&cell->part_ns[part], ns);
	why_add_pair(why->pairs, victim, culprit, part, ns);
}

#endif
