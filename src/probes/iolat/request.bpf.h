/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What iolat knows of a request, and its own stamps. Maps are defined here, so only iolat.bpf.c may
 * include this.
 */
#ifndef LATSCOPE_PROBES_IOLAT_REQUEST_BPF_H
#define LATSCOPE_PROBES_IOLAT_REQUEST_BPF_H

#include <probes/kit/filter.bpf.h>
#include <probes/kit/sample.bpf.h>

#include "types.h"

const volatile struct lat_config config = {};
struct lat_control control = {};

/* Method stamps: the issue program is attached, so use its stamps. */
__u32 checking = 0;

/* Entries of `start_ts`, except marks of completions: with none, none is looked up. */
__u32 looked_up = 0;

/* The first ones are those of each completion. IOLAT_WAIT is optional: see wait.bpf.h. */
enum iolat_metric {
	IOLAT_DEVICE,
	IOLAT_QUEUED,
	IOLAT_TOTAL,
	IOLAT_METRICS,
	IOLAT_WAIT = IOLAT_METRICS,
	IOLAT_CELLS,
};

/* The samples of a completion, for the splits. */
struct iolat_samples {
	__u64 pid_tgid; /* of the submitter */
	__u64 cgroup; /* 0: the submitter is unknown */
	/* The verifier does not know what these point to. */
	struct gendisk *disk;
	const struct iolat_start *start; /* has the names; NULL: they are not needed */
	__u64 ns[IOLAT_METRICS];
	__u16 slot[IOLAT_METRICS];
	__u8 metrics; /* mask of 1 << those that have a sample */
	__u8 op;
	__u32 device;
} __attribute__((aligned(64)));

/*
 * Value of `cells`: after the cells, of which alone user space knows, the samples of a completion,
 * because the stack has no room for them. There are several: of a program and of its second copy;
 * or before 6.1 (05b24ff9b2cf), where a program can interrupt itself, of each that is under way.
 */
#define IOLAT_NESTED 4

struct iolat_cells {
	struct lat_cell metrics[IOLAT_CELLS];
	struct iolat_samples samples[IOLAT_NESTED];
	__u64 nested;
	__u64 batch_ns; /* the completion that may be the first of a batch */
	__u64 last_ns; /* the last completion */
	__u64 pad[5];
};

CELLS_MAP(iolat_cells) cells SEC(".maps");
struct keys_map keys SEC(".maps");
struct owners_map owners SEC(".maps");
struct rows_map rows SEC(".maps");
struct light_map light SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, __u64);
	__type(value, struct iolat_start);
} start_ts SEC(".maps");

/* Much cheaper than a hash: tags are small numbers, so the lines in use stay in the cache. */
struct iolat_stamp table[IOLAT_LINES][IOLAT_WAYS] __attribute__((aligned(64))) = {};

/* Keeps the low tags of neighbouring queues and hardware queues apart. */
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
	__u32 segments; /* of its data, when it started; with --by op and --why only */
};

/* Has the kernel set start_time_ns? Always for the flushes that it makes itself. */
static __always_inline bool start_is_set(const struct request_view *view)
{
	return !config.io_stat || view->rq_flags & config.io_stat ||
	       (view->flags & REQ_OP_MASK) == REQ_OP_FLUSH;
}

static __always_inline struct request_view request_view(struct request *rq)
{
	struct request_view view = { .id = (__u64)rq };

	view.flags = rq->cmd_flags;
	view.rq_flags = rq->rq_flags;
	if (start_is_set(&view))
		view.start_ns = rq->start_time_ns;
	view.issue_ns = rq->io_start_time_ns;
	view.bytes = rq->__data_len;
	if (config_split(&config, LAT_BY_OP) || config.why)
		view.segments = rq->nr_phys_segments;
	return view;
}

