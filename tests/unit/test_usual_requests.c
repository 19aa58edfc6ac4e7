// SPDX-License-Identifier: BSD-2-Clause
/*
 * The straight paths of iolat (src/probes/iolat/usual.bpf.h) do what its general functions do. A
 * simulated kernel runs the programs for random requests, with the straight paths and without them.
 * What the programs leave behind must be the same to the last bit: histograms, counts, rows, and
 * what they keep of requests in flight.
 *
 * Requests merge, come back, complete in parts or with an error, fail before they are issued, are
 * part of flush sequences, and share the lines of the table. The kernel may skip any program. The
 * clocks of CPUs differ a little. Times are short and long, and at each edge where code branches.
 */
#include <string.h>

#define host_has_member(member) (!strcmp(member, "bio->bi_blkg"))
#define const /* the test sets the config */
#include <probes/iolat/iolat.bpf.c>
#undef const

#include "twins.h"

#define ROWS 64
#define REQUESTS 24
#define TASKS 4
#define DISKS 3
#define MAJOR 7U
#define FLUSH_SEQ (1U << 1)
#define WRITE_ZEROES 9
#define IO_STAT (1U << 7)

static struct iolat_cells *counted;

/* How this run is. */
static struct {
	bool stamps; /* the method */
	bool sees_submitter, merges, requeues;
	__u32 jump; /* of so many steps, one may take a long time */
} kind;

static struct task_struct tasks_of[TASKS];
static struct blk_plug plugs[TASKS];
static struct css_set css_sets[2];
static struct cgroup cgroups[2];
static struct kernfs_node nodes[2];
static struct gendisk disks[DISKS];
static struct request_queue queues[DISKS];
static struct blk_mq_hw_ctx contexts[DISKS];
static struct request requests[REQUESTS];
static enum { FREE, BEGUN, ISSUED } states[REQUESTS];

/* ---- a run ---- */

static void begin_tasks(void)
{
	memset(plugs, 0, sizeof(plugs));
	for (__u32 i = 0; i < 2; i++) {
		nodes[i].id = 100 + i;
		cgroups[i].kn = &nodes[i];
		css_sets[i].dfl_cgrp = &cgroups[i];
	}
	for (__u32 i = 0; i < TASKS; i++) {
		tasks_of[i] = (struct task_struct){ .pid = (int)(10 + i),
						    .tgid = (int)(10 + (i & 2)),
						    .group_leader = &tasks_of[i & 2],
						    .cgroups = &css_sets[i & 1] };
		snprintf(tasks_of[i].comm, sizeof(tasks_of[i].comm), "task%u", i);
	}
}

static void begin_disks(void)
{
	__u32 tags = one_in(3) ? 1 + below(8) : REQUESTS, on;

	for (__u32 i = 0; i < DISKS; i++) {
		disks[i] = (struct gendisk){ .major = MAJOR, .first_minor = (int)i };
		snprintf(disks[i].disk_name, sizeof(disks[i].disk_name), "loop%u", i);
		queues[i] = (struct request_queue){ .id = (int)below(3), .disk = &disks[i] };
		contexts[i].queue_num = below(2);
	}
	for (__u32 i = 0; i < REQUESTS; i++) {
		on = below(DISKS);
		requests[i] = (struct request){ .q = &queues[on],
						.mq_hctx = &contexts[on],
						.tag = (int)(i % tags),
						.internal_tag = one_in(2) ? -1 : (int)(i % tags) };
		states[i] = FREE;
	}
}

