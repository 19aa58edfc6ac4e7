// SPDX-License-Identifier: BSD-2-Clause
/* Properties of RMID allocation, one test for each: docs/rmid.md names them. */
#include "unit.h"

#include "../../kmod/rmid/book.h"

#define COUNT 3
#define ROOM 4
#define LIMBO LATSCOPE_RMID_LIMBO_NS

static struct rmid_book book;
static struct rmid_info infos[COUNT + 1];
static __u64 keys[PROCS_WAYS];
static struct rmid_process places[PROCS_WAYS];
static struct latscope_rmid_owner record;

static void set_up(void)
{
	memset(keys, 0, sizeof(keys));
	assert_int_equal(procs__lines(ROOM), 1);
	rmid_alloc__init(&book.alloc, infos, COUNT, LIMBO);
	procs__init(&book.procs, keys, places, ROOM);
	book__init(&book);
}

static bool born(__u64 key, __u32 threads, __u64 now_ns)
{
	struct rmid_birth birth = { .key = key, .tgid = (__u32)key, .threads = threads };

	return book__birth(&book, &birth, now_ns);
}

/* Born and served: its RMID, 0 if it has to wait. */
static __u32 begin(__u64 key, __u64 now_ns)
{
	assert_true(born(key, 1, now_ns));
	return book__serve(&book, now_ns, &record) ? record.rmid : 0;
}

static bool end(__u64 key, __u64 now_ns)
{
	return book__thread_gone(&book, key, 0, now_ns, &record);
}

/* Processes 1 to COUNT have all RMIDs. */
static void set_up_full(void)
{
	set_up();
	for (__u64 key = 1; key <= COUNT; key++)
		assert_true(begin(key, 0));
}

static __u32 rmid_of(__u64 key)
{
	__u32 place = book__place(&book, key);

	assert_int_not_equal(place, PROCS_NONE);
	return book__rmid(&book, place);
}

TEST(test_threads_of_a_process_share_its_rmid, set_up)
{
	__u32 rmid = begin(10, 0);

	assert_true(rmid);
	assert_true(book__thread(&book, 10));
	assert_true(book__thread(&book, 10));
	assert_int_equal(rmid_of(10), rmid);
	assert_int_equal(book.assigned, 1);
}

TEST(test_processes_do_not_share_an_rmid, set_up)
{
	__u32 first = begin(10, 0), second = begin(20, 0);

	assert_true(first && second && first != second);
}

TEST(test_rmid_0_is_never_given_out, set_up)
{
	for (__u64 round = 0; round < 50; round++) {
		__u64 now_ns = round * LIMBO;

		assert_int_not_equal(begin(10, now_ns), 0);
		assert_true(end(10, now_ns));
		assert_int_not_equal(record.rmid, 0);
	}
	assert_int_equal(rmid_alloc__owner(&book.alloc, 0), RMID_NOBODY);
	assert_false(rmid_alloc__put(&book.alloc, 0, 0));
}

TEST(test_allocation_fails_if_none_has_been_free_for_long_enough, set_up_full)
{
	assert_int_equal(begin(9, 0), 0);
	assert_int_equal(book.counts.refused, 1);
	assert_int_equal(book.waiting, 1);
	assert_true(end(1, 100));
	assert_false(book__serve(&book, 100, &record));
	assert_int_equal(book.counts.refused, 2);
	assert_int_equal(rmid_of(9), 0);
}

TEST(test_who_was_refused_is_served_later, set_up_full)
{
	__u32 freed;

	assert_int_equal(begin(9, 5), 0);
	assert_true(end(2, 100));
	freed = record.rmid;
	assert_false(book__may_serve(&book, 100 + LIMBO - 1));
	assert_true(book__may_serve(&book, 100 + LIMBO));
	assert_true(book__serve(&book, 100 + LIMBO, &record));
	assert_int_equal(record.tgid, 9);
	assert_int_equal(record.rmid, freed);
	assert_int_equal(record.why, LATSCOPE_RMID_LATE);
	assert_int_equal(record.since_ns, 5);
	assert_int_equal(book.counts.late, 1);
}

TEST(test_who_waits_longest_is_served_first, set_up_full)
{
	assert_int_equal(begin(9, 5), 0);
	assert_true(end(1, 10));
	/* A newborn does not overtake. */
	assert_true(born(8, 1, 10 + LIMBO));
	assert_true(book__serve(&book, 10 + LIMBO, &record));
	assert_int_equal(record.tgid, 9);
	assert_int_equal(rmid_of(8), 0);
}

TEST(test_who_dies_waiting_leaves_the_queue, set_up_full)
{
	assert_int_equal(begin(9, 5), 0);
	assert_false(end(9, 6));
	assert_int_equal(book.waiting, 0);
	assert_true(end(1, 10));
	assert_false(book__serve(&book, 10 + LIMBO, &record));
}

TEST(test_freed_rmids_are_reused_in_the_order_of_freeing, set_up)
{
	__u32 rmids[COUNT + 1];
	static const __u64 order[] = { 2, 3, 1 };

	for (__u64 key = 1; key <= COUNT; key++)
		rmids[key] = begin(key, 0);
	for (int i = 0; i < COUNT; i++)
		assert_true(end(order[i], 10 + i));
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(begin(20 + i, 1000 + LIMBO), rmids[order[i]]);
}

