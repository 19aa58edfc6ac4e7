/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a task waited for a CPU: who had this CPU meanwhile. Each switch notes the turn that ends in
 * a ring; a slow wait is compared with the turns of its CPU, the newest first. Included by
 * runqlat.bpf.c alone. All of it runs at sched_switch, under the run-queue lock.
 */
#ifndef LATSCOPE_RUNQLAT_WHY_BPF_H
#define LATSCOPE_RUNQLAT_WHY_BPF_H

#include "why.bpf.h"

/*
 * A wait is compared with all turns in the ring. This takes some 40 us with interrupts off. Each
 * sum that has to be settled on the way takes 0.1 us more: after so many, culprits are not named.
 */
#define WALK_TURNS (WHY_TURNS - WHY_BLOCK)
#define MOST_SETTLED 128

/*
 * Each turn refers to a name in a ring of names. The later turns of a task refer to the same one,
 * until as many others have been taken as there are turns in the ring; then its name is taken
 * again. A turn takes at most one, so no name of a turn in the ring is overwritten. Which thread
 * IDs there are does not matter.
 */
#define NAMES (2 * WHY_TURNS)
#define KNOWN 1024 /* tasks that are looked up; of those with the same place, the last one */
_Static_assert(NAMES <= 1 << 16, "a turn has 16 bits for it");

struct known {
	struct why_name name;
	__u32 number; /* of the name */
	__u32 pad;
};

/* How often a task has taken another name. */
__u32 names_changed = 0;

/* What a CPU knows of its turns, and its work space. */
struct place {
	struct why_turns ring;
	struct known known[KNOWN]; /* by TID */
	struct why_who names[NAMES];
	struct why_scratch scratch;
} __attribute__((aligned(64)));

/* User space sizes it: one entry per CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__uint(map_flags, BPF_F_MMAPABLE); /* aligns the values to pages, and so to cache lines */
	__type(value, struct place);
} places SEC(".maps");

/* Who woke a task up last; by TID of the task. The newest task takes the place of another one. */
#define WAKEUPS 1024

struct wakeup {
	__u64 queued; /* the stamp that the kernel made */
	struct task_struct *waker; /* may be gone */
	__u32 tid; /* of the task */
	__u32 waker_tid;
	__u64 pad[5]; /* one cache line each */
};

static struct wakeup wakeups[WAKEUPS] __attribute__((aligned(64)));

/* ---- turns ---- */

static __always_inline __u32 task_class(struct task_struct *task)
{
	if (!task->pid)
		return WHY_IDLE;
	if (task->flags & PF_KTHREAD)
		return WHY_KTHREAD;
	return task->prio < MAX_RT_PRIO ? WHY_RT : WHY_TASK;
}

/* Returns the place of its name. */
static __always_inline __u32 note_name(struct place *place, struct task_struct *task, __u32 tid)
{
	struct known *known = &place->known[tid % KNOWN];
	__u32 as_of = names_changed, number = place->ring.names;
	__u64 cgroups = 0;

	if (why_by() == LAT_BY_CGROUP)
		cgroups = (__u64)task->cgroups;
	if (why_named(&known->name, task, tid, as_of, cgroups) &&
	    number - known->number < WHY_TURNS)
		return known->number % NAMES;
	known->name.task = (__u64)task;
	known->name.tid = tid;
	known->name.as_of = as_of;
	known->name.cgroups = cgroups;
	known->number = number;
	place->ring.names = number + 1;
	number %= NAMES;
	why_describe(&place->names[number], task);
	return number;
}

static __always_inline void add_to_ring(struct why_turns *ring, struct task_struct *task,
					__u32 class, __u32 name, __u64 end_ns)
{
	__u64 next = ring->next;
	struct why_turn *turn = &ring->turns[next % WHY_TURNS];

	*turn = (struct why_turn){
		.end_ns = end_ns, .tid = task->pid, .tgid = task->tgid, .class = class, .name = name
	};
	if (next && end_ns > ring->sums.end_ns) /* the start of the first turn is unknown */
		ring->sums.class_ns[class] += end_ns - ring->sums.end_ns;
	ring->sums.end_ns = end_ns;
	ring->next = ++next;
	if (!(next % WHY_BLOCK))
		ring->blocks[next / WHY_BLOCK % WHY_BLOCKS] = ring->sums;
}