static void begin_run(__u64 seed, bool usual)
{
	struct lat_config chosen = { .rows = ROWS, .flush_seq = FLUSH_SEQ };

	random_begin(seed);
	kind.stamps = one_in(2);
	kind.sees_submitter = !kind.stamps && one_in(2);
	kind.merges = one_in(2);
	kind.requeues = one_in(3);
	skips = one_in(2) ? 0 : 3 + below(20);
	kind.jump = 10 + 500 * below(3);
	chosen.cached = one_in(2);
	chosen.io_stat = one_in(2) ? IO_STAT : 0;
	chosen.identity = kind.sees_submitter;
	chosen.by = one_in(2) ? 1U << LAT_BY_DISK | 1U << LAT_BY_OP : 0;
	if (kind.sees_submitter)
		chosen.by |= 1U << below(LAT_BY_DISK);
	chosen.by |= one_in(3) ? 1U << LAT_BY_CPU : 0;
	chosen.disk = one_in(3) ? MAJOR << 20 | 1 : 0;
	chosen.tail_ns = one_in(3) ? 8000 : 1024000;
	chosen.first_rows = one_in(3) ? 3 : ROWS;
	begin_kernel(&chosen);
	counted = add_array(&cells, sizeof(*counted), 1);
	add_hash(&start_ts, sizeof(__u64), sizeof(struct iolat_start));
	add_hash(&sent_bios, sizeof(struct sent_place), sizeof(struct sent_bio));
	if (one_in(2))
		host_map_of(&start_ts)->max = 2;
	memset(table, 0, sizeof(table));
	control.armed = 1;
	control.next_row = 1;
	looked_up = 0;
	checking = kind.stamps && one_in(2);
	plain = usual;
	batches = one_in(2);
	begin_tasks();
	begin_disks();
}

/* Clears what has no meaning: stamps that are free, the work space of completions. */
static void keep_left(struct left *left)
{
	memset(counted->samples, 0, sizeof(counted->samples));
	for (int line = 0; line < IOLAT_LINES; line++)
		for (int way = 0; way < IOLAT_WAYS; way++)
			if (!table[line][way].request)
				memset(&table[line][way], 0, sizeof(struct iolat_stamp));
	keep_maps(left);
	keep_bytes(left, table, sizeof(table));
	keep_bytes(left, &looked_up, sizeof(looked_up));
}

/* ---- the block layer ---- */

static void run(int (*program)(__u64 *), struct request *rq, __u64 error, __u64 bytes)
{
	__u64 arguments[] = { (__u64)rq, error, bytes };

	if (is_seen())
		program(arguments);
}

/* Time passes, and another task is current. */
static void step(void)
{
	static const __u64 edges[] = { 0,	 1,	  31,	   32,	     999,  1000,
				       1999,	 2000,	  7999,	   8000,     8001, 63999999,
				       64000000, 1023999, 1024000, 500000000 };
	static const __u64 jumps[] = { (1ULL << 30) - 1, 1ULL << 30,	(1ULL << 30) + 1,
				       2000000000,	 4300000000ULL, 70000000000ULL };

	if (one_in(kind.jump))
		now_ns += jumps[below(COUNT_OF(jumps))];
	else if (one_in(2))
		now_ns += edges[below(COUNT_OF(edges))];
	else
		now_ns += below(1U << (1 + below(18)));
	if (one_in(60))
		now_ns -= below(150);
	current = &tasks_of[below(TASKS)];
	if (one_in(4))
		current->plug = one_in(2) ? NULL : &plugs[current - tasks_of];
	if (current->plug && one_in(3))
		current->plug->cur_ktime = one_in(3) ? 0 : now_ns - below(2000);
}

/* The time by which the kernel stamps. */
static __u64 stamp(void)
{
	return config.cached && current->plug && current->plug->cur_ktime ? current->plug->cur_ktime
									  : now_ns;
}

static __u32 op_of(const struct request *rq)
{
	return rq->cmd_flags & REQ_OP_MASK;
}

static void set_flags(struct request *rq)
{
	static const __u32 rare[] = { REQ_OP_FLUSH, REQ_OP_DISCARD, REQ_OP_SECURE_ERASE,
				      REQ_OP_DRV_OUT, WRITE_ZEROES };
	__u32 often = one_in(2) ? REQ_OP_READ : REQ_OP_WRITE;

	rq->cmd_flags = (below(11) < 6 ? often : rare[below(COUNT_OF(rare))]) | below(16) << 8;
	rq->rq_flags = one_in(8) ? 0 : IO_STAT;
	rq->__data_len = op_of(rq) == REQ_OP_FLUSH ? 0 : 512 + 512 * below(8);
	rq->nr_phys_segments = (unsigned short)(1 + below(3));
	if (op_of(rq) != REQ_OP_WRITE || !one_in(5))
		return;
	rq->rq_flags |= FLUSH_SEQ;
	if (one_in(3))
		rq->__data_len = rq->nr_phys_segments = 0;
}

