/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metric wait: how long a bio waits before it has a request, for a tag, for a limit of its cgroup,
 * for write-back throttling, or as the queue is frozen. From block_bio_queue to block_getrq of the
 * same bio. Both mostly happen in the same task, but a task may submit other bios between them.
 *
 * io.max holds bios back before block_bio_queue (since 5.10 and up to 7.3 at least), and a worker
 * submits them later. What goes through its code is stamped at the entry of __blk_throtl_bio(), and
 * belongs to the task that was there. Included by iolat.bpf.c alone, after request.bpf.h.
 */
#ifndef LATSCOPE_PROBES_IOLAT_WAIT_BPF_H
#define LATSCOPE_PROBES_IOLAT_WAIT_BPF_H

#define BIO_WAYS 4
#define BIO_BITS 9
_Static_assert(1 << BIO_BITS == IOLAT_BIO_LINES, "the hash is the number of a line");

/* Bit of a bio's flags: it has passed block_bio_queue. Set before the load. */
const volatile __u32 bio_traced = 0;

enum {
	NOT_HELD,
	TO_BE_QUEUED, /* it is in __blk_throtl_bio(), or held back by io.max */
	QUEUED, /* ...and has passed block_bio_queue since */
};

/* A bio without a request. */
struct bio_start {
	__u64 bio; /* 0: free */
	__u64 start_ns;
	__u64 sector; /* with the address, tells it from a bio before that has had no request */
	__u64 held; /* not NOT_HELD: the rest is set */
	struct iolat_submitter submitter;
	char comm[LAT_COMM_LEN];
	char leader_comm[LAT_COMM_LEN];
	__u64 pad[5];
};

struct bio_line {
	struct bio_start ways[BIO_WAYS];
};

/* User space sizes it to IOLAT_BIO_LINES, with the metric. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bio_line);
} bio_lines SEC(".maps");

/* By the sector, as BPF cannot compute with the address of a bio. */
static __always_inline struct bio_line *bios_at(__u64 sector)
{
	__u32 line = (sector * 0x9e3779b97f4a7c15ULL) >> (64 - BIO_BITS);

	return bpf_map_lookup_elem(&bio_lines, &line);
}

static __always_inline struct bio_start *bio_in(struct bio_line *line, __u64 id, __u64 sector)
{
#pragma unroll
	for (int i = 0; i < BIO_WAYS; i++)
		if (line->ways[i].bio == id && line->ways[i].sector == sector)
			return &line->ways[i];
	return NULL;
}

static __always_inline struct bio_start *find_bio(struct bio *bio, __u64 sector)
{
	struct bio_line *line = bios_at(sector);

	return line ? bio_in(line, (__u64)bio, sector) : NULL;
}

/* Bios that are held back wait for long: the others give way before them, and the oldest first. */
static __always_inline bool gives_way(const struct bio_start *start, const struct bio_start *to)
{
	if (!start->held != !to->held)
		return !start->held;
	return start->start_ns < to->start_ns;
}

/* A bio that never got a request gives way. Rare, therefore not inlined. */
static __noinline struct bio_start *replace_oldest(struct bio_line *line, __u64 id)
{
	__u64 oldest = 0, before;

#pragma unroll
	for (int i = 1; i < BIO_WAYS; i++)
		if (gives_way(&line->ways[i], &line->ways[oldest & (BIO_WAYS - 1)]))
			oldest = i;
	barrier_var(oldest); /* as in bounded_slot() */
	oldest &= BIO_WAYS - 1;
	before = line->ways[oldest].bio;
	if (__sync_val_compare_and_swap(&line->ways[oldest].bio, before, id) != before)
		return NULL;
	line->ways[oldest].held = NOT_HELD;
	return &line->ways[oldest];
}

/* The place of a bio, its own or another one; NULL: another CPU has just taken it. */
static __always_inline struct bio_start *bio_place(struct bio *bio, __u64 sector)
{
	struct bio_line *line = bios_at(sector);
	struct bio_start *start = line ? bio_in(line, (__u64)bio, sector) : NULL;

	if (start || !line)
		return start;
#pragma unroll
	for (int i = 0; i < BIO_WAYS; i++)
		if (!line->ways[i].bio &&
		    !__sync_val_compare_and_swap(&line->ways[i].bio, 0, (__u64)bio)) {
			line->ways[i].held = NOT_HELD; /* of the bio before */
			return &line->ways[i];
		}
	return replace_oldest(line, (__u64)bio);
}

/* ---- the start ---- */

