// SPDX-License-Identifier: BSD-2-Clause
/*
 * The closed loop with real pages: what tierlat measures comes from the emulated counters, their
 * load is shared out by where the pages of a process really are, and the actor moves them. Where
 * they are is asked of move_pages(2), page by page, not of /proc. Needs two NUMA nodes.
 */
#include "rig.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>

#include "host/numa_nodes.h"
#include "msrfs/random.h"
#include "probes/tierlat/actor.h"

#define HOLD ".output/tests/reference/hold"
#define MEGABYTES 16
#define PAGE 4096
#define PAGES (MEGABYTES * 256)
#define QUANTUM 1e7 /* ns */
#define EQUAL 0.05
#define NEAR_NODE 0
#define FAR_NODE 1

/* The process whose pages move. */
static struct {
	pid_t pid;
	const char *cgroup; /* its directory; NULL: none of its own */
	int input;
	FILE *output;
	char *memory;
} held;

struct loop {
	struct rig rig;
	struct actor *actor;
	struct table *actions;
	double noise;
	bool idle; /* a tier without pages gets no request at all */
	uint64_t seed, time_ns;
	unsigned int moves;
};

/* How: NULL, "huge", "weighted" or "hot". */
static void start_holding(const char *how)
{
	int input[2], output[2];
	unsigned long address;

	assert_int_equal(pipe(input), 0);
	assert_int_equal(pipe(output), 0);
	held.pid = unit_fork();
	if (!held.pid) {
		dup2(input[0], 0);
		dup2(output[1], 1);
		close(input[1]);
		if (held.cgroup)
			unit_write(held.cgroup, "cgroup.procs", "0");
		execl(HOLD, HOLD, "16", how, NULL);
		_exit(127);
	}
	close(input[0]);
	close(output[1]);
	held.input = input[1];
	held.output = fdopen(output[0], "r");
	assert_int_equal(fscanf(held.output, "address=%lx%*c", &address), 1);
	held.memory = (char *)address;
}

static void stop_holding(void)
{
	close(held.input);
	fclose(held.output);
	waitpid(held.pid, NULL, 0);
}

/* The process frees so many quarters of its memory, and touches them again. */
static void renew(unsigned int quarters)
{
	for (unsigned int i = 0; i < quarters; i++) {
		assert_int_equal(write(held.input, "x", 1), 1);
		assert_int_equal(fgetc(held.output), '.');
	}
}

/* Nodes of all pages; with `node` >= 0 moves the pages from `first` on there. */
static void pages_call(int *status, unsigned int first, int node)
{
	static void *pages[PAGES];
	static int nodes[PAGES];
	unsigned int nr = PAGES - first;

	for (unsigned int i = 0; i < nr; i++) {
		pages[i] = held.memory + (size_t)(first + i) * PAGE;
		nodes[i] = node;
	}
	if (nr)
		assert_true(syscall(SYS_move_pages, held.pid, (unsigned long)nr, pages,
				    node < 0 ? NULL : nodes, status, MPOL_MF_MOVE) >= 0);
}

static double true_share(void)
{
	static int status[PAGES];
	unsigned int near = 0, far = 0;

	pages_call(status, 0, -1);
	for (unsigned int i = 0; i < PAGES; i++) {
		near += status[i] == NEAR_NODE;
		far += status[i] == FAR_NODE;
	}
	assert_int_equal(near + far, PAGES);
	return (double)near / PAGES;
}

static void place(double share)
{
	static int status[PAGES];

	pages_call(status, 0, NEAR_NODE);
	pages_call(status, (unsigned int)(share * PAGES), FAR_NODE);
	assert_true(fabs(true_share() - share) < 0.04);
}

/* The load follows the pages. */
static void follow(const struct loop *loop)
{
	double least = loop->idle ? 0 : 0.001;

	emu__tell("loop p=%.17g", fmin(fmax(true_share(), least), 1 - least));
}

/* Emerald Rapids. */
static const struct rig_setup emr = {
	.gen = &rig_generations[4],
	.boxes = 2,
	.tiers = "local-ddr,local-cxl",
};

static void make_machine(unsigned int requests)
{
	assert_string_equal(emr.gen->name, "emr");
	rig__machine(&emr);
	emu__tell("time step=100");
	emu__tell("stream name=near idle=80 service=20 capacity=4e8");
	emu__tell("stream name=far memory=cxl remote=0 idle=150 service=20 capacity=2e8");
	emu__tell("loop requests=%u", requests);
}

