/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What disks do, and what requests take on them. The data are requests: when each began, was issued
 * and completed, who submitted it, and whether its disk had another one meanwhile. The programs
 * note each completion in a ring of its disk, and add it to the sums of its kind (disk, operation,
 * size) and of its disk. User space reads the sums, and writes back how long a request of a kind
 * takes alone, and what one costs the others. By these, why.bpf.h divides a slow request.
 * Included by why.bpf.h alone.
 */
#ifndef LATSCOPE_PROBES_IOLAT_DISK_BPF_H
#define LATSCOPE_PROBES_IOLAT_DISK_BPF_H

#include <probes/kit/why.bpf.h>

#include "types.h"

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
	/* `started` of its disk when it began, if the disk had no other; 0: it had, or unknown */
	__u64 alone_as;
	__u32 is_open; /* it is one of its disk's `open` */
	__u32 crowd; /* 1 + its place in `crowds`; 0: it has none */
	__u64 journal; /* the owner writes the journal of a file system */
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

enum {
	OF_SEQUENCE = 1 << 0, /* the end of a flush sequence, which is no work of the disk */
	OF_JOURNAL = 1 << 1,
	WAITED_FOR = 1 << 2, /* not an asynchronous write */
};

struct completion {
	__u64 number; /* from 1; another one: it was overwritten, or is being written */
	__u64 end_ns;
	__u64 issue_ns; /* the last issue */
	struct owner owner;
	__u32 request; /* low half of its address */
	__u32 queue; /* its ID */
	__u32 bytes;
	__u32 kib, breaks; /* those of the disk, afterwards; low half */
	__u16 kind; /* 1 + its place in `why_kinds`; 0: unknown */
	__u8 op; /* enum lat_op */
	__u8 flags;
};
_Static_assert(sizeof(struct completion) == 64, "completion: one cache line");

/* Requests in flight of one owner. */
struct crowd {
	struct owner owner;
	__u64 open;
	__u64 journal; /* as in struct flight */
};

#define CROWDS 16

struct disk {
	__u64 next; /* completions so far */
	__u64 pad[7];
	struct crowd crowds[CROWDS];
	struct completion ring[RING];
};