TEST(test_limbo_lasts_2_ms, set_up)
{
	__u32 rmid;

	assert_int_equal(LIMBO, 2000000);
	begin(1, 0);
	begin(2, 0);
	rmid = begin(3, 0);
	assert_true(end(3, 1000));
	assert_int_equal(begin(4, 1000 + LIMBO - 1), 0);
	assert_true(book__serve(&book, 1000 + LIMBO, &record));
	assert_int_equal(record.rmid, rmid);
}

TEST(test_a_clock_that_goes_back_shortens_no_limbo, set_up_full)
{
	assert_true(end(1, 5000));
	assert_true(end(2, 4000));
	assert_int_equal(record.time_ns, 5000);
	assert_true(begin(4, 5000 + LIMBO));
	assert_true(begin(5, 4000 + LIMBO)); /* it is 5000 + LIMBO still */
	assert_int_equal(record.time_ns, 5000 + LIMBO);
}

TEST(test_nor_does_it_if_the_allocator_alone_is_told, set_up)
{
	__u32 first = rmid_alloc__get(&book.alloc, 1, 0), second;

	second = rmid_alloc__get(&book.alloc, 2, 0);
	assert_true(rmid_alloc__get(&book.alloc, 3, 0));
	assert_true(rmid_alloc__put(&book.alloc, first, 5000));
	assert_true(rmid_alloc__put(&book.alloc, second, 1000));
	assert_int_equal(rmid_alloc__get(&book.alloc, 1, 5000 + LIMBO), first);
	assert_int_equal(rmid_alloc__get(&book.alloc, 1, 5000 + LIMBO), second);
	assert_true(rmid_alloc__put(&book.alloc, second, 9000));
	assert_true(rmid_alloc__put(&book.alloc, first, 1000));
	assert_true(rmid_alloc__get(&book.alloc, 1, 9000 + LIMBO));
	assert_int_equal(rmid_alloc__ready_ns(&book.alloc), 9000 + LIMBO);
}

TEST(test_freed_by_the_last_thread_not_the_first, set_up)
{
	__u32 rmid = begin(10, 0);

	assert_true(book__thread(&book, 10));
	assert_false(end(10, 1)); /* the leader's, say */
	assert_int_equal(rmid_of(10), rmid);
	assert_true(end(10, 2));
	assert_int_equal(record.rmid, rmid);
	assert_int_equal(record.why, LATSCOPE_RMID_EXIT);
	assert_int_equal(record.time_ns, 2);
	assert_int_equal(book__place(&book, 10), PROCS_NONE);
}

TEST(test_not_freed_while_a_thread_lives_that_was_not_counted, set_up)
{
	__u32 rmid = begin(10, 0);

	assert_false(book__thread_gone(&book, 10, 1, 1, &record));
	assert_int_equal(book.counts.miscounted, 1);
	assert_int_equal(rmid_of(10), rmid);
	assert_true(end(10, 2));
}

TEST(test_kept_over_exec, set_up)
{
	__u32 rmid = begin(10, 0);

	assert_true(book__exec(&book, 10, "new name\0\0\0\0\0\0\0", 7, &record));
	assert_int_equal(record.rmid, rmid);
	assert_int_equal(record.why, LATSCOPE_RMID_EXEC);
	assert_string_equal(record.comm, "new name");
	assert_int_equal(rmid_of(10), rmid);
}

TEST(test_the_same_pid_again_is_another_process, set_up)
{
	struct rmid_birth birth = { .key = 10, .tgid = 77, .threads = 1, .start_ns = 1 };

	assert_true(book__birth(&book, &birth, 0));
	assert_true(book__serve(&book, 0, &record));
	birth.key = 20; /* before the old one has gone */
	birth.start_ns = 2;
	assert_true(book__birth(&book, &birth, 5));
	assert_true(book__serve(&book, 5, &record));
	assert_true(rmid_of(10) != rmid_of(20));
	assert_true(end(10, 6));
	assert_int_equal(record.start_ns, 1);
	assert_true(rmid_of(20));
}

TEST(test_freeing_twice_does_nothing, set_up)
{
	assert_true(begin(10, 0));
	assert_true(end(10, 1));
	assert_false(end(10, 2));
	assert_false(rmid_alloc__put(&book.alloc, record.rmid, 3));
	assert_false(rmid_alloc__put(&book.alloc, COUNT + 1, 3));
	for (__u64 key = 1; key <= COUNT; key++)
		assert_true(begin(key, 10 + LIMBO));
}

TEST(test_records_are_numbered_without_a_gap, set_up)
{
	begin(10, 0);
	assert_int_equal(record.seq, 0);
	assert_true(book__tell(&book, book__place(&book, 10), 1, &record));
	assert_int_equal(record.seq, 1);
	assert_int_equal(record.why, LATSCOPE_RMID_DUMP);
	assert_true(end(10, 2));
	assert_int_equal(record.seq, 2);
}

TEST(test_who_finds_the_table_full_is_counted, set_up)
{
	for (__u64 key = 1; key <= ROOM; key++)
		assert_true(born(key, 1, 0));
	assert_false(born(9, 1, 0));
	assert_int_equal(book.counts.untracked, 1);
	assert_false(book__thread(&book, 9));
	assert_false(end(9, 1));
}

UNIT_MAIN()
