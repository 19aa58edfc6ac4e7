// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block request latency, as three metrics: device (first issue to the driver, to completion),
 * queued (before that) and total; on demand also wait, which comes before the request exists.
 *
 * Two methods, of which user space loads one:
 *   stamps  one program, at completion, on the stamps the block layer leaves in the request; from
 *           time to time also an own stamp, to check that the kernel's exist and are right
 *   tp_btf  our own stamp at issue, in a table keyed by the request
 *
 * The programs that see the submitter are loaded only if a filter or a split needs them. At issue
 * and at completion, `current` can be any task: kblockd, a worker, or an interrupted one.
 */
#include "request.bpf.h"
#include "wait.bpf.h"
#include "why.bpf.h"
#include "sent.bpf.h"
#include "usual.bpf.h"

/* ---- the end: completion ---- */

/* Inputs for counting a completion. */
struct ending {
	struct request_view rq;
	struct own_stamps own; /* zero where they are not known */
	__u32 error;
	struct lat_cell *cells;
	__u64 now;
	const struct iolat_start *start; /* NULL: not looked up, or none */
	struct gendisk *disk; /* NULL: not needed, or none */
	__u32 device; /* its ID */
	struct iolat_samples *samples; /* set only with splits */
	struct why_end *end; /* set only with config.why */
};

static __always_inline void count_all(struct lat_cell *cells_now, __u32 which)
{
	bool again = config.again;

	for (int i = 0; i < IOLAT_METRICS; i++)
		COUNT_BY(again, cells_now[i].counts[which], 1);
}

/* A place for the samples of this completion, which end_samples() gives back. */
static __always_inline struct iolat_samples *begin_samples(const struct ending *done, bool second)
{
	struct iolat_cells *all = (struct iolat_cells *)done->cells;
	struct iolat_samples *samples = config.again ? samples_at(all, second) : next_samples(all);

	samples->metrics = 0;
	return samples;
}

static __always_inline void end_samples(const struct ending *done)
{
	if (!config.again)
		((struct iolat_cells *)done->cells)->nested--;
}

static __always_inline void split_completion(const struct ending *done)
{
	struct iolat_samples *samples = done->samples;

	samples->pid_tgid = done->own.submitter.pid_tgid;
	samples->cgroup = done->own.submitter.cgroup;
	samples->disk = done->disk;
	samples->start = done->start;
	samples->device = done->device;
	samples->op = request_op(&done->rq);
	split_samples((struct iolat_cells *)done->cells, samples);
}

/* The kernel's numbers of those from LAT_ERRORS_TIMEOUT on; 0: unknown. Set before the load. */
const volatile __u32 error_kinds[IOLAT_ERROR_KINDS] = {};

static __always_inline void count_error(const struct ending *done, struct lat_cell *cell)
{
	if (!done->error)
		return;
	COUNT(&config, cell->counts[LAT_ERRORS]);
	for (int i = 0; i < IOLAT_ERROR_KINDS; i++)
		if (done->error == error_kinds[i])
			COUNT(&config, cell->counts[LAT_ERRORS_TIMEOUT + i]);
}

/* Adds the time of an excluded event to `which`, if both ends are known. */
static __always_inline bool count_time(struct lat_cell *cell, __u32 which, __u64 from, __u64 to)
{
	if (!from || to < from)
		return false;
	COUNT_MORE(&config, cell->counts[which], to - from);
	return true;
}

/* A stamp is missing. The time since the allocation is an upper bound. */
static __always_inline void count_missed(const struct ending *done, struct lat_cell *cell)
{
	COUNT(&config, cell->counts[LAT_MISSED_START]);
	if (!count_time(cell, LAT_MISSED_START_NS, done->rq.start_ns, done->now))
		COUNT(&config, cell->counts[LAT_UNTIMED]);
}