static void begin_request(struct request *rq)
{
	set_flags(rq);
	rq->start_time_ns = rq->rq_flags & IO_STAT ? stamp() : one_in(2) ? 0 : now_ns - 12345;
	rq->io_start_time_ns = 0;
	rq->state = MQ_RQ_IDLE;
	if (kind.sees_submitter)
		run((void *)submit_start, rq, 0, 0);
	else if (config.cached)
		run((void *)hashed_start, rq, 0, 0);
	if (rq->rq_flags & IO_STAT && one_in(3)) { /* since 6.13 it is stamped only now */
		step();
		rq->start_time_ns = stamp();
	}
}

static void issue_request(struct request *rq)
{
	rq->state = 1;
	if (op_of(rq) == REQ_OP_WRITE && !rq->__data_len) /* a flush without data */
		return;
	if (!one_in(10))
		rq->io_start_time_ns = stamp();
	if (!kind.stamps || checking)
		run((void *)hashed_issue, rq, 0, 0);
}

/* The request is merged into another one, which gets its start if that is earlier. */
static void merge_request(const struct request *rq)
{
	__u32 other = below(REQUESTS);

	if (states[other] == BEGUN && rq->start_time_ns < requests[other].start_time_ns)
		requests[other].start_time_ns = rq->start_time_ns;
	if (kind.sees_submitter)
		run((void *)merged, (struct request *)rq, 0, 0);
}

/* Returns whether all of it has completed. */
static bool complete_request(struct request *rq)
{
	bool goes_on = rq->rq_flags & FLUSH_SEQ && rq->__data_len;
	__u32 bytes = rq->__data_len;
	int (*program)(__u64 *) = kind.stamps ? stamps_complete : hashed_complete;
	__u64 error = one_in(12) ? 5 : 0;

	if (bytes > 512 && one_in(10)) {
		run(program, rq, error, 512);
		rq->__data_len -= 512;
		return false;
	}
	run(program, rq, error, bytes + (one_in(20) ? 512 : 0));
	if (!goes_on)
		return true;
	rq->__data_len = 0;
	if (one_in(2))
		rq->rq_flags &= ~FLUSH_SEQ;
	return false;
}

static void requeue_request(struct request *rq)
{
	run((void *)(kind.stamps ? stamps_requeue : hashed_requeue), rq, 0, 0);
	rq->state = MQ_RQ_IDLE;
}

/* Something happens to a request. */
static void act(__u32 i)
{
	struct request *rq = &requests[i];

	step();
	if (states[i] == FREE) {
		begin_request(rq);
		states[i] = BEGUN;
	} else if (states[i] == BEGUN && kind.merges && one_in(12)) {
		merge_request(rq);
		states[i] = FREE;
	} else if (states[i] == BEGUN && !one_in(25)) {
		issue_request(rq);
		states[i] = ISSUED;
	} else if (states[i] == ISSUED && kind.requeues && one_in(15)) {
		requeue_request(rq);
		states[i] = BEGUN;
	} else if (states[i] == ISSUED && skips && one_in(30)) {
		issue_request(rq); /* once more, and nobody saw why */
	} else if (complete_request(rq)) {
		states[i] = FREE;
	}
}

/* The check of the kernel's stamps begins and ends, and so does the window. */
static void switch_over(void)
{
	if (kind.stamps && one_in(800)) {
		checking = !checking;
		if (checking)
			memset(table, 0, sizeof(table));
	}
	if (one_in(500))
		control.armed = one_in(4);
}

static void simulate(__u64 seed, bool usual, struct left *left)
{
	begin_run(seed, usual);
	for (int i = 0; i < 1500; i++) {
		switch_over();
		act(below(REQUESTS));
	}
	keep_left(left);
}

/* ---- tests ---- */

static void compare_paths(__u64 seed)
{
	simulate(seed, false, &general);
	simulate(seed, true, &straight);
	same_cells(seed, counted->metrics, IOLAT_METRICS);
	same_left(seed);
	recorded += hist__count(&counted->metrics[IOLAT_TOTAL].hist);
}

TEST(straight_paths_do_what_the_general_ones_do)
{
	for_seeds(compare_paths, 400, 20 * 400);
}

/* seen is the sum of all terms, whatever happens. */
static void balance(__u64 seed)
{
	simulate(seed, true, &straight);
	for (int metric = 0; metric < IOLAT_METRICS; metric++)
		assert_int_equal(run__imbalance(&counted->metrics[metric]), 0);
	assert_int_equal(counted->nested, 0);
	recorded += hist__count(&counted->metrics[IOLAT_TOTAL].hist);
}

TEST(accounts_balance)
{
	for_seeds(balance, 100, 20 * 100);
}

