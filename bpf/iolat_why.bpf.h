/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a block request was slow: what its disk did meanwhile. Each completion is noted in a ring of
 * its disk; at the end of a slow request the ring is read, the newest first: a disk that completes
 * a request has worked on it since the completion before, or since it was issued, whichever is
 * later. Included by iolat.bpf.c alone, after iolat_request.bpf.h.
 */
#ifndef LATSCOPE_IOLAT_WHY_BPF_H
#define LATSCOPE_IOLAT_WHY_BPF_H

#include "why.bpf.h"

/* Completions that a disk's ring holds, and that one request is compared with. */
#define RING 1024
#define WAYS 4

/* Is there a tracepoint that sees the submitter of every request? Set before the load. */
const volatile __u32 sees_start = 0;

/* The task or cgroup that a request belongs to. */
struct owner {
	__u64 id; /* as in struct why_who; 0: unknown */
	__u32 tgid; /* 0: it counts for a cgroup, or is unknown */
	__u32 tid;
};

/* A request in flight. */
struct flight {
	__u64 request; /* 0: free */
	__u64 again_ns; /* when it was issued last, if it was given back; else 0 */
	struct owner owner;
};

struct flights {
	struct flight ways[WAYS];
};

/* User space sizes it to IOLAT_LINES, and by line_of() it is used. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct flights);
} why_flights SEC(".maps");

struct completion {
	__u64 number; /* from 1; another one: it was overwritten, or is being written */
	__u64 end_ns;
	__u64 issue_ns; /* the last issue */
	__u64 request;
	struct owner owner;
	__u32 queue; /* its ID */
	__u32 op; /* enum lat_op */
	__u32 bytes;
	__u32 sequence; /* of a flush sequence the end, which is no work of the disk */
};

struct disk {
	__u64 next; /* completions so far */
	__u64 pad[7];
	struct completion ring[RING];
};

/* User space sizes it to WHY_DISKS: by ID of the queue; disks with the same place share a ring. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct disk);
} why_disks SEC(".maps");

/* What a submitter is called. */
struct submitter {
	struct why_name name;
	struct why_who who;
	__u64 cgroup;
	char comm[LAT_COMM_LEN];
	char process[LAT_COMM_LEN];
};

/* User space sizes it to WHY_IOLAT_NAMES: by TID. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct submitter);
} why_names SEC(".maps");

/* The time of a request, as it is divided. It is in a map, as the stack has no room for it. */
struct work {
	struct why_scratch scratch;
	struct why_who victim;
	struct completion own;
	__u64 low, high; /* what is left of the time with the device */
	__u32 rest; /* the part of what the disk does if it is known to do nothing */
	__u32 pad;
	/* The request that was completed at `high`; `part` is 0 if that is not known. */
	struct completion at;
	/* Of those that were completed after `high`, the one that was issued first. */
	struct completion first;
	__u32 part, first_part;
};

/* Of each CPU: of a program, and of its second copy. User space sizes it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct work[2]);
} why_work SEC(".maps");

/* ---- submitters ---- */

static __always_inline struct submitter *submitter_of(__u32 tid)
{
	__u32 place = tid % WHY_IOLAT_NAMES;

	return bpf_map_lookup_elem(&why_names, &place);
}

static __noinline int rename_submitter(struct submitter *who, struct task_struct *task)
{
	__builtin_memset(who, 0, sizeof(*who));
	why_describe(&who->who, task);
	who->cgroup = task_cgroup(task, false);
	bpf_probe_read_kernel_str(who->comm, LAT_COMM_LEN, task->comm);
	bpf_probe_read_kernel_str(who->process, LAT_COMM_LEN, leader_comm(task, false));
	if (is_latscope(task))
		who->who.id = WHY_OF_LATSCOPE;
	return 0;
}

/* The ID of who the task is. */
static __always_inline __u64 note_submitter(struct task_struct *task)
{
	__u32 as_of = names_changed, tid = task->pid;
	__u64 cgroups = (__u64)task->cgroups;
	struct submitter *who = submitter_of(tid);

	if (!who)
		return 0;
	if (!why_named(&who->name, task, tid, as_of, cgroups)) {
		rename_submitter(who, task);
		who->name.task = (__u64)task;
		who->name.tid = tid;
		who->name.as_of = as_of;
		who->name.cgroups = cgroups;
	}
	return who->who.id;
}

