// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whom a slow block request is blamed on. A simulated disk serves requests as each test says, and
 * the programs of iolat see them begin, be issued and complete. User space learns what they take.
 * What a request lost to others follows from how the disk works, and not from the programs.
 */
static long host_loop(unsigned int times, void *each, void *context);
#define bpf_loop(times, each, context, flags) host_loop(times, (void *)(each), context)

#define const /* the test sets the config */
#include <probes/iolat/iolat.bpf.c>
#undef const

#define HOST_MEMORY (1 << 23)
#include "unit.h"

#include <core/hist.h>
#include <probes/iolat/why_disks.h>

#include "../bpf/host/kernel.h"

#define MS 1000000ULL
#define REQUESTS 64
#define SYNC (1U << __REQ_SYNC)

enum { VICTIM = 10, HOG = 20, BIG = 30, JOURNAL = 40 };

static struct task_struct tasks_of[64];
static struct css_set css_set;
static struct cgroup cgroup;
static struct kernfs_node node;
static struct gendisk disk_of_all = { .major = 7, .disk_name = "sim" };
static struct request_queue queue = { .disk = &disk_of_all };
static struct blk_mq_hw_ctx context;
static struct request requests[REQUESTS];
static bool in_flight[REQUESTS];
static struct why_cell *cell;
static struct why_pair *pairs;
static struct why_disks disks;

static long host_loop(unsigned int times, void *each, void *context)
{
	long (*call)(__u32 n, void *context) = (long (*)(__u32, void *))each;

	for (__u32 n = 0; n < times; n++)
		if (call(n, context))
			return n + 1;
	return times;
}

static struct mm_struct no_latscope;

static void begin_task(int id, const char *name, __u32 flags)
{
	tasks_of[id] = (struct task_struct){ .pid = id,
					     .tgid = id,
					     .flags = flags,
					     .group_leader = &tasks_of[id],
					     .mm = &no_latscope,
					     .cgroups = &css_set };
	snprintf(tasks_of[id].comm, sizeof(tasks_of[id].comm), "%s", name);
}

static void set_up(void)
{
	struct lat_config chosen = { .rows = 4, .flush_seq = 1U << 1, .why = 1 + LAT_BY_PROCESS };

	begin_kernel(&chosen);
	node.id = 1;
	cgroup.kn = &node;
	css_set.dfl_cgrp = &cgroup;
	begin_task(VICTIM, "victim", 0);
	begin_task(HOG, "hog", 0);
	begin_task(BIG, "big", 0);
	begin_task(JOURNAL, "jbd2/sim-8", PF_KTHREAD);
	current = &tasks_of[VICTIM];
	add_array(&cells, sizeof(struct iolat_cells), 1);
	add_hash(&start_ts, sizeof(__u64), sizeof(struct iolat_start));
	add_hash(&sent_bios, sizeof(struct sent_place), sizeof(struct sent_bio));
	cell = add_array(&why_cells, sizeof(struct why_cell), 1);
	pairs = add_array(&why_pairs, sizeof(struct why_pair), WHY_PLACES);
	add_array(&why_flights, sizeof(struct flights), REQUESTS);
	add_array(&why_disks, sizeof(struct disk), 1);
	add_array(&why_names, sizeof(struct submitter), 64);
	add_array(&why_work, 2 * sizeof(struct work), 1);
	disks.loads = add_array(&why_loads, sizeof(struct why_load), WHY_DISKS);
	disks.kinds = add_array(&why_kinds, sizeof(struct why_kind), WHY_KINDS);
	memset(table, 0, sizeof(table));
	memset(in_flight, 0, sizeof(in_flight));
	looked_up = 0;
	plain = false;
	*(__u32 *)&sees_start = 1;
	control.armed = 1;
	why_control = (struct why_control){ .least_ns = 1, .over_ns = 1, .event_ns = ~0ULL };
}

/* ---- requests ---- */

static void run(int (*program)(__u64 *), const struct request *rq, __u64 bytes)
{
	__u64 arguments[] = { (__u64)rq, 0, bytes };

	program(arguments);
}

/* Begins a request of a task, and gives it to the driver `queued` later. Returns its number. */
static int submit_for(int task, __u32 flags, __u32 bytes, __u64 queued_ns)
{
	int i = 0;
	struct request *rq;

	while (in_flight[i])
		i++;
	assert_true(i < REQUESTS);
	in_flight[i] = true;
	rq = &requests[i];
	current = &tasks_of[task];
	*rq = (struct request){ .q = &queue,
				.mq_hctx = &context,
				.cmd_flags = flags,
				.tag = i,
				.internal_tag = -1,
				.nr_phys_segments = 1,
				.__data_len = bytes,
				.start_time_ns = now_ns };
	run((void *)hashed_start, rq, 0);
	now_ns += queued_ns;
	rq->state = 1;
	run((void *)hashed_issue, rq, 0);
	return i;
}

