// SPDX-License-Identifier: BSD-2-Clause
/*
 * What --act damon writes into the files of DAMON, and what stops it, with files below a temporary
 * root that do nothing. tests/emu/test_act.c moves pages by the kernel's.
 */
#include "acting.h"

#include <sys/syscall.h>
#include <time.h>

#define KDAMONDS "sys/kernel/mm/damon/admin/kdamonds/"
#define CONTEXT KDAMONDS "%u/contexts/0/"
#define SCHEME CONTEXT "schemes/0/"
#define CGROUP "sys/fs/cgroup/a/"

static const struct act_config all = { .method = "damon", .target = { .system = true } };
static const struct act_config cgroup = { .method = "damon", .target = { .cgroup = "a" } };
static const struct act_config dry_run = { .method = "damon",
					   .target = { .cgroup = "a" },
					   .dry_run = true };

static void make_file(const char *format, unsigned int which, const char *text)
{
	unit_write(dir, unit_text(format, which), text);
}

static void make_kdamond(unsigned int which)
{
	static const char *const files[] = {
		KDAMONDS "%u/contexts/nr_contexts",
		CONTEXT "operations",
		CONTEXT "monitoring_attrs/intervals/sample_us",
		CONTEXT "monitoring_attrs/intervals/aggr_us",
		CONTEXT "monitoring_attrs/nr_regions/min",
		CONTEXT "monitoring_attrs/nr_regions/max",
		CONTEXT "targets/nr_targets",
		CONTEXT "targets/0/regions/nr_regions",
		CONTEXT "targets/0/regions/0/start",
		CONTEXT "targets/0/regions/0/end",
		CONTEXT "targets/0/regions/1/start",
		CONTEXT "targets/0/regions/1/end",
		CONTEXT "schemes/nr_schemes",
		SCHEME "action",
		SCHEME "target_nid",
		SCHEME "access_pattern/sz/max",
		SCHEME "access_pattern/nr_accesses/min",
		SCHEME "access_pattern/nr_accesses/max",
		SCHEME "access_pattern/age/max",
		SCHEME "quotas/bytes",
		SCHEME "quotas/reset_interval_ms",
		SCHEME "quotas/effective_bytes",
		SCHEME "stats/sz_tried",
		SCHEME "stats/sz_applied",
		SCHEME "filters/nr_filters",
		SCHEME "filters/0/type",
		SCHEME "filters/0/matching",
		SCHEME "filters/0/memcg_path",
	};

	make_file(KDAMONDS "%u/state", which, "off\n");
	for (size_t i = 0; i < COUNT_OF(files); i++)
		make_file(files[i], which, "0\n");
}

/* Blocks 0, 1, 2 and 10 of 128 MiB are on node 0, block 4 is on node 1. */
static void make_machine(void)
{
	static const char *const blocks[] = { "node0/memory10",	      "node0/memory2",
					      "node0/memory0",	      "node0/memory1",
					      "node0/memory_failure", "node1/memory4" };

	make_nodes("0-1\n");
	unit_write(dir, "sys/devices/system/memory/block_size_bytes", "8000000\n");
	for (size_t i = 0; i < COUNT_OF(blocks); i++)
		unit_write(dir, unit_text(NODES "%s/x", blocks[i]), "");
	unit_write(dir, "proc/7/numa_maps", "1000 default N0=75 N1=25 kernelpagesize_kB=4\n");
	unit_write(dir, CGROUP "cgroup.procs", "7\n");
	unit_write(dir, CGROUP "memory.current", "1\n");
	unit_write(dir, KDAMONDS "nr_kdamonds", "0\n");
	make_kdamond(0);
	make_kdamond(1);
}

static void has(const char *format, unsigned int which, const char *text)
{
	assert_line(unit_text(format, which), text);
}

/* The address of a block of memory. */
static void has_block(const char *format, unsigned int which, unsigned int block)
{
	has(format, which, unit_text("%llu", block * 0x8000000ULL));
}

static void has_kdamonds(const char *text)
{
	has(KDAMONDS "nr_kdamonds", 0, text);
}

