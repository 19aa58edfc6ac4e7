/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a block request was slow. What it would have taken alone on its disk is its own time. The
 * rest is the excess: it goes to the requests that the disk completed from the begin of this one to
 * its end, by what each of them costs on this disk; if it completed none, to those in flight, as if
 * they were like this one. They are not blamed for more than twice what they cost: if it took
 * longer, the disk was slow. The rest of the time goes to the part that says where the request was:
 * in the queue, with the device, or given back. Included by iolat.bpf.c alone, after
 * request.bpf.h.
 */
#ifndef LATSCOPE_PROBES_IOLAT_WHY_BPF_H
#define LATSCOPE_PROBES_IOLAT_WHY_BPF_H

#include "disk.bpf.h"

#define COST_BITS 10 /* costs are divided by it, so that products fit */
#define MOST_COSTS 2 /* of its excess, a request has at most so many times the cost of others */

/* The time of a request, as it is divided. It is in a map, as the stack has no room for it. */
struct work {
	struct why_scratch scratch;
	struct why_who victim;
	struct completion own;
	struct completion other; /* stands for requests in flight */
	__u64 start_ns, ns;
	__u64 excess_ns; /* that others are blamed for */
	__u64 oldest_ns; /* the oldest completion that was seen since the start */
	__u64 cost; /* of the requests of others, which were completed meanwhile */
	/* Where the request was: of a sequence, its flush and its data. */
	__u64 flush_ns, device_ns, requeued_ns;
	__u32 reached; /* all completions since the start were seen */
	__u32 guessed; /* a cost is not sure yet */
	__u32 in_flight; /* those in flight are blamed, as none was completed */
	__u32 blaming; /* the second walk */
	__u64 own_cost;
};

/* Of each CPU: of a program, and of its second copy. User space sizes it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct work[2]);
} why_work SEC(".maps");

/* ---- the walk ---- */

struct walk {
	struct work *work;
	const struct disk *disk;
};

#define OF_CULPRITS                                                            \
	(1U << WHY_IOLAT_OWN | 1U << WHY_IOLAT_OTHER | 1U << WHY_IOLAT_FLUSH | \
	 1U << WHY_IOLAT_DISCARD | 1U << WHY_IOLAT_JOURNAL)

static __always_inline __u32 part_of(const struct completion *done, const struct work *work)
{
	if (done->op == LAT_OP_FLUSH)
		return WHY_IOLAT_FLUSH;
	if (done->op == LAT_OP_DISCARD)
		return WHY_IOLAT_DISCARD;
	if (done->owner.id == WHY_OF_LATSCOPE)
		return WHY_IOLAT_LATSCOPE;
	if (same_process(&done->owner, &work->own.owner))
		return WHY_IOLAT_OWN;
	return done->flags & OF_JOURNAL ? WHY_IOLAT_JOURNAL : WHY_IOLAT_OTHER;
}

static __always_inline void find_who(struct why_who *who, const struct owner *owner)
{
	const struct submitter *submitter = owner->tgid ? named_submitter(owner->tid) : NULL;

	if (submitter && submitter->who.id == owner->id)
		*who = submitter->who;
	else
		who->id = owner->id;
}

static __always_inline struct why_sum *sum_of(struct work *work, const struct completion *done,
					      __u32 part)
{
	struct why_sum *sum = why_sum_of(&work->scratch, done->owner.id, part, &work->victim);

	if (!sum->part) {
		why_start_sum(sum, done->owner.id, part, done->owner.tid);
		find_who(&sum->who, &done->owner);
	}
	return sum;
}

static __always_inline struct why_kind *kind_of(const struct completion *done)
{
	return done->kind ? kind_at(done->kind - 1) : NULL;
}

/* What a request costs the others, in units of 1 << COST_BITS ns; at least 1. */
static __always_inline __u64 cost_of(const struct completion *done, struct work *work)
{
	const struct why_kind *kind = kind_of(done);
	__u64 ns;

	if (!kind)
		return work->guessed = 1;
	ns = kind->cost_ns + (done->bytes >> 10) * kind->cost_kib_ns;
	if (!kind->cost_is_sure)
		work->guessed = 1;
	ns = ns ?: kind->fastest_ns;
	return (ns >> COST_BITS) + 1;
}