static int read_for(int task, __u32 bytes)
{
	return submit_for(task, REQ_OP_READ, bytes, 0);
}

static void complete_one(int i)
{
	run((void *)hashed_complete, &requests[i], requests[i].__data_len);
	in_flight[i] = false;
}

static void pass(__u64 ns)
{
	now_ns += ns;
}

static void read_alone(int task, __u32 bytes, __u64 ns, int times)
{
	int i;

	while (times--) {
		i = read_for(task, bytes);
		pass(ns);
		complete_one(i);
	}
	why_disks__learn(&disks);
}

/* Forgets what was slow so far. */
static void forget_slow(void)
{
	memset(cell, 0, sizeof(*cell));
	memset(pairs, 0, WHY_PLACES * sizeof(*pairs));
}

/* ---- what it was blamed on ---- */

/* Time of the part of all; of a culprit, if it is not 0; of a victim. */
static __u64 blamed(int victim, __u32 part, int culprit)
{
	__u64 ns = 0;

	for (__u32 i = WHY_PARTS; i < WHY_PLACES; i++)
		if (pairs[i].state == WHY_READY && pairs[i].part == part &&
		    pairs[i].victim.id == (__u64)victim &&
		    (!culprit || pairs[i].culprit.id == (__u64)culprit))
			ns += pairs[i].amount.ns;
	return ns;
}

/* Within 1 %, and 10 us. */
static void assert_about(__u64 got, __u64 wanted)
{
	__u64 slack = wanted / 100 + 10000;

	if (got + slack < wanted || got > wanted + slack)
		fail_msg("%llu ns, not %llu", got, wanted);
}

static void assert_adds_up(void)
{
	__u64 sum = 0;

	for (int i = 0; i < WHY_PARTS; i++)
		sum += cell->part_ns[i];
	assert_int_equal(sum, cell->slow_ns);
	for (__u32 i = 0; i < WHY_PLACES; i++)
		sum -= pairs[i].amount.ns;
	assert_int_equal(sum, 0);
}

/* ---- tests ---- */

/* Each takes 10 ms with 16 others, as alone. */
TEST(a_parallel_disk_blames_nobody)
{
	int others[16], own;

	read_alone(VICTIM, 4096, 10 * MS, 20);
	forget_slow();
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 16; i++)
			others[i] = read_for(HOG, 4096);
		own = read_for(VICTIM, 4096);
		pass(10 * MS);
		for (int i = 0; i < 16; i++)
			complete_one(others[i]);
		complete_one(own);
	}
	assert_adds_up();
	assert_about(blamed(VICTIM, WHY_IOLAT_DEVICE, 0), 200 * MS);
	assert_true(blamed(VICTIM, WHY_IOLAT_OTHER, HOG) < 10 * MS);
	assert_true(blamed(HOG, WHY_IOLAT_OTHER, VICTIM) < 10 * MS);
}

/* One after the other: the victim waits for those before it, in the queue or with the driver. */
static void serve_serially(int nr_before, __u64 queued_ns)
{
	int others[16], own;

	for (int i = 0; i < nr_before; i++)
		others[i] = read_for(HOG, 4096);
	own = submit_for(VICTIM, REQ_OP_READ, 4096, queued_ns);
	for (int i = 0; i < nr_before; i++) {
		pass(10 * MS - (i ? 0 : queued_ns));
		complete_one(others[i]);
	}
	pass(10 * MS);
	complete_one(own);
}

TEST(a_serial_disk_blames_those_before)
{
	read_alone(VICTIM, 4096, 10 * MS, 20);
	forget_slow();
	for (int round = 0; round < 20; round++)
		serve_serially(3, round % 2 ? 9 * MS : 0);
	assert_adds_up();
	assert_about(blamed(VICTIM, WHY_IOLAT_OTHER, HOG), 20 * 30 * MS);
	assert_about(blamed(VICTIM, WHY_IOLAT_DEVICE, 0), 20 * 10 * MS);
	assert_int_equal(cell->part_ns[WHY_IOLAT_QUEUED], 0);
	assert_int_equal(blamed(HOG, WHY_IOLAT_OTHER, VICTIM), 0);
}

/* A disk that stops for half a second, while one request of a neighbour is served. */
TEST(a_hiccup_is_of_the_disk)
{
	int other, own;

	read_alone(VICTIM, 4096, 10 * MS, 100);
	forget_slow();
	own = read_for(VICTIM, 4096);
	other = read_for(HOG, 4096);
	pass(500 * MS);
	complete_one(other);
	complete_one(own);
	assert_adds_up();
	assert_true(blamed(VICTIM, WHY_IOLAT_OTHER, HOG) <= 21 * MS);
	assert_true(blamed(VICTIM, WHY_IOLAT_DEVICE, 0) >= 479 * MS);
}

