/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a task waited for a CPU: who had the CPU is known from the turns of each CPU in whose queue
 * the task was. They are read from the newest to the oldest. Included by runqlat.bpf.c alone.
 */
#ifndef LATSCOPE_PROBES_RUNQLAT_WHY_BPF_H
#define LATSCOPE_PROBES_RUNQLAT_WHY_BPF_H

#include "count.bpf.h" /* has the config, which turns.bpf.h needs */
#include "task.bpf.h"
#include "turns.bpf.h"

/*
 * A wait is compared with all turns in the ring, and with what is known of older ones. This takes
 * some 40 us with interrupts off. Each sum that has to be settled on the way takes 0.1 us more:
 * after so many, culprits are not named.
 */
#define WALK_TURNS (WHY_TURNS - WHY_BLOCK)
#define MOST_SETTLED 1024 /* 80 tasks that take turns need some 400 in a wait of 2 s */

/* How long before its wait a task may have been woken up: the other CPU had to take it. */
#define WAKEUP_NS 1000000

/* ---- what happens to a task that waits ---- */

#define MOVES 4

/* Before `at_ns`, the task was in the queue of this CPU. */
struct move {
	__u64 at_ns; /* CLOCK_MONOTONIC */
	__u64 cpu;
};

/* Who woke a task up last, and its last moves from CPU to CPU. Two cache lines. */
struct wakeup {
	__u64 at_ns; /* CLOCK_MONOTONIC; 0: it was not woken up since this entry is its */
	struct task_struct *waker; /* may be gone */
	__u32 tid; /* of the task */
	__u32 waker_tid;
	__u32 source; /* enum why_source */
	__u32 moves; /* so many so far */
	struct move move[MOVES];
	__u64 pad[4];
};
_Static_assert(sizeof(struct wakeup) == 128, "wakeup: two cache lines");

/* By TID of the task. The newest task takes the place of another one. */
#define WAKEUPS 1024
static struct wakeup wakeups[WAKEUPS] __attribute__((aligned(128)));

static __always_inline struct wakeup *wakeup_of(__u32 tid)
{
	struct wakeup *wakeup = &wakeups[tid % WAKEUPS];

	if (wakeup->tid != tid) {
		wakeup->tid = tid;
		wakeup->at_ns = 0;
		wakeup->moves = 0;
	}
	return wakeup;
}

/* The current task, or the interrupt that it is in, is about to wake a task up. */
static __always_inline void note_waker(struct task_struct *task)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct place *place = place_of(bpf_get_smp_processor_id());
	struct wakeup *wakeup;

	if (task == waker || !place)
		return;
	wakeup = wakeup_of(task->pid);
	wakeup->at_ns = bpf_ktime_get_ns();
	wakeup->waker = waker;
	wakeup->waker_tid = waker->pid;
	wakeup->source = injected(WAKER) ? WHY_NO_SOURCE : context_of(&place->interrupts, waker);
	wakeup->moves = 0;
}

/* A task that waits is about to be moved to another CPU. */
static __always_inline void note_move(struct task_struct *task)
{
	struct wakeup *wakeup = wakeup_of(task->pid);
	struct move *move = &wakeup->move[wakeup->moves % MOVES];

	move->at_ns = bpf_ktime_get_ns();
	move->cpu = untrusted(task)->se.cfs_rq->rq->cpu;
	wakeup->moves++;
}

/* ---- budgets ---- */

/* Called when a wait begins. Without quotas this reads two words. */
static __always_inline void begin_quota(struct task_struct *task, struct runqlat_task *own)
{
	struct cfs_rq *queue = untrusted(task)->se.cfs_rq;
	__u64 ns = throttled_ns(queue);

	if (!ns)
		return;
	if (!own)
		own = find_own(task);
	if (!own)
		return;
	own->quota_of = (__u64)queue;
	own->quota_ns = ns;
}

/*
 * How long the task's cgroup was out of quota since. If it never was before the wait, there is no
 * earlier sum: then this sum is from the wait, unless it is longer.
 */