/* Counts one metric of a completion that lasted from `from` to `to`; 0: the stamp is missing. */
static __always_inline void finish(struct ending *done, __u32 metric, __u64 from, __u64 to)
{
	struct lat_cell *cell = &done->cells[metric];
	__u64 ns = to - from;
	struct sample sample;
	bool counts = true;

	if (!from || !to) {
		count_missed(done, cell);
		return;
	}
	if (to < from) {
		COUNT(&config, cell->counts[LAT_NEGATIVE]);
		return;
	}
	if (config.by)
		counts = inject_fault(&config, metric, cell, &ns);
	if (counts) {
		sample = sample_of(ns);
		hist_add_cell(&config, &cell->hist, sample);
		count_error(done, cell);
		if (config.by) {
			done->samples->ns[metric] = sample.ns;
			done->samples->slot[metric] = sample.slot;
			done->samples->metrics |= 1U << metric;
		}
	}
	if (config.why && metric == IOLAT_TOTAL)
		done->end->is_sample = 1;
}

/* Counts a completion whose stamps are known. */
static __always_inline void finish_all(struct ending *done, __u64 issue_ns)
{
	const struct request_view *rq = &done->rq;
	__u64 start_ns = start_time(rq, done->own.lag_ns);
	__u64 now = done->now;

	if (request_ends_sequence(rq)) {
		COUNT(&config, done->cells[IOLAT_DEVICE].counts[LAT_EXCLUDED]);
		COUNT(&config, done->cells[IOLAT_QUEUED].counts[LAT_EXCLUDED]);
		finish(done, IOLAT_TOTAL, start_ns, now);
		return;
	}
	finish(done, IOLAT_DEVICE, issue_ns, now);
	finish(done, IOLAT_QUEUED, start_ns, issue_ns);
	if (start_ns && done->own.lag_ns) {
		COUNT(&config, done->cells[IOLAT_QUEUED].counts[LAT_CHECKED]);
		COUNT_MORE(&config, done->cells[IOLAT_QUEUED].counts[LAT_SKEW_NS],
			   done->own.lag_ns);
	}
	if (request_goes_on(rq))
		COUNT(&config, done->cells[IOLAT_TOTAL].counts[LAT_CONTINUED]);
	else
		finish(done, IOLAT_TOTAL, start_ns, now);
}

/* Counts a completion that is not measured, with its time. */
static __always_inline void leave_out_metric(const struct ending *done, __u32 metric, __u32 why,
					     __u64 from, __u64 to)
{
	struct lat_cell *cell = &done->cells[metric];

	if (why == LAT_MISSED_START) {
		count_missed(done, cell);
		return;
	}
	COUNT(&config, cell->counts[why]);
	if (why == LAT_FILTERED)
		count_time(cell, LAT_FILTERED_NS, from, to);
}

/* As in finish_all(), a flush sequence counts once in each metric. */
static __always_inline void leave_out(const struct ending *done, __u32 why, __u64 issue_ns)
{
	const struct request_view *rq = &done->rq;
	bool second = why != LAT_EXCLUDED && request_ends_sequence(rq);
	bool data = why != LAT_EXCLUDED && request_goes_on(rq);
	__u64 start_ns = start_time(rq, done->own.lag_ns);

	leave_out_metric(done, IOLAT_DEVICE, second ? LAT_EXCLUDED : why, issue_ns, done->now);
	leave_out_metric(done, IOLAT_QUEUED, second ? LAT_EXCLUDED : why, start_ns, issue_ns);
	leave_out_metric(done, IOLAT_TOTAL, data ? LAT_CONTINUED : why, start_ns, done->now);
}

/* Not inlined, for the sake of the callers' stacks. */
static __noinline bool on_other_cpu(void)
{
	return !cpu_wanted(&config, bpf_get_smp_processor_id());
}

/* Why a completion is not measured; LAT_TERMS: it is. */
static __always_inline __u32 left_out(const struct ending *done)
{
	if (request_is_passthrough(&done->rq))
		return LAT_EXCLUDED;
	if (config.disk && done->device != config.disk)
		return LAT_FILTERED;
	if (config.cpus && on_other_cpu())
		return LAT_FILTERED;
	if (!config.identity || !filter_by_task(&config))
		return LAT_TERMS;
	if (!done->own.submitter.cgroup)
		return LAT_MISSED_START;
	return done->own.submitter.unwanted ? LAT_FILTERED : LAT_TERMS;
}