/* The disk is as slow now and then if a request is alone: nobody is to blame. */
TEST(a_slow_tail_is_of_the_disk)
{
	int other, own;

	for (int i = 0; i < 10; i++) {
		read_alone(VICTIM, 4096, 1 * MS, 19);
		read_alone(VICTIM, 4096, 50 * MS, 1);
	}
	for (int i = 0; i < 200; i++) {
		other = read_for(HOG, 4096);
		own = read_for(VICTIM, 4096);
		pass(i % 20 ? 1 * MS : 50 * MS);
		complete_one(other);
		complete_one(own);
		if (i == 99) {
			why_disks__learn(&disks);
			forget_slow();
		}
	}
	assert_adds_up();
	assert_true(blamed(VICTIM, WHY_IOLAT_OTHER, HOG) <
		    blamed(VICTIM, WHY_IOLAT_DEVICE, 0) / 20);
}

/*
 * A disk that does so many bytes or so many requests a second: it serves them in turn, each as long
 * as `us` and 1 us for each of `per_us` bytes.
 */
static void serve_limited(unsigned int rounds, __u64 us, __u64 per_us)
{
	static const struct {
		int task;
		__u32 bytes;
	} turns[] = { { HOG, 4096 }, { BIG, 65536 }, { HOG, 4096 }, { HOG, 4096 } };
	int served[3], own;

	for (unsigned int i = 0; i < 3; i++)
		served[i] = read_for(turns[i].task, turns[i].bytes);
	for (unsigned int i = 3; i < 3 + rounds; i++) {
		const int at = (int)(unit_random() >> 20) % 4;

		own = i % 4 ? -1 : read_for(VICTIM, 4096);
		for (unsigned int j = 0; j < 3; j++) {
			pass(1000 * (us + requests[served[j]].__data_len / per_us));
			complete_one(served[j]);
			served[j] = read_for(turns[(at + j) % 4].task, turns[(at + j) % 4].bytes);
		}
		if (own >= 0) {
			pass(1000 * (us + 4096 / per_us));
			complete_one(own);
		}
		if (i == rounds / 2) {
			why_disks__learn(&disks);
			forget_slow();
		}
	}
}

static __u64 percent_of_big(void)
{
	__u64 big = blamed(VICTIM, WHY_IOLAT_OTHER, BIG),
	      hog = blamed(VICTIM, WHY_IOLAT_OTHER, HOG);

	return 100 * big / (big + hog);
}

static void blame_limited(__u64 us, __u64 per_us)
{
	random_begin(1);
	read_alone(VICTIM, 4096, 1 * MS, 20);
	serve_limited(400, us, per_us);
	assert_adds_up();
}

/* A quarter of the requests has 16 times the bytes: 84 % of all bytes. */
TEST(where_bytes_are_limited_bytes_are_blamed)
{
	blame_limited(0, 10);
	assert_in_range(percent_of_big(), 80, 88);
}

TEST(where_requests_are_limited_requests_are_blamed)
{
	blame_limited(4000, 1000000);
	assert_in_range(percent_of_big(), 21, 29);
}

/* None is completed before the first one of a batch: then those in flight are to blame. */
TEST(those_in_flight_are_blamed_if_none_was_completed)
{
	int others[4], own;

	read_alone(VICTIM, 4096, 10 * MS, 20);
	forget_slow();
	for (int i = 0; i < 4; i++)
		others[i] = read_for(i ? HOG : VICTIM, 4096);
	own = read_for(VICTIM, 4096);
	pass(50 * MS);
	complete_one(own);
	assert_adds_up();
	assert_about(blamed(VICTIM, WHY_IOLAT_OTHER, HOG), 30 * MS);
	assert_about(blamed(VICTIM, WHY_IOLAT_OWN, VICTIM), 10 * MS);
	for (int i = 0; i < 4; i++)
		complete_one(others[i]);
}

TEST(the_journal_is_named)
{
	int other, own;

	read_alone(VICTIM, 4096, 10 * MS, 20);
	forget_slow();
	other = submit_for(JOURNAL, REQ_OP_READ, 4096, 0);
	own = read_for(VICTIM, 4096);
	pass(10 * MS);
	complete_one(other);
	pass(10 * MS);
	complete_one(own);
	assert_adds_up();
	assert_about(blamed(VICTIM, WHY_IOLAT_JOURNAL, JOURNAL), 10 * MS);
	assert_int_equal(cell->part_ns[WHY_IOLAT_OTHER], 0);
}

