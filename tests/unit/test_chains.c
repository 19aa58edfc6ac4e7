// SPDX-License-Identifier: BSD-2-Clause
/* Who ended a wait, and what that thread did meanwhile. */
#include "unit.h"

#include <latscope/why.h>
#include <probes/where/chains.h>

static struct chains *chains;
static struct names *names;
static char text[CHAINS_TEXT];

static void begin(void)
{
	assert_int_equal(chains__new(&chains), 0);
	assert_int_equal(names__new(&names, "/nowhere"), 0);
}

static void end(void)
{
	names__free(names);
	chains__free(chains);
}

#define MS 1000000ULL

static struct where_part part_of(uint32_t tid, uint32_t state, uint64_t from, uint64_t to,
				 uint32_t waker)
{
	struct where_part part = { .tid = tid,
				   .tgid = tid,
				   .begin_ns = from * MS,
				   .end_ns = to * MS,
				   .what = WHERE_WHAT(state, WHERE_NO_CALL),
				   .waker_tid = waker,
				   .waker_tgid = waker };

	snprintf(part.comm, sizeof(part.comm), "t%u", tid);
	snprintf(part.waker_comm, sizeof(part.waker_comm), "t%u", waker);
	return part;
}

static struct where_part add(struct where_part part)
{
	chains__add(chains, &part);
	return part;
}

/* Of the part that was added last; the parts of its links sum to it. */
static struct chain walk(struct where_part part)
{
	struct chain chain;
	uint64_t last;

	chains__walk(chains, &part, &chain);
	last = chain.links[0].ns;
	assert_int_equal(last, part.end_ns - part.begin_ns);
	for (unsigned int i = 1; i < chain.nr; i++) {
		assert_true(chain.links[i].ns <= last);
		last = chain.links[i].ns;
	}
	return chain;
}

TEST(a_lock_whose_holder_waits_for_a_disk)
{
	struct where_part disk = part_of(2, WHERE_DISK, 12, 90, 0);
	struct chain chain;

	disk.waker_source = WHY_SOFTIRQ + 4;
	add(disk);
	chain = walk(add(part_of(1, WHERE_FUTEX, 10, 95, 2)));
	assert_int_equal(chain.nr, 2);
	/* that an interrupt ends a wait for a disk goes without saying */
	assert_string_equal(chain__text(&chain, names, text), "t2 (2): disk 78.0 ms");
	assert_string_equal(chain__cause(&chain, names, text), "t2 (2): disk");
	assert_int_equal(chain__explained_ns(&chain), 78 * MS);
}

/* The thread waited for the disk, which served another meanwhile. */
static void add_request(uint32_t tid, uint64_t from, uint64_t to, uint64_t other_ms)
{
	static const struct why_part part = { .disk_action = "served %s" };
	const struct why_served request = { .tid = tid,
					    .begin_ns = from * MS,
					    .end_ns = to * MS,
					    .disk = "sda",
					    .part = other_ms ? &part : NULL,
					    .culprit = "backup (9)",
					    .ns = other_ms * MS };

	why_requests__add(&request);
}

/* What a chain ends with whose last link waits for a disk, from 12 to 90 ms. */
static const char *end_at_disk(uint32_t tid)
{
	struct chain chain;

	add(part_of(tid, WHERE_DISK, 12, 90, 0));
	chain = walk(add(part_of(1, WHERE_FUTEX, 10, 95, tid)));
	chain__find_disk(&chain);
	return chain__text(&chain, names, text);
}

TEST(the_disk_that_the_last_one_waited_for_and_whom_it_served_most_of_the_time)
{
	add_request(20, 13, 89, 71);
	assert_string_equal(end_at_disk(20),
			    "t20 (20): disk 78.0 ms < sda: served backup (9) 71.0 ms");
	add_request(21, 13, 89, 39); /* half of it */
	assert_string_equal(end_at_disk(21), "t21 (21): disk 78.0 ms < sda");
	add_request(22, 13, 89, 0);
	assert_string_equal(end_at_disk(22), "t22 (22): disk 78.0 ms < sda");
	add_request(23, 0, 200, 150); /* not longer than the wait */
	assert_string_equal(end_at_disk(23),
			    "t23 (23): disk 78.0 ms < sda: served backup (9) 78.0 ms");
}

TEST(a_request_of_another_time_or_thread_says_nothing_of_the_disk)
{
	add_request(30, 91, 180, 80);
	assert_string_equal(end_at_disk(30), "t30 (30): disk 78.0 ms");
	add_request(31, 12, 51, 39); /* half of it */
	assert_string_equal(end_at_disk(31), "t31 (31): disk 78.0 ms");
	add_request(33, 12, 90, 70);
	assert_string_equal(end_at_disk(32), "t32 (32): disk 78.0 ms");
}

TEST(a_wait_that_is_not_for_a_disk_has_none)
{
	struct chain chain;

	add_request(40, 10, 95, 80);
	chain = walk(add(part_of(40, WHERE_FUTEX, 10, 95, 0)));
	chain__find_disk(&chain);
	assert_string_equal(chain__text(&chain, names, text), "");
}