/*
 * The cgroup that owns the pages which a kernel thread writes back. 0: the kernel does not know it,
 * or it is the cgroup of the thread; the request then belongs to the thread.
 */
static __always_inline __u64 cgroup_of_pages(struct request *rq, struct task_struct *task)
{
	struct cgroup *own = task->cgroups->dfl_cgrp, *cgroup;

	if (!bpf_core_field_exists(rq->bio->bi_blkg) || !rq->bio || !rq->bio->bi_blkg)
		return 0;
	cgroup = rq->bio->bi_blkg->blkcg->css.cgroup;
	return cgroup != own && cgroup->root == own->root ? cgroup->kn->id : 0;
}

static __always_inline void set_owner(struct owner *owner, struct request *rq)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 cgroup = task->flags & PF_KTHREAD ? cgroup_of_pages(rq, task) : 0;

	owner->tid = task->pid;
	owner->tgid = cgroup ? 0 : task->tgid;
	owner->id = note_submitter(task);
	if (cgroup)
		owner->id = cgroup | (why_by() == LAT_BY_CGROUP ? 0 : WHY_OF_CGROUP);
}

/* ---- requests in flight ---- */

static __always_inline struct flight *find_flight(__u32 line, __u64 id)
{
	struct flights *flights = bpf_map_lookup_elem(&why_flights, &line);

	if (!flights)
		return NULL;
#pragma unroll
	for (int i = 0; i < WAYS; i++)
		if (flights->ways[i].request == id)
			return &flights->ways[i];
	return NULL;
}

/* A free place in the line; NULL: there is none. */
static __always_inline struct flight *claim_flight(__u32 line, __u64 id)
{
	struct flights *flights = bpf_map_lookup_elem(&why_flights, &line);

	if (!flights)
		return NULL;
#pragma unroll
	for (int i = 0; i < WAYS; i++)
		if (!flights->ways[i].request &&
		    !__sync_val_compare_and_swap(&flights->ways[i].request, 0, id))
			return &flights->ways[i];
	return NULL;
}

/* The current task submits a request. */
static __always_inline void why_submitted(struct request *rq)
{
	struct flight *flight;
	__u32 line;

	if (!config.why)
		return;
	line = line_of(rq, false);
	flight = find_flight(line, (__u64)rq) ?: claim_flight(line, (__u64)rq);
	if (!flight)
		return;
	flight->again_ns = 0;
	set_owner(&flight->owner, rq);
}

/*
 * A flush of the disk's cache is a request that the kernel makes, with the tag of one that it makes
 * it for: so it has the same line.
 */
static __always_inline void inherit_owner(struct flight *flight, __u32 line)
{
	struct flights *flights = bpf_map_lookup_elem(&why_flights, &line);

	__builtin_memset(&flight->owner, 0, sizeof(flight->owner));
	if (!flights)
		return;
#pragma unroll
	for (int i = 0; i < WAYS; i++)
		if (flights->ways[i].request && flights->ways[i].request != flight->request)
			flight->owner = flights->ways[i].owner;
}

/* The request is issued to the driver; `again`: not for the first time. */
static __always_inline void why_issued(struct request *rq, const struct request_view *view,
				       bool again, __u64 now)
{
	bool flush = (view->flags & REQ_OP_MASK) == REQ_OP_FLUSH, left;
	struct flight *flight;
	__u32 line;

	if (!config.why || (sees_start && !flush && !again))
		return;
	line = line_of(rq, false);
	flight = find_flight(line, view->id);
	left = flight;
	flight = flight ?: claim_flight(line, view->id);
	if (!flight)
		return;
	if (again)
		flight->again_ns = now;
	else if (flush)
		inherit_owner(flight, line);
	else if (!left)
		set_owner(&flight->owner, rq);
}

/* ---- completions ---- */

/* The completion of a request that may be slow. The programs have little room for it. */
struct why_end {
	__u64 number; /* of the completion; 0: it has none */
	__u64 start_ns; /* 0: it is not a sample */
	__u64 issue_ns; /* the first issue; by the kernel, if no program saw it; 0: unknown */
	__u64 sector;
	__u32 queue;
	__u32 disk;
	__u64 second; /* the program is the second copy */
};

static __always_inline struct disk *disk_of(__u32 queue)
{
	__u32 place = queue % WHY_DISKS;

	return bpf_map_lookup_elem(&why_disks, &place);
}