/* Sets what our stamps know of the request; returns the time of its first issue, 0: unknown. */
static __always_inline __u64 own_stamps(struct ending *done, struct request *rq, bool ours)
{
	struct own_stamps *own = &done->own;

	if (ours)
		take_stamps(line_of(rq), &done->rq, own);
	if (looked_up || (ours && !own->issue_ns)) {
		done->start = find(&done->rq);
		if (done->start) {
			own->lag_ns = done->start->lag_ns;
			own->submitter = done->start->submitter;
			if (!is_done(done->start->issue_ns))
				own->issue_ns = done->start->issue_ns;
		}
	}
	return own->issue_ns;
}

/* By the kernel, but never before our own start: the clock cached in the plug may be. */
static __always_inline __u64 kernel_issue_time(const struct ending *done)
{
	__u64 start_ns = start_time(&done->rq, done->own.lag_ns), issue_ns = done->rq.issue_ns;

	return issue_ns && done->own.lag_ns && issue_ns < start_ns ? start_ns : issue_ns;
}

/*
 * The time of the first issue; 0: unknown. `own`: use our stamp, otherwise the kernel's, which is 0
 * for a queue without statistics. Since 6.9 (da4c8c3d0975) the kernel uses the clock that is cached
 * in the task's plug, if there is one, and since 6.10 (060406c61c7c) there is one: mostly the time
 * of the request's allocation, a little before the issue.
 */
static __always_inline __u64 issue_time(struct ending *done, struct request *rq, bool own)
{
	__u64 issue_ns = own_stamps(done, rq, own || checking);

	/* If ours was missed because a program was preempted, the kernel's is still there. */
	if (!issue_ns && (!own || (config.again && !(done->start && done->start->requeues))))
		return kernel_issue_time(done);
	if (own)
		return issue_ns;
	if (!done->cells)
		return issue_ns;
	if (!done->rq.issue_ns) {
		COUNT(&config, done->cells[IOLAT_DEVICE].counts[LAT_FALLBACK]);
	} else if (!done->start) {
		COUNT(&config, done->cells[IOLAT_DEVICE].counts[LAT_CHECKED]);
		done->cells[IOLAT_DEVICE].counts[LAT_SKEW_NS] +=
			issue_ns > done->rq.issue_ns ? issue_ns - done->rq.issue_ns
						     : done->rq.issue_ns - issue_ns;
	}
	return issue_ns;
}

/* Deletes the entry of a completed request. One that continues keeps it until its last end. */
static __always_inline void let_go(const struct ending *done)
{
	if (!done->start)
		return;
	if (request_goes_on(&done->rq))
		((struct iolat_start *)done->start)->issue_ns = 0;
	else
		forget(done->start, done->rq.id);
}

static __always_inline int complete(struct request *rq, int error, __u32 nr_bytes, bool own,
				    bool second)
{
	struct ending done = { .rq = request_view(rq), .error = error };
	struct why_end end;
	__u64 issue_ns;
	__u32 why;

	done.now = bpf_ktime_get_ns();
	if (needs_device()) {
		done.disk = request_disk(rq);
		done.device = disk_id(done.disk);
	}
	done.cells = control.armed ? cells_here(&cells) : NULL;
	if (done.cells)
		count_all(done.cells, LAT_SEEN);
	if (nr_bytes < done.rq.bytes) {
		if (done.cells)
			count_all(done.cells, LAT_CONTINUED);
		return 0;
	}
	issue_ns = issue_time(&done, rq, own);
	if (config.why) {
		end = (struct why_end){ .issue_ns = issue_ns,
					.start_ns = start_time(&done.rq, done.own.lag_ns),
					.second = second };
		done.end = &end;
		why_completed(&end, rq, done.now, request_goes_on(&done.rq));
	}
	if (done.cells) {
		count_batch((struct iolat_cells *)done.cells, rq, issue_ns, done.now);
		if (config.by)
			done.samples = begin_samples(&done, second);
		why = left_out(&done);
		if (why == LAT_TERMS)
			finish_all(&done, issue_ns);
		else
			leave_out(&done, why, issue_ns);
		if (config.by && done.samples->metrics)
			split_completion(&done);
		if (config.by)
			end_samples(&done);
	}
	let_go(&done);
	if (config.why)
		why_explain(&end, rq, done.now);
	return 0;
}