TEST(test_each_tier_has_a_kdamond_for_its_memory)
{
	begin(all);
	has_kdamonds("2");
	for (unsigned int which = 0; which < 2; which++) {
		has(KDAMONDS "%u/state", which, "on");
		has(CONTEXT "operations", which, "paddr");
		has(SCHEME "action", which, "migrate_hot");
		has(SCHEME "filters/nr_filters", which, "0");
		/* No number of accesses qualifies yet. */
		has(SCHEME "access_pattern/nr_accesses/min", which, "4294967295");
	}
	has(SCHEME "target_nid", 0, "1");
	has(SCHEME "target_nid", 1, "0");
	has(CONTEXT "targets/0/regions/nr_regions", 0, "2");
	has(CONTEXT "targets/0/regions/0/start", 0, "0");
	has_block(CONTEXT "targets/0/regions/0/end", 0, 3);
	has_block(CONTEXT "targets/0/regions/1/start", 0, 10);
	has_block(CONTEXT "targets/0/regions/1/end", 0, 11);
	has(CONTEXT "targets/0/regions/nr_regions", 1, "1");
	has_block(CONTEXT "targets/0/regions/0/start", 1, 4);
	end();
	has_kdamonds("0");
	has(KDAMONDS "%u/state", 0, "off");
	has(KDAMONDS "%u/state", 1, "off");
}

TEST(test_a_cgroup_is_a_filter)
{
	begin(cgroup);
	end();
	for (unsigned int which = 0; which < 2; which++) {
		has(SCHEME "filters/nr_filters", which, "1");
		has(SCHEME "filters/0/type", which, "memcg");
		has(SCHEME "filters/0/matching", which, "N");
		has(SCHEME "filters/0/memcg_path", which, "/a");
	}
	unit_write(dir, CGROUP "b/cgroup.procs", "");
	assert_refused(cgroup, -EOPNOTSUPP, "others below it");
	unlink(unit_path(dir, CGROUP "memory.current"));
	assert_refused(cgroup, -EOPNOTSUPP, "no memory controller");
}

TEST(test_a_dry_run_starts_nothing)
{
	begin(dry_run);
	read_place();
	assert_int_equal(place.near_bytes, 75 * 4096);
	has_kdamonds("0");
	end();
	has_kdamonds("0");
	has(KDAMONDS "%u/state", 0, "off");
	has(CONTEXT "operations", 0, "0");
}

TEST(test_a_damon_in_use_is_left_alone)
{
	unit_write(dir, KDAMONDS "nr_kdamonds", "1\n");
	assert_refused(all, -EBUSY, "DAMON is in use: nr_kdamonds is 1");
	has_kdamonds("1");
	unit_write(dir, KDAMONDS "nr_kdamonds", "0\n");
	unit_write(dir, "sys/module/damon_stat/parameters/enabled", "Y\n");
	assert_refused(all, -EBUSY, "echo N >/sys/module/damon_stat/parameters/enabled");
	unit_write(dir, "sys/module/damon_stat/parameters/enabled", "N\n");
	begin(all);
	end();
}

TEST(test_kernels_without_it_are_refused)
{
	unit_write(dir, "sys/kernel/btf/vmlinux", "DAMOS_STAT");
	assert_refused(all, -EOPNOTSUPP, "no DAMON action migrate_hot (Linux 6.11)");
	unlink(unit_path(dir, "sys/kernel/btf/vmlinux"));
	unlink(unit_path(dir, KDAMONDS "0/contexts/0/schemes/0/action"));
	assert_refused(all, -EOPNOTSUPP, "no DAMON action migrate_hot (Linux 6.11)");
	has_kdamonds("0");
	unlink(unit_path(dir, KDAMONDS "0/contexts/0/operations"));
	assert_refused(all, -EOPNOTSUPP, "no DAMON of physical memory");
	has_kdamonds("0");
	unlink(unit_path(dir, "sys/devices/system/memory/block_size_bytes"));
	assert_refused(all, -EOPNOTSUPP, "which memory the nodes have");
	unlink(unit_path(dir, KDAMONDS "nr_kdamonds"));
	assert_refused(all, -EOPNOTSUPP, "(CONFIG_DAMON_SYSFS)");
	unit_write(dir, NODES "has_memory", "0\n");
	assert_refused(all, -EOPNOTSUPP, "one NUMA node");
}