/* User space sizes it to WHY_DISKS: by ID of the queue; disks with the same place share a ring. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct disk);
} why_disks SEC(".maps");

/* User space sizes it to WHY_DISKS. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct why_load);
} why_loads SEC(".maps");

/* User space sizes it to WHY_KINDS. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct why_kind);
} why_kinds SEC(".maps");

/* What a submitter is called. */
struct submitter {
	struct why_name name;
	struct why_who who;
	__u64 cgroup;
	__u64 journal; /* as in struct flight */
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

/* ---- submitters ---- */

static __always_inline struct submitter *submitter_of(__u32 tid)
{
	__u32 place = tid % WHY_IOLAT_NAMES;

	return bpf_map_lookup_elem(&why_names, &place);
}

/* As it was noted; NULL: another task has the place. */
static __always_inline struct submitter *named_submitter(__u32 tid)
{
	struct submitter *submitter = submitter_of(tid);

	return submitter && submitter->name.tid == tid ? submitter : NULL;
}

/* "jbd2/sda1-8" of ext4, "btrfs-transacti". Workers, as of XFS, have names that say nothing. */
static __always_inline bool is_journal(struct task_struct *task, const char *comm)
{
	const __u64 *name = (const void *)comm;

	return task->flags & PF_KTHREAD && !injected(JOURNAL) &&
	       (((__u32)name[0] == 0x3264626a && comm[4] == '/') || name[0] == 0x72742d7366727462);
}

static __noinline int rename_submitter(struct submitter *who, struct task_struct *task)
{
	__builtin_memset(who, 0, sizeof(*who));
	why_describe(&who->who, task);
	who->cgroup = task_cgroup(task);
	bpf_probe_read_kernel_str(who->comm, LAT_COMM_LEN, task->comm);
	bpf_probe_read_kernel_str(who->process, LAT_COMM_LEN, leader_comm(task));
	who->journal = is_journal(task, who->comm);
	if (is_latscope(task))
		who->who.id = WHY_OF_LATSCOPE;
	return 0;
}

/* Who the task is; NULL: never. */
static __always_inline struct submitter *note_submitter(struct task_struct *task)
{
	__u32 as_of = names_changed, tid = task->pid;
	__u64 cgroups = (__u64)untrusted(task)->cgroups;
	struct submitter *who = submitter_of(tid);

	if (!who)
		return NULL;
	if (!why_named(&who->name, task, tid, as_of, cgroups)) {
		rename_submitter(who, task);
		who->name.task = (__u64)task;
		who->name.tid = tid;
		who->name.as_of = as_of;
		who->name.cgroups = cgroups;
	}
	return who;
}

static __always_inline void set_owner(struct flight *flight, struct request *rq)
{
	struct owner *owner = &flight->owner;
	struct task_struct *task = bpf_get_current_task_btf();
	struct cgroup *pages = owner_of_pages(untrusted_request(rq)->bio, task);
	__u64 cgroup = pages ? pages->kn->id : 0;
	const struct submitter *who;
	const struct sent_bio *sent = sent_request(rq);

	owner->tid = task->pid;
	owner->tgid = task->tgid;
	if (sent) {
		owner->tid = sent->pid_tgid;
		owner->tgid = sent->pid_tgid >> 32;
		cgroup = sent->pages;
		who = named_submitter(owner->tid);
	} else {
		who = note_submitter(task);
	}
	owner->tgid = cgroup ? 0 : owner->tgid;
	owner->id = who ? who->who.id : 0;
	flight->journal = who && !cgroup ? who->journal : 0;
	if (cgroup)
		owner->id = cgroup | (why_by() == LAT_BY_CGROUP ? 0 : WHY_OF_CGROUP);
}

/* ---- the load of a disk ---- */

/* NULL: another disk has the place. That of a disk without requests can be taken. */
static __always_inline struct why_load *load_of(__u32 queue)
{
	__u32 place = queue % WHY_DISKS;
	struct why_load *load = bpf_map_lookup_elem(&why_loads, &place);
	__u64 before;

	if (!load)
		return NULL;
	before = load->queue;
	if (before == (__u64)queue + 1)
		return load;
	if (load->open ||
	    __sync_val_compare_and_swap(&load->queue, before, (__u64)queue + 1) != before)
		return NULL;
	load->disk = 0;
	load->batches = load->us = load->batch_kib = load->kib_kib = 0;
	load->kib_us = load->us_us = load->batch_open = 0;
	load->breaks++;
	return load;
}

static __always_inline struct disk *disk_of(__u32 queue)
{
	__u32 place = queue % WHY_DISKS;

	return bpf_map_lookup_elem(&why_disks, &place);
}

static __always_inline bool same_process(const struct owner *a, const struct owner *b)
{
	return a->tgid == b->tgid && (a->tgid || (a->id && a->id == b->id));
}

/* Adds a request to those of its owner, if that has a place or can take one. */
static __always_inline void join_crowd(struct flight *flight, struct disk *disk)
{
	const struct owner *owner = &flight->owner;
	__u32 place = (owner->tgid ?: (__u32)owner->id) % CROWDS;
	struct crowd *crowd = &disk->crowds[place];

	flight->crowd = 0;
	if (!__sync_fetch_and_add(&crowd->open, 1)) {
		crowd->owner = *owner;
		crowd->journal = flight->journal;
	} else if (!same_process(&crowd->owner, owner)) {
		__sync_fetch_and_sub(&crowd->open, 1);
		return;
	}
	flight->crowd = place + 1;
}

static __always_inline void leave_crowd(struct flight *flight, struct disk *disk)
{
	__u32 place = flight->crowd - 1;

	if (flight->crowd && place < CROWDS)
		__sync_fetch_and_sub(&disk->crowds[place].open, 1);
	flight->crowd = 0;
}

/* A request begins; `left`: the same memory was in flight before, and its end was not seen. */
static __always_inline void open_flight(struct flight *flight, __u32 queue, bool left)
{
	struct why_load *load = load_of(queue);
	struct disk *disk = disk_of(queue);
	__u64 started, open;

	if (!left)
		flight->is_open = flight->crowd = 0;
	flight->alone_as = 0;
	if (!load || !disk)
		return;
	leave_crowd(flight, disk);
	join_crowd(flight, disk);
	started = __sync_fetch_and_add(&load->started, 1) + 1;
	open = load->open;
	if (!flight->is_open) {
		flight->is_open = 1;
		__sync_fetch_and_add(&load->open, 1);
	} else if (open) {
		open--;
	}
	if (!open)
		flight->alone_as = started;
}

/* It has ended. Did its disk have no other all the time? */
static __always_inline bool close_flight(struct flight *flight, struct why_load *load,
					 struct disk *disk)
{
	if (!load || !disk || !flight->is_open)
		return false;
	leave_crowd(flight, disk);
	flight->is_open = 0;
	if (__sync_fetch_and_sub(&load->open, 1) == 1)
		__sync_fetch_and_add(&load->breaks, 1);
	return flight->alone_as && flight->alone_as == load->started;
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
	__u32 line, queue;
	bool left;