/* Did the first of two programs see the issue (or, `done`, the completion) of the request? */
static __always_inline bool first_saw(struct request *rq, const struct request_view *view,
				      bool done)
{
	const struct iolat_start *start;

	if (table_has(line_of(rq), view, done))
		return true;
	start = find(view);
	return start && start->issue_ns && is_done(start->issue_ns) == done;
}

/* Marks the entry of a request that continues; false: it has none. */
static __always_inline bool mark_entry(const struct request_view *view, __u64 issue_ns)
{
	struct iolat_start *start = request_goes_on(view) ? find(view) : NULL;

	if (!start)
		return false;
	start->issue_ns = issue_ns;
	return true;
}

/*
 * Marks for the second program here that the first one has done the work. Not inlined, for the sake
 * of the stack.
 */
static __noinline int leave_mark(struct request *rq)
{
	struct request_view view = request_view(rq);
	struct iolat_start start = { .queue_ns = view.start_ns, .issue_ns = IOLAT_DONE };
	__u64 id = view.id;

	if (mark_entry(&view, IOLAT_DONE))
		return 0;
	if (!table_put(rq, &view, line_of(rq), IOLAT_DONE))
		bpf_map_update_elem(&start_ts, &id, &start, BPF_ANY);
	return 0;
}

/*
 * Removes the mark that leave_mark() has left. A request that continues keeps its stamps: only the
 * mark is removed from them, as the next completion is not done yet.
 */
static __always_inline void take_mark(struct request *rq, const struct request_view *view)
{
	__u32 line = line_of(rq);
	struct own_stamps own = {};
	__u64 id = view->id;

	if (mark_entry(view, 0))
		return;
	if (table_has(line, view, true))
		take_stamps(line, view, &own);
	else
		bpf_map_delete_elem(&start_ts, &id);
}

static __noinline int stamps_complete_any(struct request *rq, int error, __u32 nr_bytes)
{
	return complete(rq, error, nr_bytes, false, false);
}

SEC("tp_btf/block_rq_complete")
int stamps_complete(__u64 *ctx)
{
	return complete_usual(ctx, false, false)
		       ? 0
		       : stamps_complete_any((void *)ARG(0), ARG(1), ARG(2));
}

