// SPDX-License-Identifier: BSD-2-Clause
/* Orphans of the workload are reaped, other children are not. All are real processes. */
#include "unit.h"

/* A kernel without CONFIG_PROC_CHILDREN. */
static bool without_list;

static FILE *open_list(const char *path, const char *mode)
{
	errno = ENOENT;
	return without_list ? NULL : fopen(path, mode);
}

#define fopen open_list
#include "session/descendants.c"
#undef fopen

#define STATUS 7

static struct descendants descendants;

static void end(void)
{
	without_list = false;
	descendants__clear(&descendants);
}

static pid_t ended_child(void)
{
	pid_t child = unit_fork();

	if (!child)
		_exit(STATUS);
	unit_await_end(child);
	return child;
}

/* Its parent has ended before it. */
static pid_t ended_orphan(void)
{
	pid_t parent, orphan;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	parent = unit_fork();
	if (!parent) {
		orphan = fork();
		if (orphan)
			_exit(write(ends[1], &orphan, sizeof(orphan)) != sizeof(orphan));
		_exit(0);
	}
	assert_int_equal(read(ends[0], &orphan, sizeof(orphan)), sizeof(orphan));
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	close(ends[0]);
	close(ends[1]);
	unit_await_end(orphan);
	return orphan;
}

static void assert_reaped(pid_t child)
{
	assert_int_equal(kill(child, 0), -1);
	assert_int_equal(errno, ESRCH);
}

/* Whoever waits for it gets its status. */
static void assert_left(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, WNOHANG), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == STATUS);
}

/* As with a script that has a job in the background and then executes latscope. */
TEST(orphans_are_reaped_behind_a_child_from_before)
{
	pid_t other = ended_child(), orphans[2];

	assert_int_equal(descendants__watch(&descendants), 0);
	orphans[0] = ended_orphan();
	orphans[1] = ended_orphan();
	descendants__reap(&descendants, 0);
	assert_reaped(orphans[0]);
	assert_reaped(orphans[1]);
	assert_left(other);
}

TEST(orphans_are_reaped_behind_the_workload)
{
	pid_t workload, orphan;

	assert_int_equal(descendants__watch(&descendants), 0);
	workload = ended_child();
	orphan = ended_orphan();
	descendants__reap(&descendants, workload);
	assert_reaped(orphan);
	assert_left(workload);
}

TEST(without_a_list_of_children_they_are_found)
{
	without_list = true;
	orphans_are_reaped_behind_a_child_from_before();
	descendants__clear(&descendants);
	orphans_are_reaped_behind_the_workload();
}

UNIT_FIXTURES(.each = { .tear_down = end })