/* Adds a completion to the ring, and forgets that it is in flight. */
static __noinline int note_completion(struct why_end *end, struct request *rq, __u64 now)
{
	const struct request_view view = request_view(rq, false);
	struct flight *flight = find_flight(line_of(rq, false), view.id);
	struct completion *done;
	struct disk *disk;
	__u64 issue_ns = end->issue_ns ?: view.issue_ns;

	end->issue_ns = issue_ns;
	end->queue = rq->q->id;
	disk = disk_of(end->queue);
	if (!disk)
		return 0;
	end->number = __sync_fetch_and_add(&disk->next, 1) + 1;
	done = &disk->ring[end->number % RING];
	done->number = 0;
	barrier();
	if (flight) {
		done->owner = flight->owner;
		issue_ns = flight->again_ns ?: issue_ns;
		flight->again_ns = 0;
		if (!request_goes_on(&view))
			store_ordered(&flight->request, 0);
	} else {
		__builtin_memset(&done->owner, 0, sizeof(done->owner));
	}
	done->end_ns = now;
	done->issue_ns = issue_ns ?: now;
	done->request = view.id;
	done->queue = end->queue;
	done->op = request_op(&view);
	done->bytes = view.bytes;
	done->sequence = request_ends_sequence(&view);
	store_ordered(&done->number, end->number);
	return 0;
}

/* A request has completed. */
static __always_inline void why_completed(struct why_end *end, struct request *rq, __u64 now)
{
	int done = note_completion(end, rq, now);

	barrier_var(done); /* as in memlat_why.bpf.h */
}

/* ---- the walk ---- */

struct walk {
	struct work *work;
	const struct disk *disk;
};

#define OF_CULPRITS                                                            \
	(1U << WHY_IOLAT_OWN | 1U << WHY_IOLAT_OTHER | 1U << WHY_IOLAT_FLUSH | \
	 1U << WHY_IOLAT_DISCARD)

static __always_inline bool same_process(const struct owner *a, const struct owner *b)
{
	return a->tgid == b->tgid && (a->tgid || (a->id && a->id == b->id));
}

static __always_inline __u32 part_of(const struct completion *done, const struct work *work)
{
	if (done->op == LAT_OP_FLUSH)
		return WHY_IOLAT_FLUSH;
	if (done->op == LAT_OP_DISCARD)
		return WHY_IOLAT_DISCARD;
	if (done->owner.id == WHY_OF_LATSCOPE)
		return WHY_IOLAT_LATSCOPE;
	if (done->request == work->own.request) /* the data of its flush sequence */
		return WHY_IOLAT_DEVICE;
	return same_process(&done->owner, &work->own.owner) ? WHY_IOLAT_OWN : WHY_IOLAT_OTHER;
}

