/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who had each CPU: with --why, each switch notes the turn that ends. What is older than the turns
 * in the ring is known by blocks. Included by why.bpf.h alone. The programs that call it
 * run at sched_switch, under the run-queue lock.
 */
#ifndef LATSCOPE_PROBES_RUNQLAT_TURNS_BPF_H
#define LATSCOPE_PROBES_RUNQLAT_TURNS_BPF_H

#include <probes/kit/why.bpf.h>

#include "interrupts.bpf.h"
#include "traits.bpf.h"
#include "types.h"

/*
 * Each turn refers to a name in a ring of names. The later turns of a task refer to the same one,
 * until as many others have been taken as there are turns in the ring; then its name is taken
 * again. A turn takes at most one, so no name of a turn in the ring is overwritten. Which thread
 * IDs there are does not matter.
 */
#define NAMES (2 * WHY_TURNS)
#define KNOWN 1024 /* tasks that are looked up; of those with the same place, the last one */
_Static_assert(NAMES <= 1 << 15, "a turn has 15 bits for it");

struct known {
	struct why_name name;
	__u64 comm[2]; /* of the task */
	__u64 scheduling; /* WHY_SCHEDULING() */
	__u64 pwq; /* see pwq_of(); 0: none, or no kernel thread */
	__u32 traits; /* their number, by these two */
	__u32 number; /* of the name */
	__u32 latscope; /* 1: it is latscope itself */
};

/* A wait that this CPU compares with the turns of some CPU. */
struct walk {
	struct why_who victim;
	__u64 low, high; /* what is left of the wait, by the clock of that CPU */
	__u64 left[WHY_CLASSES]; /* of a block, without those that have a name */
	__u32 tgid; /* of the victim */
	__u16 realtime; /* it is a real-time task */
	__u16 extended; /* ...of a sched_ext scheduler */
};

