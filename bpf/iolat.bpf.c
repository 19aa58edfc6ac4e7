// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block request latency, as three metrics: device (first issue to the driver, to completion),
 * queued (before that) and total.
 *
 * Three rungs, of which user space loads one:
 *   stamps  one program, at completion, on the stamps the block layer leaves in the request; now
 *           and then our own beside them, to see whether they are there and how true they are
 *   tp_btf  own stamp at issue, in a table keyed by the request
 *   raw_tp  the same, for kernels whose tracepoints have no BTF
 *
 * The programs that see the submitter are loaded only if a filter or a split needs them. `current`
 * at issue and at completion is anybody: kblockd, a worker, the victim of an interrupt.
 */
#include "filter.bpf.h"
#include "sample.bpf.h"

const volatile struct lat_knobs knobs = {};
struct lat_control control = {};

/* On the stamps rung: the issue program is attached, and its stamps are the ones to take. */
__u32 checking = 0;

/* Requests that a driver gave back and that have not completed: with none, none is looked up. */
__u32 requeued = 0;

enum iolat_metric { IOLAT_DEVICE, IOLAT_QUEUED, IOLAT_TOTAL, IOLAT_METRICS };

CELLS_MAP(IOLAT_METRICS) cells SEC(".maps");
struct keys_map keys SEC(".maps");
struct rows_map rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, __u64);
	__type(value, struct iolat_start);
} start_ts SEC(".maps");

/* A fraction of a hash's cost: tags are small numbers, the lines in use stay in the cache. */
struct iolat_stamp table[IOLAT_LINES][IOLAT_WAYS] __attribute__((aligned(64))) = {};

/* Neighbouring queues, and hardware queues, do not share their low tags. */
#define QUEUE_STRIDE 331
#define HCTX_STRIDE 61

/* The fields of a request that matter, read once. */
struct request_view {
	__u64 id;
	__u64 start_ns;
	__u64 issue_ns;
	__u32 flags; /* operation and REQ_ flags */
	__u32 rq_flags;
	__u32 bytes; /* still to be done */
	__u32 pad;
};

/* Has the kernel set start_time_ns? For the flushes that it makes itself always. */
static __always_inline bool start_is_set(const struct request_view *view)
{
	return !knobs.io_stat || view->rq_flags & knobs.io_stat ||
	       (view->flags & REQ_OP_MASK) == REQ_OP_FLUSH;
}

/* `raw`: the pointer comes without its BTF type and cannot be followed directly. */
static __always_inline struct request_view request_view(struct request *rq, bool raw)
{
	struct request_view view = { .id = (__u64)rq };

	view.flags = READ(raw, rq, cmd_flags);
	view.rq_flags = READ(raw, rq, rq_flags);
	if (start_is_set(&view))
		view.start_ns = READ(raw, rq, start_time_ns);
	view.issue_ns = READ(raw, rq, io_start_time_ns);
	view.bytes = READ(raw, rq, __data_len);
	return view;
}

static __always_inline __u32 request_op(const struct request_view *view)
{
	__u32 op = view->flags & REQ_OP_MASK;

	if (op == REQ_OP_READ)
		return LAT_OP_READ;
	if (op == REQ_OP_WRITE)
		return view->bytes ? LAT_OP_WRITE : LAT_OP_FLUSH;
	if (op == REQ_OP_FLUSH)
		return LAT_OP_FLUSH;
	if (op == REQ_OP_DISCARD || op == REQ_OP_SECURE_ERASE)
		return LAT_OP_DISCARD;
	return LAT_OP_OTHER;
}

static __always_inline bool request_is_passthrough(const struct request_view *view)
{
	__u32 op = view->flags & REQ_OP_MASK;

	return op == REQ_OP_DRV_IN || op == REQ_OP_DRV_OUT;
}

/*
 * The kernel carries out a write with PREFLUSH or FUA, on a device that needs it, as a sequence of
 * requests and completes the original twice, the second time with no bytes left. A flush without
 * data is completed only that second time, without ever having been issued. The flags do not tell:
 * they are cleared when the sequence starts.
 */
static __always_inline bool request_ends_sequence(const struct request_view *view)
{
	return !view->bytes && (view->flags & REQ_OP_MASK) == REQ_OP_WRITE;
}

