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

struct why_control why_control = {};
/* Is there a tracepoint that sees the submitter of every request? Set before the load. */
const volatile __u32 sees_start = 0;
/* How often a task has taken another name. */
__u32 names_changed = 0;

struct why_cells_map why_cells SEC(".maps");
struct why_pairs_map why_pairs SEC(".maps");
struct why_events_map why_events SEC(".maps");

static const struct why why = { &why_cells, &why_pairs };

/* Whom a request counts for. */
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
	__u32 pad;
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
	struct owner owner;
	__u64 request;
	__u64 number; /* of the first completion after it */
	__u64 low, high; /* what is left of the time with the device */
	__u32 queue;
	__u32 rest; /* the part of what the disk does if it is known to do nothing */
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
	why_describe(&config, &who->name.who, task);
	who->cgroup = task_cgroup(task, false);
	bpf_probe_read_kernel_str(who->comm, LAT_COMM_LEN, task->comm);
	bpf_probe_read_kernel_str(who->process, LAT_COMM_LEN, leader_comm(task, false));
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
	return who->name.who.id;
}

/*
 * What a kernel thread writes back counts for the cgroup whose pages they are, if the kernel knows
 * it and it is not the cgroup of the thread; 0: the request counts for the thread.
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
		owner->id = cgroup | (config.why - 1 == LAT_BY_CGROUP ? 0 : WHY_OF_CGROUP);
}

/* ---- requests in flight ---- */

/* The request's place in its line, if it has one (`left`), or a free one; or NULL. */
static __always_inline struct flight *flight_of(__u32 line, __u64 id, bool *left)
{
	struct flights *flights = bpf_map_lookup_elem(&why_flights, &line);
	struct flight *free = NULL;

	*left = false;
	if (!flights)
		return NULL;
#pragma unroll
	for (int i = 0; i < WAYS; i++) {
		struct flight *flight = &flights->ways[i];

		if (flight->request == id) {
			*left = true;
			return flight;
		}
		if (!flight->request && !free)
			free = flight;
	}
	return free;
}

static __always_inline struct flight *claim_flight(__u32 line, __u64 id, bool *left)
{
	struct flight *flight = flight_of(line, id, left);

	if (!flight || *left)
		return flight;
	return __sync_val_compare_and_swap(&flight->request, 0, id) ? NULL : flight;
}