static __noinline int hashed_complete_any(struct request *rq, int error, __u32 nr_bytes)
{
	__u32 bytes = rq->__data_len;

	complete(rq, error, nr_bytes, true, false);
	if (config.again && nr_bytes >= bytes)
		leave_mark(rq);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int hashed_complete(__u64 *ctx)
{
	bool counted = config.why ? complete_usual_why(ctx) : complete_usual(ctx, true, false);

	return counted ? 0 : hashed_complete_any((void *)ARG(0), ARG(1), ARG(2));
}

/*
 * Some programs exist twice, for kernels (7.0) that preempt a program at a tracepoint and do not
 * run it for other tasks on that CPU until its task resumes. Then the second one does its work.
 */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(hashed_complete_again, struct request *rq, int error, unsigned int nr_bytes)
{
	struct request_view view = request_view(rq);

	if (nr_bytes < view.bytes)
		return 0;
	if (!first_saw(rq, &view, true))
		return complete(rq, error, nr_bytes, true, true);
	take_mark(rq, &view);
	return 0;
}

/* ---- the start: submission and issue ---- */

/*
 * Makes the entry of a request that the table cannot have. The submitter, if a filter or a split
 * needs it, is `current`.
 */
static __always_inline void keep(struct request *request, const struct request_view *rq,
				 const struct own_stamps *own)
{
	struct iolat_start start = { .queue_ns = rq->start_ns,
				     .issue_ns = own->issue_ns,
				     .lag_ns = own->lag_ns,
				     .submitter = submitter_of_request(request),
				     .counted = 1 };
	const struct sent_bio *sent;
	__u64 id = rq->id;

	if (config_names(&config)) {
		sent = sent_request(request);
		if (sent) {
			__builtin_memcpy(start.comm, sent->comm, LAT_COMM_LEN);
			__builtin_memcpy(start.leader_comm, sent->leader_comm, LAT_COMM_LEN);
		} else {
			name_current(start.comm, start.leader_comm);
		}
	}
	if (bpf_map_update_elem(&start_ts, &id, &start, BPF_ANY))
		count_start(LAT_NOT_KEPT);
	else
		__sync_fetch_and_add(&looked_up, 1);
}

static __always_inline int issue(struct request *request)
{
	__u32 line = line_of(request); /* first: see there */
	struct request_view rq = request_view(request);
	struct own_stamps own = { .issue_ns = bpf_ktime_get_ns() };
	struct iolat_start *start = NULL;

	if (request_is_passthrough(&rq) || other_disk(request))
		return 0;
	if (looked_up)
		start = find(&rq);
	why_issued(request, &rq, line, start && start->requeues, own.issue_ns);
	if (!start) {
		if (!table_put(request, &rq, line, own.issue_ns))
			keep(request, &rq, &own);
	} else if (!start->requeues) { /* seen at submission */
		start->queue_ns = rq.start_ns;
		start->issue_ns = own.issue_ns;
	} /* otherwise it was issued before, and that issue counts */
	return 0;
}

/*
 * The driver returned the request, if it had it at all. It will be issued again, and the kernel's
 * stamp will be that of the second issue.
 */
static __always_inline int requeue(struct request *request, bool own)
{
	struct request_view rq = request_view(request);
	struct iolat_start *start, fresh = { .queue_ns = rq.start_ns, .requeues = 1, .counted = 1 };
	struct own_stamps stamps = {};
	__u64 id = rq.id;

	if (request->state == MQ_RQ_IDLE || request_is_passthrough(&rq))
		return 0;
	count_start(LAT_REQUEUED);
	start = find(&rq);
	if (start) {
		start->queue_ns = rq.start_ns;
		start->requeues++;
		if (!start->counted) {
			start->counted = 1;
			__sync_fetch_and_add(&looked_up, 1);
		}
		return 0;
	}
	if (own || checking)
		take_stamps(line_of(request), &rq, &stamps);
	fresh.issue_ns = stamps.issue_ns;
	fresh.lag_ns = stamps.lag_ns;
	fresh.submitter = stamps.submitter;
	if (!own && !fresh.issue_ns)
		fresh.issue_ns = rq.issue_ns;
	/* Still 0 if it was issued before the attach: so it stays a missed start. */
	if (bpf_map_update_elem(&start_ts, &id, &fresh, BPF_ANY))
		count_start(LAT_NOT_KEPT);
	else
		__sync_fetch_and_add(&looked_up, 1);
	return 0;
}

static __noinline int hashed_issue_any(struct request *rq)
{
	return issue(rq);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(hashed_issue, struct request *rq)
{
	return issue_usual(rq) ? 0 : hashed_issue_any(rq);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(hashed_issue_again, struct request *rq)
{
	struct request_view view = request_view(rq);

	return first_saw(rq, &view, false) ? 0 : issue(rq);
}

SEC("tp_btf/block_rq_requeue")
int BPF_PROG(stamps_requeue, struct request *rq)
{
	return requeue(rq, false);
}

SEC("tp_btf/block_rq_requeue")
int BPF_PROG(hashed_requeue, struct request *rq)
{
	return requeue(rq, true);
}

/* The current task submits a request, which the table has if it can, or else `start_ts`. */
static __always_inline void begin(struct request *request, const struct request_view *rq,
				  __u64 lag_ns, bool again)
{
	const struct own_stamps own = { .lag_ns = lag_ns };

	if (!table_begin(request, rq, lag_ns, again))
		keep(request, rq, &own);
}

/* A request begins. If it still has an entry, the end of the one before was missed. */
static __always_inline int submit(struct request *request, const struct request_view *rq,
				  const struct iolat_start *start, __u64 lag_ns, bool again)
{
	if (start) {
		count_missed_end(start->issue_ns, &start->submitter);
		forget(start, rq->id);
	}
	begin(request, rq, lag_ns, again);
	return 0;
}

static __always_inline int submit_started(struct request *rq, bool again)
{
	struct request_view view = { .id = (__u64)rq };
	__u64 now = bpf_ktime_get_ns(), plug_ns = config.cached ? plug_time() : 0;
	const struct iolat_start *start;

	if (other_disk(rq))
		return 0;
	why_submitted(rq);
	view.start_ns = plug_ns ?: now; /* the kernel may stamp it only after this */
	/* Only to keep `looked_up` correct, and to count missed ends. */
	start = entry_of(view.id);
	if (start && first_started(start->queue_ns, start->issue_ns, start->lag_ns, plug_ns, again))
		return 0;
	return submit(rq, &view, start, plug_ns ? now - plug_ns : 0, again);
}

/*
 * Without a filter or split by submitter: stores how far the plug's clock is behind, with which the
 * kernel stamps the request.
 */
static __always_inline int start(struct request *request, bool again)
{
	struct request_view rq = { .id = (__u64)request };

	rq.start_ns = config.cached ? plug_time() : 0;
	if (!rq.start_ns || other_disk(request))
		return 0;
	begin(request, &rq, bpf_ktime_get_ns() - rq.start_ns, again);
	return 0;
}

static __always_inline int submit_inserted(struct request *rq)
{
	struct request_view view = request_view(rq);
	struct iolat_start *start;

	if (other_disk(rq))
		return 0;
	start = entry_of(view.id);
	if (start && start->queue_ns == view.start_ns) /* comes back, by a requeue or unissued */
		return 0;
	if (table_find(line_of(rq), &view))
		return 0;
	why_submitted(rq);
	return submit(rq, &view, start, 0, false);
}

/* Where the submitter is still `current`: block_io_start since 6.5 (5a80bd075f3b), else insert. */
SEC("tp_btf/block_io_start")
int BPF_PROG(submit_start, struct request *rq)
{
	return submit_started(rq, false);
}

/* Repeats submit_start(), which is harmless if that ran. */
SEC("tp_btf/block_io_start")
int BPF_PROG(submit_start_again, struct request *rq)
{
	return submit_started(rq, true);
}

static __noinline int hashed_start_any(struct request *rq)
{
	return start(rq, false);
}

SEC("tp_btf/block_io_start")
int BPF_PROG(hashed_start, struct request *rq)
{
	if (config.why && !other_disk(rq))
		why_submitted(rq);
	return start_usual(rq) ? 0 : hashed_start_any(rq);
}

SEC("tp_btf/block_io_start")
int BPF_PROG(hashed_start_again, struct request *rq)
{
	if (config.why && !other_disk(rq))
		why_submitted(rq);
	return start(rq, true);
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(submit_insert, struct request *rq)
{
	return submit_inserted(rq);
}

/* Only for the submitters that slow requests are explained by, where block_io_start is missing. */
SEC("tp_btf/block_rq_insert")
int BPF_PROG(hashed_insert, struct request *rq)
{
	struct request_view view = request_view(rq);

	if (!other_disk(rq) && !(looked_up && find(&view)))
		why_submitted(rq);
	return 0;
}

/* The request was merged into another and ends here, without completion. */
static __always_inline int forget_merged(struct request *rq)
{
	__u64 id = (__u64)rq;
	struct iolat_start *start = entry_of(id);

	if (start)
		forget(start, id);
	table_drop(line_of(rq), id);
	why_merged(rq);
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
	split_rename(&split, IOLAT_CELLS, task, comm);
	if (config.why)
		__sync_fetch_and_add(&names_changed, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