/* Is it a request that the one to explain consists of: its data, or a flush for it alone? */
static __always_inline bool is_itself(const struct completion *done, struct work *work)
{
	__u64 ns = done->end_ns - done->issue_ns;

	if (!(work->own.flags & OF_SEQUENCE))
		return false;
	if (done->request == work->own.request) {
		work->device_ns += work->blaming ? 0 : ns;
		return true;
	}
	if (done->op != LAT_OP_FLUSH || done->issue_ns < work->start_ns || !done->owner.tid ||
	    done->owner.tid != work->own.owner.tid)
		return false;
	work->flush_ns += work->blaming ? 0 : ns;
	return true;
}

/* The n-th completion before that of the request; NULL: not one of another request of the disk. */
static __always_inline const struct completion *before(const struct walk *walk, __u32 n)
{
	__u64 number = walk->work->own.number - 1 - n;
	const struct completion *done = &walk->disk->ring[number % RING];

	/* When it was completed is not known, if it was overwritten or is just being written. */
	if (done->number != number || done->queue != walk->work->own.queue ||
	    done->flags & OF_SEQUENCE)
		return NULL;
	return done;
}

/* Adds up what the requests of others cost. */
static long walk_cost(__u32 n, struct walk *walk)
{
	struct work *work = walk->work;
	const struct completion *done;

	if (n + 1 >= work->own.number) {
		work->reached = 1;
		return 1;
	}
	done = before(walk, n);
	if (!done)
		return 0;
	if (done->end_ns <= work->start_ns) {
		work->reached = 1;
		return 1;
	}
	if (done->end_ns < work->oldest_ns)
		work->oldest_ns = done->end_ns;
	if (!is_itself(done, work))
		work->cost += cost_of(done, work);
	return 0;
}

static __always_inline void add_bytes(struct why_sum *sum, const struct completion *done)
{
	if (done->op == LAT_OP_READ)
		sum->amount.read_bytes += done->bytes;
	else
		sum->amount.written_bytes += done->bytes;
}

/* Adds the share of the excess that requests of another caused. Not inlined, for its stack. */
static __noinline int blame(struct work *work, const struct completion *done, __u64 cost)
{
	__u64 ns = work->excess_ns * cost / (work->cost ?: 1);
	__u32 part = part_of(done, work);
	struct why_sum *sum;

	if (!ns || part >= WHY_PARTS)
		return 0;
	work->scratch.part_ns[part] += ns;
	if (!(OF_CULPRITS & 1U << part) || injected_third(TURN))
		return 0;
	sum = sum_of(work, done, part);
	sum->amount.ns += ns;
	add_bytes(sum, done);
	return 0;
}

static long walk_blame(__u32 n, struct walk *walk)
{
	struct work *work = walk->work;
	const struct completion *done;

	if (n + 1 >= work->own.number)
		return 1;
	done = before(walk, n);
	if (!done)
		return 0;
	if (done->end_ns <= work->start_ns)
		return 1;
	if (!is_itself(done, work))
		blame(work, done, cost_of(done, work));
	return 0;
}

/* Requests of one owner that are in flight; the one to explain is not any more. */
static long walk_crowd_cost(__u32 n, struct walk *walk)
{
	const struct crowd *crowd = &walk->disk->crowds[n % CROWDS];

	walk->work->cost += crowd->open * walk->work->own_cost;
	return 0;
}

/* They have no size, and so no bytes are added. */
static long walk_crowd(__u32 n, struct walk *walk)
{
	const struct crowd *crowd = &walk->disk->crowds[n % CROWDS];
	struct work *work = walk->work;

	if (!crowd->open)
		return 0;
	work->other.owner = crowd->owner;
	work->other.flags = crowd->journal ? OF_JOURNAL : 0;
	blame(work, &work->other, crowd->open * work->own_cost);
	return 0;
}

/* ---- a slow request ---- */