/*
 * Nothing is missed where the kernel skips no program, also if a request merges before its issue. A
 * request that came back may merge, too; only with submitters, a program sees that.
 */
static void abandon_nothing(__u64 seed)
{
	simulate(seed, seed % 2, &straight);
	if (skips || kind.stamps || (kind.requeues && kind.merges && !kind.sees_submitter))
		return;
	recorded++;
	same_count(seed, LAT_ABANDONED, counted->metrics[IOLAT_DEVICE].counts[LAT_ABANDONED], 0);
}

TEST(nothing_is_abandoned_if_no_program_is_skipped)
{
	for_seeds(abandon_nothing, 400, 50);
}

/* A run without skipped programs, by the method tp_btf without splits and filters. */
static struct request *begin_simple_run(void)
{
	struct request *rq = &requests[0];

	begin_run(0, true);
	skips = 0;
	kind.stamps = checking = false;
	config.cached = config.identity = config.by = config.disk = 0;
	host_map_of(&start_ts)->max = ENTRIES;
	rq->rq_flags = IO_STAT;
	rq->cmd_flags = REQ_OP_READ;
	rq->__data_len = 4096;
	rq->start_time_ns = now_ns;
	return rq;
}

/* A merge after a requeue gives it the start of the other request: it is still the same one. */
TEST(a_request_that_came_back_keeps_its_first_issue_if_it_merges)
{
	struct request *rq = begin_simple_run();

	now_ns += 10000;
	issue_request(rq);
	now_ns += 10000;
	requeue_request(rq);
	rq->start_time_ns -= 5000;
	now_ns += 1000000;
	issue_request(rq);
	now_ns += 100000;
	run(hashed_complete, rq, 0, rq->__data_len);
	assert_int_equal(counted->metrics[IOLAT_DEVICE].hist.sum_ns, 1110000);
	assert_int_equal(counted->metrics[IOLAT_QUEUED].hist.sum_ns, 15000);
	assert_int_equal(counted->metrics[IOLAT_TOTAL].hist.sum_ns, 1125000);
	assert_int_equal(counted->metrics[IOLAT_DEVICE].counts[LAT_ABANDONED], 0);
	assert_int_equal(looked_up, 0);
	assert_int_equal(host_map_of(&start_ts)->used, 0);
}

/* Another request at the address of one that came back, of which the end was missed. */
TEST(a_later_request_at_the_same_address_is_another_one)
{
	struct request *rq = begin_simple_run();

	issue_request(rq);
	requeue_request(rq);
	now_ns += 1000000;
	rq->start_time_ns = now_ns;
	issue_request(rq);
	now_ns += 100000;
	run(hashed_complete, rq, 0, rq->__data_len);
	assert_int_equal(counted->metrics[IOLAT_DEVICE].hist.sum_ns, 100000);
	assert_int_equal(counted->metrics[IOLAT_DEVICE].counts[LAT_ABANDONED], 1);
	assert_int_equal(looked_up, 0);
}

TEST(errors_are_counted_by_kind)
{
	static const __u32 kinds[] = { 2, 10, 7 };
	static const __u32 errors[] = { 0, 10, 2, 5, 10, 16, 10 };
	struct request *rq = begin_simple_run();
	const __u64 *counts = counted->metrics[IOLAT_TOTAL].counts;

	memcpy(error_kinds, kinds, sizeof(kinds));
	for (size_t i = 0; i < COUNT_OF(errors); i++) {
		issue_request(rq);
		run(hashed_complete, rq, errors[i], rq->__data_len);
	}
	assert_int_equal(counts[LAT_ERRORS], 6);
	assert_int_equal(counts[LAT_ERRORS_TIMEOUT], 1);
	assert_int_equal(counts[LAT_ERRORS_IO], 3);
	assert_int_equal(counts[LAT_ERRORS_MEDIUM], 0);
	memset(error_kinds, 0, sizeof(error_kinds));
}

/* Who a request is charged to, whose pages' owner is cgroup 1, and what the filter says. */
static struct iolat_submitter charge(struct request *rq, __u32 thread_flags, __u64 wanted)
{
	const struct iolat_submitter *who;