static __always_inline __u64 end_quota(struct task_struct *task, struct runqlat_task *own,
				       __u64 most)
{
	struct cfs_rq *queue = untrusted(task)->se.cfs_rq;
	__u64 ns = throttled_ns(queue);

	if (!ns || !own)
		return 0;
	if (!own->quota_of)
		return ns <= most ? ns : 0;
	if (own->quota_of != (__u64)queue)
		return 0;
	ns -= own->quota_ns;
	return ns < most ? ns : most;
}

/*
 * How long a deadline task was out of its budget, in a wait of `most` until `now`: until its period
 * began. The kernel gives it a new budget then, and not to one that only waits.
 */
static __always_inline __u64 deadline_budget(struct task_struct *task, __u64 now, __u64 most)
{
	__s64 since;

	if (task->policy != SCHED_DEADLINE)
		return 0;
	since = now - (task->dl.deadline - task->dl.dl_deadline);
	if (since < 0) /* the timer that gives it a new budget is a little early */
		return most;
	return (__u64)since < most ? most - since : 0;
}

/* ---- a slow wait ---- */

struct slow {
	struct task_struct *victim, *prev;
	struct runqlat_task *own;
	__u64 ns;
	__u64 before_ns; /* of it, what the kernel had added before: see joined */
	bool joined; /* before_ns is of earlier waits; else of this one, on another CPU */
	__u64 now; /* by the scheduler's clock; 0: unknown */
	__u64 end_ns; /* CLOCK_MONOTONIC */
};

/* ---- the walk ---- */

#define OF_CULPRITS                                                                   \
	(1U << WHY_RUNQLAT_OWN | 1U << WHY_RUNQLAT_OTHER | 1U << WHY_RUNQLAT_KERNEL | \
	 1U << WHY_RUNQLAT_REALTIME | 1U << WHY_RUNQLAT_INTERRUPTS | 1U << WHY_RUNQLAT_QUOTA)

static __always_inline __u32 part_of(const struct walk *walk, __u32 class, bool limited, __u32 tgid)
{
	bool own = tgid == walk->tgid;

	if (limited && !injected(LIMIT) && walk->realtime && class != WHY_RT && class != WHY_HIDDEN)
		return WHY_RUNQLAT_BUDGET;
	switch (class) {
	case WHY_TASK:
		return own ? WHY_RUNQLAT_OWN : WHY_RUNQLAT_OTHER;
	case WHY_KTHREAD:
		return WHY_RUNQLAT_KERNEL;
	case WHY_RT:
		return own ? WHY_RUNQLAT_OWN : WHY_RUNQLAT_REALTIME;
	case WHY_LATSCOPE:
		return WHY_RUNQLAT_LATSCOPE;
	case WHY_IDLE:
		if (injected(IDLE))
			return WHY_RUNQLAT_OTHER;
		return walk->extended ? WHY_RUNQLAT_SCHEDULER : WHY_RUNQLAT_IDLE;
	case WHY_FORCED:
		return WHY_RUNQLAT_FORCED;
	case WHY_INTERRUPTED:
		return WHY_RUNQLAT_INTERRUPTS;
	case WHY_STOLEN:
		return WHY_RUNQLAT_STEAL;
	default:
		return WHY_RUNQLAT_UNKNOWN;
	}
}

#define NO_NAME (~0U)

/* As they are in an ID. */
static __always_inline __u64 traits_bits(const struct place *of, const struct why_hitter *culprit,
					 __u32 name)
{
	if (!culprit->tgid || name >= NAMES || why_by() == LAT_BY_CGROUP)
		return 0;
	if (culprit->class == WHY_KTHREAD)
		return (__u64)(culprit->tgid & (WHY_TRAITS - 1)) << WHY_TRAITS_SHIFT;
	return of->names[name].id & WHY_TRAITS_MASK;
}

/*
 * The time of a culprit that belongs to the wait: a task, with its place in the names of a CPU or
 * NO_NAME, and then it goes to those without a name; or, with tgid 0, the enum why_source `tid`.
 * This function and the next ones are global, so that the verifier checks them once and not for
 * each way to them.
 */