static int open_actor(struct loop *loop, struct act_config config, char why[TIER_TEXT])
{
	const struct steer_config steer = { COLLOID_DELTA, COLLOID_MAX_SHIFT };
	const struct tier_model *model = tier__model(loop->rig.tier);
	struct actor_pair pair = { 0 };

	for (unsigned int i = 0; i < TIER_MOST; i++) {
		if (!(tier__measured(loop->rig.tier) >> i & 1))
			continue;
		if (!strcmp(model->tiers[i].name, "local-ddr"))
			pair.near = i;
		if (!strcmp(model->tiers[i].name, "local-cxl"))
			pair.far = i;
	}
	return actor__new(&loop->actor, &config, &steer, loop->rig.tier, &pair, why);
}

static struct act_config config_of(bool dry_run, bool keep)
{
	return (struct act_config){ .method = "move_pages",
				    .target = { .pid = held.pid },
				    .dry_run = dry_run,
				    .keep = keep,
				    .socket = -1,
				    .root = "" };
}

static void begin(struct loop *loop, double share, unsigned int requests, struct act_config config)
{
	char why[TIER_TEXT] = "";

	place(share);
	make_machine(requests);
	follow(loop);
	rig__start(&loop->rig, &emr);
	assert_int_equal(table__new(&loop->actions, action_columns, ACTION_COLUMNS), 0);
	if (open_actor(loop, config, why))
		fail_msg("%s", why);
}

static void end(struct loop *loop)
{
	char why[TIER_TEXT] = "";

	assert_int_equal(actor__close(loop->actor, why), 0);
	rig__finish(&loop->rig);
	table__free(loop->actions);
}

static double normal(struct loop *loop)
{
	double sum = -6;

	for (unsigned int i = 0; i < 12; i++)
		sum += random_unit(&loop->seed);
	return sum;
}

/* One quantum; returns its action, valid until the next one. */
static const char *quantum(struct loop *loop)
{
	struct table_value action;

	table__rewind(loop->actions);
	assert_int_equal(rig__read(&loop->rig, QUANTUM), 0);
	for (unsigned int i = 0; i < loop->rig.measured; i++) {
		struct tier_latency *latency = &loop->rig.samples[i].latency;

		latency->rate *= 1 + loop->noise * normal(loop);
		latency->outstanding *= 1 + loop->noise * normal(loop);
	}
	loop->time_ns += 1000000000;
	assert_int_equal(
		actor__quantum(loop->actor, loop->actions, loop->time_ns, loop->rig.samples), 0);
	follow(loop);
	if (!table__rows(loop->actions))
		return "none";
	action = table__value(loop->actions, 0, ACTION_NAME);
	assert_true(action.known);
	loop->moves += !strcmp(action.text, "move");
	return action.text;
}

/* The quantum from which on the tiers are equal. *most, unless NULL: of what a quantum moves. */
static unsigned int settle(struct loop *loop, unsigned int quanta, double *most)
{
	unsigned int since = 0;

	for (unsigned int i = 0; i < quanta; i++) {
		double before = true_share();

		if (!strcmp(quantum(loop), "stop"))
			fail_msg("%s", table__value(loop->actions, 0, ACTION_WHY).text);
		if (most)
			*most = fmax(*most, fabs(true_share() - before));
		since = emu__imbalance() > EQUAL ? i + 1 : since;
	}
	return since;
}

static bool soak(void)
{
	return getenv("LATSCOPE_SOAK") && *getenv("LATSCOPE_SOAK");
}

TEST(it_converges_from_any_start)
{
	static const double starts[] = { 0, 1, 0.3, 0.6 };

	for (unsigned int i = 0; i < (soak() ? 4 : 2); i++) {
		struct loop loop = { .noise = 0.03, .seed = i + 1 };
		unsigned int first, again;

		begin(&loop, starts[i], 80, config_of(false, true));
		first = settle(&loop, 70, NULL);
		emu__tell("loop requests=150");
		again = settle(&loop, 70, NULL);
		print_message("from %.1f: equal after %u quanta, after a step of the load %u\n",
			      starts[i], first, again);
		assert_true(first <= 60 && again <= 60);
		end(&loop);
	}
}