/* What a CPU knows of its turns, and its work space. */
struct place {
	struct interrupts interrupts;
	struct works works;
	struct why_turns ring;
	struct known known[KNOWN]; /* by TID */
	struct why_who names[NAMES];
	struct walk walk;
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

/*
 * Without --why there is no such map. A kernel before 6.8 verifies global functions also where
 * nothing calls them, so the map must be out of reach in each of them.
 */
static __always_inline struct place *place_of(__u32 cpu)
{
	if (!config.why)
		return NULL;
	return bpf_map_lookup_elem(&places, &cpu);
}

/* ---- names ---- */

/*
 * Since 6.13, a task that takes another name can lose its CPU between the tracepoint that tells it
 * and the change itself.
 */
static __always_inline bool has_its_name(const struct known *known, const struct task_struct *task)
{
	const __u64 *comm = (const void *)task->comm;

	return known->comm[0] == comm[0] && known->comm[1] == comm[1];
}

/*
 * The number of the traits of a task that works for `pwq`. Global, so that the verifier checks it
 * once and not for each way to it.
 */
__noinline int find_traits(struct works *works, const struct known *known, __u64 pwq)
{
	struct pool_workqueue *of = (void *)pwq;
	struct workqueue_struct *workqueue;
	struct why_traits *wanted;

	if (!works || !known || (!pwq && known->scheduling == USUAL))
		return 0;
	wanted = &works->wanted;
	__builtin_memset(wanted, 0, sizeof(*wanted));
	wanted->scheduling = known->scheduling;
	if (WHY_WEIGHT(wanted->scheduling) != WHY_WEIGHT_DEFAULT &&
	    !has_cgroup_weight((void *)known->name.task))
		wanted->scheduling = (__u32)wanted->scheduling | USUAL >> 32 << 32;
	if (pwq) {
		workqueue = BPF_CORE_READ(of, wq);
		bpf_probe_read_kernel_str(wanted->workqueue, WHY_WORKQUEUE, workqueue->name);
	} else if (wanted->scheduling == USUAL) {
		return 0;
	}
	return number_of(wanted);
}

/* The entry of a task, with its name; made anew where it is too old. */
static __always_inline struct known *note_name(struct place *place, struct task_struct *task)
{
	__u32 tid = task->pid, as_of = names_changed, number = place->ring.names;
	struct known *known = &place->known[tid % KNOWN];
	__u64 cgroups = 0, scheduling;
	struct why_who *who;

	if (why_by() == LAT_BY_CGROUP)
		cgroups = (__u64)task->cgroups;
	scheduling = scheduling_of(task);
	if (why_named(&known->name, task, tid, as_of, cgroups) && has_its_name(known, task) &&
	    known->scheduling == scheduling && number - known->number < WHY_TURNS)
		return known;
	known->comm[0] = ((const __u64 *)task->comm)[0];
	known->comm[1] = ((const __u64 *)task->comm)[1];
	known->name.task = (__u64)task;
	known->name.tid = tid;
	known->name.as_of = as_of;
	known->name.cgroups = cgroups;
	known->scheduling = scheduling;
	known->pwq = 0;
	known->traits = find_traits(&place->works, known, 0);
	known->number = number;
	known->latscope = is_latscope(task);
	place->ring.names = number + 1;
	who = &place->names[number % NAMES];
	why_describe(who, task);
	/* Those of a kernel thread are in each of its turns. */
	if (why_by() != LAT_BY_CGROUP && !(task->flags & PF_KTHREAD))
		who->id |= (__u64)known->traits << WHY_TRAITS_SHIFT;
	return known;
}

/* ---- a turn begins ---- */

static __always_inline __u32 task_class(struct task_struct *task)
{
	if (task->flags & PF_KTHREAD)
		return WHY_KTHREAD;
	return task->prio < MAX_RT_PRIO ? WHY_RT : WHY_TASK;
}

/* The task that is about to run: may it, because real-time tasks are out of their budget? */
static __always_inline bool runs_by_limit(struct task_struct *task, struct rq *rq)
{
	if (bpf_core_field_exists(rq->rt.rt_throttled) && rq->rt.rt_throttled)
		return true;
	return bpf_core_field_exists(task->dl_server) && task->dl_server;
}

/* No task runs, though some are queued: does core scheduling forbid it? */
static __always_inline bool forced_idle(struct rq *rq)
{
	return bpf_core_field_exists(rq->core_enabled) && rq->core_enabled && rq->nr_running;
}

static __always_inline __u64 stolen_ns(struct rq *rq)
{
	return bpf_core_field_exists(rq->prev_steal_time_rq) ? rq->prev_steal_time_rq : 0;
}

/* Kernel threads have no process: their turns have the number of their traits instead of a tgid. */
static __always_inline __u32 kthread_tgid(struct works *works, struct known *known, __u64 pwq)
{
	if (known->pwq != pwq) {
		known->traits = find_traits(works, known, pwq);
		known->pwq = pwq;
	}
	return WHY_OF_KTHREAD | known->traits;
}

/*
 * Returns what kthread_tgid() does, for a turn of a kernel thread that begins. If the turn is over
 * already (`is_over`), the workqueue that it worked for is not known.
 */
__noinline int begin_work(struct works *works, struct known *known, __u32 is_over)
{
	__u64 pwq = 0;

	if (!works || !known)
		return 0;
	if (!is_over)
		pwq = pwq_of((void *)known->name.task);
	works->rest_pwq = works->pwq = pwq;
	return kthread_tgid(works, known, pwq);
}

/* What is known of a turn when it begins, or is over. */
static __always_inline void describe_turn(struct place *place, struct why_turn *turn,
					  struct task_struct *task, struct rq *rq, bool is_over)
{
	struct known *known;