__noinline int add_culprit(__u32 cpu, __u32 part, const struct why_hitter *culprit, __u32 name)
{
	struct place *here = place_of(bpf_get_smp_processor_id()), *of = place_of(cpu);
	struct why_scratch *scratch;
	struct why_sum *sum;
	__u64 id;

	if (!here || !of || !culprit || part >= WHY_PARTS || injected_third(TURN))
		return 0;
	scratch = &here->scratch;
	scratch->part_ns[part] += culprit->ns;
	if (scratch->settled == MOST_SETTLED || (name == NO_NAME && culprit->tgid)) {
		scratch->unnamed_ns[part] += culprit->ns;
		return 0;
	}
	id = culprit->tid;
	if (culprit->class != WHY_KTHREAD && culprit->tgid && why_of_processes())
		id = culprit->tgid;
	id |= traits_bits(of, culprit, name);
	sum = why_sum_of(scratch, id, part, &here->walk.victim);
	if (!sum->part) {
		why_start_sum(sum, id, part, culprit->tid);
		if (!culprit->tgid)
			sum->who.id = WHY_OF_SOURCE | id;
		else if (name < NAMES)
			sum->who = of->names[name];
		sum->who.id |= *(volatile __u64 *)&sum->id & WHY_TRAITS_MASK; /* spares the stack */
	}
	sum->amount.ns += culprit->ns;
	return 0;
}

/* `ns` of a turn of `whole` belong to the wait. */
__noinline int add_turn(__u32 cpu, const struct why_turn *turn, __u64 whole, __u64 ns)
{
	struct place *here = place_of(bpf_get_smp_processor_id());
	struct why_hitter culprit = {};
	__u64 irq, stolen;
	__u32 part;

	if (!here || !turn)
		return 0;
	irq = share_of(turn->irq_ns, ns, whole);
	stolen = share_of((__u64)turn->stolen << 10, ns, whole);
	if (irq > ns)
		irq = ns;
	if (stolen > ns - irq)
		stolen = ns - irq;
	culprit.ns = irq;
	culprit.tid = turn->source;
	if (irq)
		add_culprit(cpu, WHY_RUNQLAT_INTERRUPTS, &culprit, NO_NAME);
	here->scratch.part_ns[WHY_RUNQLAT_STEAL] += stolen;
	part = part_of(&here->walk, turn->class, turn->limited, turn->tgid);
	culprit.ns = ns - irq - stolen;
	culprit.tid = turn->tid;
	culprit.tgid = turn->tgid;
	culprit.class = turn->class;
	if (OF_CULPRITS & 1U << part)
		add_culprit(cpu, part, &culprit, turn->name);
	else
		here->scratch.part_ns[part] += culprit.ns;
	return 0;
}

static __always_inline __u32 known_name(const struct place *place, __u32 tid)
{
	const struct known *known = &place->known[tid % KNOWN];
	__u32 number = known->number;

	if (known->name.tid != tid || place->ring.names - number >= NAMES)
		return NO_NAME;
	return number % NAMES;
}

/*
 * How `ns` of a block are divided by class, if `whole` is divided as in the block. The CPU was not
 * idle while the victim waited, as long as there is enough else: it was so before the wait.
 */
static __always_inline void divide_block(struct walk *walk, const struct why_sums *sums,
					 const struct why_sums *before, __u64 ns, __u64 whole)
{
	__u64 idle = sums->class_ns[WHY_IDLE] - before->class_ns[WHY_IDLE];
	__u64 busy = whole > idle ? whole - idle : 0, worked = ns < busy ? ns : busy;

#pragma unroll
	for (int class = 0; class < WHY_CLASSES; class ++)
		walk->left[class] =
			share_of(sums->class_ns[class] - before->class_ns[class], worked, busy);
	walk->left[WHY_IDLE] = ns - worked;
}

/*
 * Of a block before the turns in the ring, as much as belongs to the wait. 1: the wait is divided.
 */