	if (!config.why)
		return;
	line = line_of(rq);
	queue = untrusted_request(rq)->q->id;
	flight = find_flight(line, (__u64)rq);
	left = flight;
	flight = flight ?: claim_flight(line, (__u64)rq);
	if (!flight)
		return;
	flight->again_ns = 0;
	set_owner(flight, rq);
	open_flight(flight, queue, left);
}

/* The request was merged into another one. */
static __always_inline void why_merged(struct request *rq)
{
	__u32 queue = untrusted_request(rq)->q->id;
	struct flight *flight = config.why ? find_flight(line_of(rq), (__u64)rq) : NULL;

	if (!flight)
		return;
	close_flight(flight, load_of(queue), disk_of(queue));
	store_ordered(&flight->request, 0);
}

/*
 * A flush of the disk's cache is a request that the kernel makes, with the tag of one that it makes
 * it for: so it has the same line.
 */
static __always_inline void inherit_owner(struct flight *flight, __u32 line)
{
	struct flights *flights = bpf_map_lookup_elem(&why_flights, &line);

	__builtin_memset(&flight->owner, 0, sizeof(flight->owner));
	flight->is_open = flight->crowd = 0; /* the one that it is for is open */
	flight->journal = 0;
	if (!flights)
		return;
#pragma unroll
	for (int i = 0; i < WAYS; i++)
		if (flights->ways[i].request && flights->ways[i].request != flight->request) {
			flight->owner = flights->ways[i].owner;
			flight->journal = flights->ways[i].journal;
		}
}

/* The request is issued to the driver; `again`: not for the first time. */
static __always_inline void why_issued(struct request *rq, const struct request_view *view,
				       __u32 line, bool again, __u64 now)
{
	bool flush = (view->flags & REQ_OP_MASK) == REQ_OP_FLUSH, left;
	struct flight *flight;

	if (!config.why || (sees_start && !flush && !again))
		return;
	flight = find_flight(line, view->id);
	left = flight;
	flight = flight ?: claim_flight(line, view->id);
	if (!flight)
		return;
	if (again)
		flight->again_ns = now;
	else if (flush)
		inherit_owner(flight, line);
	else if (!left) {
		set_owner(flight, rq);
		open_flight(flight, untrusted_request(rq)->q->id, false);
	}
}

/* ---- kinds of requests ---- */

static __always_inline __u32 size_of(__u32 bytes)
{
	__u32 size = 0;

#pragma unroll
	for (int i = 0; i < WHY_SIZES - 1; i++)
		size += bytes > 4096U << i;
	return size;
}

static __always_inline struct why_kind *kind_at(__u32 place)
{
	return bpf_map_lookup_elem(&why_kinds, &place);
}

/* The place of a kind, from 1; 0: it has none. Global, so that the verifier checks it once. */
__noinline int find_kind(__u64 key)
{
	__u32 first = (key * 0x9e3779b97f4a7c15ULL) >> (64 - WHY_KIND_BITS);

	if (!config.why)
		return 0;
#pragma unroll
	for (__u32 i = 0; i < WHY_KIND_PROBES; i++) {
		__u32 place = (first + i) % WHY_KINDS;
		struct why_kind *kind = kind_at(place);

		if (kind && (kind->key == key || !__sync_val_compare_and_swap(&kind->key, 0, key) ||
			     kind->key == key))
			return place + 1;
	}
	return 0;
}

/* The verifier does not see that it is in bounds: the caller must test it, too. */
static __always_inline __u32 slot_of_kind(__u64 ns)
{
	__u32 slot = why_kind_slot(ns);

	barrier_var(slot);
	return slot;
}

/* All requests alone are in the histogram of these; of all, the first FEW, and then one of EACH. */
#define FEW 1024
#define EACH 8

static __always_inline void add_alone(struct why_kind *kind, __u64 ns)
{
	__u32 slot = slot_of_kind(ns);

	if (slot < WHY_KIND_SLOTS)
		__sync_fetch_and_add(&kind->alone_slots[slot], 1);
	__sync_fetch_and_add(&kind->alones, 1);
	__sync_fetch_and_add(&kind->alones_ns, ns);
}

/* Adds a request to its kind; total_ns 0: how long it took as a whole is not known. */
static __always_inline void add_to_kind(struct why_kind *kind, __u32 bytes, __u64 total_ns,
					__u64 device_ns, bool alone)
{
	__u64 before = __sync_fetch_and_add(&kind->requests, 1);
	__u32 slot;

	__sync_fetch_and_add(&kind->kib, bytes >> 10);
	if (!kind->fastest_ns || device_ns < kind->fastest_ns)
		kind->fastest_ns = device_ns;
	if (alone && total_ns)
		add_alone(kind, total_ns);
	if (before >= FEW && before % EACH)
		return;
	slot = slot_of_kind(device_ns);
	if (slot < WHY_KIND_SLOTS)
		__sync_fetch_and_add(&kind->device_slots[slot], 1);
	slot = slot_of_kind(total_ns);
	if (total_ns && slot < WHY_KIND_SLOTS)
		__sync_fetch_and_add(&kind->total_slots[slot], 1);
}

/* ---- completions ---- */

/* The completion of a request that may be slow. The programs have little room for it. */
struct why_end {
	__u64 number; /* of the completion; 0: it has none */
	__u64 start_ns; /* 0: unknown */
	__u64 issue_ns; /* the first issue; by the kernel, if no program saw it; 0: unknown */
	__u64 sector;
	__u32 queue;
	__u32 disk;
	__u8 is_sample;
	__u8 second; /* the program is the second copy */
	__u8 alone; /* the disk had no other from begin to end */
};

/* Takes the owner from the request in flight, which ends. */
static __always_inline void end_flight(struct why_end *end, struct completion *done,
				       const struct request_view *view, __u32 line,
				       struct why_load *load, struct disk *disk)
{
	struct flight *flight = find_flight(line, view->id);