	turn->tid = task->pid;
	turn->tgid = task->tgid;
	turn->limited = runs_by_limit(task, rq);
	if (!task->pid) {
		turn->class = forced_idle(rq) ? WHY_FORCED : WHY_IDLE;
		return;
	}
	known = note_name(place, task);
	turn->name = known->number % NAMES;
	turn->class = known->latscope ? WHY_LATSCOPE : task_class(task);
	if (turn->class == WHY_KTHREAD)
		turn->tgid = begin_work(&place->works, known, is_over);
}

/* ---- a turn ends ---- */

/* A task that gives way to one with more time is only in the sums of the block. */
static __always_inline void add_hitter(struct why_block *block, const struct why_turn *turn,
				       __u64 ns)
{
	struct why_hitter *least = &block->hitters[0];

#pragma unroll
	for (int i = 0; i < WHY_HITTERS; i++) {
		struct why_hitter *hitter = &block->hitters[i];

		if (hitter->ns && hitter->tid == turn->tid && hitter->tgid == turn->tgid &&
		    hitter->class == turn->class) {
			hitter->ns += ns;
			return;
		}
		if (hitter->ns < least->ns)
			least = hitter;
	}
	if (ns <= least->ns)
		return;
	least->tid = turn->tid;
	least->tgid = turn->tgid;
	least->class = turn->class;
	least->ns = ns;
}

static long merge_hitter(__u32 n, struct why_turns **of)
{
	struct why_turns *ring = *of;
	const struct why_hitter *from = &ring->block.hitters[n % WHY_HITTERS];
	const struct why_turn turn = { .tid = from->tid, .tgid = from->tgid, .class = from->class };

	if (from->ns)
		add_hitter(&ring->super, &turn, from->ns);
	return 0;
}

/* Global, so that the verifier checks it once. */
__noinline int end_block(struct place *place)
{
	struct why_turns *ring;
	__u64 block;

	if (!place)
		return 0;
	ring = &place->ring;
	block = ring->next / WHY_BLOCK;
	bpf_loop(WHY_HITTERS, merge_hitter, &ring, 0);
	ring->blocks[block % WHY_BLOCKS] = ring->block;
	__builtin_memset(ring->block.hitters, 0, sizeof(ring->block.hitters));
	if (block % WHY_BLOCK)
		return 0;
	ring->super.sums = ring->block.sums;
	ring->supers[block / WHY_BLOCK % WHY_SUPERS] = ring->super;
	__builtin_memset(ring->super.hitters, 0, sizeof(ring->super.hitters));
	return 0;
}

/* Global for the same reason. */
__noinline int add_to_ring(struct place *place, const struct why_turn *turn)
{
	struct why_turns *ring;
	struct why_sums *sums;
	__u64 next, ns, of_nobody;

	if (!place || !turn)
		return 0;
	ring = &place->ring;
	sums = &ring->block.sums;
	next = ring->next;
	ns = turn->end_ns - sums->end_ns;
	if (!next) /* its start is unknown; the first blocks begin here */
		ring->blocks[0].sums.end_ns = ring->supers[0].sums.end_ns = turn->end_ns;
	if (!next || (__s64)ns < 0)
		ns = 0;
	of_nobody = turn->irq_ns + (turn->stolen << 10);
	ring->turns[next % WHY_TURNS] = *turn;
	if (of_nobody <= ns) {
		sums->class_ns[WHY_INTERRUPTED] += turn->irq_ns;
		sums->class_ns[WHY_STOLEN] += (turn->stolen << 10);
		ns -= of_nobody;
	}
	if (turn->class < WHY_CLASSES)
		sums->class_ns[turn->class] += ns;
	sums->end_ns = turn->end_ns;
	if (turn->class <= WHY_RT)
		add_hitter(&ring->block, turn, ns);
	ring->next = ++next;
	if (!(next % WHY_BLOCK))
		end_block(place);
	return 0;
}

/* Interrupts and the hypervisor's time since the turn began; not more than a turn can hold. */
static __always_inline void take_from_turn(struct place *place, struct why_turn *turn,
					   struct rq *rq)
{
	__u64 stolen = (stolen_ns(rq) - place->ring.stolen_ns) >> 10, irq = place->interrupts.ns;

