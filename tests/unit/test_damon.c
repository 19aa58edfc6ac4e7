// SPDX-License-Identifier: BSD-2-Clause
/*
 * What --act damon writes into the files of DAMON, and what stops it, with files below a temporary
 * root that do nothing. tests/emu/test_act.c moves pages by the kernel's.
 */
#include "test.h"

#include <errno.h>

#include "probes/tierlat/act.h"

#define NODES "sys/devices/system/node/"
#define KDAMONDS "sys/kernel/mm/damon/admin/kdamonds/"
#define CONTEXT KDAMONDS "%u/contexts/0/"
#define SCHEME CONTEXT "schemes/0/"
#define CGROUP "sys/fs/cgroup/a/"
#define STAT " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
#define BLOCK 0x8000000ULL

static const struct act_nodes nodes = { .near = 1, .far = 2 };
static const struct act_target system_target = { .system = true }, cgroup = { .cgroup = "a" };

static void make_file(const char *format, unsigned int which, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), format, which);
	unit_write(dir, path, text);
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
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		make_file(files[i], which, "0\n");
}

/* Blocks 0, 1, 2 and 10 of 128 MiB are on node 0, block 4 is on node 1. */
static void make_machine(void)
{
	unit_write(dir, NODES "online", "0-1\n");
	unit_write(dir, NODES "has_memory", "0-1\n");
	unit_write(dir, NODES "has_cpu", "0\n");
	unit_write(dir, NODES "node0/meminfo",
		   "Node 0 MemTotal:  320000 kB\nNode 0 MemFree:  10300 kB\n");
	unit_write(dir, NODES "node1/meminfo",
		   "Node 1 MemTotal:  320000 kB\nNode 1 MemFree: 100000 kB\n");
	unit_write(dir, "sys/devices/system/memory/block_size_bytes", "8000000\n");
	unit_write(dir, NODES "node0/memory10/x", "");
	unit_write(dir, NODES "node0/memory2/x", "");
	unit_write(dir, NODES "node0/memory0/x", "");
	unit_write(dir, NODES "node0/memory1/x", "");
	unit_write(dir, NODES "node0/memory_failure/x", "");
	unit_write(dir, NODES "node1/memory4/x", "");
	unit_write(dir, "proc/7/stat", "7 (a) S" STAT "5000 1\n");
	unit_write(dir, "proc/7/numa_maps", "1000 default N0=75 N1=25 kernelpagesize_kB=4\n");
	unit_write(dir, CGROUP "cgroup.procs", "7\n");
	unit_write(dir, CGROUP "memory.current", "1\n");
	unit_write(dir, "run/.empty", "");
	unit_write(dir, KDAMONDS "nr_kdamonds", "0\n");
	make_kdamond(0);
	make_kdamond(1);
}

static int open_act(struct act **act, const struct act_target *target, bool dry_run,
		    char why[TIER_TEXT])
{
	const struct act_config config = {
		.method = "damon", .target = *target, .dry_run = dry_run, .socket = -1, .root = dir
	};

	return act__open(act, &config, &nodes, why);
}

static struct act *begin(const struct act_target *target)
{
	char why[TIER_TEXT];
	struct act *act;

	if (!open_act(&act, target, false, why))
		return act;
	print_message("%s\n", why);
	fail();
	return NULL;
}

static void end(struct act *act)
{
	char why[TIER_TEXT];

	assert_int_equal(act__close(act, why), 0);
}

static void has(const char *format, unsigned int which, const char *text)
{
	char path[256], *found;

	snprintf(path, sizeof(path), format, which);
	found = unit_read(dir, path);
	found[strcspn(found, "\n")] = '\0';
	assert_string_equal(found, text);
	free(found);
}

static void has_kdamonds(const char *text)
{
	has(KDAMONDS "nr_kdamonds", 0, text);
}

static void refuses(int err, const char *reason)
{
	char why[TIER_TEXT];
	struct act *act;

	assert_int_equal(open_act(&act, &system_target, false, why), err);
	if (!strstr(why, reason))
		print_message("%s\n", why);
	assert_non_null(strstr(why, reason));
}

TEST_IN_DIR(test_each_tier_has_a_kdamond_for_its_memory)
{
	char number[32];
	struct act *act;

	make_machine();
	act = begin(&system_target);
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
	snprintf(number, sizeof(number), "%llu", 3 * BLOCK);
	has(CONTEXT "targets/0/regions/0/end", 0, number);
	snprintf(number, sizeof(number), "%llu", 10 * BLOCK);
	has(CONTEXT "targets/0/regions/1/start", 0, number);
	snprintf(number, sizeof(number), "%llu", 11 * BLOCK);
	has(CONTEXT "targets/0/regions/1/end", 0, number);
	has(CONTEXT "targets/0/regions/nr_regions", 1, "1");
	snprintf(number, sizeof(number), "%llu", 4 * BLOCK);
	has(CONTEXT "targets/0/regions/0/start", 1, number);
	end(act);
	has_kdamonds("0");
	has(KDAMONDS "%u/state", 0, "off");
	has(KDAMONDS "%u/state", 1, "off");
}

TEST_IN_DIR(test_a_cgroup_is_a_filter)
{
	char why[TIER_TEXT];
	struct act *act;

	make_machine();
	end(begin(&cgroup));
	for (unsigned int which = 0; which < 2; which++) {
		has(SCHEME "filters/nr_filters", which, "1");
		has(SCHEME "filters/0/type", which, "memcg");
		has(SCHEME "filters/0/matching", which, "N");
		has(SCHEME "filters/0/memcg_path", which, "/a");
	}
	unit_write(dir, CGROUP "b/cgroup.procs", "");
	assert_int_equal(open_act(&act, &cgroup, false, why), -EOPNOTSUPP);
	assert_non_null(strstr(why, "others below it"));
	unlink(unit_path(dir, CGROUP "memory.current"));
	assert_int_equal(open_act(&act, &cgroup, false, why), -EOPNOTSUPP);
	assert_non_null(strstr(why, "no memory controller"));
}

