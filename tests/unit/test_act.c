// SPDX-License-Identifier: BSD-2-Clause
/*
 * What stops --act from moving pages, with a machine made up below a temporary root: no page is
 * really moved here. tests/emu/test_act.c moves some.
 */
#include "acting.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "host/process_stat.h"
#include "probes/tierlat/act_internal.h"

static const struct act_config process = { .method = "move_pages",
					   .target = { .pid = 7 },
					   .keep = true };

/* Two nodes, and 100 pages of process 7, most on the second one. */
static void set_up(void)
{
	make_nodes("0-1\n");
	unit_write(dir, "proc/7/numa_maps", "1000 default N0=25 N1=75 kernelpagesize_kB=4\n");
}

TEST(test_placement_is_read_by_node, set_up)
{
	begin(process);
	read_place();
	assert_int_equal(place.near_bytes, 25 * 4096);
	assert_int_equal(place.far_bytes, 75 * 4096);
	assert_int_equal(place.processes, 1);
	assert_true(fabs(act_place__share(&place) - 0.25) < 1e-12);
	end();
	assert_true(isnan(act_place__share(&(struct act_place){ 0 })));
}

/* 1/32 of a node, 10000 kB, stays free: node 0 has room for 300 kB. */
TEST(test_a_full_node_takes_nothing, set_up)
{
	begin(process);
	assert_int_equal(act__move(act, 301 << 10, 1000000, &done, why), 0);
	assert_true(done.full);
	assert_int_equal(done.moved, 0);
	end();
}

TEST(test_a_node_that_lost_its_memory_takes_nothing, set_up)
{
	begin(process);
	unit_write(dir, NODES "has_memory", "1\n");
	unit_write(dir, NODES "online", "1\n");
	assert_int_equal(act__move(act, 4096, 1000000, &done, why), 0);
	assert_true(done.full);
	end();
}

TEST(test_one_node_is_refused, set_up)
{
	unit_write(dir, NODES "has_memory", "0\n");
	assert_int_equal(open_act(process), -EOPNOTSUPP);
	assert_string_equal(why, "there is one NUMA node; --act needs two with memory");
}

TEST(test_two_actors_are_refused, set_up)
{
	struct act *first;

	begin(process);
	first = act;
	assert_refused(process, -EBUSY, "another latscope moves pages");
	act = first;
	end();
	begin(process);
	end();
}

TEST(test_no_permission_is_said, set_up)
{
	int err;

	assert_int_equal(chmod(unit_path(dir, "run"), 0555), 0);
	drop_root();
	err = open_act(process);
	regain_root();
	assert_int_equal(err, -EACCES);
	assert_string_equal(
		why, "cannot open /run/latscope-act.lock: Permission denied; run it as root");
}

/* The number of a process that ended may be another one's by now. */
TEST(test_another_process_of_the_same_number_is_left_alone, set_up)
{
	begin(process);
	unit_write(dir, "proc/7/stat", "7 (other) S" STAT "5001 1\n");
	assert_int_equal(act__place(act, &place, why), -ESRCH);
	assert_has(why, "gone");
	end();
	unit_write(dir, "proc/7/stat", "");
	assert_int_equal(open_act(process), -ESRCH);
}

TEST(test_a_cgroup_is_read_with_those_below_it, set_up)
{
	const struct act_config target = { .method = "move_pages",
					   .target = { .cgroup = "a" },
					   .keep = true };

	assert_int_equal(open_act(target), -ENOENT);
	unit_write(dir, "sys/fs/cgroup/a/cgroup.procs", "7\n99\n");
	unit_write(dir, "sys/fs/cgroup/a/b/cgroup.procs", "8\n");
	unit_write(dir, "proc/8/numa_maps", "1000 default N0=75 kernelpagesize_kB=4\n");
	begin(target);
	read_place();
	assert_int_equal(place.near_bytes, 100 * 4096);
	assert_int_equal(place.processes, 2);
	assert_int_equal(place.unread, 1);
	/* Others may come. */
	unit_write(dir, "sys/fs/cgroup/a/cgroup.procs", "");
	unit_write(dir, "sys/fs/cgroup/a/b/cgroup.procs", "");
	read_place();
	assert_true(isnan(act_place__share(&place)));
	unlink(unit_path(dir, "sys/fs/cgroup/a/cgroup.procs"));
	assert_int_equal(act__place(act, &place, why), -ESRCH);
	end();
}

TEST(test_the_first_node_of_a_page_is_kept)
{
	struct act_memory *memory = act_memory__new(100);
	unsigned int kept = 0;

	assert_non_null(memory);
	assert_int_equal(act_memory__keep(memory, 0x5000, 7, 1, 1), 0);
	assert_int_equal(act_memory__keep(memory, 0x5000, 7, 1, 0), 0);
	assert_int_equal(memory->nr, 1);
	for (size_t i = 0; i < memory->size; i++)
		if (memory->pages[i].pid == 7)
			assert_int_equal(memory->pages[i].address, 0x5001);
	/* Another process, also of the same number, and another page, are other pages. */
	assert_int_equal(act_memory__keep(memory, 0x5000, 8, 1, 0), 0);
	assert_int_equal(act_memory__keep(memory, 0x5000, 7, 2, 0), 0);
	assert_int_equal(act_memory__keep(memory, 0x6000, 7, 1, 0), 0);
	assert_int_equal(memory->nr, 4);
	for (uint64_t i = 16; !act_memory__keep(memory, i << 12, 9, 1, 0); i++)
		kept++;
	assert_int_equal(kept + 4, memory->size / 4 * 3);
	act_memory__free(memory);
}