static __always_inline __u32 request_device(struct request *rq, bool raw)
{
	struct gendisk *disk = request_disk(rq, raw);

	if (!disk)
		return 0;
	return (__u32)READ(raw, disk, major) << 20 | (__u32)READ(raw, disk, first_minor);
}

/* Asked early, so that the census has only what is wanted. */
static __always_inline bool other_disk(struct request *rq, bool raw)
{
	return knobs.disk && request_device(rq, raw) != knobs.disk;
}

static __always_inline bool needs_device(void)
{
	return knobs.disk || knobs_split(&knobs, LAT_BY_DISK);
}

/* ---- the end: completion ---- */

/*
 * Where in the table a request belongs: its tag is its own while it is in flight, within its
 * hardware queue. The scheduler's tag, if there is one, outlives a requeue, the driver's does not.
 */
static __always_inline __u32 line_of(struct request *rq, bool raw)
{
	int tag = READ(raw, rq, internal_tag);

	if (tag < 0)
		tag = READ(raw, rq, tag);
	return (tag + READ(raw, rq, q, id) * QUEUE_STRIDE +
		READ(raw, rq, mq_hctx, queue_num) * HCTX_STRIDE) &
	       (IOLAT_LINES - 1);
}

static __always_inline void count_start(__u32 which)
{
	struct lat_cell *all = control.armed ? cells_here(&cells) : NULL;

	if (all)
		__sync_fetch_and_add(&all[IOLAT_DEVICE].counts[which], 1);
}

static __always_inline bool is_done(__u64 issue_ns)
{
	return knobs.again && issue_ns == IOLAT_DONE;
}

static __always_inline bool table_put(__u32 line, const struct request_view *rq, __u64 issue_ns)
{
	struct iolat_stamp *stamp = table[line];
	bool left;

	for (int i = 0; i < IOLAT_WAYS; i++, stamp++) {
		left = stamp->request == rq->id;
		if (!left &&
		    (stamp->request || __sync_val_compare_and_swap(&stamp->request, 0, rq->id)))
			continue;
		if (left && !is_done(stamp->issue_ns)) {
			/* Issued again, which was not seen coming: the first issue stands. */
			if (rq->start_ns && stamp->queue_ns == rq->start_ns && !is_done(issue_ns))
				return true;
			/* An earlier request left it; the end of that one was missed. */
			count_start(LAT_ABANDONED);
		}
		stamp->queue_ns = rq->start_ns;
		stamp->issue_ns = issue_ns;
		return true;
	}
	return false;
}

/* Takes the stamp of a request out, and what is left over of the same; 0: there is none. */
static __always_inline __u64 table_take(__u32 line, const struct request_view *rq)
{
	struct iolat_stamp *stamp = table[line];
	__u64 issue_ns = 0;

	for (int i = 0; i < IOLAT_WAYS; i++, stamp++) {
		if (stamp->request != rq->id)
			continue;
		if (stamp->queue_ns == rq->start_ns)
			issue_ns = stamp->issue_ns;
		else if (!is_done(stamp->issue_ns))
			count_start(LAT_ABANDONED);
		stamp->queue_ns = 0;
		store_ordered(&stamp->request, 0);
	}
	return is_done(issue_ns) ? 0 : issue_ns;
}

/* Is there a stamp of this request, from its issue or (`done`) from its completion? */
static __always_inline bool table_has(__u32 line, const struct request_view *rq, bool done)
{
	const struct iolat_stamp *stamp = table[line];

	for (int i = 0; i < IOLAT_WAYS; i++, stamp++) {
		if (stamp->request == rq->id && stamp->queue_ns == rq->start_ns)
			return is_done(stamp->issue_ns) == done;
	}
	return false;
}

static __always_inline void forget(const struct iolat_start *start, __u64 id)
{
	if (start->requeues)
		__sync_fetch_and_sub(&requeued, 1);
	bpf_map_delete_elem(&start_ts, &id);
}

/*
 * Does the entry belong to the request, and not to one that lay in the same place before? Up to the
 * first issue the place has to do: start_time_ns is set after block_io_start since 6.13, and a
 * merge can make it an earlier one.
 */
static __always_inline bool is_of(const struct iolat_start *start, const struct request_view *rq)
{
	return (!start->issue_ns && !start->requeues) || start->queue_ns == rq->start_ns;
}