/*
 * The turn of `prev` ends. If it is not the task that got the CPU, a switch was hidden from us:
 * then the kernel's account says when the turn began, and what was before it is unknown.
 */
static __always_inline void note_turn(struct task_struct *prev, struct task_struct *next, __u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id(), tid = prev->pid, name = 0;
	struct why_turns *ring;
	struct place *place;
	__u64 arrival;

	if (!config.why)
		return;
	place = bpf_map_lookup_elem(&places, &cpu);
	if (!place)
		return;
	ring = &place->ring;
	if (ring->running != tid) {
		arrival = tid ? prev->sched_info.last_arrival : 0;
		add_to_ring(ring, prev, WHY_HIDDEN, 0, arrival && arrival < now ? arrival : now);
	}
	if (tid)
		name = note_name(place, prev, tid);
	add_to_ring(ring, prev, task_class(prev), name, now);
	ring->running = next->pid;
}

/* ---- the quota of a cgroup ---- */

/* Called when a wait begins. Without quotas this reads two words. */
static __always_inline void begin_quota(struct task_struct *task, struct runqlat_task *own)
{
	__u64 ns = task_throttled_ns(task);

	if (!ns)
		return;
	if (!own)
		own = find_own(task);
	if (!own)
		return;
	own->quota_of = (__u64)task->se.cfs_rq;
	own->quota_ns = ns;
}

/*
 * How long the task's cgroup was out of quota since. If it never was before the wait, there is no
 * earlier sum: then this sum is from the wait, unless it is longer.
 */
static __always_inline __u64 end_quota(struct task_struct *task, struct runqlat_task *own,
				       __u64 most)
{
	__u64 ns = task_throttled_ns(task);

	if (!ns || !own)
		return 0;
	if (!own->quota_of)
		return ns <= most ? ns : 0;
	if (own->quota_of != (__u64)task->se.cfs_rq)
		return 0;
	ns -= own->quota_ns;
	return ns < most ? ns : most;
}

/*
 * A wait begins: who woke the task up, and how long its cgroup was out of quota until now. Task
 * storage would cost more than the rest of it.
 */
static __always_inline void note_wakeup(struct task_struct *task, __u64 queued)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	__u32 tid = task->pid;
	struct wakeup *wakeup = &wakeups[tid % WAKEUPS];

	wakeup->queued = queued;
	wakeup->waker = waker;
	wakeup->tid = tid;
	wakeup->waker_tid = waker->pid;
	begin_quota(task, NULL);
}

/*
 * The waker of a task that is about to run. The wakeup is that of this wait if it was after the
 * last time that the task got a CPU; else the task was preempted.
 */
static __always_inline void find_waker(struct why_event *event, struct task_struct *task)
{
	__u32 of = task->pid, tid, pid = 0;
	const struct wakeup *wakeup = &wakeups[of % WAKEUPS];
	struct task_struct *waker = wakeup->waker;

	if (wakeup->tid != of || wakeup->queued <= task->sched_info.last_arrival)
		return;
	tid = wakeup->waker_tid;
	event->waker_tid = tid;
	bpf_probe_read_kernel(&pid, sizeof(pid), &waker->pid);
	if (pid == tid) /* else it has ended, and something else is in its place */
		bpf_probe_read_kernel_str(event->waker, LAT_COMM_LEN, &waker->comm);
}

/* ---- the walk ---- */

struct walk {
	struct place *place;
	__u64 newest;
	__u64 low, high; /* what is left of the wait */
	struct why_who *victim;
	__u32 tgid; /* of the victim */
	__u32 pad;
};

static __always_inline __u32 turn_part(__u32 class, __u32 tgid, __u32 victim)
{
	switch (class) {
	case WHY_IDLE:
		return WHY_RUNQLAT_IDLE;
	case WHY_HIDDEN:
		return WHY_RUNQLAT_UNKNOWN;
	case WHY_KTHREAD:
		return WHY_RUNQLAT_KERNEL;
	case WHY_RT:
		return tgid == victim ? WHY_RUNQLAT_OWN : WHY_RUNQLAT_REALTIME;
	default:
		return tgid == victim ? WHY_RUNQLAT_OWN : WHY_RUNQLAT_OTHER;
	}
}

#define OF_CULPRITS                                                                   \
	(1U << WHY_RUNQLAT_OWN | 1U << WHY_RUNQLAT_OTHER | 1U << WHY_RUNQLAT_KERNEL | \
	 1U << WHY_RUNQLAT_REALTIME)