static void need_move_pages(void)
{
	void *none = NULL;

	if (syscall(SYS_move_pages, 0, 0, none, none, none, 0))
		skip();
}

/* The page of an earlier process of this number was on node 63, which does not exist here. */
TEST(test_pages_go_back_in_their_own_process)
{
	static char pages[2][4096] __attribute__((aligned(4096)));
	uint32_t started = (uint32_t)act_targets__started("", getpid());
	struct act_memory *memory = act_memory__new(100);
	uint64_t left;

	need_move_pages();
	assert_non_null(memory);
	memset(pages, 1, sizeof(pages));
	assert_int_equal(act_memory__keep(memory, (uintptr_t)pages[0], getpid(), started, 0), 0);
	assert_int_equal(act_memory__keep(memory, (uintptr_t)pages[1], getpid(), started - 1, 63),
			 0);
	assert_int_equal(act_memory__undo(memory, "", &left), 0);
	assert_int_equal(left, 0);
	/* The other way round, it is this process's page that cannot go back. */
	assert_int_equal(act_memory__keep(memory, (uintptr_t)pages[1], getpid(), started, 63), 0);
	assert_int_equal(act_memory__undo(memory, "", &left), -EAGAIN);
	assert_int_equal(left, 1);
	act_memory__free(memory);
}

/* A process whose pages are moved, and that is killed meanwhile. */
static struct {
	pid_t pid;
	int survives; /* so many calls of move_pages(2); -1: all */
	bool full; /* there is no room for its pages */
	bool met; /* it was killed at a call */
} victim;

static void end_victim(void)
{
	assert_int_equal(kill(victim.pid, SIGKILL), 0);
	unit_await_end(victim.pid);
}

/* Instead of that of the C library. */
long syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long arguments[6];
	va_list list;

	va_start(list, number);
	for (unsigned int i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_move_pages && victim.pid && (pid_t)arguments[0] == victim.pid) {
		if (!victim.survives) {
			victim.met = true;
			end_victim();
		}
		victim.survives--;
		if (victim.full && arguments[3]) {
			errno = ENOMEM;
			return -1;
		}
	}
	return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
		    arguments[5]);
}

static void *wait_in_thread(void *arg)
{
	while (true)
		pause();
	return arg;
}

static void wait_for_ever(void)
{
	wait_in_thread(NULL);
}

/* A process of which only the second thread is left: its first one has ended. */
static void leave_a_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_in_thread, NULL))
		_exit(1);
	syscall(SYS_exit, 0, 0, 0, 0, 0, 0); /* the one above reads six */
}

static char page[4096] __attribute__((aligned(4096))); /* which each victim has */

static void begin_victim(int survives, void (*live)(void))
{
	memset(page, 1, sizeof(page));
	victim.survives = survives;
	victim.full = victim.met = false;
	victim.pid = unit_fork();
	if (!victim.pid)
		live();
}

static void wait_for_victim(void)
{
	assert_int_equal(waitpid(victim.pid, NULL, 0), victim.pid);
	victim.pid = 0;
}

/* Moves pages of it from node 0 to node 0. */
static int move_victim(void)
{
	struct act_mover mover = { .nodes = nodes, .seed = 1 };

	done = (struct act_done){ 0 };
	return act_pages__move(&mover, victim.pid, 1, 0, 1 << 20, 1 << 20, UINT64_MAX, &done);
}

/* It has ended, and its parent does not know yet. */
TEST(test_a_process_that_ends_meanwhile_stops_nothing)
{
	need_move_pages();
	for (int survives = 0; survives < 3; survives++) {
		begin_victim(survives, wait_for_ever);
		assert_int_equal(move_victim(), -ESRCH);
		assert_true(victim.met);
		assert_int_equal(done.moved, 0);
		wait_for_victim();
	}
}

TEST(test_a_node_that_becomes_full_stops_nothing)
{
	need_move_pages();
	begin_victim(-1, wait_for_ever);
	victim.full = true;
	assert_int_equal(move_victim(), 0);
	assert_true(done.full);
	end_victim();
	wait_for_victim();
}

/* Of a page that was on node 63, which does not exist here: it is left if it is looked at. */
static uint64_t left_of_victim(void)
{
	struct act_memory *memory = act_memory__new(1);
	uint32_t started = (uint32_t)act_targets__started("", victim.pid);
	uint64_t left;
	int err;

	assert_non_null(memory);
	assert_int_not_equal(started, 0);
	assert_int_equal(act_memory__keep(memory, (uintptr_t)page, victim.pid, started, 63), 0);
	err = act_memory__undo(memory, "", &left);
	assert_int_equal(err, left ? -EAGAIN : 0);
	act_memory__free(memory);
	return left;
}

TEST(test_pages_of_a_process_that_has_ended_are_gone)
{
	need_move_pages();
	for (int survives = 0; survives < 3; survives++) {
		begin_victim(survives, wait_for_ever);
		assert_int_equal(left_of_victim(), 0);
		assert_true(victim.met);
		assert_int_equal(act_targets__started("", victim.pid), 0);
		wait_for_victim();
	}
}

TEST(test_pages_of_threads_that_go_on_are_not_gone)
{
	struct process_stat stat;

	need_move_pages();
	begin_victim(-1, leave_a_thread);
	while (process_stat__read("", victim.pid, &stat) || stat.state != 'Z')
		usleep(1000);
	assert_int_equal(left_of_victim(), 1);
	end_victim();
	wait_for_victim();
}