/* The current task submits a request. */
static __always_inline void why_submitted(struct request *rq)
{
	struct flight *flight;
	bool left;

	if (!config.why)
		return;
	flight = claim_flight(line_of(rq, false), (__u64)rq, &left);
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
	flight = claim_flight(line, view->id, &left);
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

/* A completion, for the ring and for the explanation. */
struct why_end {
	__u64 request;
	__u64 number; /* of the first completion after it */
	__u64 start_ns; /* 0: it is not a sample */
	__u64 issue_ns; /* 0: unknown */
	__u64 again_ns; /* the last issue, if it was given back; else 0 */
	__u64 end_ns;
	struct owner owner;
	__u32 queue;
	__u32 op;
	__u32 bytes;
	__u32 disk; /* known only if it is slow, as the next */
	__u64 sector;
	__u32 sequence; /* it is the end of a flush sequence */
	__u32 second; /* the program is the second copy */
};

static __always_inline struct disk *disk_of(__u32 queue)
{
	__u32 place = queue % WHY_DISKS;

	return bpf_map_lookup_elem(&why_disks, &place);
}

static __always_inline void take_flight(struct why_end *end, struct request *rq,
					const struct request_view *view)
{
	struct flight *flight;
	bool left;

	flight = flight_of(line_of(rq, false), view->id, &left);
	if (!flight || !left)
		return;
	end->owner = flight->owner;
	end->again_ns = flight->again_ns;
	if (request_goes_on(view))
		flight->again_ns = 0;
	else
		store_ordered(&flight->request, 0);
}

/* A request has completed. */
static __always_inline void why_completed(struct why_end *end, struct request *rq,
					  const struct request_view *view)
{
	struct completion *done;
	struct disk *disk;

	end->request = view->id;
	end->queue = rq->q->id;
	end->op = request_op(view);
	end->bytes = view->bytes;
	end->sequence = request_ends_sequence(view);
	take_flight(end, rq, view);
	disk = disk_of(end->queue);
	if (!disk)
		return;
	if (end->sequence) { /* the disk has not worked on it since the last completion */
		end->number = disk->next + 1;
		return;
	}
	end->number = __sync_fetch_and_add(&disk->next, 1) + 1;
	done = &disk->ring[end->number % RING];
	done->number = 0;
	barrier();
	done->end_ns = end->end_ns;
	done->issue_ns = end->again_ns ?: end->issue_ns ?: view->issue_ns ?: end->end_ns;
	done->request = view->id;
	done->owner = end->owner;
	done->queue = end->queue;
	done->op = end->op;
	done->bytes = end->bytes;
	store_ordered(&done->number, end->number);
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
	if (done->request == work->request) /* the data of its flush sequence */
		return WHY_IOLAT_DEVICE;
	return same_process(&done->owner, &work->owner) ? WHY_IOLAT_OWN : WHY_IOLAT_OTHER;
}

static __always_inline void find_who(struct why_who *who, const struct owner *owner)
{
	const struct submitter *submitter = owner->tgid ? submitter_of(owner->tid) : NULL;

	if (submitter && submitter->name.tid == owner->tid && submitter->name.who.id == owner->id)
		*who = submitter->name.who;
	else
		who->id = owner->id;
}

static __always_inline struct why_sum *sum_of(struct work *work, const struct completion *done,
					      __u32 part)
{
	struct why_sum *sum =
		why_sum_of(&why_pairs, &work->scratch, done->owner.id, part, &work->victim);

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
	__u64 number = work->number - 1 - n, start = work->low;
	const struct completion *done = &walk->disk->ring[number % RING];

	if (number && done->number != number) {
		/* When it was completed is not known, nor what the disk did until the next one. */
		work->part = WHY_IOLAT_UNKNOWN;
		return 0;
	}
	if (number && done->queue != work->queue)
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

static __always_inline void send(struct why_cell *cell, const struct why_end *end, __u64 ns,
				 const struct why_scratch *scratch)
{
	struct why_event *event = bpf_ringbuf_reserve(&why_events, sizeof(*event), 0);
	const struct submitter *submitter = submitter_of(end->owner.tid);

	if (!event) {
		__sync_fetch_and_add(&cell->dropped, 1);
		return;
	}
	__sync_fetch_and_add(&cell->sent, 1);
	__builtin_memset(event, 0, __builtin_offsetof(struct why_event, kernel_stack));
	event->end_ns = end->end_ns;
	event->ns = ns;
	__builtin_memcpy(event->part_ns, scratch->part_ns, sizeof(event->part_ns));
	__builtin_memcpy(event->culprits, scratch->largest, sizeof(event->culprits));
	event->tid = end->owner.tid;
	event->tgid = end->owner.tgid ?: end->owner.tid; /* a kernel thread */
	event->cpu = bpf_get_smp_processor_id();
	event->metric = IOLAT_TOTAL;
	event->disk = end->disk;
	event->sector = end->sector;
	event->bytes = end->bytes;
	event->op = end->op;
	if (submitter && submitter->name.tid == end->owner.tid) {
		event->cgroup = submitter->cgroup;
		__builtin_memcpy(event->comm, submitter->comm, LAT_COMM_LEN);
		__builtin_memcpy(event->process, submitter->process, LAT_COMM_LEN);
	}
	if (end->owner.id && !end->owner.tgid)
		event->cgroup = end->owner.id & ~WHY_OF_CGROUP;
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

static __always_inline void start_work(struct work *work, const struct why_end *end)
{
	why_clear(&work->scratch);
	__builtin_memset(&work->victim, 0, sizeof(work->victim));
	find_who(&work->victim, &end->owner);
	work->owner = end->owner;
	work->request = end->request;
	work->number = end->number;
	work->queue = end->queue;
	/* The disk does nothing for a flush sequence between its requests. */
	work->rest = end->sequence ? WHY_IOLAT_QUEUED : WHY_IOLAT_DEVICE;
	work->low = end->start_ns;
	work->high = end->end_ns;
	work->at.issue_ns = 0;
	work->part = work->rest;
	work->first_part = 0;
}

/* What comes before the last issue; false: when that was is not known. */
static __always_inline bool divide_queued(struct work *work, const struct why_end *end)
{
	if (end->sequence)
		return true;
	if (!end->issue_ns)
		return false;
	if (end->issue_ns > work->low) {
		work->low = end->issue_ns < work->high ? end->issue_ns : work->high;
		work->scratch.part_ns[WHY_IOLAT_QUEUED] = work->low - end->start_ns;
	}
	if (end->again_ns > work->low && end->again_ns <= work->high) {
		work->scratch.part_ns[WHY_IOLAT_REQUEUED] = end->again_ns - work->low;
		work->low = end->again_ns;
	}
	return true;
}

/* Global, so that the verifier checks it once. */
__noinline int explain(struct why_end *end)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct work *work = bpf_map_lookup_elem(&why_work, &cpu);
	__u64 ns, known = 0;
	struct why_cell *cell;
	struct walk walk;

	if (!end || !work)
		return 0;
	ns = end->end_ns - end->start_ns;
	cell = why_begin(&why, ns);
	walk.work = &work[end->second & 1];
	walk.disk = disk_of(end->queue);
	if (!cell || !walk.disk)
		return 0;
	start_work(walk.work, end);
	if (divide_queued(walk.work, end))
		bpf_loop(RING, walk_completion, &walk, 0);
#pragma unroll
	for (int part = 1; part < WHY_IOLAT_PARTS; part++)
		known += walk.work->scratch.part_ns[part];
	walk.work->scratch.part_ns[WHY_IOLAT_UNKNOWN] = ns - known;
	why_add_all(&why, cell, &walk.work->scratch, &walk.work->victim, OF_CULPRITS);
	if (ns >= why_control.event_ns)
		send(cell, end, ns, &walk.work->scratch);
	return 0;
}

/* The completion has been counted. If it is a sample, its start is set. */
static __always_inline void why_explain(struct why_end *end, struct request *rq)
{
	if (!end->start_ns || !why_slow(&config, &why_control, end->end_ns - end->start_ns))
		return;
	end->disk = request_device(rq, false);
	end->sector = rq->__sector;
	explain(end);
}

#endif