/* The time of a turn that belongs to the wait. */
static __always_inline void add_turn(struct walk *walk, const struct why_turn *turn, __u64 ns)
{
	__u32 part = turn_part(turn->class, turn->tgid, walk->tgid), id = turn->tid;
	struct why_scratch *scratch = &walk->place->scratch;
	struct why_sum *sum;

	scratch->part_ns[part] += ns;
	if (!(OF_CULPRITS & 1U << part))
		return;
	if (scratch->settled == MOST_SETTLED) {
		scratch->unnamed_ns[part] += ns;
		return;
	}
	if (why_by() == LAT_BY_PROCESS)
		id = turn->tgid;
	sum = why_sum_of(scratch, id, part, walk->victim);
	if (!sum->part) {
		why_start_sum(sum, id, part, turn->tid);
		sum->who = walk->place->names[turn->name % NAMES];
	}
	sum->amount.ns += ns;
}

static long walk_turn(__u32 n, struct walk *walk)
{
	__u64 at = walk->newest - n, start;
	const struct why_turn *turn = &walk->place->ring.turns[at % WHY_TURNS];

	start = walk->place->ring.turns[(at - 1) % WHY_TURNS].end_ns;
	if (start < walk->low)
		start = walk->low;
	if (start >= walk->high)
		return 0;
	add_turn(walk, turn, walk->high - start);
	walk->high = start;
	return start == walk->low;
}

struct search {
	const struct why_sums *blocks;
	__u64 ns;
	__u64 first, last; /* blocks that are left */
};

static long search_block(__u32 n, struct search *search)
{
	__u64 middle = (search->first + search->last) / 2;

	if (search->blocks[middle % WHY_BLOCKS].end_ns >= search->ns)
		search->last = middle;
	else
		search->first = middle + 1;
	return search->first >= search->last;
}

/*
 * The part of the wait before the turns in the ring, from `low` to `high`, when block `newest` was
 * the last one: by class. A task of the victim's process counts as another one there. The wait
 * begins within a block: `edge` is the time of that block after the beginning. If a class has more
 * time in the block than there was before the beginning, the excess belongs to the wait. Global, so
 * that the verifier checks it once.
 */
__noinline int add_classes(struct place *place, __u64 newest, __u64 low, __u64 high)
{
	const struct why_sums *before, *from, *to;
	__u64 blocks, left = high - low, all = 0, edge, ns;
	struct search search = { .ns = low, .last = newest };
	__u32 part;

	if (!place)
		return 0;
	to = &place->ring.blocks[newest % WHY_BLOCKS];
	blocks = place->ring.next / WHY_BLOCK;
	search.blocks = place->ring.blocks;
	search.first = blocks >= WHY_BLOCKS ? blocks - WHY_BLOCKS + 2 : 1;
	bpf_loop(10, search_block, &search, 0); /* halves WHY_BLOCKS to one */
	from = &place->ring.blocks[search.last % WHY_BLOCKS];
	before = &place->ring.blocks[(search.last - 1) % WHY_BLOCKS];
#pragma unroll
	for (int class = 0; class < WHY_CLASSES; class ++)
		all += from->class_ns[class] - before->class_ns[class];
	edge = from->end_ns - low;
	if (edge > all) /* the wait began before all that is known */
		edge = 0;
#pragma unroll
	for (__u64 class = 0; class < WHY_CLASSES; class ++) {
		part = turn_part(class, 0, -1); /* never the victim's */
		ns = from->class_ns[class] - before->class_ns[class] + edge;
		ns = ns > all ? ns - all : 0;
		ns += to->class_ns[class] - from->class_ns[class];
		ns = ns < left ? ns : left;
		left -= ns;
		place->scratch.part_ns[part] += ns;
		place->scratch.unnamed_ns[part] += ns;
	}
	return 0;
}

/* ---- a slow wait ---- */

struct slow {
	struct task_struct *victim, *prev;
	struct runqlat_task *own;
	__u64 ns;
	__u64 before_ns; /* of it, what the kernel had added before: see joined */
	bool joined; /* with waits whose ends were not seen; else the task was moved then */
	__u64 now; /* by the scheduler's clock; 0: unknown */
	__u64 end_ns; /* CLOCK_MONOTONIC */
};