/* Nobody waits for the one without REQ_SYNC. */
TEST(asynchronous_writes_are_not_divided)
{
	int own = submit_for(HOG, REQ_OP_WRITE, 65536, 0);

	pass(300 * MS);
	complete_one(own);
	assert_about(blamed(HOG, WHY_IOLAT_WRITEBACK, 0), 300 * MS);
	own = submit_for(HOG, REQ_OP_WRITE | SYNC, 65536, 0);
	pass(300 * MS);
	complete_one(own);
	assert_adds_up();
	assert_int_equal(cell->part_ns[WHY_IOLAT_WRITEBACK], 300 * MS);
}

/* What was completed before the ring begins is not known. */
TEST(what_the_ring_lost_is_unknown)
{
	int own;

	read_alone(VICTIM, 4096, 1 * MS, 20);
	own = read_for(VICTIM, 4096);
	for (int i = 0; i < 2 * RING; i++) {
		int other = read_for(HOG, 4096);

		pass(1 * MS);
		complete_one(other);
		if (i == RING)
			forget_slow();
	}
	complete_one(own);
	assert_adds_up();
	assert_in_range(blamed(VICTIM, WHY_IOLAT_UNKNOWN, 0) / MS, RING - 20, RING + 20);
	assert_in_range(blamed(VICTIM, WHY_IOLAT_OTHER, HOG) / MS, RING - 20, RING + 20);
}

/* The fastest tell: here it is the time with the device, as the disk takes one at a time. */
TEST(without_a_request_alone_the_fastest_are_the_bound)
{
	for (int round = 0; round < 20; round++) {
		int other = read_for(HOG, 65536),
		    own = submit_for(VICTIM, REQ_OP_READ, 4096, 10 * MS);

		complete_one(other);
		pass(10 * MS);
		complete_one(own);
		if (round == 9) {
			why_disks__learn(&disks);
			forget_slow();
		}
	}
	assert_adds_up();
	assert_in_range(blamed(VICTIM, WHY_IOLAT_OTHER, HOG), 95 * MS, 105 * MS);
	assert_in_range(blamed(VICTIM, WHY_IOLAT_DEVICE, 0), 95 * MS, 105 * MS);
}

/* A request that is merged into another one ends, without completion: the disk is free again. */
TEST(merged_requests_do_not_keep_the_disk_busy)
{
	int other = submit_for(HOG, REQ_OP_READ, 4096, 0);

	run((void *)merged, &requests[other], 0);
	in_flight[other] = false;
	read_alone(VICTIM, 4096, 10 * MS, 5);
	assert_int_equal(disks.loads[0].open, 0);
	for (int i = 0; i < WHY_KINDS; i++)
		if (disks.kinds[i].key)
			assert_int_equal(disks.kinds[i].alones, 5);
}

/* Of a flush sequence the flush is its own; it waits for nobody. */
TEST(a_flush_of_its_own_is_no_neighbour)
{
	int own;
	struct request flush;

	for (int i = 0; i < 10; i++) {
		own = submit_for(VICTIM, REQ_OP_WRITE | SYNC, 4096, 0);
		requests[own].rq_flags |= 1U << 1;
		pass(3 * MS);
		run((void *)hashed_complete, &requests[own], 4096);
		requests[own].__data_len = 0;
		flush = (struct request){ .q = &queue,
					  .mq_hctx = &context,
					  .cmd_flags = REQ_OP_FLUSH,
					  .tag = own,
					  .internal_tag = -1,
					  .start_time_ns = now_ns };
		run((void *)hashed_issue, &flush, 0);
		pass(20 * MS);
		run((void *)hashed_complete, &flush, 0);
		complete_one(own);
	}
	assert_about(blamed(VICTIM, WHY_IOLAT_OTHER, 0), 0);
	assert_true(blamed(VICTIM, WHY_IOLAT_FLUSH, VICTIM) >= 199 * MS);
	assert_true(blamed(VICTIM, WHY_IOLAT_DEVICE, 0) >= 29 * MS);
}

UNIT_FIXTURES(.each = { set_up, NULL })

/* The tests above are of the general functions. By the straight ones, the same must come out. */
TEST(straight_paths_blame_the_same)
{
	static void (*const tests[])(void) = {
		a_parallel_disk_blames_nobody,
		a_serial_disk_blames_those_before,
		a_hiccup_is_of_the_disk,
		a_slow_tail_is_of_the_disk,
		where_bytes_are_limited_bytes_are_blamed,
		where_requests_are_limited_requests_are_blamed,
		those_in_flight_are_blamed_if_none_was_completed,
		the_journal_is_named,
		asynchronous_writes_are_not_divided,
		what_the_ring_lost_is_unknown,
		without_a_request_alone_the_fastest_are_the_bound,
		merged_requests_do_not_keep_the_disk_busy,
		a_flush_of_its_own_is_no_neighbour,
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		set_up();
		plain = true;
		tests[i]();
	}
}