TEST(the_thread_that_does_the_work_of_interrupts_ends_the_chain)
{
	struct where_part disk = part_of(2, WHERE_DISK, 12, 90, 3);
	struct chain chain;

	strcpy(disk.waker_comm, "ksoftirqd/1");
	add(part_of(3, WHERE_CPU, 80, 90, 0));
	add(disk);
	chain = walk(add(part_of(1, WHERE_FUTEX, 10, 95, 2)));
	assert_string_equal(chain__text(&chain, names, text), "t2 (2): disk 78.0 ms");
}

TEST(a_wait_for_what_is_short_explains_itself)
{
	struct chain chain = walk(add(part_of(1, WHERE_DISK, 10, 70, 0)));

	assert_int_equal(chain__explained_ns(&chain), 60 * MS);
}

TEST(a_wait_for_a_thread_without_work_is_not_explained)
{
	struct chain chain;

	add(part_of(2, WHERE_WORK, 12, 90, 0));
	chain = walk(add(part_of(1, WHERE_SOCKET, 10, 95, 2)));
	assert_int_equal(chain__explained_ns(&chain), 0);
}

TEST(a_thread_that_sleeps_with_a_futex_explains_the_wait_for_it_in_its_process_alone)
{
	struct where_part part = part_of(1, WHERE_FUTEX, 10, 95, 2);
	struct where_part sleeps = part_of(2, WHERE_TIMER, 12, 90, 0);
	struct chain chain;

	sleeps.tgid = part.tgid = 1;
	add(sleeps);
	chain = walk(add(part));
	assert_int_equal(chain__explained_ns(&chain), 78 * MS);
	part.tgid = 5;
	chain = walk(part);
	assert_int_equal(chain__explained_ns(&chain), 0);
}

TEST(only_what_the_waker_did_within_the_wait_counts)
{
	struct chain chain;

	add(part_of(2, WHERE_TIMER, 0, 9, 0)); /* before it */
	add(part_of(2, WHERE_TIMER, 9, 30, 0)); /* 20 of it within */
	add(part_of(2, WHERE_READY, 60, 65, 0));
	chain = walk(add(part_of(1, WHERE_FUTEX, 10, 70, 2)));
	assert_int_equal(chain.nr, 2);
	assert_int_equal(chain.links[1].what >> 16, WHERE_TIMER);
	assert_int_equal(chain.links[1].ns, 20 * MS);
}

TEST(a_waker_without_long_parts_is_named)
{
	struct chain chain = walk(add(part_of(1, WHERE_SOCKET, 10, 70, 2)));

	assert_int_equal(chain.nr, 1);
	assert_string_equal(chain__text(&chain, names, text), "t2 (2)");
}

TEST(a_kernel_thread_without_work_ends_the_chain)
{
	struct chain chain;

	add(part_of(2, WHERE_WORK, 0, 68, 3));
	chain = walk(add(part_of(1, WHERE_DISK, 10, 70, 2)));
	assert_int_equal(chain.nr, 1);
	assert_string_equal(chain__text(&chain, names, text), "t2 (2)");
}

TEST(a_timer_ends_the_chain)
{
	struct where_part part = part_of(1, WHERE_FUTEX, 10, 70, 0);
	struct chain chain;

	part.waker_source = WHY_TIMER;
	chain = walk(add(part));
	assert_string_equal(chain__text(&chain, names, text), "timer");
}

TEST(nobody_is_named_who_is_not_known)
{
	struct chain chain = walk(add(part_of(1, WHERE_FUTEX, 10, 70, 0)));

	assert_string_equal(chain__text(&chain, names, text), "");
}

TEST(it_is_at_most_so_deep)
{
	struct where_part part;
	struct chain chain;

	for (uint32_t tid = 20; tid > 1; tid--)
		add(part_of(tid, WHERE_FUTEX, 20 - tid, 40 - tid, tid + 1));
	part = add(part_of(1, WHERE_FUTEX, 0, 60, 2));
	chain = walk(part);
	assert_int_equal(chain.nr, CHAINS_DEPTH);
}

/* Two threads that end each other's waits: each link is within the one before, so it ends. */
TEST(a_circle_ends)
{
	struct chain chain;

	for (uint64_t ms = 0; ms < 100; ms += 10) {
		add(part_of(2, WHERE_FUTEX, ms, ms + 5, 1));
		add(part_of(1, WHERE_FUTEX, ms + 5, ms + 10, 2));
	}
	chain = walk(part_of(1, WHERE_FUTEX, 0, 100, 2));
	assert_true(chain.nr <= CHAINS_DEPTH);
}

TEST(what_was_overwritten_is_not_found)
{
	struct chain chain;

	add(part_of(2, WHERE_DISK, 12, 90, 0));
	for (uint32_t i = 0; i < CHAINS_KEPT; i++)
		add(part_of(3 + i % 100, WHERE_TIMER, 12, 90, 0));
	chain = walk(add(part_of(1, WHERE_FUTEX, 10, 95, 2)));
	assert_int_equal(chain.nr, 1);
}

UNIT_FIXTURES(.each = { begin, end })
