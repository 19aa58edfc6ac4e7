/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who submitted the bios that a driver above the disk passes on, such as device mapper (dm-crypt,
 * dm-delay). It often does so in kernel threads: the task that submits the bio to the disk is not
 * the one that wanted it. A bio is noted at block_bio_queue of the upper device. block_bio_remap
 * tells where it goes, often as a new bio, and block_split that it is divided. Included by
 * iolat.bpf.c alone, after disk.bpf.h.
 */
#ifndef LATSCOPE_PROBES_IOLAT_SENT_BPF_H
#define LATSCOPE_PROBES_IOLAT_SENT_BPF_H

/* Does its driver work on bios? Then there is no request. */
static __always_inline bool works_on_bios(struct bio *bio)
{
	return !bio->bi_bdev->bd_disk->queue->mq_ops;
}

/* The current task submits a bio to a device that has none above it. */
static __always_inline void keep_first(struct bio *bio, const struct sent_place *place)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cgroup *pages = owner_of_pages(bio, task);
	struct sent_bio first = { .bio = (__u64)bio, .submitter = submitter_of_bio(bio) };

	first.pid_tgid = (__u64)task->tgid << 32 | (__u32)task->pid;
	first.pages = pages ? pages->kn->id : 0;
	name_current(first.comm, first.leader_comm);
	bpf_map_update_elem(&sent_bios, place, &first, BPF_ANY);
	if (config.why)
		note_submitter(task);
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(sent_first, struct bio *bio)
{
	struct sent_place place;

	if (!works_on_bios(bio))
		return 0;
	place = place_of(bio);
	if (!sent_from(&place, bio))
		keep_first(bio, &place);
	return 0;
}

/* Notes the same submitter for `bio`, which begins at the place `to`. */
static __always_inline void copy_sent(const struct sent_bio *sent, const struct sent_place *to,
				      __u64 bio)
{
	struct sent_bio copy = *sent;

	copy.bio = bio;
	copy.passed = 1;
	bpf_map_update_elem(&sent_bios, to, &copy, BPF_ANY);
}

/*
 * A partition is remapped to its disk here, too; only then is the sector that of the disk. What the
 * submitter itself sends on needs no entry.
 */
SEC("tp_btf/block_bio_remap")
int BPF_PROG(sent_on, struct bio *bio, unsigned int device, __u64 sector)
{
	const struct sent_bio *sent;
	struct sent_place from, to;

	if (!(bpf_get_current_task_btf()->flags & PF_KTHREAD) || bio->bi_bdev->bd_dev == device)
		return 0;
	to = place_of(bio);
	from = (struct sent_place){ sector, device, to.op };
	to.sector += bio->bi_bdev->bd_start_sect;
	sent = bpf_map_lookup_elem(&sent_bios, &from);
	if (sent)
		copy_sent(sent, &to, (__u64)bio);
	return 0;
}

/*
 * A bio is split; `rest` has 32 bits of the sector where its rest begins. The tracepoint has a new
 * bio with the first sectors. Since 5.18 device mapper has the rest there instead; no
 * block_bio_queue follows.
 */
SEC("tp_btf/block_split")
int BPF_PROG(sent_split, struct bio *bio, unsigned int rest)
{
	const struct sent_place place = place_of(bio);
	struct sent_place next = place;
	__u64 whole = (__u64)bio->bi_private;
	const struct sent_bio *sent;

	if ((__u32)next.sector != rest)
		next.sector += bio->bi_iter.bi_size >> 9;
	if (!works_on_bios(bio)) {
		sent = bpf_map_lookup_elem(&sent_bios, &place);
		if (!sent || sent->bio != whole)
			return 0;
		copy_sent(sent, &next, whole);
		copy_sent(sent, &place, (__u64)bio);
	} else if (!sent_from(&place, bio)) {
		keep_first(bio, &next);
	}
	return 0;
}

#endif
