/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a slow sample is explained. Included once by a probe, after its `config`. Without
 * `config.why` the maps do not exist, so code for them must not be reached.
 *
 * All maps are in memory that user space reads: a system call for a map keeps the kprobes and perf
 * events of its CPU from running programs.
 */
#ifndef LATSCOPE_PROBES_KIT_WHY_BPF_H
#define LATSCOPE_PROBES_KIT_WHY_BPF_H

#include "sample.bpf.h"
#include <latscope/why.h>

/* User space sizes it: one entry per CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct why_cell);
} why_cells SEC(".maps");

/* User space sizes it to WHY_PLACES. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct why_pair);
} why_pairs SEC(".maps");

/* User space sizes it by its option. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} why_events SEC(".maps");

struct why_control why_control = {};

/* What victims and culprits are: enum lat_by. */
static __always_inline __u32 why_by(void)
{
	return config.why - 1;
}

/* Are culprits processes? */
static __always_inline bool why_of_processes(void)
{
	return why_by() == LAT_BY_PROCESS || why_by() == LAT_BY_CPU;
}

/* The task's process, thread or cgroup, as lat_config.why says. A process has its leader's name. */
static __always_inline void why_describe(struct why_who *who, struct task_struct *task)
{
	const char *comm = task->comm;

	if (why_by() == LAT_BY_CGROUP) {
		who->id = task_cgroup(task);
		return;
	}
	who->id = task->pid;
	if (why_of_processes()) {
		who->id = task->tgid;
		comm = leader_comm(task);
	}
	bpf_probe_read_kernel_str(who->comm, LAT_COMM_LEN, comm);
}

/* ---- latscope itself ---- */

/* The program that it runs, as the kernel's struct file: another one for each execution. */
__u64 latscope_exe = 0;

/* How often a task has taken another name. */
__u32 names_changed = 0;

/* Runs once, in latscope. What is known of tasks by then is taken again. */
SEC("iter/task")
int find_latscope(struct bpf_iter__task *ctx)
{
	__u64 exe = (__u64)untrusted(bpf_get_current_task_btf())->mm->exe_file;

	if (exe != latscope_exe)
		names_changed++;
	latscope_exe = exe;
	return 0;
}

/*
 * Is the task latscope, or a child that executes nothing else? Seldom asked, so it may be slow: the
 * verifier takes longer for loads of pointers than for these calls.
 */
static __always_inline bool is_latscope(struct task_struct *task)
{
	__u64 exe = (__u64)BPF_CORE_READ(task, mm, exe_file);

	return exe && exe == latscope_exe;
}

/* ---- samples ---- */

/* Is a sample to be explained? */
static __always_inline bool why_slow(__u64 ns)
{
	return config.why && ns >= why_control.least_ns;
}

/*
 * The cell of this CPU, which the caller adds the parts to, if the sample counts; of a candidate,
 * it only counts how many there were. NULL: do not explain the sample.
 */
static __always_inline struct why_cell *why_begin(__u64 ns, bool *counts)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct why_cell *cell = bpf_map_lookup_elem(&why_cells, &cpu);

	*counts = ns >= why_control.over_ns;
	if (!cell) /* never: the map has an entry per possible CPU */
		return NULL;
	if (*counts) {
		__sync_fetch_and_add(&cell->slow, 1);
		__sync_fetch_and_add(&cell->slow_ns, ns);
		return cell;
	}
	if (ns < cell->least_ns)
		return NULL;
	if (__sync_fetch_and_add(&cell->candidates, 1) % WHY_LEVEL == WHY_LEVEL - 1)
		cell->least_ns = 2 * (cell->least_ns ?: why_control.least_ns);
	return cell;
}

/* The same for a sample of latscope itself, of which only the length is of interest. */
static __always_inline struct why_cell *why_begin_own(__u64 ns)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct why_cell *cell = bpf_map_lookup_elem(&why_cells, &cpu);

	if (cell && ns >= why_control.over_ns) {
		__sync_fetch_and_add(&cell->of_latscope, 1);
		__sync_fetch_and_add(&cell->of_latscope_ns, ns);
	}
	return cell;
}

/* ---- pairs ---- */

