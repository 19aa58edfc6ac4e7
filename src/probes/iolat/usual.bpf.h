/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Usual requests, in as few instructions as possible: a read or write that is issued once, has all
 * its stamps, and completes at once and without an error. Each function returns false, and has
 * changed nothing, if anything else is the case: then the general function does the work. Included
 * by iolat.bpf.c alone, after why.bpf.h.
 */
#ifndef LATSCOPE_PROBES_IOLAT_USUAL_BPF_H
#define LATSCOPE_PROBES_IOLAT_USUAL_BPF_H

/*
 * No filter except by disk, and each program is attached once; with --why, a program sees each
 * request begin, and nothing more needs to be known of its issue. Set before the load.
 */
const volatile bool plain = false;

/* A wanted read or write, which has a start by the kernel, and is not part of a flush sequence. */
static __always_inline bool request_is_usual(struct request *rq)
{
	__u32 set = config.io_stat;

	return !(rq->cmd_flags & REQ_OP_MASK & ~REQ_OP_WRITE) &&
	       (rq->rq_flags & (config.flush_seq | set)) == set && !other_disk(rq);
}

/* ---- submission and issue ---- */

_Static_assert(IOLAT_WAYS == 2, "take_place() looks at both places of a line");

/* Takes the first place of the request's line, if that is free and the second is not its own. */
static __always_inline bool take_place(struct iolat_stamp *first, __u64 id)
{
	return !first->request && first[1].request != id &&
	       !__sync_val_compare_and_swap(&first->request, 0, id);
}

/* As start(): a request that needs no submitter. */
static __always_inline bool start_usual(struct request *rq)
{
	struct iolat_stamp *stamp;
	__u64 start_ns, now;

	if (!plain || other_disk(rq))
		return false;
	start_ns = config.cached ? plug_time() : 0;
	if (!start_ns)
		return true;
	now = bpf_ktime_get_ns();
	stamp = table[line_of(rq)];
	barrier_var(stamp); /* keep the pointer, instead of computing it each time */
	if (!take_place(stamp, (__u64)rq))
		return false;
	stamp->queue_ns = start_ns;
	stamp->lag_ns = now - start_ns;
	stamp->issue_ns = 0;
	return true;
}

/* As issue(). */
static __always_inline bool issue_usual(struct request *rq)
{
	struct iolat_stamp *stamp;
	__u64 now, start_ns;

	if (!plain || looked_up || !request_is_usual(rq))
		return false;
	now = bpf_ktime_get_ns();
	start_ns = rq->start_time_ns;
	stamp = table[line_of(rq)];
	barrier_var(stamp);
	if (stamp->request == (__u64)rq) {
		if (stamp->issue_ns || (stamp->lag_ns && start_ns > stamp->queue_ns))
			return false;
	} else {
		if (!take_place(stamp, (__u64)rq) || (config.identity && !set_submitter(stamp, rq)))
			return false;
		stamp->lag_ns = 0;
	}
	stamp->queue_ns = start_ns;
	stamp->issue_ns = now;
	return true;
}

/* ---- completion ---- */

/* The times of a request, by the kernel's stamps and the own ones. */
struct usual_times {
	__u64 start_ns;
	__u64 issue_ns;
	__u64 now;
	__u64 lag_ns; /* as in struct iolat_stamp */
	__u64 skew_ns; /* the own stamp of the issue minus the kernel's */
	struct iolat_stamp *stamp; /* the own one, in the first place of its line; NULL: not used */
};

/* Reads them; `own`: by the own stamp of the issue, not the kernel's. False: one is missing. */
static __always_inline bool read_times(struct usual_times *times, struct request *rq, bool own)
{
	struct iolat_stamp *stamp;

	times->start_ns = rq->start_time_ns;
	times->issue_ns = rq->io_start_time_ns;
	if (!times->start_ns)
		return false;
	if (own || checking) {
		stamp = table[line_of(rq)];
		barrier_var(stamp);
		if (stamp->request != (__u64)rq || stamp->queue_ns != times->start_ns ||
		    !stamp->issue_ns || (!own && !times->issue_ns))
			return false;
		times->skew_ns = stamp->issue_ns - times->issue_ns;
		times->issue_ns = stamp->issue_ns;
		times->lag_ns = stamp->lag_ns;
		times->start_ns += times->lag_ns;
		times->stamp = stamp;
	}
	return times->start_ns <= times->issue_ns && times->issue_ns <= times->now &&
	       times->now - times->start_ns < HIST_SCALE_SHORT_NS;
}

