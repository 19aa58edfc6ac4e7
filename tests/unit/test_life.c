// SPDX-License-Identifier: BSD-2-Clause
/* How long processes and their threads lived, from what is seen of those that live at the end. */
#include "unit.h"

#include "session/life.c"

/* life__look() and life__read() ask the kernel by these; they are not called here. */
int probe__open_iterator(const struct bpf_program *program,
			 const struct bpf_iter_attach_opts *options)
{
	return -ENOSYS;
}

int probe__each_entry(const struct bpf_map *map,
		      int (*consume)(void *context, const void *key, const void *value),
		      void *context)
{
	return -ENOSYS;
}

static struct life_watch watch;

static void begin(void)
{
	watch = (struct life_watch){ .opened_ns = 1000, .closed_ns = 5000 };
}

static void end(void)
{
	free(watch.lives);
	free(watch.tasks);
}

static void keep(uint32_t tgid, uint64_t process_start_ns, uint64_t thread_start_ns)
{
	const struct lat_life_task task = { .tgid = tgid,
					    .process_start_ns = process_start_ns,
					    .thread_start_ns = thread_start_ns };

	assert_int_equal(keep_tasks(&watch, &task, 1), 0);
}

static void assert_life(size_t at, uint64_t id, uint64_t lived_ns, uint64_t thread_ns)
{
	assert_true(at < watch.nr);
	assert_int_equal(watch.lives[at].id, id);
	assert_int_equal(watch.lives[at].lived_ns, lived_ns);
	assert_int_equal(watch.lives[at].thread_ns, thread_ns);
	assert_false(watch.lives[at].ended);
}

TEST(only_what_lies_in_the_window_counts)
{
	assert_int_equal(since(&watch, 10), 4000);
	assert_int_equal(since(&watch, 1000), 4000);
	assert_int_equal(since(&watch, 1001), 3999);
	assert_int_equal(since(&watch, 5000), 0);
	assert_int_equal(since(&watch, 6000), 0);
}

/* In whichever order the kernel shows them. */
TEST(threads_are_added_to_their_process)
{
	keep(20, 2000, 2000);
	keep(10, 500, 500);
	keep(20, 2000, 4000);
	keep(10, 500, 3000);
	keep(20, 2000, 4500);
	assert_int_equal(add_living(&watch), 0);
	assert_int_equal(watch.nr, 2);
	assert_int_equal(watch.nr_living, 2);
	assert_life(0, 10, 4000, 4000 + 2000);
	assert_life(1, 20, 3000, 3000 + 1000 + 500);
}

/* The number may be another process's by then. */
TEST(a_process_that_ended_is_the_one_that_lived)
{
	keep(10, 500, 500);
	keep(20, 2000, 2000);
	assert_int_equal(add_living(&watch), 0);
	assert_true(ended_since(&watch, 20, 2000));
	assert_false(ended_since(&watch, 20, 4000));
	assert_false(ended_since(&watch, 30, 2000));
}

UNIT_FIXTURES(.each = { begin, end })