static __always_inline bool same_name(const struct why_who *a, const struct why_who *b)
{
	const __u64 *left = (const void *)a->comm, *right = (const void *)b->comm;

	return left[0] == right[0] && left[1] == right[1];
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

static __always_inline __u64 pair_hash(__u64 victim, __u64 culprit, __u32 part)
{
	return (victim * 0x9e3779b97f4a7c15ULL ^ culprit) * 0xbf58476d1ce4e5b9ULL + part;
}

static __always_inline void add_amount(struct why_pair *pair, const struct why_amount *amount)
{
	__sync_fetch_and_add(&pair->amount.ns, amount->ns);
	__sync_fetch_and_add(&pair->amount.count, 1);
	if (amount->read_bytes)
		__sync_fetch_and_add(&pair->amount.read_bytes, amount->read_bytes);
	if (amount->written_bytes)
		__sync_fetch_and_add(&pair->amount.written_bytes, amount->written_bytes);
}

struct why_search {
	const struct why_who *victim, *culprit;
	__u32 part;
	bool named; /* by names, among the places for those */
};

static __always_inline bool is_pair(const struct why_pair *pair, const struct why_search *search)
{
	if (pair->part != search->part)
		return false;
	if (search->named)
		return same_name(&pair->victim, search->victim) &&
		       same_name(&pair->culprit, search->culprit);
	return pair->victim.id == search->victim->id && pair->culprit.id == search->culprit->id;
}

static __always_inline bool claim_pair(struct why_pair *pair, const struct why_search *search)
{
	if (__sync_val_compare_and_swap(&pair->state, WHY_FREE, WHY_CLAIMED) != WHY_FREE)
		return false;
	pair->victim = *search->victim;
	pair->culprit = *search->culprit;
	if (search->named)
		pair->victim.id = pair->culprit.id = 0;
	pair->part = search->part;
	store_ordered(&pair->state, WHY_READY);
	return true;
}

/* Finds the place of a pair, which takes it if it has none. If there is none for it: its part. */
static __always_inline void find_place(__u32 *place, const struct why_search *search, __u32 first)
{
	struct why_pair *pair;

#pragma clang loop unroll(disable)
	for (__u32 n = 0; n < WHY_PROBES; n++) {
		*place = search->named ? WHY_PAIRS + ((first + n) & (WHY_PLACES - WHY_PAIRS - 1))
				       : (first + n) & (WHY_PAIRS - 1);
		if (*place < WHY_PARTS)
			continue;
		pair = bpf_map_lookup_elem(&why_pairs, place);
		if (!pair)
			break;
		if (!(pair->state == WHY_READY ? is_pair(pair, search) : claim_pair(pair, search)))
			continue;
		if (!search->named) {
			rename_who(&pair->victim, search->victim);
			rename_who(&pair->culprit, search->culprit);
		}
		return;
	}
	*place = search->part;
}

static __always_inline void find_by_id(__u32 *place, const struct why_search *search)
{
	find_place(place, search,
		   pair_hash(search->victim->id, search->culprit->id, search->part) >>
			   (64 - WHY_PAIR_BITS));
}

static __always_inline void find_by_name(__u32 *place, struct why_search *search)
{
	__u64 victim = *(const __u64 *)search->victim->comm;
	__u64 culprit = *(const __u64 *)search->culprit->comm;

	search->named = true;
	find_place(place, search,
		   pair_hash(victim, culprit, search->part) >> (64 - WHY_NAMED_BITS));
}

/*
 * Adds an amount to a pair, in one more sample. Two CPUs that claim the same pair at once may give
 * it two places; user space adds them up. Global, so that the verifier checks it once and not for
 * each way to it, for which new kernels take hundreds of MB. It has 32 bytes of stack at most,
 * because the stacks of all functions on the way to it have 512.
 */
__noinline int why_add_pair(const struct why_who *victim, const struct why_who *culprit, __u32 part,
			    const struct why_amount *amount)
{
	struct why_search search = { .victim = victim, .culprit = culprit, .part = part };
	struct why_pair *pair;
	__u32 place;

	if (!config.why || !victim || !culprit || !amount)
		return 0;
	find_by_id(&place, &search);
	if (place == part && victim->comm[0])
		find_by_name(&place, &search);
	pair = bpf_map_lookup_elem(&why_pairs, &place);
	if (pair)
		add_amount(pair, amount);
	return 0;
}

/*
 * Adds a part of a sample that counts to the cell and to its pair. `part` is less than WHY_PARTS.
 */
static __always_inline void why_add(struct why_cell *cell, const struct why_who *victim,
				    const struct why_who *culprit, __u32 part, __u64 ns)
{
	const struct why_amount amount = { .ns = ns };

	if (!ns || part >= WHY_PARTS)
		return;
	__sync_fetch_and_add(&cell->part_ns[part], ns);
	why_add_pair(victim, culprit, part, &amount);
}

/* ---- who a task is, as of the last time that it was seen ---- */

/* What a name is of. */
struct why_name {
	__u64 task;
	__u32 tid;
	__u32 as_of; /* how often a task had taken another name until then */
	__u64 cgroups; /* 0: it does not matter which */
};

/* Is it the name of this task, and not an old one? */
static __always_inline bool why_named(const struct why_name *name, struct task_struct *task,
				      __u32 tid, __u32 as_of, __u64 cgroups)
{
	return name->task == (__u64)task && name->tid == tid && name->as_of == as_of &&
	       name->cgroups == cgroups;
}

/* ---- the culprits of one sample ---- */

#define WHY_SUMS 64

/* What is known of one culprit. */
struct why_sum {
	__u64 id; /* tells culprits apart */
	struct why_who who;
	struct why_amount amount;
	__u32 part; /* 0: free */
	__u32 tid;
};

/* The work space of a sample. */
struct why_scratch {
	struct why_sum sums[WHY_SUMS]; /* free before and after */
	struct why_culprit largest[WHY_CULPRITS];
	__u64 part_ns[WHY_PARTS];
	__u64 unnamed_ns[WHY_PARTS]; /* of them, without a culprit */
	__u64 settled; /* sums that gave way to others */
	bool counts; /* the sample does: else nothing is added to pairs */
};

static __always_inline void why_clear(struct why_scratch *scratch, bool counts)
{
	scratch->counts = counts;
	__builtin_memset(scratch->part_ns, 0, sizeof(scratch->part_ns));
	__builtin_memset(scratch->unnamed_ns, 0, sizeof(scratch->unnamed_ns));
	__builtin_memset(scratch->largest, 0, sizeof(scratch->largest));
	scratch->settled = 0;
}

/* Keeps the largest sums for the event. Not inlined, for the sake of the callers' stacks. */
static __noinline int why_rank(struct why_scratch *scratch, const struct why_sum *sum)
{
	struct why_culprit *least = &scratch->largest[0];

#pragma unroll
	for (int i = 0; i < WHY_CULPRITS; i++) {
		struct why_culprit *culprit = &scratch->largest[i];

		if (culprit->ns && culprit->who.id == sum->who.id && culprit->part == sum->part) {
			culprit->ns += sum->amount.ns; /* it was settled before */
			culprit->read_bytes += sum->amount.read_bytes;
			culprit->written_bytes += sum->amount.written_bytes;
			return 0;
		}
		if (culprit->ns < least->ns)
			least = culprit;
	}
	if (sum->amount.ns <= least->ns)
		return 0;
	least->who = sum->who;
	least->ns = sum->amount.ns;
	least->read_bytes = sum->amount.read_bytes;
	least->written_bytes = sum->amount.written_bytes;
	least->tid = sum->tid;
	least->part = sum->part;
	return 0;
}

/* Adds a sum to its pair, and frees its place. */
static __always_inline void why_settle(struct why_scratch *scratch, struct why_sum *sum,
				       const struct why_who *victim)
{
	if (!sum->part)
		return;
	if (scratch->counts)
		why_add_pair(victim, &sum->who, sum->part, &sum->amount);
	why_rank(scratch, sum);
	sum->part = 0;
}

static __always_inline bool why_fits(const struct why_sum *sum, __u64 id, __u32 part)
{
	return !sum->part || (sum->id == id && sum->part == part);
}

/*
 * The sum of a culprit, which may have one of two places; if its part is 0, it is new, and the
 * caller must say who it is.
 */
static __always_inline struct why_sum *why_sum_of(struct why_scratch *scratch, __u64 id, __u32 part,
						  const struct why_who *victim)
{
	__u32 hash = (__u32)(id + (id >> WHY_TRAITS_SHIFT) * 37 + part) * 0x9e3779b1;
	struct why_sum *sum = &scratch->sums[hash >> 26 & (WHY_SUMS - 1)];
	struct why_sum *other = &scratch->sums[hash >> 20 & (WHY_SUMS - 1)];

	if (why_fits(sum, id, part))
		return sum;
	if (why_fits(other, id, part))
		return other;
	scratch->settled++;
	why_settle(scratch, sum, victim);
	return sum;
}

static __always_inline void why_start_sum(struct why_sum *sum, __u64 id, __u32 part, __u32 tid)
{
	__builtin_memset(&sum->who, 0, sizeof(sum->who));
	__builtin_memset(&sum->amount, 0, sizeof(sum->amount));
	sum->id = id;
	sum->part = part;
	sum->tid = tid;
}

struct why_settling {
	struct why_scratch *scratch;
	const struct why_who *victim;
};

static long why_settle_one(__u32 n, struct why_settling *all)
{
	why_settle(all->scratch, &all->scratch->sums[n % WHY_SUMS], all->victim);
	return 0;
}

/*
 * Adds what the scratch has to the cell and to the pairs. Parts that are not in the mask
 * `of_culprits` have no sums. Not inlined, for the sake of the callers' stacks.
 */
__attribute__((unused)) static __noinline int why_add_all(struct why_cell *cell,
							  struct why_scratch *scratch,
							  const struct why_who *victim,
							  __u32 of_culprits)
{
	struct why_settling all = { scratch, victim };
	struct why_who none = {};

	bpf_loop(WHY_SUMS, why_settle_one, &all, 0);
	if (!scratch->counts)
		return 0;
#pragma unroll
	for (__u32 part = 0; part < WHY_PARTS; part++) {
		bool named = of_culprits & 1U << part;
		struct why_amount amount = { .ns = scratch->unnamed_ns[part] };

		if (!named)
			amount.ns = scratch->part_ns[part];
		__sync_fetch_and_add(&cell->part_ns[part], scratch->part_ns[part]);
		if (amount.ns)
			why_add_pair(victim, &none, part, &amount);
	}
	return 0;
}

#endif