	config.identity = 1;
	config.by = 1U << LAT_BY_CGROUP;
	config.cgroup = wanted;
	memset(table, 0, sizeof(table));
	current = &tasks_of[0]; /* of cgroup 0 */
	current->flags = thread_flags;
	run((void *)submit_start, rq, 0, 0);
	who = &table[line_of(rq)][0].submitter;
	current->flags = 0;
	config.cgroup = 0;
	return *who;
}

TEST(what_a_kernel_thread_writes_back_is_of_the_owner_of_the_pages)
{
	struct request *rq = begin_simple_run();
	struct blkcg group = { .css.cgroup = &cgroups[1] };
	struct blkcg_gq blkg = { .blkcg = &group };
	struct bio bio = { .bi_blkg = &blkg };
	char other = 0;

	rq->bio = &bio;
	assert_int_equal(charge(rq, PF_KTHREAD, 0).cgroup, 101);
	assert_false(charge(rq, PF_KTHREAD, 101).unwanted);
	assert_true(charge(rq, PF_KTHREAD, 100).unwanted);
	/* The thread stays the submitter, by process. */
	assert_int_equal(charge(rq, PF_KTHREAD, 0).pid_tgid >> 32, 10);
	/* A task that is no kernel thread pays itself. */
	assert_int_equal(charge(rq, 0, 0).cgroup, 100);
	assert_true(charge(rq, 0, 101).unwanted);
	/* So does a thread, if the owner is in no cgroup of v2, or is not known. */
	cgroups[1].root = (void *)&other;
	assert_int_equal(charge(rq, PF_KTHREAD, 0).cgroup, 100);
	cgroups[1].root = NULL;
	bio.bi_blkg = NULL;
	assert_int_equal(charge(rq, PF_KTHREAD, 0).cgroup, 100);
	rq->bio = NULL;
	assert_false(charge(rq, PF_KTHREAD, 100).unwanted);
}

/* Task 2 submits a bio to a device with a driver above the disk, whose thread sends on `bio`. */
static void send_on(struct bio *bio, struct block_device *upper)
{
	struct bio first = { .bi_bdev = upper, .bi_opf = REQ_OP_READ, .bi_iter.bi_sector = 7 };
	__u64 queued[] = { (__u64)&first }, remapped[] = { (__u64)bio, 0, 7 };

	remapped[1] = disk_id(upper->bd_disk);
	current = &tasks_of[2];
	sent_first(queued);
	current = &tasks_of[0];
	current->flags = PF_KTHREAD;
	sent_on(remapped);
	current->flags = 0;
}

TEST(a_request_of_a_driver_above_the_disk_is_of_who_submitted_it_there)
{
	struct request *rq = begin_simple_run();
	const int blk_mq = 0;
	struct request_queue bios = { .id = 9 };
	struct gendisk dm = { .major = 253, .queue = &bios };
	struct block_device upper = { .bd_disk = &dm },
			    part = { .bd_start_sect = 2048, .bd_dev = 5 };
	struct bio bio = { .bi_bdev = &part, .bi_opf = REQ_OP_READ, .bi_iter.bi_sector = 100 };
	struct bio other = bio;

	config.identity = 1;
	rq->q->mq_ops = &blk_mq;
	rq->q->disk->queue = rq->q;
	part.bd_disk = rq->q->disk;
	send_on(&bio, &upper);
	rq->__sector = 2148;
	rq->bio = &bio;
	assert_int_equal(charge(rq, PF_KTHREAD, 0).pid_tgid >> 32, 12);
	assert_int_equal(charge(rq, 0, 0).pid_tgid >> 32, 10);
	/* Another bio with the same place. */
	rq->bio = &other;
	assert_int_equal(charge(rq, PF_KTHREAD, 0).pid_tgid >> 32, 10);
	rq->bio = &bio;
	rq->__sector = 100;
	assert_int_equal(charge(rq, PF_KTHREAD, 0).pid_tgid >> 32, 10);
	rq->__sector = 2148;
	rq->cmd_flags = REQ_OP_WRITE;
	assert_int_equal(charge(rq, PF_KTHREAD, 0).pid_tgid >> 32, 10);
}