/* `again`: by the second of two programs at the same event; if the first one ran, it is late. */
static __always_inline int queue_bio(struct bio *bio, bool again)
{
	__u64 now = bpf_ktime_get_ns(), sector = bio->bi_iter.bi_sector;
	struct bio_start *start = bio_place(bio, sector);

	if (!start)
		return 0;
	if (start->sector == sector && start->held && (again || start->held == TO_BE_QUEUED)) {
		start->held = QUEUED;
		return 0;
	}
	start->start_ns = now;
	start->sector = sector;
	start->held = NOT_HELD;
	return 0;
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(bio_queued, struct bio *bio)
{
	return queue_bio(bio, false);
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(bio_queued_again, struct bio *bio)
{
	return queue_bio(bio, true);
}

/* The current task submits the bio, and a worker will. */
static __always_inline void keep_submitter(struct bio_start *start, struct bio *bio)
{
	const struct sent_bio *sent = config.identity ? sent_bio(bio) : NULL;

	if (sent) {
		start->submitter = sent->submitter;
		__builtin_memcpy(start->comm, sent->comm, sizeof(start->comm));
		__builtin_memcpy(start->leader_comm, sent->leader_comm, sizeof(start->leader_comm));
		return;
	}
	start->submitter = submitter_of_bio(bio);
	name_current(start->comm, start->leader_comm);
}

/* A limit of io.max may hold the bio back. The rest of one that was split comes here once more. */
static __always_inline int hold_bio(struct bio *bio, bool again)
{
	__u64 now = bpf_ktime_get_ns(), sector = bio->bi_iter.bi_sector;
	bool rest = bio->bi_flags & bio_traced;
	struct bio_start *start = rest ? find_bio(bio, sector) : bio_place(bio, sector);

	if (!start || ((rest || again) && start->sector == sector && start->held))
		return 0;
	if (!rest) {
		start->start_ns = now;
		start->sector = sector;
	}
	keep_submitter(start, bio);
	start->held = rest ? QUEUED : TO_BE_QUEUED;
	return 0;
}

SEC("fentry/__blk_throtl_bio")
int BPF_PROG(bio_held, struct bio *bio)
{
	return hold_bio(bio, false);
}

SEC("fentry/__blk_throtl_bio")
int BPF_PROG(bio_held_again, struct bio *bio)
{
	return hold_bio(bio, true);
}

/* A bio, or its first part, is known by another address or sector from now on. */
static __always_inline void copy_bio(const struct bio_start *from, struct bio *bio, __u64 sector)
{
	struct bio_start *to;
	__u64 start_ns = from->start_ns, held = from->held;

	to = bio_place(bio, sector);
	if (!to || to == from)
		return;
	to->start_ns = start_ns;
	to->sector = sector;
	to->held = held ? QUEUED : NOT_HELD;
	if (!held)
		return;
	to->submitter = from->submitter;
	__builtin_memcpy(to->comm, from->comm, sizeof(to->comm));
	__builtin_memcpy(to->leader_comm, from->leader_comm, sizeof(to->leader_comm));
}

/*
 * A bio is split. A new bio takes the first sectors, and its bi_private points to the old one,
 * which keeps the rest. Both have waited since the old one was submitted: no block_bio_queue
 * follows.
 */
SEC("tp_btf/block_split")
int BPF_PROG(bio_split, struct bio *part)
{
	__u64 sector = part->bi_iter.bi_sector;
	struct bio *whole = part->bi_private;
	struct bio_start *start = find_bio(whole, sector);

	if (!start)
		return 0;
	copy_bio(start, part, sector);
	copy_bio(start, whole, sector + (part->bi_iter.bi_size >> 9));
	if (start->bio == (__u64)whole)
		start->bio = 0;
	return 0;
}

/* A driver such as md sends a bio on to the disk below it. A partition's is not queued yet. */
SEC("tp_btf/block_bio_remap")
int BPF_PROG(bio_remapped, struct bio *bio, unsigned int device, __u64 sector)
{
	struct bio_start *start = bio->bi_flags & bio_traced ? find_bio(bio, sector) : NULL;

	if (!start || bio->bi_iter.bi_sector == sector)
		return 0;
	copy_bio(start, bio, bio->bi_iter.bi_sector);
	if (start->bio == (__u64)bio)
		start->bio = 0;
	return 0;
}

/* It is merged into a request that exists. */
static __always_inline int drop_bio(struct bio *bio)
{
	struct bio_start *start = find_bio(bio, bio->bi_iter.bi_sector);

	if (start)
		start->bio = 0;
	return 0;
}

SEC("tp_btf/block_bio_backmerge")
int BPF_PROG(bio_merged, struct bio *bio)
{
	return drop_bio(bio);
}

SEC("tp_btf/block_bio_frontmerge")
int BPF_PROG(bio_merged_front, struct bio *bio)
{
	return drop_bio(bio);
}

/* ---- the end ---- */

/* Who submitted a bio that has its request. */
struct bio_owner {
	struct iolat_submitter submitter;
	const char *comm, *leader_comm;
};

static __always_inline struct bio_owner owner_of_bio(struct bio *bio, const struct bio_start *start)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct bio_owner owner = { .comm = task->comm, .leader_comm = leader_comm(task) };
	const struct sent_bio *sent = NULL;

	if (start && start->held)
		return (struct bio_owner){ start->submitter, start->comm, start->leader_comm };
	if (config.identity)
		sent = sent_bio(bio);
	if (sent)
		return (struct bio_owner){ sent->submitter, sent->comm, sent->leader_comm };
	owner.submitter = submitter_of_bio(bio);
	return owner;
}

static __always_inline void split_wait(struct lat_cell *cell, __u32 by, __u64 id, const char *comm,
				       struct sample sample)
{
	const struct lat_key key = { .id = id, .by = by, .metric = IOLAT_WAIT };

	split_add(&split, cell, &key, comm, sample);
}

static __always_inline void split_waits(struct lat_cell *cell, struct bio *bio,
					const struct bio_owner *owner, struct sample sample)
{
	const struct request_view view = { .flags = bio->bi_opf, .bytes = bio->bi_iter.bi_size };
	__u64 pid_tgid = owner->submitter.pid_tgid;
	struct gendisk *disk = bio->bi_bdev->bd_disk;

	if (config_split(&config, LAT_BY_DISK))
		split_wait(cell, LAT_BY_DISK, disk_id(disk), disk->disk_name, sample);
	if (config_split(&config, LAT_BY_OP))
		split_wait(cell, LAT_BY_OP, request_op(&view), NULL, sample);
	if (config_split(&config, LAT_BY_PROCESS))
		split_wait(cell, LAT_BY_PROCESS, pid_tgid >> 32, owner->leader_comm, sample);
	if (config_split(&config, LAT_BY_THREAD))
		split_wait(cell, LAT_BY_THREAD, (__u32)pid_tgid, owner->comm, sample);
	if (config_split(&config, LAT_BY_CGROUP))
		split_wait(cell, LAT_BY_CGROUP, owner->submitter.cgroup, NULL, sample);
	split_by_cpu(&split, cell, IOLAT_WAIT, bpf_get_smp_processor_id(), sample);
}

/* Counts a wait; start_ns 0: when it began is not known. */
static __always_inline void count_wait(struct lat_cell *cell, struct bio *bio,
				       const struct bio_owner *owner, __u64 start_ns, __u64 now)
{
	__u64 ns = now - start_ns;
	struct sample sample;

	COUNT(&config, cell->counts[LAT_SEEN]);
	if ((config.disk && disk_id(bio->bi_bdev->bd_disk) != config.disk) ||
	    owner->submitter.unwanted || !cpu_wanted(&config, bpf_get_smp_processor_id())) {
		COUNT(&config, cell->counts[LAT_FILTERED]);
		if (start_ns && start_ns <= now)
			COUNT_MORE(&config, cell->counts[LAT_FILTERED_NS], ns);
	} else if (!start_ns) {
		COUNT(&config, cell->counts[LAT_MISSED_START]);
		COUNT(&config, cell->counts[LAT_UNTIMED]);
	} else if (now < start_ns) {
		COUNT(&config, cell->counts[LAT_NEGATIVE]);
	} else if (inject_fault(&config, IOLAT_WAIT, cell, &ns)) {
		sample = sample_of(ns);
		hist_add_cell(&config, &cell->hist, sample);
		if (config.by)
			split_waits(cell, bio, owner, sample);
	}
}

/* The bio has its request. `again`: by the second of two programs. */
static __always_inline int bio_has_request(struct bio *bio, bool again)
{
	__u64 now = bpf_ktime_get_ns();
	struct lat_cell *all = control.armed ? cells_here(&cells) : NULL;
	struct bio_start *start = find_bio(bio, bio->bi_iter.bi_sector);
	struct bio_owner owner;
	__u64 start_ns;

	if (again && !start)
		return 0;
	start_ns = start ? start->start_ns : 0;
	if (all) {
		owner = owner_of_bio(bio, start);
		count_wait(&all[IOLAT_WAIT], bio, &owner, start_ns, now);
	}
	if (start)
		store_ordered(&start->bio, 0);
	return 0;
}

SEC("tp_btf/block_getrq")
int BPF_PROG(bio_got, struct bio *bio)
{
	return bio_has_request(bio, false);
}

SEC("tp_btf/block_getrq")
int BPF_PROG(bio_got_again, struct bio *bio)
{
	return bio_has_request(bio, true);
}

#endif