__noinline int add_block(__u32 cpu, const struct why_block *block, const struct why_sums *before)
{
	struct place *here = place_of(bpf_get_smp_processor_id()), *of = place_of(cpu);
	struct why_hitter culprit;
	__u64 end, from, whole, ns;
	struct walk *walk;

	if (!here || !of || !block || !before)
		return 1;
	walk = &here->walk;
	end = block->sums.end_ns < walk->high ? block->sums.end_ns : walk->high;
	from = before->end_ns > walk->low ? before->end_ns : walk->low;
	if (from >= end)
		return before->end_ns <= walk->low;
	whole = block->sums.end_ns - before->end_ns;
	ns = end - from;
	divide_block(walk, &block->sums, before, ns, whole);
	whole -= block->sums.class_ns[WHY_IDLE] - before->class_ns[WHY_IDLE];
#pragma clang loop unroll(disable)
	for (int i = 0; i < WHY_HITTERS; i++) {
		culprit = block->hitters[i];
		culprit.ns = share_of(culprit.ns, ns, whole);
		if (!culprit.ns || culprit.class > WHY_RT ||
		    culprit.ns > walk->left[culprit.class & 3])
			continue;
		walk->left[culprit.class & 3] -= culprit.ns;
		add_culprit(cpu, part_of(walk, culprit.class, false, culprit.tgid), &culprit,
			    known_name(of, culprit.tid));
	}
#pragma unroll
	for (int class = 0; class < WHY_CLASSES; class ++) {
		__u32 part = part_of(walk, class, false, 0); /* no process has this ID */

		here->scratch.part_ns[part] += walk->left[class];
		if (OF_CULPRITS & 1U << part)
			here->scratch.unnamed_ns[part] += walk->left[class];
	}
	walk->high = from;
	return from == walk->low;
}

/* What is walked: of which CPU, and from where. */
struct way {
	struct walk *walk;
	const struct why_turns *ring;
	__u64 newest;
	__u64 cpu;
};

static long walk_turn(__u32 n, struct way *way)
{
	struct walk *walk = way->walk;
	__u64 at = way->newest - n, start, end, from;
	const struct why_turn *turn = &way->ring->turns[at % WHY_TURNS];

	start = way->ring->turns[(at - 1) % WHY_TURNS].end_ns;
	end = turn->end_ns < walk->high ? turn->end_ns : walk->high;
	from = start > walk->low ? start : walk->low;
	if (from >= end)
		return start <= walk->low;
	add_turn(way->cpu, turn, turn->end_ns - start, end - from);
	walk->high = from;
	return from == walk->low;
}

static long walk_block(__u32 n, struct way *way)
{
	const struct why_block *blocks = way->ring->blocks;
	__u64 at = way->newest - n;

	return add_block(way->cpu, &blocks[at % WHY_BLOCKS], &blocks[(at - 1) % WHY_BLOCKS].sums) !=
	       0;
}

static long walk_super(__u32 n, struct way *way)
{
	const struct why_block *supers = way->ring->supers;
	__u64 at = way->newest - n;

	return add_block(way->cpu, &supers[at % WHY_SUPERS], &supers[(at - 1) % WHY_SUPERS].sums) !=
	       0;
}

/*
 * What is before the turns in the ring: `block` is the last one that ended before them. The turns
 * in the ring are in blocks, too, which took the places of the oldest ones.
 */
static __always_inline void walk_blocks(struct way *way, __u64 block)
{
	__u64 ended = block + WHY_TURNS / WHY_BLOCK, first = 0;

	if (ended > WHY_BLOCKS - 2) /* then from the end of a block of blocks */
		first = (ended - (WHY_BLOCKS - 2) + WHY_BLOCK - 1) / WHY_BLOCK * WHY_BLOCK;
	way->newest = block;
	bpf_loop(block - first, walk_block, way, 0);
	if (way->walk->high <= way->walk->low)
		return;
	way->newest = first / WHY_BLOCK;
	bpf_loop(way->newest < WHY_SUPERS ? way->newest : WHY_SUPERS - 2, walk_super, way, 0);
}