/* Of a bio that is split, both parts are. */
TEST(parts_of_a_bio_that_was_sent_on_are_of_who_submitted_it)
{
	struct request *rq = begin_simple_run();
	const int blk_mq = 0;
	struct request_queue bios = { .id = 9 };
	struct gendisk dm = { .major = 253, .queue = &bios };
	struct block_device upper = { .bd_disk = &dm }, disk = { .bd_dev = 5 };
	struct bio whole = { .bi_bdev = &disk, .bi_opf = REQ_OP_READ, .bi_iter = { 100, 8192 } };
	struct bio other = whole;
	struct bio first = { .bi_bdev = &disk,
			     .bi_opf = REQ_OP_READ,
			     .bi_iter = { 100, 4096 },
			     .bi_private = &other };
	__u64 split[] = { (__u64)&first, 108 };

	config.identity = 1;
	rq->q->mq_ops = &blk_mq;
	rq->q->disk->queue = rq->q;
	disk.bd_disk = rq->q->disk;
	send_on(&whole, &upper);
	/* Another bio, which begins at the same place. */
	sent_split(split);
	rq->bio = &first;
	rq->__sector = 100;
	assert_int_equal(charge(rq, PF_KTHREAD, 0).pid_tgid >> 32, 10);
	first.bi_private = &whole;
	sent_split(split);
	assert_int_equal(charge(rq, PF_KTHREAD, 0).pid_tgid >> 32, 12);
	rq->bio = &whole;
	rq->__sector = 108;
	assert_int_equal(charge(rq, PF_KTHREAD, 0).pid_tgid >> 32, 12);
	rq->__sector = 116;
	assert_int_equal(charge(rq, PF_KTHREAD, 0).pid_tgid >> 32, 10);
}

/* ---- batches ---- */

static bool scheduled; /* a scheduler has the requests */

/*
 * A disk of a depth of 8 whose requests complete in batches of so many; `own_ns`: how long the
 * kernel works on a completion. Returns what the kernel accounts: in a batch, it reads the clock
 * once. With `lost_ns`, the tracepoint comes so much later than the kernel's clock: an error.
 */
static __u64 complete_batches(struct request *first, int size, __u64 own_ns, __u64 lost_ns)
{
	__u64 kernel_ns = 0, at_ns;

	batches = true;
	for (int i = 0; i < 8; i++) {
		first[i] = first[0];
		first[i].tag = i;
		first[i].internal_tag = scheduled ? i : -1;
		first[i].start_time_ns = now_ns;
		issue_request(&first[i]);
	}
	for (int round = 0; round < 100; round++) {
		now_ns += 90000;
		at_ns = now_ns;
		now_ns += lost_ns;
		for (int i = 0; i < size; i++) {
			kernel_ns += at_ns - first[i].start_time_ns;
			run(hashed_complete, &first[i], 0, first[i].__data_len);
			now_ns += own_ns;
		}
		for (int i = 0; i < size; i++) {
			first[i].start_time_ns = now_ns;
			issue_request(&first[i]);
		}
	}
	return kernel_ns;
}

static __u64 sum_of_total(void)
{
	return counted->metrics[IOLAT_TOTAL].hist.sum_ns;
}

static __u64 batch_ns(void)
{
	return counted->metrics[IOLAT_TOTAL].counts[LAT_EARLY_NS];
}

TEST(a_batch_explains_by_how_much_the_kernel_has_less_time)
{
	static const int sizes[] = { 2, 4, 8 };

	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		struct request *rq = begin_simple_run();
		__u64 kernel_ns = complete_batches(rq, sizes[i], 3000, 0);

		assert_true(sum_of_total() > kernel_ns);
		assert_int_equal(sum_of_total() - batch_ns(), kernel_ns);
	}
}

/* An error stays one: the interval does not become wider by it, and is 0 without batches. */
TEST(what_is_no_batch_explains_nothing)
{
	struct request *rq = begin_simple_run();
	__u64 kernel_ns = complete_batches(rq, 1, 3000, 0);

	assert_int_equal(batch_ns(), 0);
	assert_int_equal(sum_of_total(), kernel_ns);

	rq = begin_simple_run();
	kernel_ns = complete_batches(rq, 4, 3000, 5000);
	assert_int_equal(sum_of_total() - batch_ns(), kernel_ns + 100ULL * 4 * 5000);

	/* Interrupts, one after the other, of a disk that takes 60 us for each. */
	rq = begin_simple_run();
	complete_batches(rq, 8, 60000, 0);
	assert_int_equal(batch_ns(), 0);
	/* The kernel makes no batches of what a scheduler has. */
	rq = begin_simple_run();
	scheduled = true;
	complete_batches(rq, 8, 3000, 0);
	scheduled = false;
	assert_int_equal(batch_ns(), 0);
}
