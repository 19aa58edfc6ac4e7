// SPDX-License-Identifier: BSD-2-Clause
/*
 * The metric wait of iolat (src/probes/iolat/wait.bpf.h): a simulated kernel submits bios in the
 * orders that the block layer does, and this test knows when each was submitted, and by whom.
 */
#include <string.h>

#define host_has_member(member) (!strcmp(member, "bio->bi_blkg"))
#define const /* the test sets the config */
#include <probes/iolat/iolat.bpf.c>
#undef const

#define HOST_MEMORY (1 << 23)
#include "unit.h"

#include <core/run.h>

#include "../bpf/host/kernel.h"

#define TRACED (1U << 6)
#define BIOS 512
#define HELD_MS 50

static struct iolat_cells *counted;
static struct css_set css_set;
static struct cgroup cgroup;
static struct kernfs_node node = { .id = 7 };
static struct task_struct reader, other, worker;
static struct gendisk disk = { .major = 7 };
static struct block_device device = { .bd_disk = &disk };
static struct bio bios[BIOS];

static void begin_task(struct task_struct *task, int pid, const char *name)
{
	*task = (struct task_struct){
		.pid = pid, .tgid = pid, .group_leader = task, .cgroups = &css_set
	};
	snprintf(task->comm, sizeof(task->comm), "%s", name);
}

static void begin_run(__u32 by)
{
	const struct lat_config chosen = { .rows = 16,
					   .first_rows = 16,
					   .by = by,
					   .identity = 1,
					   .tail_ns = 1024000,
					   .metrics = 1U << IOLAT_WAIT };

	begin_kernel(&chosen);
	counted = add_array(&cells, sizeof(*counted), 1);
	add_hash(&start_ts, sizeof(__u64), sizeof(struct iolat_start));
	add_array(&bio_lines, sizeof(struct bio_line), IOLAT_BIO_LINES);
	bio_traced = TRACED;
	control.armed = 1;
	control.next_row = 1;
	cgroup.kn = &node;
	css_set.dfl_cgrp = &cgroup;
	begin_task(&reader, 10, "reader");
	begin_task(&other, 20, "other");
	begin_task(&worker, 30, "kworker/0:1");
	worker.flags = PF_KTHREAD;
	current = &reader;
	for (int i = 0; i < BIOS; i++)
		bios[i] = (struct bio){ .bi_bdev = &device,
					.bi_iter = { 1000 * (unsigned int)i, 4096 } };
}

static void run(int (*program)(__u64 *), struct bio *bio, __u64 third)
{
	__u64 arguments[] = { (__u64)bio, 0, third };

	program(arguments);
}

/* As submit_bio_noacct_nocheck(). */
static void queue(struct bio *bio)
{
	if (bio->bi_flags & TRACED)
		return;
	run(bio_queued, bio, 0);
	bio->bi_flags |= TRACED;
}

static void get_request(struct bio *bio)
{
	run(bio_got, bio, 0);
}

/* As bio_split() and what follows: the first bytes of `whole` become `part`. */
static void split_off(struct bio *part, struct bio *whole, unsigned int bytes)
{
	*part = *whole;
	part->bi_iter.bi_size = bytes;
	part->bi_private = whole;
	whole->bi_iter.bi_sector += bytes >> 9;
	whole->bi_iter.bi_size -= bytes;
	run(bio_split, part, 0);
}

static void remap(struct bio *bio, __u64 to)
{
	__u64 from = bio->bi_iter.bi_sector;

	bio->bi_iter.bi_sector = to;
	run(bio_remapped, bio, from);
}

static __u64 count_of(int which)
{
	return counted->metrics[IOLAT_WAIT].counts[which];
}

static __u64 recorded_ns(void)
{
	return counted->metrics[IOLAT_WAIT].hist.sum_ns;
}

/* Its request comes now: its wait has been so long. */
static void waited(struct bio *bio, __u64 ns)
{
	__u64 before = recorded_ns(), missed = count_of(LAT_MISSED_START);

	get_request(bio);
	assert_int_equal(recorded_ns() - before, ns);
	assert_int_equal(count_of(LAT_MISSED_START), missed);
}