/* The entry of a request, or NULL. Drops what is left of one whose end was missed. */
static __always_inline struct iolat_start *find(const struct request_view *rq)
{
	__u64 id = rq->id;
	struct iolat_start *start = bpf_map_lookup_elem(&start_ts, &id);

	if (!start || is_of(start, rq))
		return start;
	if (!is_done(start->issue_ns) && !start->unwanted)
		count_start(LAT_ABANDONED);
	forget(start, id);
	return NULL;
}

/* What a completion is counted with. Knobs are read once: the code of a read always stays. */
struct ending {
	struct request_view rq;
	__u64 tail_ns;
	__u32 by;
	struct lat_cell *cells;
	const struct iolat_start *start; /* NULL: not looked up, or none */
	__u32 device;
	__u32 error;
};

static __always_inline void count_all(struct lat_cell *cells_now, __u32 which)
{
	for (int i = 0; i < IOLAT_METRICS; i++)
		COUNT(&knobs, cells_now[i].counts[which]);
}

/* What the splits ask of a completion. */
struct iolat_sample {
	__u64 ns;
	__u64 pid_tgid; /* of the submitter, as what follows; not with `unknown` */
	__u64 cgroup;
	__u32 metric;
	__u32 device;
	__u32 op;
	__u32 unknown;
	char comm[LAT_COMM_LEN];
	char leader_comm[LAT_COMM_LEN];
};

/* Not inlined, and global: the verifier looks at it once, and not again for every way to a call. */
__noinline int split_sample(struct iolat_sample *sample)
{
	const struct split split = { &keys, &rows, &control, &knobs };
	struct identity who;
	struct lat_key key;
	struct lat_cell *cell = cells_here(&cells);

	if (!sample || !cell || sample->metric >= IOLAT_METRICS)
		return 0;
	cell += sample->metric;
	key = (struct lat_key){ .metric = sample->metric };
	if (knobs_split(&knobs, LAT_BY_DISK)) {
		key.by = LAT_BY_DISK;
		key.id = sample->device;
		split_add(&split, cell, &key, NULL, sample->ns);
	}
	if (knobs_split(&knobs, LAT_BY_OP)) {
		key.by = LAT_BY_OP;
		key.id = sample->op;
		split_add(&split, cell, &key, NULL, sample->ns);
	}
	if (!(knobs.by & LAT_BY_TASK))
		return 0;
	who.tgid = sample->pid_tgid >> 32;
	who.tid = sample->pid_tgid;
	who.cgroup = sample->cgroup;
	who.comm = sample->comm;
	who.leader_comm = sample->leader_comm;
	split_by_identity(&split, cell, sample->metric, sample->unknown ? NULL : &who, sample->ns);
	return 0;
}

static __always_inline void split_completion(const struct ending *done, __u32 metric, __u64 ns)
{
	const struct iolat_start *start = done->start;
	struct iolat_sample sample = {
		.ns = ns,
		.metric = metric,
		.device = done->device,
		.op = request_op(&done->rq),
		.unknown = !start,
	};

	if (start) {
		sample.pid_tgid = start->pid_tgid;
		sample.cgroup = start->cgroup;
		__builtin_memcpy(sample.comm, start->comm, sizeof(sample.comm));
		__builtin_memcpy(sample.leader_comm, start->leader_comm, sizeof(sample.comm));
	}
	split_sample(&sample);
}

static __always_inline void count_error(const struct ending *done, struct lat_cell *cell)
{
	if (done->error)
		COUNT(&knobs, cell->counts[LAT_ERRORS]);
}

/* Counts one metric of a completion that lasted from `from` to `to`; 0: the stamp is missing. */
static __always_inline void finish(const struct ending *done, __u32 metric, __u64 from, __u64 to)
{
	struct lat_cell *cell = &done->cells[metric];
	__u64 ns = to - from;

	if (!from || !to) {
		COUNT(&knobs, cell->counts[LAT_MISSED_START]);
	} else if (to < from) {
		COUNT(&knobs, cell->counts[LAT_NEGATIVE]);
	} else if (!done->by) {
		hist_add_cell(&knobs, &cell->hist, ns);
		count_error(done, cell);
	} else if (tell(&knobs, &control, metric, cell, &ns)) {
		hist_add_cell(&knobs, &cell->hist, ns);
		count_error(done, cell);
		split_completion(done, metric, ns);
	}
}

