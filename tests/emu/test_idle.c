// SPDX-License-Identifier: BSD-2-Clause
/*
 * --act on a machine all of whose pages are on one tier: the other one has no request, and so no
 * loaded latency. The counters are emulated; the nodes and their HMAT are made up below `root`, and
 * no page moves.
 */
#include "rig.h"

#include <sys/syscall.h>

#include "probes/tierlat/actor.h"

#define QUANTUM 1e7 /* ns */
#define NODES "sys/devices/system/node/"

static const struct rig_setup emr = {
	.gen = &rig_generations[4],
	.boxes = 6,
	.tiers = "local-ddr,local-cxl",
};

static char *root, why[TIER_TEXT];
static struct rig rig;
static struct actor *actor;
static struct table *actions;
static uint64_t time_ns;

static void need_move_pages(void)
{
	void *none = NULL;

	if (syscall(SYS_move_pages, 0, 0, none, none, none, 0))
		skip();
}

/* Node 0 has the CPUs and `near` of the 100 pages; node 1 is CXL memory. */
static void make_root(unsigned int near)
{
	static const char *const lists[] = { "online", "has_memory" };

	root = unit_tmpdir();
	for (unsigned int i = 0; i < COUNT_OF(lists); i++)
		unit_write(root, unit_text(NODES "%s", lists[i]), "0-1\n");
	unit_write(root, NODES "has_cpu", "0\n");
	unit_write(root, NODES "node0/cpulist", "0\n");
	unit_write(root, NODES "node0/distance", "10 20\n");
	unit_write(root, NODES "node1/distance", "20 10\n");
	unit_write_socket(root, 0, 0);
	unit_write(root, "proc/7/stat", "7 (a) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 5000 1\n");
	unit_write(root, "proc/7/numa_maps",
		   unit_text("1000 default N0=%u N1=%u kernelpagesize_kB=4\n", near, 100 - near));
}

static void set_hmat(unsigned int node, const char *access, const char *ns)
{
	unit_write(root, unit_text(NODES "node%u/%s/initiators/read_latency", node, access), ns);
}

/* All pages are on the default tier; HMAT latencies in ns, NULL: unknown. */
static void make_root_with(const char *near_ns, const char *far_ns)
{
	make_root(100);
	if (near_ns)
		set_hmat(0, "access0", near_ns);
	if (far_ns)
		set_hmat(1, "access0", far_ns);
}

/* Latencies of the load; a tier without rate is idle. */
static void begin_loop(double near_rate, double near_ns, double far_rate, double far_ns)
{
	const struct act_config config = { .method = "move_pages",
					   .target = { .pid = 7 },
					   .dry_run = true,
					   .socket = -1,
					   .root = root };
	const struct steer_config steer = { COLLOID_DELTA, COLLOID_MAX_SHIFT };
	struct actor_pair pair = { 0 };

	need_move_pages();
	rig__machine(&emr);
	emu__tell("stream name=near rate=%g latency=%g", near_rate, near_ns);
	emu__tell("stream name=far memory=cxl remote=0 rate=%g latency=%g", far_rate, far_ns);
	rig__start(&rig, &emr);
	for (unsigned int i = 0; i < tier__model(rig.tier)->nr_tiers; i++) {
		const char *name = tier__model(rig.tier)->tiers[i].name;

		pair.near = strcmp(name, "local-ddr") ? pair.near : i;
		pair.far = strcmp(name, "local-cxl") ? pair.far : i;
	}
	assert_int_equal(table__new(&actions, action_columns, ACTION_COLUMNS), 0);
	if (actor__new(&actor, &config, &steer, rig.tier, &pair, why))
		fail_msg("%s", why);
}

static void end_loop(void)
{
	assert_int_equal(actor__close(actor, why), 0);
	table__free(actions);
	rig__finish(&rig);
	unit_remove(root);
}

/* Some quanta, in which the decision becomes certain; the last one is a row of `actions`. */
static void act_for_a_while(void)
{
	for (unsigned int i = 0; i < 20; i++) {
		table__rewind(actions);
		assert_int_equal(rig__read(&rig, QUANTUM), 0);
		time_ns += 1000000000;
		assert_int_equal(actor__quantum(actor, actions, time_ns, rig.samples), 0);
	}
}

static void assert_text(unsigned int column, const char *text)
{
	struct table_value value = table__value(actions, 0, column);

	assert_true(value.known);
	assert_string_equal(value.text, text);
}

static void decide(const char *action)
{
	act_for_a_while();
	assert_text(ACTION_NAME, action);
}

static void decide_to_move(const char *to)
{
	decide("would move");
	assert_text(ACTION_TO, to);
}

static bool is_known(unsigned int column)
{
	return table__value(actions, 0, column).known;
}

TEST(a_slow_default_tier_gives_pages_to_an_idle_one)
{
	make_root_with("80\n", "150\n");
	begin_loop(4e8, 200, 0, 150);
	decide_to_move("local-cxl");
	assert_text(ACTION_WHY, "default tier slower, by the HMAT");
	/* What nobody measured is in no column of measurements. */
	assert_true(is_known(ACTION_LATENCY_DEFAULT));
	assert_false(is_known(ACTION_LATENCY_ALTERNATE));
	assert_null(actor__trouble(actor));
	end_loop();
}

TEST(a_fast_default_tier_keeps_its_pages)
{
	make_root_with("80\n", "250\n");
	begin_loop(4e8, 200, 0, 150);
	decide("stay");
	end_loop();
}

/* access1 is from CPUs; access0 may be from a device that is nearer. */
TEST(the_latency_is_the_one_that_cpus_see)
{
	make_root(100);
	set_hmat(1, "access0", "50\n");
	set_hmat(1, "access1", "250\n");
	begin_loop(4e8, 200, 0, 150);
	decide("stay");
	end_loop();
}

TEST(an_idle_default_tier_gets_pages_back)
{
	make_root(0);
	set_hmat(0, "access0", "80\n");
	begin_loop(0, 80, 2e8, 300);
	decide_to_move("local-ddr");
	assert_false(is_known(ACTION_LATENCY_DEFAULT));
	end_loop();
}

/* Once the tier has requests, what they measure counts, and not the HMAT. */
TEST(a_tier_with_requests_is_measured)
{
	make_root(98);
	set_hmat(1, "access0", "10\n");
	begin_loop(4e8, 200, 1e7, 300);
	decide_to_move("local-ddr");
	assert_true(is_known(ACTION_LATENCY_ALTERNATE));
	end_loop();
}

TEST(without_an_hmat_it_waits_and_says_so_once)
{
	static const char *const unknown[] = { NULL, "0\n", "many\n" };

	for (unsigned int i = 0; i < COUNT_OF(unknown); i++) {
		make_root_with("80\n", unknown[i]);
		begin_loop(4e8, 200, 0, 150);
		decide("wait");
		assert_text(ACTION_WHY, "idle tier without an HMAT");
		assert_has(actor__trouble(actor),
			   "nothing reads from local-cxl, and no HMAT says how fast it is");
		act_for_a_while();
		assert_null(actor__trouble(actor));
		end_loop();
	}
}

/* On an idle machine nothing is known of either tier. */
TEST(two_idle_tiers_are_left_alone)
{
	make_root_with("80\n", "150\n");
	begin_loop(0, 80, 0, 150);
	decide("wait");
	assert_text(ACTION_WHY, "no latency");
	assert_null(actor__trouble(actor));
	end_loop();
}

UNIT_FIXTURES(.all = { emu__begin, emu__end })