static void has_no_start(struct bio *bio)
{
	__u64 before = recorded_ns(), missed = count_of(LAT_MISSED_START);

	get_request(bio);
	assert_int_equal(recorded_ns(), before);
	assert_int_equal(count_of(LAT_MISSED_START), missed + 1);
}

static __u64 row_ns(__u32 by, __u64 id)
{
	const struct lat_key key = { .id = id, .by = by, .metric = IOLAT_WAIT };
	const __u32 *row = bpf_map_lookup_elem(&keys, (void *)&key);
	const struct lat_hist *hist = row ? bpf_map_lookup_elem(&rows, (void *)row) : NULL;

	return hist ? hist->sum_ns : 0;
}

TEST(a_wait_is_from_the_submission_to_the_request)
{
	begin_run(0);
	queue(&bios[0]);
	now_ns += 1000;
	queue(&bios[1]);
	now_ns += 500;
	waited(&bios[1], 500);
	waited(&bios[0], 1500);
	assert_int_equal(count_of(LAT_SEEN), 2);
}

TEST(bios_within_a_bio_have_their_own_waits)
{
	begin_run(0);
	queue(&bios[0]); /* of a device without requests, which makes two others */
	now_ns += 1000;
	queue(&bios[1]);
	now_ns += 10;
	queue(&bios[2]);
	now_ns += 5000;
	waited(&bios[1], 5010);
	now_ns += 700;
	waited(&bios[2], 5700);
}

TEST(parts_of_a_bio_have_waited_since_it_was_submitted)
{
	begin_run(0);
	bios[0].bi_iter.bi_size = 12288;
	queue(&bios[0]);
	now_ns += 100;
	split_off(&bios[1], &bios[0], 4096);
	now_ns += 1000;
	waited(&bios[1], 1100);
	queue(&bios[0]);
	split_off(&bios[2], &bios[0], 4096);
	now_ns += 2000;
	waited(&bios[2], 3100);
	now_ns += 3000;
	waited(&bios[0], 6100);
	has_no_start(&bios[0]);
}

TEST(a_bio_that_a_driver_sends_on_has_waited_since_its_submission)
{
	begin_run(0);
	remap(&bios[0], 77); /* from a partition: it is not queued yet */
	queue(&bios[0]);
	now_ns += 3000;
	remap(&bios[0], 5000);
	now_ns += 100;
	waited(&bios[0], 3100);
}

/* io.max holds the bio of "other" back; a worker submits it. */
TEST(a_bio_that_is_held_back_belongs_to_the_task_that_submitted_it)
{
	begin_run(1U << LAT_BY_PROCESS);
	current = &other;
	run(bio_held, &bios[0], 0);
	current = &reader;
	queue(&bios[1]);
	now_ns += 2000;
	waited(&bios[1], 2000);
	now_ns += HELD_MS * 1000000;
	current = &worker;
	queue(&bios[0]);
	now_ns += 300;
	waited(&bios[0], HELD_MS * 1000000 + 2300);
	assert_int_equal(row_ns(LAT_BY_PROCESS, 20), HELD_MS * 1000000 + 2300);
	assert_int_equal(row_ns(LAT_BY_PROCESS, 10), 2000);
	assert_int_equal(row_ns(LAT_BY_PROCESS, 30), 0);
}

/* What passes the limit at once is submitted by its own task; a later bio there is not held. */
TEST(a_bio_that_is_not_held_back_waits_for_nothing)
{
	begin_run(1U << LAT_BY_PROCESS);
	run(bio_held, &bios[0], 0);
	queue(&bios[0]);
	now_ns += 40;
	waited(&bios[0], 40);
	now_ns += 1000000;
	bios[0].bi_flags = 0;
	run(bio_held, &bios[0], 0);
	queue(&bios[0]);
	current = &other; /* the bio failed, and there is another one now */
	bios[0].bi_flags = 0;
	now_ns += 1000000;
	queue(&bios[0]);
	now_ns += 5;
	waited(&bios[0], 5);
	assert_int_equal(row_ns(LAT_BY_PROCESS, 20), 5);
}