/* Counts by how much the kernel's stamps differ from the own ones. */
static __always_inline void count_usual_skew(struct lat_cell *cells_now,
					     const struct usual_times *times, bool own)
{
	struct lat_cell *device = &cells_now[IOLAT_DEVICE], *queued = &cells_now[IOLAT_QUEUED];
	__s64 skew_ns = times->skew_ns;

	if (!own) {
		device->counts[LAT_CHECKED]++;
		device->counts[LAT_SKEW_NS] += skew_ns < 0 ? -skew_ns : skew_ns;
	}
	if (times->lag_ns) {
		queued->counts[LAT_CHECKED]++;
		queued->counts[LAT_SKEW_NS] += times->lag_ns;
	}
}

/* `samples`: a constant NULL without splits, so that the compiler leaves out what they need. */
static __always_inline void count_usual(struct iolat_cells *all, struct iolat_samples *samples,
					__u32 metric, __u64 ns, __u64 slot, __u64 tail_ns)
{
	struct lat_cell *cell = &all->metrics[metric];
	const struct sample sample = { ns, slot };

	cell->counts[LAT_SEEN]++;
	hist_add_sample(&cell->hist, sample, tail_ns);
	if (samples) {
		samples->ns[metric] = ns;
		samples->slot[metric] = slot;
	}
}

static __always_inline void count_usual_times(struct iolat_cells *all,
					      struct iolat_samples *samples,
					      const struct usual_times *times)
{
	__u64 device_ns = times->now - times->issue_ns, total_ns = times->now - times->start_ns;
	__u64 queued_ns = times->issue_ns - times->start_ns, v = hist_scale_short(device_ns);
	const __u64 tail_ns = config.tail_ns;
	__u32 octave = hist_octave(v);

	count_usual(all, samples, IOLAT_DEVICE, device_ns, hist_octave_slot(v, octave), tail_ns);
	/* The whole mostly has the octave of its greatest part. */
	v = hist_scale_short(total_ns);
	count_usual(all, samples, IOLAT_TOTAL, total_ns,
		    v >> octave < 2 * HIST_SUB ? hist_octave_slot(v, octave) : slot_of(total_ns),
		    tail_ns);
	count_usual(all, samples, IOLAT_QUEUED, queued_ns, slot_of(queued_ns), tail_ns);
}

static __always_inline void split_usual(struct iolat_cells *all, struct iolat_samples *samples,
					struct request *rq, const struct iolat_stamp *stamp)
{
	samples->metrics = (1U << IOLAT_METRICS) - 1;
	samples->start = NULL;
	samples->op = rq->cmd_flags & REQ_OP_MASK; /* as in enum lat_op */
	if (needs_device()) {
		samples->disk = request_disk(rq);
		samples->device = disk_id(samples->disk);
	}
	if (config.identity && stamp) {
		samples->pid_tgid = stamp->submitter.pid_tgid;
		samples->cgroup = stamp->submitter.cgroup;
	}
	split_samples(all, samples);
}

/* An argument of the tracepoint, read again: this is cheaper than to keep it over a call. */
#define ARG(n) (*(volatile __u64 *)&ctx[n])

static __always_inline bool complete_usual_by(__u64 *ctx, bool own, bool splits, bool why)
{
	struct request *rq = (struct request *)ARG(0);
	struct usual_times times = {};
	struct iolat_samples *samples = NULL;
	struct iolat_cells *all;
	struct why_end end;
	__u32 bytes;

	if (looked_up || !control.armed)
		return false;
	times.now = bpf_ktime_get_ns();
	all = (struct iolat_cells *)cells_here(&cells);
	if (!all)
		return false;
	bytes = rq->__data_len;
	if ((__u32)ARG(1) || !bytes || (__u32)ARG(2) < bytes || !request_is_usual(rq) ||
	    !read_times(&times, rq, own))
		return false;

	if (why) {
		end = (struct why_end){ .start_ns = times.start_ns,
					.issue_ns = times.issue_ns,
					.is_sample = 1 };
		why_completed(&end, rq, times.now, false);
	}
	if (splits)
		samples = next_samples(all);
	if (times.stamp)
		count_usual_skew(all->metrics, &times, own);
	count_batch(all, rq, times.issue_ns, times.now);
	count_usual_times(all, samples, &times);
	if (splits) {
		split_usual(all, samples, rq, times.stamp);
		all->nested--;
	}
	if (times.stamp) {
		times.stamp->queue_ns = 0;
		store_ordered(&times.stamp->request, 0);
	}
	if (why)
		why_explain(&end, rq, times.now);
	return true;
}

/* As complete(). */
static __always_inline bool complete_usual(__u64 *ctx, bool own, bool why)
{
	if (!plain || injects())
		return false;
	return config.by ? complete_usual_by(ctx, own, true, why)
			 : complete_usual_by(ctx, own, false, why);
}

/* Not inlined, so that its stack is not needed at the same time as that of complete(). */
static __noinline bool complete_usual_why(__u64 *ctx)
{
	return complete_usual(ctx, true, true);
}

#endif