TEST(test_no_permission_is_said)
{
	assert_int_equal(chmod(unit_path(dir, KDAMONDS "nr_kdamonds"), 0), 0);
	drop_root();
	assert_int_equal(act__look(act_method__find("damon"), dir, why), -EACCES);
	regain_root();
	assert_has(why, "Permission denied; run it as root");
}

TEST(test_a_full_node_takes_nothing)
{
	begin(all);
	/* 1/32 of node 0, 10000 kB, stays free: it has room for 300 kB. */
	assert_int_equal(act__move(act, 301 << 10, 1000000, &done, why), 0);
	assert_true(done.full);
	assert_false(done.early);
	end();
}

/* Nothing moves before DAMON has watched, without a quota, or in files that do nothing. */
TEST(test_it_stops_if_nothing_moves)
{
	begin(all);
	assert_int_equal(act__move(act, -8192, 1000000, &done, why), 0);
	assert_true(done.early);
	has(SCHEME "quotas/bytes", 0, "4096");
	sleep(2);
	usleep(100000);
	assert_int_equal(act__move(act, -8192, 1000000, &done, why), -EPROTO);
	assert_has(why, "does not apply DAMON's quota");
	has(SCHEME "quotas/bytes", 0, "8192");
	has(SCHEME "access_pattern/nr_accesses/min", 0, "4294967295");
	/* Each window has another quota than the one before, and no larger one. */
	for (unsigned int i = 0; i < 9; i++) {
		make_file(SCHEME "quotas/effective_bytes", 0, i % 2 ? "8192\n" : "4096\n");
		assert_int_equal(act__move(act, -8192, 1000000, &done, why), 0);
		assert_int_equal(done.moved, 0);
		assert_int_equal(done.tried, 8192);
	}
	make_file(SCHEME "quotas/effective_bytes", 0, "8192\n");
	assert_int_equal(act__move(act, -8192, 1000000, &done, why), -ENODATA);
	assert_has(why, "DAMON moved nothing", "use --act move_pages");
	has(SCHEME "access_pattern/nr_accesses/min", 0, "4294967295");
	has(SCHEME "quotas/bytes", 1, "4096");
	end();
}

TEST(test_what_another_program_made_is_left_alone)
{
	begin(all);
	unit_write(dir, KDAMONDS "nr_kdamonds", "3\n");
	assert_int_equal(act__move(act, -8192, 1000000, &done, why), -EBUSY);
	assert_string_equal(why, "another program changed DAMON");
	assert_int_equal(act__close(act, why), -EBUSY);
	assert_has(why, "DAMON could not be turned off");
	has_kdamonds("3");
	has(KDAMONDS "%u/state", 0, "on");
	make_machine();
	begin(all);
	make_file(KDAMONDS "%u/state", 0, "off\n");
	assert_int_equal(act__move(act, -8192, 1000000, &done, why), -EBUSY);
	end();
	has_kdamonds("0");
}

/* So many writes find DAMON busy. Until then, pauses are counted and take no time. */
static unsigned int busy, pauses;

/* In place of those of libc. */
ssize_t write(int fd, const void *from, size_t size)
{
	if (!busy || !--busy)
		return syscall(SYS_write, fd, from, size);
	errno = EBUSY;
	return -1;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
	pauses += busy && time->tv_nsec == 10000000;
	return busy ? 0 : clock_nanosleep(CLOCK_REALTIME, 0, time, left);
}

TEST(test_a_busy_damon_is_asked_200_times)
{
	busy = 200;
	begin(all);
	assert_int_equal(pauses, 199); /* of 10 ms */
	end();
	busy = 201;
	assert_refused(all, -EBUSY, "end what else uses DAMON");
	busy = 0;
}

/* The second file that is written has a path of 58 bytes below the root. */
TEST(test_a_path_that_is_too_long_is_not_cut)
{
	char root[4096], *real = dir;

	memset(root, '/', sizeof(root));
	memcpy(root, real, strlen(real));
	root[4096 - 58] = '\0';
	dir = root;
	assert_refused(all, -ENAMETOOLONG, "cannot start DAMON");
	dir = real;
}

UNIT_FIXTURES(.each = { make_machine })