TEST(the_rest_of_a_bio_that_is_held_back_keeps_its_start)
{
	begin_run(1U << LAT_BY_PROCESS);
	bios[0].bi_iter.bi_size = 8192;
	queue(&bios[0]);
	now_ns += 10;
	split_off(&bios[1], &bios[0], 4096);
	waited(&bios[1], 10);
	run(bio_held, &bios[0], 0);
	now_ns += 5000;
	current = &worker;
	queue(&bios[0]);
	waited(&bios[0], 5010);
	assert_int_equal(row_ns(LAT_BY_PROCESS, 10), 5020);
}

TEST(a_bio_that_is_merged_has_no_wait)
{
	begin_run(0);
	queue(&bios[0]);
	run(bio_merged, &bios[0], 0);
	queue(&bios[1]);
	run(bio_merged_front, &bios[1], 0);
	assert_int_equal(count_of(LAT_SEEN), 0);
	has_no_start(&bios[0]);
	has_no_start(&bios[1]);
}

/* Never a wrong wait: that of a bio of before, or of another one. */
TEST(bios_without_a_request_are_not_mistaken_for_later_ones)
{
	begin_run(0);
	queue(&bios[0]);
	now_ns += 1000000;
	bios[0].bi_iter.bi_sector = 3;
	has_no_start(&bios[0]);
}

/* The second of two programs counts what the first one missed, and nothing twice. */
TEST(two_programs_count_each_wait_once)
{
	begin_run(0);
	config.again = 1;
	queue(&bios[0]);
	run(bio_queued_again, &bios[0], 0);
	now_ns += 100;
	waited(&bios[0], 100);
	run(bio_got_again, &bios[0], 0);
	run(bio_queued_again, &bios[1], 0);
	now_ns += 200;
	run(bio_got_again, &bios[1], 0);
	run(bio_held, &bios[2], 0);
	now_ns += 300;
	run(bio_held_again, &bios[2], 0);
	queue(&bios[2]);
	run(bio_queued_again, &bios[2], 0);
	waited(&bios[2], 300);
	run(bio_got_again, &bios[2], 0);
	assert_int_equal(count_of(LAT_SEEN), 3);
	assert_int_equal(recorded_ns(), 600);
}

TEST(a_filter_leaves_out_the_waits_of_others)
{
	begin_run(0);
	config.tgid = 20;
	queue(&bios[0]);
	now_ns += 100;
	get_request(&bios[0]);
	current = &other;
	queue(&bios[1]);
	now_ns += 10;
	waited(&bios[1], 10);
	assert_int_equal(count_of(LAT_FILTERED), 1);
	assert_int_equal(count_of(LAT_FILTERED_NS), 100);
}

/* So many wait at once that some have no place: each wait is right, or has no known start. */
static void crowd(__u64 seed)
{
	static __u64 queued_ns[BIOS];
	__u64 before, missed;
	__u32 step = 1 + below(3);

	random_begin(seed);
	begin_run(0);
	for (int i = 0; i < BIOS; i++) {
		bios[i].bi_iter.bi_sector = below(2) ? below(20) : 8 * unit_random();
		now_ns += below(1000);
		queued_ns[i] = now_ns;
		queue(&bios[i]);
	}
	for (int i = 0; i < BIOS; i++) {
		struct bio *bio = &bios[(i * 7 * step) % BIOS];

		now_ns += below(1000);
		before = recorded_ns();
		missed = count_of(LAT_MISSED_START);
		get_request(bio);
		if (count_of(LAT_MISSED_START) == missed)
			assert_int_equal(recorded_ns() - before, now_ns - queued_ns[bio - bios]);
	}
	assert_int_equal(count_of(LAT_SEEN), BIOS);
	assert_true(count_of(LAT_MISSED_START) > 0 && count_of(LAT_MISSED_START) < BIOS);
	assert_int_equal(run__imbalance(&counted->metrics[IOLAT_WAIT]), 0);
}

TEST(each_wait_of_a_crowd_is_right_or_unknown)
{
	for (__u64 seed = 0; seed < 50; seed++)
		crowd(seed);
}