/* Counts a completion whose stamps are known. */
static __always_inline void finish_all(const struct ending *done, __u64 issue_ns, __u64 now)
{
	const struct request_view *rq = &done->rq;

	if (request_ends_sequence(rq)) {
		COUNT(&knobs, done->cells[IOLAT_DEVICE].counts[LAT_EXCLUDED]);
		COUNT(&knobs, done->cells[IOLAT_QUEUED].counts[LAT_EXCLUDED]);
		finish(done, IOLAT_TOTAL, rq->start_ns, now);
		return;
	}
	finish(done, IOLAT_DEVICE, issue_ns, now);
	finish(done, IOLAT_QUEUED, rq->start_ns, issue_ns);
	if (rq->rq_flags & knobs.flush_seq && rq->bytes)
		COUNT(&knobs, done->cells[IOLAT_TOTAL].counts[LAT_CONTINUED]);
	else
		finish(done, IOLAT_TOTAL, rq->start_ns, now);
}

/* Why a completion is not to be measured; LAT_TERMS: it is. */
static __always_inline __u32 left_out(const struct ending *done)
{
	if (request_is_passthrough(&done->rq))
		return LAT_EXCLUDED;
	if (knobs.disk && done->device != knobs.disk)
		return LAT_FILTERED;
	if (!knobs.identity || !filter_by_task(&knobs))
		return LAT_TERMS;
	if (!done->start)
		return LAT_MISSED_START;
	return done->start->unwanted ? LAT_FILTERED : LAT_TERMS;
}

/*
 * When the request was first issued, 0 if that is not known. `own`: our stamp is the one to take,
 * else the kernel's, which is 0 for a queue without statistics. Since 6.9 it is the clock that the
 * task's plug has cached, if there is one (da4c8c3d0975), and since 6.10 there is (060406c61c7c):
 * mostly that of the request's allocation, somewhat before the issue.
 */
static __always_inline __u64 issue_time(struct ending *done, struct request *rq, bool own, bool raw)
{
	bool ours = own || checking;
	__u64 issue_ns = 0;

	if (ours && !knobs.identity)
		issue_ns = table_take(line_of(rq, raw), &done->rq);
	if (requeued || (ours && !issue_ns)) {
		done->start = find(&done->rq);
		if (done->start && !is_done(done->start->issue_ns))
			issue_ns = done->start->issue_ns;
	}
	/* If ours was missed because a program was preempted, the kernel's is still there. */
	if (!issue_ns && (!own || (knobs.again && !(done->start && done->start->requeues))))
		return done->rq.issue_ns;
	if (own)
		return issue_ns;
	if (!done->cells)
		return issue_ns;
	if (!done->rq.issue_ns) {
		COUNT(&knobs, done->cells[IOLAT_DEVICE].counts[LAT_FALLBACK]);
	} else if (!done->start) {
		COUNT(&knobs, done->cells[IOLAT_DEVICE].counts[LAT_CHECKED]);
		done->cells[IOLAT_DEVICE].counts[LAT_SKEW_NS] +=
			issue_ns > done->rq.issue_ns ? issue_ns - done->rq.issue_ns
						     : done->rq.issue_ns - issue_ns;
	}
	return issue_ns;
}

static __always_inline int complete(struct request *rq, int error, __u32 nr_bytes, bool own,
				    bool raw)
{
	struct ending done = { .rq = request_view(rq, raw), .error = error };
	__u64 now = bpf_ktime_get_ns(), issue_ns;
	__u32 why;

	if (needs_device())
		done.device = request_device(rq, raw);
	done.cells = control.armed ? cells_here(&cells) : NULL;
	if (done.cells)
		count_all(done.cells, LAT_SEEN);
	if (nr_bytes < done.rq.bytes) {
		if (done.cells)
			count_all(done.cells, LAT_CONTINUED);
		return 0;
	}
	issue_ns = issue_time(&done, rq, own, raw);
	if (done.cells) {
		done.by = knobs.by;
		done.tail_ns = knobs.tail_ns;
		why = left_out(&done);
		if (why == LAT_TERMS)
			finish_all(&done, issue_ns, now);
		else
			count_all(done.cells, why);
	}
	if (done.start)
		forget(done.start, done.rq.id);
	return 0;
}