/*
 * Divides the time from low to high by who had the CPU. It may be another CPU than this one, which
 * goes on meanwhile: it would have to switch WHY_BLOCK times to overwrite what is read here.
 */
__noinline int walk_cpu(__u32 cpu)
{
	struct place *here = place_of(bpf_get_smp_processor_id()), *of = place_of(cpu);
	struct way way = { .cpu = cpu };
	__u64 turns, end, block = 0, from;
	struct why_turn running;

	if (!here || !of)
		return 0;
	way.walk = &here->walk;
	way.ring = &of->ring;
	turns = of->ring.next;
	end = of->ring.block.sums.end_ns;
	if (turns < 2 || way.walk->high <= way.walk->low)
		return 0;
	if (way.walk->high > end) { /* a turn that has not ended */
		running = of->ring.running;
		from = end > way.walk->low ? end : way.walk->low;
		add_turn(cpu, &running, way.walk->high - from, way.walk->high - from);
		way.walk->high = from;
	}
	if (turns > WALK_TURNS) /* to the end of a block */
		block = (turns - WALK_TURNS + WHY_BLOCK - 1) / WHY_BLOCK;
	way.newest = turns - 1;
	/* Without a block, the start of the first turn is unknown. */
	bpf_loop(turns - (block ? block * WHY_BLOCK : 1), walk_turn, &way, 0);
	if (block && way.walk->high > way.walk->low)
		walk_blocks(&way, block);
	return 0;
}

/*
 * The time in the queues of other CPUs, before the task was moved here: the last `left` of it. What
 * is known of the moves is divided, too; returns the rest. By CPU, that is all: who had another CPU
 * never had this one.
 */
static __always_inline __u64 walk_moves(struct walk *walk, const struct slow *slow, __u64 left)
{
	const struct wakeup *wakeup = &wakeups[(__u32)slow->victim->pid % WAKEUPS];
	__u64 began_ns = slow->end_ns - slow->ns, before;
	struct runqlat_clock *clock;

	if (wakeup->tid != (__u32)slow->victim->pid || why_by() == LAT_BY_CPU)
		return left;
#pragma clang loop unroll(disable)
	for (__u32 i = 1; i <= MOVES; i++) {
		const struct move *move = &wakeup->move[(wakeup->moves - i) % MOVES];
		__u64 at_ns = move->at_ns, ns = left;

		if (i > wakeup->moves || !left || at_ns <= began_ns)
			break;
		clock = clock_of(move->cpu, slow->end_ns);
		if (!clock)
			clock = other_clock(slow->end_ns);
		if (!clock)
			break;
		before = wakeup->move[(wakeup->moves - i - 1) % MOVES].at_ns;
		if (i < wakeup->moves && i < MOVES && before > began_ns && at_ns - before < ns)
			ns = at_ns - before;
		walk->high = at_ns - clock->offset_ns;
		walk->low = walk->high - ns;
		walk_cpu(move->cpu);
		left -= ns;
	}
	return left;
}

/* ---- events ---- */

/*
 * The waker of a task that is about to run. The wakeup is that of this wait if it was after the
 * last time that the task got a CPU, and a moment before the wait; else the task was preempted.
 */