static __always_inline void start_work(struct work *work, const struct why_end *end)
{
	__builtin_memset(&work->victim, 0, sizeof(work->victim));
	find_who(&work->victim, &work->own.owner);
	work->start_ns = end->start_ns;
	work->ns = work->own.end_ns - end->start_ns;
	work->excess_ns = 0;
	work->guessed = 0;
	work->oldest_ns = work->own.end_ns;
	work->cost = 0;
	work->own_cost = cost_of(&work->own, work);
	work->other.op = LAT_OP_READ;
	work->other.bytes = 0;
	work->flush_ns = work->device_ns = work->requeued_ns = 0;
	work->reached = work->blaming = 0;
	if ((work->own.flags & OF_SEQUENCE) || !end->issue_ns)
		return;
	work->device_ns = work->own.end_ns - work->own.issue_ns;
	work->requeued_ns = work->own.issue_ns - end->issue_ns;
	if (work->own.issue_ns < end->issue_ns || work->requeued_ns > work->ns)
		work->requeued_ns = 0;
}

/* How much longer it took than alone. */
static __always_inline __u64 excess_of(const struct work *work)
{
	const struct why_kind *kind = kind_of(&work->own);
	__u32 slot = slot_of_kind(work->ns);
	__u64 alone_ns;

	if (!kind || slot >= WHY_KIND_SLOTS || injected(ALONE))
		return work->ns;
	alone_ns = kind->known ? (__u64)kind->alone[slot] * WHY_ALONE_NS : kind->fastest_ns;
	return alone_ns < work->ns ? work->ns - alone_ns : 0;
}

/* The part of the excess that others are blamed for. What is older than the ring is unknown. */
static __always_inline void limit_excess(struct work *work)
{
	__u64 excess_ns = excess_of(work), most_ns = work->cost << COST_BITS, old_ns;

	if (!kind_of(&work->own)) {
		work->scratch.part_ns[WHY_IOLAT_UNKNOWN] = excess_ns;
		return;
	}
	if (!work->cost)
		return;
	if (!work->reached && work->ns) {
		/* in units of 1 us, so that the product fits */
		old_ns = (work->oldest_ns - work->start_ns) / 1000 * (excess_ns / 1000) /
			 (work->ns / 1000 + 1) * 1000;
		old_ns = old_ns < excess_ns ? old_ns : excess_ns;
		work->scratch.part_ns[WHY_IOLAT_UNKNOWN] = old_ns;
		excess_ns -= old_ns;
	}
	if (!work->guessed && excess_ns > MOST_COSTS * most_ns)
		excess_ns = MOST_COSTS * most_ns;
	work->excess_ns = excess_ns;
}

static __always_inline __u64 add_part(struct work *work, __u32 part, __u64 ns, __u64 left)
{
	ns = ns < left ? ns : left;
	work->scratch.part_ns[part] += ns;
	return left - ns;
}

/* What others are not blamed for belongs to where the request was. */
static __always_inline void add_own(struct work *work, const struct why_end *end)
{
	__u64 left = work->ns;

#pragma unroll
	for (int part = 0; part < WHY_IOLAT_PARTS; part++)
		left -= work->scratch.part_ns[part];
	if (!(work->own.flags & OF_SEQUENCE) && !end->issue_ns) {
		add_part(work, WHY_IOLAT_UNKNOWN, left, left);
		return;
	}
	if (work->flush_ns && left) {
		struct why_sum *sum = sum_of(work, &work->own, WHY_IOLAT_FLUSH);

		sum->amount.ns += work->flush_ns < left ? work->flush_ns : left;
		left = add_part(work, WHY_IOLAT_FLUSH, work->flush_ns, left);
	}
	left = add_part(work, WHY_IOLAT_DEVICE, work->device_ns, left);
	left = add_part(work, WHY_IOLAT_REQUEUED, work->requeued_ns, left);
	add_part(work, WHY_IOLAT_QUEUED, left, left);
}