/* The stacks of the task that had the CPU until now; of the victim, if it was idle. */
static __always_inline void take_stacks(void *ctx, struct why_event *event, const struct slow *slow)
{
	struct task_struct *of = slow->prev->pid ? slow->prev : slow->victim;

	event->stack_tid = of->pid;
	event->stack_tgid = of->tgid;
	event->user_size = -1;
	if (!slow->prev->pid) {
		event->kernel_size = bpf_get_task_stack(slow->victim, event->kernel_stack,
							sizeof(event->kernel_stack), 0);
		return;
	}
	event->kernel_size =
		bpf_get_stack(ctx, event->kernel_stack, sizeof(event->kernel_stack), 0);
	if (!(slow->prev->flags & PF_KTHREAD))
		event->user_size = bpf_get_stack(ctx, event->user_stack, sizeof(event->user_stack),
						 BPF_F_USER_STACK);
}

static __always_inline void send_event(void *ctx, struct why_cell *cell, const struct slow *slow,
				       const struct why_scratch *scratch)
{
	struct why_event *event = bpf_ringbuf_reserve(&why_events, sizeof(*event), 0);

	if (!event) {
		cell->dropped++;
		return;
	}
	cell->sent++;
	__builtin_memset(event, 0, __builtin_offsetof(struct why_event, kernel_stack));
	event->end_ns = slow->end_ns;
	event->ns = slow->ns;
	__builtin_memcpy(event->part_ns, scratch->part_ns, sizeof(event->part_ns));
	event->cgroup = task_cgroup(slow->victim, false);
	event->tgid = slow->victim->tgid;
	event->tid = slow->victim->pid;
	event->cpu = bpf_get_smp_processor_id();
	event->metric = RUNQLAT_RUN_QUEUE;
	bpf_probe_read_kernel_str(event->comm, LAT_COMM_LEN, slow->victim->comm);
	bpf_probe_read_kernel_str(event->process, LAT_COMM_LEN, leader_comm(slow->victim, false));
	__builtin_memcpy(event->culprits, scratch->largest, sizeof(event->culprits));
	find_waker(event, slow->victim);
	take_stacks(ctx, event, slow);
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

/* The time in which this CPU could not run the victim, divided by who had the CPU. */
static __always_inline void walk_turns(struct place *place, const struct slow *slow,
				       struct why_who *victim, __u64 here)
{
	struct walk walk = { .place = place, .victim = victim };
	__u64 turns = place->ring.next, block = 0, nr = turns - 1;

	if (turns < 2 || !slow->now)
		return;
	if (turns > WALK_TURNS) { /* to the end of a block */
		block = (turns - WALK_TURNS + WHY_BLOCK - 1) / WHY_BLOCK;
		nr = turns - block * WHY_BLOCK;
	} /* else the start of the first turn is unknown */
	walk.newest = turns - 1;
	walk.high = slow->now;
	walk.low = slow->now - here;
	walk.tgid = slow->victim->tgid;
	bpf_loop(nr, walk_turn, &walk, 0);
	if (block && walk.high > walk.low)
		add_classes(place, block, walk.low, walk.high);
}

/* Divides a slow wait into parts, which sum to it. */
static __always_inline void explain(void *ctx, const struct slow *slow)
{
	struct why_who victim = {};
	__u32 cpu = bpf_get_smp_processor_id();
	struct place *place = bpf_map_lookup_elem(&places, &cpu);
	struct why_cell *cell = why_begin(slow->ns);
	__u64 here = slow->ns - slow->before_ns, known = 0, quota;
	struct why_scratch *scratch;

	if (!place || !cell)
		return;
	scratch = &place->scratch;
	why_describe(&victim, slow->victim);
	why_clear(scratch);
	quota = end_quota(slow->victim, slow->own, here);
	walk_turns(place, slow, &victim, here - quota);
	scratch->part_ns[WHY_RUNQLAT_QUOTA] = quota;
	if (!slow->joined) /* who had the CPU in a wait that ended before is unknown */
		scratch->part_ns[WHY_RUNQLAT_MOVED] = slow->before_ns;
#pragma unroll
	for (int part = 1; part < WHY_RUNQLAT_PARTS; part++)
		known += scratch->part_ns[part];
	scratch->part_ns[WHY_RUNQLAT_UNKNOWN] = slow->ns - known;
	why_add_all(cell, scratch, &victim, OF_CULPRITS);
	if (slow->ns >= why_control.event_ns)
		send_event(ctx, cell, slow, scratch);
}

#endif