static __always_inline void find_waker(struct why_event *event, const struct slow *slow)
{
	__u32 of = slow->victim->pid, tid, pid = 0;
	const struct wakeup *wakeup = &wakeups[of % WAKEUPS];
	__u64 arrival_ns = slow->victim->sched_info.last_arrival + slow->end_ns - slow->now;
	struct task_struct *waker = wakeup->waker;

	if (wakeup->tid != of || !slow->now || wakeup->at_ns <= arrival_ns ||
	    wakeup->at_ns + WAKEUP_NS < slow->end_ns - slow->ns)
		return;
	event->waker_source = wakeup->source;
	if (wakeup->source)
		return;
	tid = wakeup->waker_tid;
	event->waker_tid = tid;
	bpf_probe_read_kernel(&pid, sizeof(pid), &waker->pid);
	if (pid == tid) /* else it has ended, and something else is in its place */
		bpf_probe_read_kernel_str(event->waker, LAT_COMM_LEN, &waker->comm);
}

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
				       const struct why_who *victim,
				       const struct why_scratch *scratch)
{
	struct why_event *event = bpf_ringbuf_reserve(&why_events, sizeof(*event), 0);

	if (!event) {
		cell->dropped++;
		return;
	}
	cell->sent++;
	__builtin_memset(event, 0, __builtin_offsetof(struct why_event, kernel_stack));
	event->is_candidate = !scratch->counts;
	event->victim = *victim;
	event->end_ns = slow->end_ns;
	event->ns = slow->ns;
	__builtin_memcpy(event->part_ns, scratch->part_ns, sizeof(event->part_ns));
	event->cgroup = task_cgroup(slow->victim);
	event->tgid = slow->victim->tgid;
	event->tid = slow->victim->pid;
	event->cpu = bpf_get_smp_processor_id();
	event->metric = RUNQLAT_RUN_QUEUE;
	bpf_probe_read_kernel_str(event->comm, LAT_COMM_LEN, slow->victim->comm);
	bpf_probe_read_kernel_str(event->process, LAT_COMM_LEN, leader_comm(slow->victim));
	__builtin_memcpy(event->culprits, scratch->largest, sizeof(event->culprits));
	find_waker(event, slow);
	take_stacks(ctx, event, slow);
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

/* ---- the parts ---- */

#define DIGITS 6

/* A number of at most DIGITS digits, as text. */
static __always_inline void write_number(char *at, __u32 number)
{
	__u32 digits = 1;

#pragma unroll
	for (__u32 least = 10, i = 1; i < DIGITS; i++, least *= 10)
		digits += number >= least;
#pragma unroll
	for (__u32 digit = DIGITS; digit > 0; digit--) {
		if (digit > digits)
			continue;
		at[digit - 1] = '0' + number % 10;
		number /= 10;
	}
}

/* By CPU, the victim is the CPU where the wait ended. */
static __always_inline void describe_cpu(struct why_who *who, __u32 cpu)
{
	who->id = WHY_OF_CPU | cpu;
	__builtin_memcpy(who->comm, "CPU ", 4);
	write_number(who->comm + 4, cpu);
}

/* Adds the traits of the victim to its ID. Its turn on this CPU has just begun. */
__noinline int add_victim_traits(struct place *place, __u32 tid)
{
	struct why_hitter victim = {};
	const struct why_turn *turn;

	if (!place)
		return 0;
	turn = &place->ring.running;
	victim.tgid = turn->tgid;
	victim.class = turn->class;
	if (turn->tid == tid)
		place->walk.victim.id |= traits_bits(place, &victim, turn->name % NAMES);
	return 0;
}

/*
 * The task group whose quota made a task wait: its own `group` or one above it. NULL: more than one
 * of them has a quota, so it is not known which; or the cgroup is not of version 2, with this root.
 */
static __always_inline struct task_group *limited_group(struct task_group *group,
							const struct cgroup_root *root)
{
	struct task_group *found = NULL;

	if (!bpf_core_field_exists(group->cfs_bandwidth))
		return NULL;
#pragma clang loop unroll(disable)
	for (int i = 0; i < CGROUP_DEPTH && group; i++) {
		if ((__s64)BPF_CORE_READ(group, cfs_bandwidth.quota) > 0) {
			if (found)
				return NULL;
			found = group;
		}
		group = BPF_CORE_READ(group, parent);
	}
	return group || BPF_CORE_READ(found, css.cgroup, root) != root ? NULL : found;
}

/*
 * Gives the time that the victim, of this task group, was out of quota to the cgroup that has it.
 * Global, so that the verifier checks it once.
 */
__noinline int add_quota(struct place *place, __u64 of, __u64 root, __u64 ns)
{
	struct task_group *group = limited_group((void *)of, (void *)root);
	struct why_scratch *scratch;
	__u64 id, period, percent;
	struct why_sum *sum;

	if (!place)
		return 0;
	scratch = &place->scratch;
	scratch->part_ns[WHY_RUNQLAT_QUOTA] = ns;
	if (!group || !ns) {
		scratch->unnamed_ns[WHY_RUNQLAT_QUOTA] = ns;
		return 0;
	}
	id = BPF_CORE_READ(group, css.cgroup, kn, id);
	period = BPF_CORE_READ(group, cfs_bandwidth.period);
	percent = period ? BPF_CORE_READ(group, cfs_bandwidth.quota) * 100 / period : 0;
	sum = why_sum_of(scratch, id, WHY_RUNQLAT_QUOTA, &place->walk.victim);
	why_start_sum(sum, id, WHY_RUNQLAT_QUOTA, 0);
	sum->who.id = id | (why_by() == LAT_BY_CGROUP ? 0 : WHY_OF_CGROUP);
	if (percent && percent < 1000000)
		write_number(sum->who.comm, percent);
	sum->amount.ns = ns;
	return 0;
}

/* Divides a wait into parts, which sum to it. */
static __always_inline void divide(struct place *place, const struct slow *slow)
{
	struct task_struct *victim = slow->victim;
	struct why_scratch *scratch = &place->scratch;
	__u64 before = slow->before_ns, here = slow->ns - before, known = 0, quota, budget, early;
	struct walk *walk = &place->walk;

	__builtin_memset(&walk->victim, 0, sizeof(walk->victim));
	if (why_by() == LAT_BY_CPU) {
		describe_cpu(&walk->victim, bpf_get_smp_processor_id());
	} else {
		why_describe(&walk->victim, victim);
		add_victim_traits(place, victim->pid);
	}
	walk->tgid = victim->tgid;
	walk->realtime = victim->prio < MAX_RT_PRIO;
	walk->extended = bpf_core_field_exists(victim->scx) && victim->scx.flags & SCX_TASK_QUEUED;
	quota = injected(LIMIT) ? 0 : end_quota(victim, slow->own, here);
	budget = slow->now && !injected(LIMIT)
			 ? deadline_budget(victim, slow->now, slow->ns - quota)
			 : 0;
	early = budget < before ? budget : before; /* budget and quota are the oldest parts */
	before -= early;
	here -= quota + (budget - early);
	if (quota)
		add_quota(place, (__u64)BPF_CORE_READ(victim, se.cfs_rq, tg),
			  (__u64)BPF_CORE_READ(victim, cgroups, dfl_cgrp, root), quota);
	scratch->part_ns[WHY_RUNQLAT_BUDGET] = budget;
	walk->high = slow->now;
	walk->low = slow->now - here;
	if (slow->now)
		walk_cpu(bpf_get_smp_processor_id() ^ injected(CPU));
	if (!slow->joined) /* who had the CPU in a wait that ended before is unknown */
		scratch->part_ns[WHY_RUNQLAT_MOVED] = walk_moves(walk, slow, before);
#pragma unroll
	for (int part = 1; part < WHY_RUNQLAT_PARTS; part++)
		known += scratch->part_ns[part];
	scratch->part_ns[WHY_RUNQLAT_UNKNOWN] = slow->ns - known;
}

/* Is a wait to be explained? Global, so that the verifier checks what follows once. */
__noinline int begin_slow(struct place *place, __u64 ns)
{
	bool counts;

	if (!config.why || !place || !why_begin(ns, &counts))
		return 0;
	why_clear(&place->scratch, counts);
	return 1;
}

static __always_inline void explain(void *ctx, const struct slow *slow)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct place *place = place_of(cpu);
	struct why_cell *cell = bpf_map_lookup_elem(&why_cells, &cpu);

	if (is_latscope(slow->victim)) {
		why_begin_own(slow->ns);
		return;
	}
	if (!cell || !place || !begin_slow(place, slow->ns))
		return;
	divide(place, slow);
	why_add_all(cell, &place->scratch, &place->walk.victim, OF_CULPRITS);
	if (!place->scratch.counts || slow->ns >= why_control.event_ns)
		send_event(ctx, cell, slow, &place->walk.victim, &place->scratch);
}

#endif