/* Did the first of two programs see the issue (or, `done`, the completion) of the request? */
static __always_inline bool first_saw(struct request *rq, const struct request_view *view,
				      bool done)
{
	const struct iolat_start *start;

	if (!knobs.identity && table_has(line_of(rq, false), view, done))
		return true;
	start = find(view);
	return start && start->issue_ns && is_done(start->issue_ns) == done;
}

/* Tells the second program at this place that the first one has done its work. */
static __always_inline void leave_mark(struct request *rq)
{
	struct request_view view = request_view(rq, false);
	struct iolat_start start = { .queue_ns = view.start_ns, .issue_ns = IOLAT_DONE };
	__u64 id = view.id;

	if (knobs.identity || !table_put(line_of(rq, false), &view, IOLAT_DONE))
		bpf_map_update_elem(&start_ts, &id, &start, BPF_ANY);
}

static __always_inline void take_mark(struct request *rq, const struct request_view *view)
{
	__u64 id = view->id;

	if (knobs.identity || !table_has(line_of(rq, false), view, true))
		bpf_map_delete_elem(&start_ts, &id);
	else
		table_take(line_of(rq, false), view);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(stamps_complete, struct request *rq, int error, unsigned int nr_bytes)
{
	return complete(rq, error, nr_bytes, false, false);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(hashed_complete, struct request *rq, int error, unsigned int nr_bytes)
{
	__u32 bytes = rq->__data_len;

	complete(rq, error, nr_bytes, true, false);
	if (knobs.again && nr_bytes >= bytes)
		leave_mark(rq);
	return 0;
}

/*
 * Some programs are there twice, for kernels that preempt a program at a tracepoint (7.0) and do
 * not run it for others on that CPU until its task goes on. The second one then does its work.
 */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(hashed_complete_again, struct request *rq, int error, unsigned int nr_bytes)
{
	struct request_view view = request_view(rq, false);

	if (nr_bytes < view.bytes)
		return 0;
	if (!first_saw(rq, &view, true))
		return complete(rq, error, nr_bytes, true, false);
	take_mark(rq, &view);
	return 0;
}

SEC("raw_tp/block_rq_complete")
int BPF_PROG(raw_complete, struct request *rq, int error, unsigned int nr_bytes)
{
	return complete(rq, error, nr_bytes, true, true);
}

/* ---- the start: submission and issue ---- */

/* Keeps a request from now on. The submitter is `current`, if anybody asks for it. */
static __always_inline void keep(const struct request_view *rq, __u64 issue_ns)
{
	struct iolat_start start = { .queue_ns = rq->start_ns, .issue_ns = issue_ns };
	struct task_struct *current;
	__u64 id = rq->id;

	if (knobs.identity) {
		start.pid_tgid = bpf_get_current_pid_tgid();
		current = bpf_get_current_task_btf();
		start.cgroup = task_cgroup(current, false);
		start.unwanted = filter_by_task(&knobs) && !task_wanted(&knobs, current, false);
		bpf_get_current_comm(&start.comm, sizeof(start.comm));
		bpf_probe_read_kernel_str(&start.leader_comm, sizeof(start.leader_comm),
					  leader_comm(current, false));
	}
	if (bpf_map_update_elem(&start_ts, &id, &start, BPF_ANY))
		count_start(LAT_NOT_KEPT);
}

static __always_inline int issue(struct request *request, bool raw)
{
	struct request_view rq = request_view(request, raw);
	__u64 now = bpf_ktime_get_ns();
	struct iolat_start *start = NULL;

	if (request_is_passthrough(&rq) || other_disk(request, raw))
		return 0;
	if (knobs.identity || requeued)
		start = find(&rq);
	if (!start) {
		if (knobs.identity || !table_put(line_of(request, raw), &rq, now))
			keep(&rq, now);
	} else if (!start->requeues) { /* seen at submission */
		start->queue_ns = rq.start_ns;
		start->issue_ns = now;
	} /* else it was issued before, and that issue stands */
	return 0;
}

/*
 * A driver gave the request back, if it had it at all; it will be issued again, and the kernel's
 * stamp will be that of the second issue.
 */
static __always_inline int requeue(struct request *request, bool own, bool raw)
{
	struct request_view rq = request_view(request, raw);
	struct iolat_start *start, fresh = { .queue_ns = rq.start_ns, .requeues = 1 };
	__u64 id = rq.id;

	if (READ(raw, request, state) == MQ_RQ_IDLE || request_is_passthrough(&rq))
		return 0;
	count_start(LAT_REQUEUED);
	start = find(&rq);
	if (start) {
		start->queue_ns = rq.start_ns;
		if (!start->requeues++)
			__sync_fetch_and_add(&requeued, 1);
		return 0;
	}
	if (own || checking)
		fresh.issue_ns = table_take(line_of(request, raw), &rq);
	if (!own && !fresh.issue_ns)
		fresh.issue_ns = rq.issue_ns;
	/* Still 0, if it was issued before we looked: that keeps it a missed start. */
	if (bpf_map_update_elem(&start_ts, &id, &fresh, BPF_ANY))
		count_start(LAT_NOT_KEPT);
	else
		__sync_fetch_and_add(&requeued, 1);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(hashed_issue, struct request *rq)
{
	return issue(rq, false);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(hashed_issue_again, struct request *rq)
{
	struct request_view view = request_view(rq, false);

	return first_saw(rq, &view, false) ? 0 : issue(rq, false);
}

SEC("raw_tp/block_rq_issue")
int BPF_PROG(raw_issue, struct request *rq)
{
	return issue(rq, true);
}

SEC("tp_btf/block_rq_requeue")
int BPF_PROG(stamps_requeue, struct request *rq)
{
	return requeue(rq, false, false);
}

SEC("tp_btf/block_rq_requeue")
int BPF_PROG(hashed_requeue, struct request *rq)
{
	return requeue(rq, true, false);
}

SEC("raw_tp/block_rq_requeue")
int BPF_PROG(raw_requeue, struct request *rq)
{
	return requeue(rq, true, true);
}

/* A request begins. If its place still has an entry, the end of the one before was missed. */
static __always_inline int submit(const struct request_view *rq, const struct iolat_start *start)
{
	if (start) {
		if (start->issue_ns && !is_done(start->issue_ns) && !start->unwanted)
			count_start(LAT_ABANDONED);
		forget(start, rq->id);
	}
	keep(rq, 0);
	return 0;
}

static __always_inline int submit_started(struct request *rq)
{
	struct request_view view = request_view(rq, false);
	__u64 id = view.id;

	if (other_disk(rq, false))
		return 0;
	view.start_ns = bpf_ktime_get_ns(); /* the kernel's may come only after this */
	/* Looked for only to keep `requeued` right, and to count ends that were missed. */
	return submit(&view, requeued || knobs.again ? bpf_map_lookup_elem(&start_ts, &id) : NULL);
}

static __always_inline int submit_inserted(struct request *rq)
{
	struct request_view view = request_view(rq, false);
	__u64 id = view.id;
	struct iolat_start *start = bpf_map_lookup_elem(&start_ts, &id);

	if (other_disk(rq, false))
		return 0;
	if (start && start->queue_ns == view.start_ns) /* comes back, by a requeue or unissued */
		return 0;
	return submit(&view, start);
}

/* Where the submitter is still `current`: block_io_start since 6.5 (5a80bd075f3b), else insert. */
SEC("tp_btf/block_io_start")
int BPF_PROG(submit_start, struct request *rq)
{
	return submit_started(rq);
}

/* Repeats submit_start(), which does no harm if that ran. */
SEC("tp_btf/block_io_start")
int BPF_PROG(submit_start_again, struct request *rq)
{
	return submit_started(rq);
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(submit_insert, struct request *rq)
{
	return submit_inserted(rq);
}

/* The request was merged into another and ends here, without completion. */
static __always_inline int forget_merged(struct request *rq)
{
	__u64 id = (__u64)rq;
	struct iolat_start *start = bpf_map_lookup_elem(&start_ts, &id);

	if (start)
		forget(start, id);
	return 0;
}

SEC("tp_btf/block_rq_merge")
int BPF_PROG(merged, struct request *rq)
{
	return forget_merged(rq);
}

SEC("tp_btf/block_rq_merge")
int BPF_PROG(merged_again, struct request *rq)
{
	return forget_merged(rq);
}

SEC("raw_tp/task_rename")
int BPF_PROG(renamed, struct task_struct *task, const char *comm)
{
	const struct split split = { &keys, &rows, &control, &knobs };

	split_rename(&split, IOLAT_METRICS, task, comm);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
