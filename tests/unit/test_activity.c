// SPDX-License-Identifier: BSD-2-Clause
/* What processes did with their time, from looks at their threads. */
#include "unit.h"

#include "session/activity.c"

static struct activity_watch *watch;
static struct table *table;

static void begin(void)
{
	watch = activity__new();
	assert_non_null(watch);
	assert_int_equal(table__new(&table, activity_columns, ACTIVITY_COLUMNS), 0);
}

static void end(void)
{
	activity__free(watch);
	table__free(table);
}

static struct lat_life_task task(uint32_t tgid, uint32_t tid, uint64_t run_ns, uint64_t queue_ns)
{
	struct lat_life_task task = { .process_start_ns = 10,
				      .thread_start_ns = 10,
				      .run_ns = run_ns,
				      .queue_ns = queue_ns,
				      .tgid = tgid,
				      .tid = tid,
				      .call = LAT_NO_CALL,
				      .kind = LAT_LIFE_WANTED };

	snprintf(task.process, sizeof(task.process), "p%u", tgid);
	return task;
}

static struct lat_life_task asleep(uint32_t tgid, uint32_t tid, int32_t call, uint16_t state)
{
	struct lat_life_task of = task(tgid, tid, 0, 0);

	of.call = call;
	of.state = state;
	return of;
}

static void look(const struct lat_life_task *tasks, size_t nr)
{
	assert_int_equal(activity__look(watch, tasks, nr), 0);
}

/* Of a window from 1000 to 5000. */
static void rows(const struct activity_ended *ended, size_t nr, bool filtered)
{
	assert_int_equal(activity__rows(watch, ended, nr, 1000, 5000, filtered, table), 0);
	assert_int_equal(table__fold(table), 0);
}

static void assert_times(size_t key, uint64_t pid, uint64_t lived_ns, uint64_t run_ns,
			 uint64_t queue_ns)
{
	const struct activity row = activity__of(table, key);

	assert_int_equal(row.pid, pid);
	assert_int_equal(row.lived_ns, lived_ns);
	assert_int_equal(row.run_ns, run_ns);
	assert_int_equal(row.queue_ns, queue_ns);
}

TEST(what_was_before_the_window_does_not_count)
{
	const struct lat_life_task first[] = { task(7, 7, 900, 50), task(7, 8, 20, 0) };
	struct lat_life_task last[] = { task(7, 9, 300, 100), task(7, 7, 1900, 250),
					task(7, 8, 20, 0) };

	last[0].thread_start_ns = 4000; /* it began in the window */
	look(first, 2);
	look(last, 3);
	rows(NULL, 0, true);
	assert_int_equal(table__keys(table), 1);
	assert_times(0, 7, 4000 + 4000 + 1000, 1000 + 300, 200 + 100);
	assert_int_equal(activity__of(table, 0).threads, 3);
}

/* The kernel's account of a thread that ended is from its start. */
TEST(a_thread_that_ended_counts)
{
	const struct lat_life_task first[] = { task(7, 7, 100, 0), task(7, 8, 500, 40) };
	const struct lat_life_task last[] = { task(7, 7, 200, 0) };
	const struct activity_ended ended = {
		.tgid = 7, .life = { .wanted_ns = 1500, .run_ns = 1200, .queue_ns = 90 }
	};

	look(first, 2);
	look(last, 1);
	rows(&ended, 1, true);
	assert_times(0, 7, 4000 + 1500, 100 + 700, 50);
}

TEST(a_process_that_no_look_saw_has_its_name)
{
	const struct lat_life_task first[] = { task(7, 7, 100, 0) };
	struct activity_ended ended = { .tgid = 5, .life = { .wanted_ns = 300, .run_ns = 200 } };

	strcpy(ended.life.process, "short");
	look(first, 1);
	look(first, 1);
	rows(&ended, 1, true);
	assert_int_equal(table__keys(table), 2);
	assert_times(0, 5, 300, 200, 0);
	assert_string_equal(activity__of(table, 0).process, "short");
	assert_times(1, 7, 4000, 0, 0);
}

TEST(the_call_in_which_it_sleeps_most_often_has_its_name)
{
	const struct lat_life_task looks[] = { asleep(7, 7, 202, LAT_SLEEPS),
					       asleep(7, 8, 0, LAT_BLOCKED),
					       asleep(7, 9, 202, LAT_BLOCKED), task(7, 10, 1, 0) };
	struct activity row;
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, 202);

	look(looks, 4);
	look(looks, 4);
	rows(NULL, 0, true);
	row = activity__of(table, 0);
	assert_int_equal(row.looks, 8);
	assert_int_equal(row.asleep, 6);
	assert_int_equal(row.blocked, 4);
	assert_int_equal(row.in_call, 4);
	assert_string_equal(row.call, name);
	free(name);
}

TEST(threads_that_the_filters_do_not_want_do_not_count)
{
	struct lat_life_task looks[] = { task(7, 7, 100, 0), task(7, 8, 100, 0),
					 task(9, 9, 100, 0) };

	looks[1].kind = looks[2].kind = 0;
	look(looks, 3);
	looks[0].run_ns = looks[1].run_ns = looks[2].run_ns = 200;
	look(looks, 3);
	rows(NULL, 0, true);
	assert_int_equal(table__keys(table), 1);
	assert_times(0, 7, 4000, 100, 0);
	assert_true(activity__of(table, 0).chosen);
}

/* Without filters: not all that sleep, no kernel thread, not latscope. */
TEST(those_that_were_awake_longest_are_shown)
{
	struct lat_life_task looks[14];

	for (uint32_t i = 0; i < 14; i++)
		looks[i] = task(100 + i, 100 + i, 0, 0);
	looks[12].kind |= LAT_LIFE_KERNEL;
	looks[13].kind |= LAT_LIFE_LATSCOPE;
	look(looks, 14);
	for (uint32_t i = 1; i < 14; i++)
		looks[i].run_ns = 10 * i;
	look(looks, 14);
	rows(NULL, 0, false);
	assert_int_equal(table__keys(table), SHOWN);
	assert_times(0, 111, 4000, 110, 0);
	assert_times(SHOWN - 1, 104, 4000, 40, 0);
	assert_false(activity__of(table, 0).chosen);
}

TEST(a_table_with_other_columns_is_none_of_activity)
{
	struct table *other;

	assert_true(activity__is(table));
	assert_int_equal(table__new(&other, activity_columns, ACTIVITY_COLUMNS - 1), 0);
	assert_false(activity__is(other));
	table__free(other);
}

UNIT_FIXTURES(.each = { begin, end })