/* 1000 quanta under soak; tests/unit/test_steer.c has as many of a simulated placement. */
TEST(it_holds_without_a_cycle)
{
	struct loop loop = { .noise = 0.03, .seed = 9 };
	unsigned int quanta = soak() ? 1000 : 150;
	unsigned int above = 0;
	double low = 1, high = 0;

	begin(&loop, 0.5, 80, config_of(false, true));
	assert_true(settle(&loop, 60, NULL) < 60);
	loop.moves = 0;
	for (unsigned int i = 0; i < quanta; i++) {
		double share;

		quantum(&loop);
		/* The pages are chosen at random: now and then a move goes too far. */
		assert_true(emu__imbalance() <= 2 * EQUAL);
		above += emu__imbalance() > EQUAL;
		share = emu__number("/p");
		low = fmin(low, share);
		high = fmax(high, share);
	}
	print_message("%u moves in %u quanta, placement %.3f to %.3f\n", loop.moves, quanta, low,
		      high);
	assert_in_range(loop.moves, 0, 10);
	assert_in_range(above, 0, quanta / 30);
	end(&loop);
}

static double rate_now(void)
{
	return emu__number("/streams/0/rate") + emu__number("/streams/1/rate");
}

static void print_line(const char *name)
{
	double near = emu__number("/streams/0/latency"), far = emu__number("/streams/1/latency");

	print_message("%-22s placement %.3f  %5.1f ns %5.1f ns  %5.1f M reads/s\n", name,
		      emu__number("/p"), near, far, rate_now() / 1e6);
}

/*
 * The alternatives on the same load. The rate can be higher at another placement than that of equal
 * latency: docs/tierlat.md.
 */
TEST(it_is_faster_than_no_action)
{
	static const struct {
		const char *name;
		double share;
	} fixed[] = { { "no action", 1 },
		      { "static 1:1", 0.5 },
		      { "weights by bandwidth", 2 / 3.0 } };
	static const unsigned int loads[] = { 60, 150 };

	for (unsigned int i = 0; i < 2; i++) {
		struct loop loop = { .noise = 0.03, .seed = 5 };
		double none = 0;

		make_machine(loads[i]);
		print_message("%u requests in flight:\n", loads[i]);
		for (unsigned int j = 0; j < 3; j++) {
			emu__tell("loop p=%.17g", fmin(fixed[j].share, 0.999));
			print_line(fixed[j].name);
			none = j ? none : rate_now();
		}
		begin(&loop, 1, loads[i], config_of(false, true));
		settle(&loop, 70, NULL);
		print_line("move_pages");
		assert_true(rate_now() > none);
		end(&loop);
	}
}

/* From a share on the near node to more than another one, and back. */
static void pages_are_put_back(double noise, double share, unsigned int quanta, double more)
{
	static int before[PAGES], after[PAGES];
	struct loop loop = { .noise = noise, .seed = 2 };

	begin(&loop, share, 80, config_of(false, false));
	pages_call(before, 0, -1);
	for (unsigned int i = 0; i < quanta; i++)
		quantum(&loop);
	assert_true(true_share() > more);
	end(&loop);
	pages_call(after, 0, -1);
	assert_memory_equal(before, after, sizeof(before));
}

TEST(all_pages_are_put_back)
{
	pages_are_put_back(0.03, 0.2, 20, 0.4);
}

static void hold_again(const char *how)
{
	stop_holding();
	start_holding(how);
}

TEST(huge_pages_are_put_back)
{
	hold_again("huge");
	pages_are_put_back(0, 0.25, 10, 0.3);
	hold_again(NULL);
}

/* Pages that were on another node before; asked of move_pages(2). */
static unsigned int changed_since(const int *before)
{
	static int now[PAGES];
	unsigned int nr = 0;

	pages_call(now, 0, -1);
	for (unsigned int i = 0; i < PAGES; i++)
		nr += now[i] != before[i];
	return nr;
}

/* Eight of 2 MiB: each is an eighth of all, and six of them on the near node make it equal. */
TEST(huge_pages_do_not_move_to_and_fro)
{
	static const double starts[] = { 1, 0.25 };
	static int before[PAGES];

	hold_again("huge");
	for (unsigned int i = 0; i < 2; i++) {
		struct loop loop = { .noise = 0.03, .seed = 12 + i };
		unsigned int moved = 0, late = 0, need;

		begin(&loop, starts[i], 80, config_of(false, true));
		for (unsigned int n = 0; n < 150; n++) {
			unsigned int changed;

			pages_call(before, 0, -1);
			assert_string_not_equal(quantum(&loop), "stop");
			changed = changed_since(before);
			assert_int_equal(changed % 512, 0);
			moved += changed;
			late += n >= 75 ? changed : 0;
		}
		need = (unsigned int)(fabs(true_share() - starts[i]) * PAGES + 0.5);
		print_message(
			"huge pages from %.2f to %.3f: moved %u MiB for %u, %u of them late\n",
			starts[i], true_share(), moved / 256, need / 256, late / 256);
		assert_true(fabs(true_share() - 0.75) < 0.01);
		assert_in_range(moved, need, need + 512);
		assert_int_equal(late, 0);
		end(&loop);
	}
	hold_again(NULL);
}