/* These are not inlined, so that their stacks are not needed at the same time. */
static __noinline int divide_all(struct work *work, const struct why_end *end)
{
	struct walk walk = { work, disk_of(end->queue) };

	if (!walk.disk)
		return 0;
	start_work(work, end);
	if (!(work->own.flags & WAITED_FOR)) { /* who slowed it down is of no interest */
		work->scratch.part_ns[WHY_IOLAT_WRITEBACK] = work->ns;
		return 0;
	}
	bpf_loop(RING, walk_cost, &walk, 0);
	work->in_flight = !work->cost;
	if (work->in_flight)
		bpf_loop(CROWDS, walk_crowd_cost, &walk, 0);
	limit_excess(work);
	work->blaming = 1;
	if (work->excess_ns && work->in_flight)
		bpf_loop(CROWDS, walk_crowd, &walk, 0);
	else if (work->excess_ns)
		bpf_loop(RING, walk_blame, &walk, 0);
	add_own(work, end);
	return 0;
}

/* Copies the completion of the request. Is it still in the ring? */
static __always_inline bool find_completion(struct work *work, const struct why_end *end)
{
	const struct disk *disk = disk_of(end->queue);

	if (!disk)
		return false;
	work->own = disk->ring[end->number % RING];
	return work->own.number == end->number;
}

static __noinline int send(const struct work *work, const struct why_end *end)
{
	struct why_event *event = bpf_ringbuf_reserve(&why_events, sizeof(*event), 0);
	const struct owner *owner = &work->own.owner;
	const struct submitter *submitter = named_submitter(owner->tid);

	if (!event)
		return 0;
	__builtin_memset(event, 0, __builtin_offsetof(struct why_event, kernel_stack));
	event->is_candidate = !work->scratch.counts;
	event->unwaited = !(work->own.flags & WAITED_FOR);
	event->victim = work->victim;
	event->end_ns = work->own.end_ns;
	event->ns = work->own.end_ns - end->start_ns;
	__builtin_memcpy(event->part_ns, work->scratch.part_ns, sizeof(event->part_ns));
	__builtin_memcpy(event->culprits, work->scratch.largest, sizeof(event->culprits));
	event->tid = owner->tid;
	event->tgid = owner->tgid ?: owner->tid; /* a kernel thread */
	event->cpu = bpf_get_smp_processor_id();
	event->metric = IOLAT_TOTAL;
	event->disk = end->disk;
	event->sector = end->sector;
	event->bytes = work->own.bytes;
	event->op = work->own.op;
	if (submitter) {
		event->cgroup = submitter->cgroup;
		__builtin_memcpy(event->comm, submitter->comm, LAT_COMM_LEN);
		__builtin_memcpy(event->process, submitter->process, LAT_COMM_LEN);
	}
	if (owner->id && !owner->tgid)
		event->cgroup = owner->id & ~WHY_OF_CGROUP;
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	return 1;
}

/* Global, so that the verifier checks it once; also without why, when there are no maps. */
__noinline int explain(struct why_end *end)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct why_cell *cell;
	struct work *work;
	bool counts;
	__u64 ns;

	if (!config.why || !end)
		return 0;
	work = bpf_map_lookup_elem(&why_work, &cpu);
	if (!work)
		return 0;
	work = &work[end->second & 1];
	if (!find_completion(work, end))
		return 0;
	ns = work->own.end_ns - end->start_ns;
	if (work->own.owner.id == WHY_OF_LATSCOPE) {
		why_begin_own(ns);
		return 0;
	}
	cell = why_begin(ns, &counts);
	if (!cell)
		return 0;
	why_clear(&work->scratch, counts);
	divide_all(work, end);
	why_add_all(cell, &work->scratch, &work->victim, OF_CULPRITS);
	if (!counts || ((work->own.flags & WAITED_FOR) && ns >= why_control.event_ns))
		__sync_fetch_and_add(send(work, end) ? &cell->sent : &cell->dropped, 1);
	return 0;
}

/* The completion has been counted. If it is a sample, its start is set. */
static __always_inline void why_explain(struct why_end *end, struct request *rq, __u64 now)
{
	if (!end->number || !end->is_sample || !why_slow(now - end->start_ns))
		return;
	end->disk = request_device(rq);
	end->sector = rq->__sector;
	explain(end);
}

#endif