TEST_IN_DIR(test_a_dry_run_starts_nothing)
{
	struct act_place place;
	char why[TIER_TEXT];
	struct act *act;

	make_machine();
	assert_int_equal(open_act(&act, &cgroup, true, why), 0);
	assert_int_equal(act__place(act, &place, why), 0);
	assert_int_equal(place.near_bytes, 75 * 4096);
	has_kdamonds("0");
	end(act);
	has_kdamonds("0");
	has(KDAMONDS "%u/state", 0, "off");
	has(CONTEXT "operations", 0, "0");
}

TEST_IN_DIR(test_a_damon_in_use_is_left_alone)
{
	make_machine();
	unit_write(dir, KDAMONDS "nr_kdamonds", "1\n");
	refuses(-EBUSY, "DAMON is in use: nr_kdamonds is 1");
	has_kdamonds("1");
	unit_write(dir, KDAMONDS "nr_kdamonds", "0\n");
	unit_write(dir, "sys/module/damon_stat/parameters/enabled", "Y\n");
	refuses(-EBUSY, "echo N >/sys/module/damon_stat/parameters/enabled");
	unit_write(dir, "sys/module/damon_stat/parameters/enabled", "N\n");
	end(begin(&system_target));
}

TEST_IN_DIR(test_kernels_without_it_are_refused)
{
	make_machine();
	unit_write(dir, "sys/kernel/btf/vmlinux", "DAMOS_STAT");
	refuses(-EOPNOTSUPP, "no DAMON action migrate_hot (Linux 6.11)");
	unlink(unit_path(dir, "sys/kernel/btf/vmlinux"));
	unlink(unit_path(dir, KDAMONDS "0/contexts/0/schemes/0/action"));
	refuses(-EOPNOTSUPP, "no DAMON action migrate_hot (Linux 6.11)");
	has_kdamonds("0");
	unlink(unit_path(dir, KDAMONDS "0/contexts/0/operations"));
	refuses(-EOPNOTSUPP, "no DAMON of physical memory");
	has_kdamonds("0");
	unlink(unit_path(dir, "sys/devices/system/memory/block_size_bytes"));
	refuses(-EOPNOTSUPP, "which memory the nodes have");
	unlink(unit_path(dir, KDAMONDS "nr_kdamonds"));
	refuses(-EOPNOTSUPP, "(CONFIG_DAMON_SYSFS)");
	unit_write(dir, NODES "has_memory", "0\n");
	refuses(-EOPNOTSUPP, "one NUMA node");
}

TEST_IN_DIR(test_no_permission_is_said)
{
	bool root = !geteuid();
	char why[TIER_TEXT];

	make_machine();
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(chmod(unit_path(dir, KDAMONDS "nr_kdamonds"), 0), 0);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	assert_int_equal(act__look("damon", dir, why), -EACCES);
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_non_null(strstr(why, "Permission denied; run it as root"));
}

TEST_IN_DIR(test_a_full_node_takes_nothing)
{
	struct act_done done;
	char why[TIER_TEXT];
	struct act *act;

	make_machine();
	act = begin(&system_target);
	/* 1/32 of node 0, 10000 kB, stays free: it has room for 300 kB. */
	assert_int_equal(act__move(act, 301 << 10, 1000000, &done, why), 0);
	assert_true(done.full);
	assert_false(done.early);
	end(act);
}

/* Nothing moves before DAMON has watched, without a quota, or in files that do nothing. */
TEST_IN_DIR(test_it_stops_if_nothing_moves)
{
	struct act_done done;
	char why[TIER_TEXT];
	struct act *act;

	make_machine();
	act = begin(&system_target);
	assert_int_equal(act__move(act, -8192, 1000000, &done, why), 0);
	assert_true(done.early);
	has(SCHEME "quotas/bytes", 0, "4096");
	sleep(2);
	usleep(100000);
	assert_int_equal(act__move(act, -8192, 1000000, &done, why), -EPROTO);
	assert_non_null(strstr(why, "does not apply DAMON's quota"));
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
	assert_non_null(strstr(why, "DAMON moved nothing"));
	assert_non_null(strstr(why, "use --act move_pages"));
	has(SCHEME "access_pattern/nr_accesses/min", 0, "4294967295");
	has(SCHEME "quotas/bytes", 1, "4096");
	end(act);
}

TEST_IN_DIR(test_what_another_program_made_is_left_alone)
{
	struct act_done done;
	char why[TIER_TEXT];
	struct act *act;

	make_machine();
	act = begin(&system_target);
	unit_write(dir, KDAMONDS "nr_kdamonds", "3\n");
	assert_int_equal(act__move(act, -8192, 1000000, &done, why), -EBUSY);
	assert_string_equal(why, "another program changed DAMON");
	assert_int_equal(act__close(act, why), -EBUSY);
	assert_non_null(strstr(why, "DAMON could not be turned off"));
	has_kdamonds("3");
	has(KDAMONDS "%u/state", 0, "on");
	make_machine();
	act = begin(&system_target);
	make_file(KDAMONDS "%u/state", 0, "off\n");
	assert_int_equal(act__move(act, -8192, 1000000, &done, why), -EBUSY);
	end(act);
	has_kdamonds("0");
}

UNIT_MAIN()