/* The usual start of a machine; the HMAT of the VM says 250 ns of the far node. */
TEST(it_begins_with_an_idle_tier)
{
	static const struct {
		unsigned int requests;
		bool begins; /* with that many in flight, the near tier alone is slower */
	} cases[] = { { 150, true }, { 60, false } };

	for (unsigned int i = 0; i < 2; i++) {
		struct loop loop = { .noise = 0.03, .idle = true, .seed = 14 };

		begin(&loop, 1, cases[i].requests, config_of(false, true));
		assert_true(emu__number("/streams/1/rate") == 0);
		settle(&loop, 70, NULL);
		print_message("%u requests, all on the near node at the start: placement %.3f, "
			      "%.0f and %.0f ns\n",
			      cases[i].requests, true_share(), emu__number("/streams/0/latency"),
			      emu__number("/streams/1/latency"));
		if (cases[i].begins)
			assert_true(emu__imbalance() <= EQUAL);
		else
			assert_true(true_share() == 1);
		end(&loop);
	}
}

TEST(a_dry_run_moves_nothing)
{
	struct loop loop = { .noise = 0.03, .seed = 3 };
	unsigned int would = 0;

	begin(&loop, 0.25, 80, config_of(true, false));
	for (unsigned int i = 0; i < 10; i++)
		would += !strcmp(quantum(&loop), "would move");
	assert_true(fabs(true_share() - 0.25) < 0.001);
	assert_in_range(would, 5, 10);
	assert_false(table__value(loop.actions, 0, ACTION_AFTER).known);
	end(&loop);
}

TEST(two_actors_are_refused)
{
	struct loop loop = { .seed = 3 };
	char why[TIER_TEXT] = "";
	struct actor *first;

	begin(&loop, 0.5, 80, config_of(false, true));
	first = loop.actor;
	assert_int_equal(open_actor(&loop, config_of(false, true), why), -EBUSY);
	assert_has(why, "another latscope moves pages");
	loop.actor = first;
	end(&loop);
	begin(&loop, 0.5, 80, config_of(false, true));
	end(&loop);
}

/* The process ends: the loop says so once and does nothing more. */
TEST(a_process_that_ends_stops_it)
{
	struct loop loop = { .seed = 4 };

	begin(&loop, 0.5, 80, config_of(false, false));
	quantum(&loop);
	kill(held.pid, SIGKILL);
	stop_holding();
	table__rewind(loop.actions);
	loop.time_ns += 1000000000;
	assert_int_equal(actor__quantum(loop.actor, loop.actions, loop.time_ns, loop.rig.samples),
			 0);
	assert_string_equal(table__value(loop.actions, 0, ACTION_NAME).text, "stop");
	assert_non_null(actor__trouble(loop.actor));
	assert_null(actor__trouble(loop.actor));
	end(&loop);
	start_holding(NULL);
}

static unsigned int weight_of(unsigned int node)
{
	return (unsigned int)atoi(unit_read(ACT_WEIGHTS, unit_text("node%u", node)));
}

static const struct act_nodes two_nodes = { 1 << NEAR_NODE, 1 << FAR_NODE };

/* All new pages, and no old one. */
static void new_pages_follow_the_weights(void)
{
	static const double shares[] = { 0.75, 0.25, 0.9 };
	struct act_config config = config_of(false, false);
	unsigned int near = weight_of(NEAR_NODE), far = weight_of(FAR_NODE);
	char why[TIER_TEXT];
	struct act_place place;
	struct act *act;

	config.method = "weighted-interleave";
	assert_int_equal(act__open(&act, &config, &two_nodes, why), 0);
	for (unsigned int i = 0; i < 3; i++) {
		double before = true_share();

		assert_int_equal(act__weigh(act, shares[i], &place, why), 0);
		assert_true(fabs(true_share() - before) < 1e-9);
		renew(4);
		print_message("weights %u:%u: %.4f of the new pages\n", weight_of(NEAR_NODE),
			      weight_of(FAR_NODE), true_share());
		assert_true(fabs(true_share() - shares[i]) < 0.02);
		assert_int_equal(act__place(act, &place, why), 0);
		/* Besides, it has its libraries, some 2 MB. */
		assert_true(fabs((double)place.far_bytes / PAGE / PAGES - (1 - true_share())) <
			    0.02);
	}
	assert_int_equal(act__close(act, why), 0);
	assert_int_equal(weight_of(NEAR_NODE), near);
	assert_int_equal(weight_of(FAR_NODE), far);
}