static __always_inline void find_who(struct why_who *who, const struct owner *owner)
{
	const struct submitter *submitter = owner->tgid ? submitter_of(owner->tid) : NULL;

	if (submitter && submitter->name.tid == owner->tid && submitter->who.id == owner->id)
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

/* The disk worked on a request for a time. */
static __noinline int add_work(struct work *work, const struct completion *done, __u32 part,
			       __u64 ns)
{
	if (!ns || part >= WHY_PARTS)
		return 0;
	work->scratch.part_ns[part] += ns;
	if (OF_CULPRITS & 1U << part)
		sum_of(work, done, part)->amount.ns += ns;
	return 0;
}

static __always_inline void add_bytes(struct work *work)
{
	struct why_sum *sum;

	if (!(OF_CULPRITS & 1U << work->part))
		return;
	sum = sum_of(work, &work->at, work->part);
	if (work->at.op == LAT_OP_READ)
		sum->amount.read_bytes += work->at.bytes;
	else
		sum->amount.written_bytes += work->at.bytes;
}

/*
 * The completion before that at `high` was at `start`. Before the request was issued, the disk can
 * only have worked on others that were completed later, or on the one that is explained.
 */
static __always_inline void divide(struct work *work, __u64 start)
{
	__u64 high = work->high, from = start;

	work->high = start;
	if (!work->part) {
		work->scratch.part_ns[WHY_IOLAT_UNKNOWN] += high - start;
		return;
	}
	if (work->at.issue_ns > from)
		from = work->at.issue_ns < high ? work->at.issue_ns : high;
	add_work(work, &work->at, work->part, high - from);
	high = from;
	if (work->first_part && work->first.issue_ns < from) {
		from = work->first.issue_ns > start ? work->first.issue_ns : start;
		add_work(work, &work->first, work->first_part, high - from);
	}
	add_work(work, &work->at, work->rest, from - start);
	if (OF_CULPRITS & 1U << work->part &&
	    (!work->first_part || work->at.issue_ns < work->first.issue_ns)) {
		work->first = work->at;
		work->first_part = work->part;
	}
}

static long walk_completion(__u32 n, struct walk *walk)
{
	struct work *work = walk->work;
	__u64 number = work->own.number - 1 - n, start = work->low;
	const struct completion *done = &walk->disk->ring[number % RING];

	if (number && done->number != number) {
		/* When it was completed is not known, nor what the disk did until the next one. */
		work->part = WHY_IOLAT_UNKNOWN;
		return 0;
	}
	if (number && (done->queue != work->own.queue || done->sequence))
		return 0;
	if (number && done->end_ns > start)
		start = done->end_ns < work->high ? done->end_ns : work->high;
	divide(work, start);
	if (start == work->low)
		return 1;
	work->at = *done;
	work->part = part_of(done, work);
	add_bytes(work);
	return 0;
}

/* ---- a slow request ---- */

/* What comes before the last issue; false: when that was is not known. */
static __always_inline bool divide_queued(struct work *work, const struct why_end *end)
{
	if (work->own.sequence)
		return true;
	if (!end->issue_ns)
		return false;
	if (end->issue_ns > work->low) {
		work->low = end->issue_ns < work->high ? end->issue_ns : work->high;
		work->scratch.part_ns[WHY_IOLAT_QUEUED] = work->low - end->start_ns;
	}
	if (work->own.issue_ns > work->low && work->own.issue_ns <= work->high) {
		work->scratch.part_ns[WHY_IOLAT_REQUEUED] = work->own.issue_ns - work->low;
		work->low = work->own.issue_ns;
	}
	return true;
}

static __always_inline void start_work(struct work *work, const struct why_end *end)
{
	__builtin_memset(&work->victim, 0, sizeof(work->victim));
	find_who(&work->victim, &work->own.owner);
	/* The disk does nothing for a flush sequence between its requests. */
	work->rest = work->own.sequence ? WHY_IOLAT_QUEUED : WHY_IOLAT_DEVICE;
	work->low = end->start_ns;
	work->high = work->own.end_ns;
	work->at.issue_ns = 0;
	work->part = work->rest;
	work->first_part = 0;
}

/* These are not inlined, so that their stacks are not needed at the same time. */
static __noinline int divide_all(struct work *work, const struct why_end *end)
{
	struct walk walk = { work, disk_of(end->queue) };

	if (!walk.disk)
		return 0;
	start_work(work, end);
	if (divide_queued(work, end))
		bpf_loop(RING, walk_completion, &walk, 0);
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

static __noinline int add_all(struct work *work, struct why_cell *cell, __u64 ns)
{
	__u64 known = 0;

#pragma unroll
	for (int part = 1; part < WHY_IOLAT_PARTS; part++)
		known += work->scratch.part_ns[part];
	work->scratch.part_ns[WHY_IOLAT_UNKNOWN] = ns - known;
	why_add_all(cell, &work->scratch, &work->victim, OF_CULPRITS);
	return 0;
}

static __noinline int send(const struct work *work, const struct why_end *end)
{
	struct why_event *event = bpf_ringbuf_reserve(&why_events, sizeof(*event), 0);
	const struct owner *owner = &work->own.owner;
	const struct submitter *submitter = submitter_of(owner->tid);

	if (!event)
		return 0;
	__builtin_memset(event, 0, __builtin_offsetof(struct why_event, kernel_stack));
	event->is_candidate = !work->scratch.counts;
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
	if (submitter && submitter->name.tid == owner->tid) {
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
	add_all(work, cell, ns);
	if (!counts || ns >= why_control.event_ns)
		__sync_fetch_and_add(send(work, end) ? &cell->sent : &cell->dropped, 1);
	return 0;
}

/* The completion has been counted. If it is a sample, its start is set. */
static __always_inline void why_explain(struct why_end *end, struct request *rq, __u64 now)
{
	if (!end->number || !end->start_ns || !why_slow(now - end->start_ns))
		return;
	end->disk = request_device(rq, false);
	end->sector = rq->__sector;
	explain(end);
}

#endif