/* At the end of a flush sequence no bytes are left; the segments show if there were any. */
static __always_inline __u32 request_op(const struct request_view *view)
{
	__u32 op = view->flags & REQ_OP_MASK;

	if (op == REQ_OP_READ)
		return LAT_OP_READ;
	if (op == REQ_OP_WRITE)
		return view->bytes || view->segments ? LAT_OP_WRITE : LAT_OP_FLUSH;
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
 * data is completed only that second time, and is never issued. The flags do not show it: they are
 * cleared when the sequence starts.
 */
static __always_inline bool request_ends_sequence(const struct request_view *view)
{
	return !view->bytes && (view->flags & REQ_OP_MASK) == REQ_OP_WRITE;
}

/* Of such a sequence, are these the data, and will the request complete once more? */
static __always_inline bool request_goes_on(const struct request_view *view)
{
	return view->rq_flags & config.flush_seq && view->bytes;
}

/* When the block layer got the request; 0: not known. */
static __always_inline __u64 start_time(const struct request_view *view, __u64 lag_ns)
{
	return view->start_ns ? view->start_ns + lag_ns : 0;
}

static __always_inline __u32 disk_id(struct gendisk *disk)
{
	return disk ? (__u32)disk->major << 20 | (__u32)disk->first_minor : 0;
}

static __always_inline __u32 request_device(struct request *rq)
{
	return disk_id(request_disk(rq));
}

/* Filter early, so that requests in flight are only the wanted ones. */
static __always_inline bool other_disk(struct request *rq)
{
	return config.disk && request_device(rq) != config.disk;
}

static __always_inline bool needs_device(void)
{
	return config.disk || config_split(&config, LAT_BY_DISK);
}

/* ---- own stamps ---- */

/*
 * The place of a request in the table: within its hardware queue, no other request in flight has
 * its tag. The scheduler's tag, if there is one, survives a requeue, the driver's does not.
 */
static __always_inline __u32 line_of(struct request *rq)
{
	struct request *from = untrusted_request(rq);
	int tag = rq->internal_tag;

	if (tag < 0)
		tag = rq->tag;
	return (from->q->id * QUEUE_STRIDE + from->mq_hctx->queue_num * HCTX_STRIDE + tag) &
	       (IOLAT_LINES - 1);
}

static __always_inline void count_start(__u32 which)
{
	struct lat_cell *all = control.armed ? cells_here(&cells) : NULL;

	if (all)
		__sync_fetch_and_add(&all[IOLAT_DEVICE].counts[which], 1);
}

/* ---- batches of completions ---- */

/* Does the kernel have batches of completions? Set before the load. */
const volatile bool batches = false;

/* Between two completions of a batch there is less: the kernel ends one, and wakes a task up. */
#define BATCH_GAP_NS 50000

/*
 * A driver (NVMe, virtio) can complete requests in a batch (5.16, f794f3351f26). The kernel then
 * reads the clock once, before the first one's tracepoint, and accounts all of them by that time.
 * No tracepoint shows a batch. But it is on one CPU and without a pause, all its requests were
 * issued before it began, and no scheduler has them. Adds how much later than that clock the
 * program may be.
 */
static __always_inline void count_batch(struct iolat_cells *all, struct request *rq, __u64 issue_ns,
					__u64 now)
{
	if (!batches)
		return;
	if (now - all->last_ns >= BATCH_GAP_NS || issue_ns >= all->batch_ns ||
	    rq->internal_tag >= 0)
		all->batch_ns = now;
	else
		all->metrics[IOLAT_TOTAL].counts[LAT_EARLY_NS] += now - all->batch_ns;
	all->last_ns = now;
}

/* ---- submitters ---- */

static const struct split split = { &keys, &owners, &rows, &light, &control, &config };

/* Does the key have a row for each metric? */
static __always_inline bool has_rows(__u32 by, __u32 id)
{
#pragma unroll
	for (__u32 metric = 0; metric < IOLAT_METRICS; metric++) {
		struct lat_key key = { .id = id, .by = by, .metric = metric };

		if (!find_row(&split, &key, recent_word(&control, &key)))
			return false;
	}
	return true;
}

/* Global and not inlined, because it is rare, and so that the verifier checks it once. */
__noinline int lacks_rows(__u32 tgid, __u32 tid)
{
	return (config_split(&config, LAT_BY_PROCESS) && !has_rows(LAT_BY_PROCESS, tgid)) ||
	       (config_split(&config, LAT_BY_THREAD) && !has_rows(LAT_BY_THREAD, tid));
}

static __always_inline bool rows_are_recent(__u32 by, __u32 id)
{
	return !config_split(&config, by) || recent_rows(&control, by, id, IOLAT_METRICS);
}

/*
 * Is the name of the submitter needed? Only as long as a key lacks a row in a metric: at its first
 * samples, or always if it gets no row, or if a metric has no samples.
 */
static __always_inline bool needs_name(const struct iolat_submitter *who)
{
	__u32 tgid = who->pid_tgid >> 32, tid = who->pid_tgid;

	if (!config_names(&config) || who->unwanted)
		return false;
	if (rows_are_recent(LAT_BY_PROCESS, tgid) && rows_are_recent(LAT_BY_THREAD, tid))
		return false;
	return lacks_rows(tgid, tid);
}

/*
 * The cgroup that owns the pages which a kernel thread writes back. Bios that the device mapper and
 * loop make from others have it, too. NULL: the kernel does not know it, or it is the cgroup of
 * the task; the request then belongs to the task.
 */
static __always_inline struct cgroup *owner_of_pages(struct bio *bio, struct task_struct *task)
{
	struct cgroup *own = untrusted(task)->cgroups->dfl_cgrp, *cgroup;

	if (!(task->flags & PF_KTHREAD) || !bpf_core_field_exists(bio->bi_blkg) || !bio ||
	    !bio->bi_blkg)
		return NULL;
	cgroup = bio->bi_blkg->blkcg->css.cgroup;
	return cgroup != own && cgroup->root == own->root ? cgroup : NULL;
}

static __always_inline bool submitter_wanted(struct task_struct *task, struct cgroup *cgroup)
{
	return task_matches(&config, task) &&
	       (!config.cgroup || cgroup_is_in(cgroup, config.cgroup));
}

static __always_inline bool needs_cgroup(void)
{
	return config_split(&config, LAT_BY_CGROUP) || filter_by_task(&config);
}

/* The current task, and the cgroup that the bio is of, if a filter or a split needs them. */
static __always_inline struct iolat_submitter submitter_of_bio(struct bio *bio)
{
	struct iolat_submitter who = {};
	struct task_struct *task;
	struct cgroup *cgroup;

	if (!config.identity)
		return who;
	task = bpf_get_current_task_btf();
	who.pid_tgid = (__u64)task->tgid << 32 | (__u32)task->pid;
	who.cgroup = 1;
	if (!needs_cgroup())
		return who;
	cgroup = owner_of_pages(bio, task) ?: untrusted(task)->cgroups->dfl_cgrp;
	if (config_split(&config, LAT_BY_CGROUP))
		who.cgroup = cgroup->kn->id;
	who.unwanted = filter_by_task(&config) && !submitter_wanted(task, cgroup);
	return who;
}

/* The names of the current task and of its process. */
static __always_inline void name_current(char comm[LAT_COMM_LEN], char leader[LAT_COMM_LEN])
{
	bpf_get_current_comm(comm, LAT_COMM_LEN);
	bpf_probe_read_kernel_str(leader, LAT_COMM_LEN, leader_comm(bpf_get_current_task_btf()));
}

/*
 * The first sector of a bio and its operation. Two bios in flight rarely have the same ones, so
 * these identify a bio that a driver passes on.
 */
struct sent_place {
	__u64 sector; /* of the disk, not of a partition */
	__u32 device; /* ID of the disk */
	__u32 op;
};

/* A bio submitted to a driver such as device mapper, or one that the driver passed on to a disk. */
struct sent_bio {
	__u64 bio; /* its address, to recognize an entry that an older bio left at the same place */
	__u64 pid_tgid; /* of the task that submitted it to the uppermost device */
	__u64 pages; /* the cgroup that owns the pages which this task writes back; 0: none */
	__u64 passed; /* 1: a driver has passed it on to this place */
	struct iolat_submitter submitter;
	char comm[LAT_COMM_LEN];
	char leader_comm[LAT_COMM_LEN];
};

/* User space sizes it to IOLAT_SENT_BIOS, if sent.bpf.h is used. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct sent_place);
	__type(value, struct sent_bio);
} sent_bios SEC(".maps");

/*
 * Device mapper passes some bios on from kernel threads. Returns who submitted such a bio to it;
 * NULL: the current task is the submitter.
 */
static __always_inline const struct sent_bio *sent_from(const struct sent_place *place,
							struct bio *bio)
{
	const struct sent_bio *sent;

	if (!(bpf_get_current_task_btf()->flags & PF_KTHREAD))
		return NULL;
	sent = bpf_map_lookup_elem(&sent_bios, place);
	return sent && sent->passed && sent->bio == (__u64)bio ? sent : NULL;
}

static __always_inline const struct sent_bio *sent_request(struct request *rq)
{
	struct sent_place place;

	if (!config.identity && !config.why) /* then no bio is noted */
		return NULL;
	place = (struct sent_place){ rq->__sector, request_device(rq),
				     rq->cmd_flags & REQ_OP_MASK };
	return sent_from(&place, untrusted_request(rq)->bio);
}

/* The place of a bio that has passed block_bio_queue: its sector is that of the disk. */
static __always_inline struct sent_place place_of(struct bio *bio)
{
	return (struct sent_place){ bio->bi_iter.bi_sector, disk_id(bio->bi_bdev->bd_disk),
				    bio->bi_opf & REQ_OP_MASK };
}

static __always_inline const struct sent_bio *sent_bio(struct bio *bio)
{
	const struct sent_place place = place_of(bio);

	return sent_from(&place, bio);
}

static __always_inline struct iolat_submitter submitter_of_request(struct request *rq)
{
	const struct sent_bio *sent = sent_request(rq);

	if (sent)
		return sent->submitter;
	return submitter_of_bio(needs_cgroup() ? untrusted_request(rq)->bio : NULL);
}

/* ---- the table ---- */

static __always_inline bool is_done(__u64 issue_ns)
{
	return issue_ns == IOLAT_DONE && config.again;
}

/* Does the entry at the request's place belong to this request? As is_of(). */
static __always_inline bool stamp_is_of(const struct iolat_stamp *stamp,
					const struct request_view *rq)
{
	if (stamp->issue_ns)
		return stamp->queue_ns == rq->start_ns;
	return !stamp->lag_ns || rq->start_ns <= stamp->queue_ns;
}

/*
 * A place in the request's line: its own, if it has one (`left`), or a free one; or NULL. A free
 * one is only taken if none is its own: otherwise it would have two.
 */
static __always_inline struct iolat_stamp *table_place(__u32 line, __u64 id, bool *left)
{
	struct iolat_stamp *stamp = table[line];

	*left = true;
	for (int i = 0; i < IOLAT_WAYS; i++, stamp++) {
		barrier_var(stamp);
		if (stamp->request == id)
			return stamp;
	}
	*left = false;
	stamp = table[line];
	for (int i = 0; i < IOLAT_WAYS; i++, stamp++) {
		barrier_var(stamp);
		if (!stamp->request && !__sync_val_compare_and_swap(&stamp->request, 0, id))
			return stamp;
	}
	return NULL;
}

/*
 * An earlier request left its stamp: its end was missed, unless it was never issued, as after a
 * merge, or its mark says that the end was seen.
 */
static __always_inline void count_missed_end(__u64 issue_ns, const struct iolat_submitter *who)
{
	if (issue_ns && !is_done(issue_ns) && !who->unwanted)
		count_start(LAT_ABANDONED);
}

static __always_inline void count_left(const struct iolat_stamp *stamp)
{
	count_missed_end(stamp->issue_ns, &stamp->submitter);
}

/*
 * Has the first of two programs already stored this start? Its stamp is better: the task may have
 * been preempted before the second program read the clock.
 */
static __always_inline bool first_started(__u64 queue_ns, __u64 issue_ns, __u64 lag_ns,
					  __u64 plug_ns, bool again)
{
	return again && !issue_ns && lag_ns && queue_ns == plug_ns;
}

/*
 * Stores that the current task has submitted the request. false: its name is needed, and the stamp
 * is free again.
 */
static __always_inline bool set_submitter(struct iolat_stamp *stamp, struct request *rq)
{
	struct iolat_submitter who = submitter_of_request(rq);

	if (needs_name(&who)) {
		store_ordered(&stamp->request, 0);
		return false;
	}
	stamp->submitter = who;
	return true;
}

/* The current task submits a request. false: it has to be kept in `start_ts`. */
static __always_inline bool table_begin(struct request *request, const struct request_view *rq,
					__u64 lag_ns, bool again)
{
	struct iolat_stamp *stamp;
	bool left;

	stamp = table_place(line_of(request), rq->id, &left);
	if (!stamp)
		return false;
	if (left &&
	    first_started(stamp->queue_ns, stamp->issue_ns, stamp->lag_ns, rq->start_ns, again))
		return true;
	if (left)
		count_left(stamp);
	stamp->queue_ns = rq->start_ns;
	stamp->lag_ns = lag_ns;
	stamp->issue_ns = 0;
	return set_submitter(stamp, request);
}

/* The request is issued, or (IOLAT_DONE) it has completed. false: as above. */
static __always_inline bool table_put(struct request *request, const struct request_view *rq,
				      __u32 line, __u64 issue_ns)
{
	struct iolat_stamp *stamp;
	bool left, same;

	stamp = table_place(line, rq->id, &left);
	if (!stamp)
		return false;
	same = left && stamp_is_of(stamp, rq);
	/* Issued again without a seen requeue: the first issue counts. */
	if (same && rq->start_ns && stamp->issue_ns && !is_done(stamp->issue_ns) &&
	    !is_done(issue_ns))
		return true;
	if (left)
		count_left(stamp);
	if (!same || stamp->issue_ns)
		stamp->lag_ns = 0;
	stamp->queue_ns = rq->start_ns;
	stamp->issue_ns = issue_ns;
	return same || is_done(issue_ns) || set_submitter(stamp, request);
}

/* Own stamps of a request. */
struct own_stamps {
	__u64 issue_ns; /* 0: none */
	__u64 lag_ns;
	struct iolat_submitter submitter;
};

/*
 * Removes the stamps of a request, and old ones in its place. A request that continues keeps its
 * stamps, except that of the issue. Returns the stamp of the issue, and writes the others to `own`,
 * if there are any. Global and not inlined, so that the verifier checks it once: on every path it
 * takes six times as long to load.
 */
__noinline __u64 table_take(__u32 line, const struct request_view *rq, struct own_stamps *own)
{
	struct iolat_stamp *stamp = table[line & (IOLAT_LINES - 1)];
	__u64 issue_ns = 0;

	if (!rq || !own)
		return 0;
	for (int i = 0; i < IOLAT_WAYS; i++, stamp++) {
		barrier_var(stamp); /* keep the pointer, instead of computing it each time */
		if (stamp->request != rq->id)
			continue;
		if (!stamp_is_of(stamp, rq)) {
			count_left(stamp);
		} else {
			issue_ns = is_done(stamp->issue_ns) ? 0 : stamp->issue_ns;
			own->lag_ns = stamp->lag_ns;
			if (config.identity)
				own->submitter = stamp->submitter;
			if (request_goes_on(rq)) {
				stamp->issue_ns = 0;
				return issue_ns;
			}
		}
		stamp->queue_ns = 0;
		store_ordered(&stamp->request, 0);
	}
	return issue_ns;
}

static __always_inline void take_stamps(__u32 line, const struct request_view *rq,
					struct own_stamps *own)
{
	own->issue_ns = table_take(line, rq, own);
}

/* Removes the stamp of a request that is not issued. */
static __always_inline void table_drop(__u32 line, __u64 id)
{
	struct iolat_stamp *stamp = table[line];

	for (int i = 0; i < IOLAT_WAYS; i++, stamp++)
		if (stamp->request == id)
			store_ordered(&stamp->request, 0);
}

static __always_inline const struct iolat_stamp *table_find(__u32 line,
							    const struct request_view *rq)
{
	const struct iolat_stamp *stamp = table[line];

	for (int i = 0; i < IOLAT_WAYS; i++, stamp++)
		if (stamp->request == rq->id && stamp->queue_ns == rq->start_ns)
			return stamp;
	return NULL;
}

/* Is there a stamp of this request, from its issue or (`done`) from its completion? */
static __always_inline bool table_has(__u32 line, const struct request_view *rq, bool done)
{
	const struct iolat_stamp *stamp = table_find(line, rq);

	return stamp && stamp->issue_ns && is_done(stamp->issue_ns) == done;
}

/* The entry of `start_ts` for a request at this address; NULL: there is none. */
static __always_inline struct iolat_start *entry_of(__u64 id)
{
	return looked_up ? bpf_map_lookup_elem(&start_ts, &id) : NULL;
}

static __always_inline void forget(const struct iolat_start *start, __u64 id)
{
	if (start->counted)
		__sync_fetch_and_sub(&looked_up, 1);
	bpf_map_delete_elem(&start_ts, &id);
}

/*
 * Does the entry belong to this request, and not to an earlier one at the same address? Before the
 * first issue the address must suffice: since 6.13 start_time_ns is set after block_io_start. If it
 * comes from the plug, it is known before. A merge can lower it.
 */
static __always_inline bool is_of(const struct iolat_start *start, const struct request_view *rq)
{
	if (start->queue_ns == rq->start_ns)
		return true;
	if (start->requeues) /* it may have merged since */
		return rq->start_ns && rq->start_ns < start->queue_ns;
	if (start->issue_ns)
		return false;
	return !start->lag_ns || rq->start_ns <= start->queue_ns;
}

/*
 * Returns the entry of a request, or NULL. The kernel reuses the memory of requests: an entry of an
 * earlier request there is deleted.
 */
static __always_inline struct iolat_start *find(const struct request_view *rq)
{
	__u64 id = rq->id;
	struct iolat_start *start = bpf_map_lookup_elem(&start_ts, &id);

	if (!start || is_of(start, rq))
		return start;
	count_missed_end(start->issue_ns, &start->submitter);
	forget(start, id);
	return NULL;
}

/* ---- samples by key ---- */

/* Adds the samples of a completion to the rows of one key, or if that is not known, to (other). */
static __always_inline void split_key(struct iolat_cells *all, const struct iolat_samples *samples,
				      __u32 by, bool known, __u64 id, const char *comm)
{
	const volatile __u64 *words = recent_words(&control, id, by);

#pragma unroll
	for (__u32 metric = 0; metric < IOLAT_METRICS; metric++) {
		const struct lat_key key = { .id = id, .by = by, .metric = metric };
		const struct sample sample = { samples->ns[metric], samples->slot[metric] };

		if (!(samples->metrics & 1U << metric))
			continue;
		if (known) {
			split_add_word(&split, &all->metrics[metric], &key, &words[metric], comm,
				       sample);
			continue;
		}
		split_add_row(&split, &all->metrics[metric], &key, 0, sample);
		__sync_fetch_and_add(&control.unnamed_ns, sample.ns); /* it can be of any key */
	}
}

/* Global and not inlined, so that the verifier checks it once and not for every path. */
__noinline int split_samples(struct iolat_cells *all, struct iolat_samples *done)
{
	__u32 by = config.by;
	bool known;

	if (!all || !done)
		return 0;
	known = done->cgroup;
	if (by & 1U << LAT_BY_DISK)
		split_key(all, done, LAT_BY_DISK, true, done->device,
			  done->disk ? done->disk->disk_name : NULL);
	if (by & 1U << LAT_BY_OP)
		split_key(all, done, LAT_BY_OP, true, done->op, NULL);
	if (by & 1U << LAT_BY_PROCESS)
		split_key(all, done, LAT_BY_PROCESS, known, done->pid_tgid >> 32,
			  done->start ? done->start->leader_comm : NULL);
	if (by & 1U << LAT_BY_THREAD)
		split_key(all, done, LAT_BY_THREAD, known, (__u32)done->pid_tgid,
			  done->start ? done->start->comm : NULL);
	if (by & 1U << LAT_BY_CGROUP)
		split_key(all, done, LAT_BY_CGROUP, known, done->cgroup, NULL);
	if (by & 1U << LAT_BY_CPU)
		split_key(all, done, LAT_BY_CPU, true, bpf_get_smp_processor_id(), NULL);
	return 0;
}

static __always_inline struct iolat_samples *samples_at(struct iolat_cells *all, __u64 place)
{
	barrier_var(place); /* as in bounded_slot() */
	return &all->samples[place & (IOLAT_NESTED - 1)];
}

/* A place for the samples of this completion, until `nested` is lowered again. */
static __always_inline struct iolat_samples *next_samples(struct iolat_cells *all)
{
	return samples_at(all, all->nested++);
}

#endif