/* The closed loop: a quarter of the pages is replaced in each quantum. */
static void weights_converge(void)
{
	struct loop loop = { .noise = 0.03, .seed = 6 };
	struct act_config config = config_of(false, false);
	unsigned int near = weight_of(NEAR_NODE), above = 0;

	config.method = "weighted-interleave";
	begin(&loop, 0.3, 80, config);
	for (unsigned int i = 0; i < 150; i++) {
		assert_string_not_equal(quantum(&loop), "stop");
		renew(1);
		above += i >= 90 && emu__imbalance() > EQUAL;
	}
	print_message("by weights: placement %.3f, not equal in %u of 60 quanta\n", true_share(),
		      above);
	assert_in_range(above, 0, 6);
	end(&loop);
	assert_int_equal(weight_of(NEAR_NODE), near);
}

TEST(weighted_pages)
{
	char why[TIER_TEXT];

	if (act__look(act_method__find("weighted-interleave"), "", why))
		return;
	hold_again("weighted");
	new_pages_follow_the_weights();
	weights_converge();
	hold_again(NULL);
}

#define CGROUP "/sys/fs/cgroup/damon"
#define KDAMONDS "/sys/kernel/mm/damon/admin/kdamonds"
#define DAMON_STAT "/sys/module/damon_stat/parameters"
#define DAMON_SHIFT 0.02

/* The kernel's own user of DAMON, of Linux 6.17 and later, excludes others. */
static void end_damon_stat(void)
{
	char why[TIER_TEXT];

	if (access(DAMON_STAT "/enabled", F_OK))
		return;
	unit_write(DAMON_STAT, "enabled", "Y");
	assert_int_equal(act__look(act_method__find("damon"), "", why), -EBUSY);
	assert_has(why, "damon_stat");
	unit_write(DAMON_STAT, "enabled", "N");
}

static void damon_converges(struct act_config config)
{
	struct loop loop = { .noise = 0.03, .seed = 11 };
	unsigned int first, again, moves;
	double most = 0, share;

	begin(&loop, 0.5, 80, config);
	assert_string_equal(unit_read(KDAMONDS, "nr_kdamonds"), "2\n");
	sleep(4); /* it has to watch first */
	first = settle(&loop, 40, &most);
	share = true_share();
	moves = loop.moves;
	emu__tell("loop requests=150");
	again = settle(&loop, 60, &most);
	print_message("DAMON from 0.5: equal after %u quanta, placement %.3f, %u moves; after a "
		      "step of the load %u, placement %.3f; at most %.4f in a quantum\n",
		      first, share, moves, again, true_share(), most);
	assert_in_range(first, 1, 39);
	assert_in_range(again, 1, 59);
	/* The process also has libraries, some 2 MB: a share of all is more of the 16 MB. */
	assert_true(most <= DAMON_SHIFT * (1 + 4.0 / MEGABYTES));
	end(&loop);
	assert_string_equal(unit_read(KDAMONDS, "nr_kdamonds"), "0\n");
}

TEST(it_converges_by_damon)
{
	struct act_config config = config_of(false, false);
	char why[TIER_TEXT];

	end_damon_stat();
	/* Otherwise it would move what is accessed, too. */
	unit_write("/proc/sys/kernel", "numa_balancing", "0");
	if (act__look(act_method__find("damon"), "", why))
		fail_msg("no DAMON: %s", why);
	unit_write("/sys/fs/cgroup", "cgroup.subtree_control", "+memory");
	assert_int_equal(mkdir(CGROUP, 0755), 0);
	held.cgroup = CGROUP;
	hold_again("hot");
	config.method = "damon";
	config.target = (struct act_target){ .cgroup = "damon" };
	damon_converges(config);
	held.cgroup = NULL;
	hold_again(NULL);
	rmdir(CGROUP);
}

static bool has_far_node(void)
{
	static struct numa_nodes nodes;

	return !numa_nodes__read(&nodes, "") && nodes.nodes[FAR_NODE].memory &&
	       !nodes.nodes[FAR_NODE].cpus;
}

__attribute__((constructor)) static void need_far_node(void)
{
	if (!has_far_node())
		unit_skip_all("needs a second NUMA node without CPUs; kernels/act-6.12 has one");
	setvbuf(stdout, NULL, _IOLBF, 0);
}

static void begin_group(void)
{
	emu__begin();
	start_holding(NULL);
}

static void end_group(void)
{
	stop_holding();
	emu__end();
}

UNIT_FIXTURES(.all = { begin_group, end_group })