	turn->stolen = stolen < 1 << 20 ? stolen : (1 << 20) - 1;
	turn->irq_ns = irq < 1ULL << 32 ? irq : (1ULL << 32) - 1;
	turn->source = irq ? end_sources(&place->interrupts) : 0;
}

/* ---- a turn of several workqueues ---- */

/*
 * The share of a time, which is within `whole`, in `ns` of that. It is rounded down, so the shares
 * of its parts never sum to more than `ns`.
 */
static __always_inline __u64 share_of(__u64 time, __u64 ns, __u64 whole)
{
	if (ns >= whole)
		return time;
	if (whole < 1U << 31) /* 2 s */
		return time * ns / whole;
	return time * (ns >> 10) / ((whole >> 10) + 1);
}

/* A kworker that is woken up takes less until it begins to work: then that belongs to the work. */
#define PRELUDE_NS 20000

/* The turn until `at_ns`; the rest stays. */
static __always_inline void cut_turn(struct place *place, __u64 start_ns, __u64 at_ns)
{
	struct why_turn *rest = &place->works.rest, *piece = &place->works.piece;
	__u64 ns = at_ns - start_ns, whole = rest->end_ns - start_ns;

	*piece = *rest;
	piece->end_ns = at_ns;
	piece->irq_ns = share_of(rest->irq_ns, ns, whole);
	piece->stolen = share_of(rest->stolen, ns, whole);
	rest->irq_ns -= piece->irq_ns;
	rest->stolen -= piece->stolen;
	add_to_ring(place, piece);
}

static long take_mark(__u32 n, struct place **of)
{
	struct place *place = *of;
	struct works *works = &place->works;
	const struct work_mark *mark = &works->ring[works->taken % MARKS];
	__u64 start_ns = place->ring.block.sums.end_ns, at_ns = mark->at_ns;

	if (at_ns > start_ns + (works->rest_pwq ? 0 : PRELUDE_NS) && at_ns < works->rest.end_ns)
		cut_turn(place, start_ns, at_ns);
	works->rest_pwq = mark->pwq;
	works->rest.tgid = kthread_tgid(works, &place->known[works->rest.tid % KNOWN], mark->pwq);
	works->taken++;
	return 0;
}

/* Adds all but the last piece to the ring, which stays in *turn. */
__noinline int split_turn(struct place *place, struct why_turn *turn)
{
	struct works *works;
	__u32 marks;

	if (!place || !turn)
		return 0;
	works = &place->works;
	marks = works->marks - works->taken;
	if (turn->class != WHY_KTHREAD) {
		works->taken = works->marks;
		return 0;
	}
	works->rest = *turn;
	if (marks > MARKS) {
		works->taken += marks - MARKS;
		marks = MARKS;
		works->rest.tgid = WHY_OF_KTHREAD;
	}
	bpf_loop(marks, take_mark, &place, 0);
	*turn = works->rest;
	return 0;
}

/*
 * The turn of `prev` ends, and that of `next` begins. If `prev` is not the task that got the CPU, a
 * switch was hidden from us: then the kernel's account says when the turn began, and what was
 * before it is unknown. Not inlined, for the sake of the callers' stacks; and with one turn at a
 * time on its own, because the stacks of all functions down to merge_hitter() have 512 bytes.
 */
static __noinline int note_turn(struct task_struct *prev, struct task_struct *next, __u64 now)
{
	struct rq *rq = next->se.cfs_rq->rq;
	struct why_turn turn;
	struct place *place;
	__u64 arrival;

	if (!config.why)
		return 0;
	place = place_of(bpf_get_smp_processor_id());
	if (!place)
		return 0;
	turn = place->ring.running;
	if (!place->ring.next || turn.tid != (__u32)prev->pid) {
		arrival = prev->pid ? prev->sched_info.last_arrival : 0;
		turn = (struct why_turn){ .class = WHY_HIDDEN };
		turn.end_ns = arrival && arrival < now ? arrival : now;
		add_to_ring(place, &turn);
		turn = (struct why_turn){};
		describe_turn(place, &turn, prev, rq, true);
		place->works.taken = place->works.marks;
	} else if (prev->pid &&
		   (place->ring.as_of != names_changed || turn.class != task_class(prev))) {
		turn.name = note_name(place, prev)->number % NAMES;
	}
	if (turn.class == WHY_KTHREAD && !(prev->flags & PF_KTHREAD)) /* it was one until exec */
		turn.tgid = prev->tgid;
	if (turn.class <= WHY_RT && prev->pid) /* it may have another policy by now */
		turn.class = task_class(prev);
	take_from_turn(place, &turn, rq);
	turn.end_ns = now;
	if (place->works.taken != place->works.marks)
		split_turn(place, &turn);
	add_to_ring(place, &turn);
	turn = (struct why_turn){};
	describe_turn(place, &turn, next, rq, false);
	place->ring.running = turn;
	place->ring.as_of = names_changed;
	place->ring.stolen_ns = stolen_ns(rq);
	return 0;
}

#endif