	if (!flight) {
		__builtin_memset(&done->owner, 0, sizeof(done->owner));
		return;
	}
	done->owner = flight->owner;
	done->flags |= flight->journal ? OF_JOURNAL : 0;
	done->issue_ns = flight->again_ns ?: done->issue_ns;
	flight->again_ns = 0;
	if (request_goes_on(view))
		return;
	end->alone = close_flight(flight, load, disk);
	store_ordered(&flight->request, 0);
}

static __always_inline bool is_waited_for(const struct request_view *view)
{
	return view->flags & (1U << bpf_core_enum_value(enum req_flag_bits, __REQ_SYNC) |
			      1U << bpf_core_enum_value(enum req_flag_bits, __REQ_FUA) |
			      1U << bpf_core_enum_value(enum req_flag_bits, __REQ_PREFLUSH)) ||
	       view->rq_flags & config.flush_seq || request_op(view) != LAT_OP_WRITE;
}

/* Adds a completion to the ring, and forgets that it is in flight. */
static __noinline int note_completion(struct why_end *end, struct request *rq, __u64 now)
{
	__u32 line = line_of(rq), queue = untrusted_request(rq)->q->id;
	const struct request_view view = request_view(rq);
	struct why_load *load = load_of(queue);
	struct disk *disk = disk_of(queue);
	struct completion *done;

	if (load && !load->disk)
		load->disk = request_device(rq);
	end->issue_ns = end->issue_ns ?: view.issue_ns;
	end->queue = queue;
	if (!disk)
		return 0;
	end->number = __sync_fetch_and_add(&disk->next, 1) + 1;
	done = &disk->ring[end->number % RING];
	done->number = 0;
	barrier();
	done->issue_ns = end->issue_ns ?: now;
	done->flags = request_ends_sequence(&view) ? OF_SEQUENCE | WAITED_FOR : 0;
	done->flags |= is_waited_for(&view) ? WAITED_FOR : 0;
	end_flight(end, done, &view, line, load, disk);
	done->end_ns = now;
	done->request = view.id;
	done->queue = end->queue;
	done->op = request_op(&view);
	done->bytes = view.bytes;
	done->kind = 0;
	if (load) {
		if (done->op > LAT_OP_WRITE && !(done->flags & OF_SEQUENCE))
			__sync_fetch_and_add(&load->breaks, 1);
		done->kib = __sync_fetch_and_add(&load->kib, view.bytes >> 10) + (view.bytes >> 10);
		done->breaks = load->breaks;
	}
	store_ordered(&done->number, end->number);
	return 0;
}

/* Adds the batch that ends with this completion, if nothing was between its two ends. */
static __always_inline void add_batch(const struct disk *disk, const struct completion *done,
				      __u64 number)
{
	const struct completion *first = &disk->ring[(number - WHY_BATCH) % RING];
	struct why_load *load = load_of(done->queue);
	__u64 us, kib;

	if (!load || first->number != number - WHY_BATCH || first->queue != done->queue ||
	    first->breaks != done->breaks || first->end_ns >= done->end_ns || !load->open)
		return;
	us = (done->end_ns - first->end_ns) / 1000;
	kib = (__u32)(done->kib - first->kib);
	__sync_fetch_and_add(&load->batches, 1);
	__sync_fetch_and_add(&load->us, us);
	__sync_fetch_and_add(&load->batch_kib, kib);
	__sync_fetch_and_add(&load->kib_kib, kib * kib);
	__sync_fetch_and_add(&load->kib_us, kib * us);
	__sync_fetch_and_add(&load->us_us, us * us);
	__sync_fetch_and_add(&load->batch_open, load->open);
}

/* Adds the completion to the sums of its kind and disk. The data of a sequence are no sample. */
static __noinline int learn(const struct why_end *end, bool goes_on)
{
	struct disk *disk = disk_of(end->queue);
	struct completion *done;
	__u64 total_ns, device_ns;
	struct why_kind *kind;
	__u32 place;

	if (!disk || !end->number)
		return 0;
	done = &disk->ring[end->number % RING];
	place = find_kind(WHY_KIND(done->queue,
				   done->flags & OF_SEQUENCE ? WHY_OP_SEQUENCE : done->op,
				   done->flags & OF_SEQUENCE ? 0 : size_of(done->bytes)));
	kind = place ? kind_at(place - 1) : NULL;
	if (!kind)
		return 0;
	total_ns = end->start_ns && !goes_on && done->end_ns > end->start_ns
			   ? done->end_ns - end->start_ns
			   : 0;
	device_ns = done->flags & OF_SEQUENCE ? total_ns : done->end_ns - done->issue_ns;
	if (device_ns && done->issue_ns <= done->end_ns)
		add_to_kind(kind, done->bytes, total_ns, device_ns, end->alone);
	done->kind = place;
	if (end->number % WHY_BATCH == 0)
		add_batch(disk, done, end->number);
	return 0;
}

/* A request has completed. */
static __always_inline void why_completed(struct why_end *end, struct request *rq, __u64 now,
					  bool goes_on)
{
	int done = note_completion(end, rq, now);

	done += learn(end, goes_on);
	barrier_var(done); /* as in src/probes/memlat/why.bpf.h */
}

#endif
