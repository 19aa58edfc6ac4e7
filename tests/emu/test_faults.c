// SPDX-License-Identifier: BSD-2-Clause
/*
 * Faults of real machines. A measurement reports the fault and continues with valid data, or ends
 * with a reason; in any case it restores the registers.
 */
#include "rig.h"

/* Six boxes of Ice Lake: 0, 2 and 4 measure the near tier, the others the far one. */
static const struct rig_setup six = {
	.gen = &rig_generations[2], .sockets = 2, .boxes = 6, .litter = 7
};
#define BOX 0xe1c /* number 2 */
#define CONTROL (BOX + 1)
#define COUNTER (BOX + 8)

static struct rig_setup setup;
static struct rig rig;

static void make_machine(void)
{
	setup = six;
	rig__machine(&setup);
}

static void begin(void)
{
	make_machine();
	rig__start(&rig, &setup);
	assert_int_equal(rig__read(&rig, 1e7), 0);
	assert_null(tier__trouble(rig.tier));
}

static void finish(void)
{
	emu__tell("heal");
	rig__finish(&rig);
}

/* An interval with a reported problem, `says`, whose latencies are still right. */
static void assert_trouble(const char *says)
{
	const char *trouble;

	assert_int_equal(rig__read(&rig, 1e7), 0);
	trouble = tier__trouble(rig.tier);
	assert_non_null(trouble);
	assert_null(strchr(trouble, '\n'));
	assert_has(trouble, says);
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(rig__latency(&rig, i, RIG_NEAR)->latency_known);
		rig__assert_near("near", rig__latency(&rig, i, RIG_NEAR)->latency_ns, 90, 0.01);
		rig__assert_near("far", rig__latency(&rig, i, RIG_FAR)->latency_ns, 180, 0.01);
	}
}

/* An error, or fewer bytes than a register has. */
TEST(a_box_that_cannot_be_read_is_left_out)
{
	static const int errors[] = { EIO, 0 };

	for (unsigned int i = 0; i < 2; i++) {
		begin();
		emu__tell("fault access=read socket=0 reg=%#x err=%d", COUNTER, errors[i]);
		assert_trouble(i ? "" : "CHA 2 (CPU 0): cannot be read: Input/output error");
		assert_int_equal(rig__latency(&rig, 0, RIG_NEAR)->boxes, 2);
		assert_int_equal(rig__latency(&rig, 1, RIG_NEAR)->boxes, 3);
		finish();
	}
}

/* An interval in which every box fails: it has no values, and the problem is reported. */
static void assert_nothing_is_known(void)
{
	assert_int_equal(rig__read(&rig, 1e7), 0);
	assert_has(tier__trouble(rig.tier), "and 11 more: cannot be read");
	for (unsigned int i = 0; i < 2 * rig.measured; i++) {
		assert_int_equal(rig.samples[i].latency.boxes_lost, 6);
		assert_false(rig.samples[i].latency.latency_known);
		assert_false(rig.samples[i].latency.rate_known);
	}
}

/* One transient error, or a few with good intervals in between, costs only these intervals. */
TEST(a_read_that_fails_once_does_not_end_it, begin, finish)
{
	for (unsigned int i = 0; i < 2 * TIER_PATIENCE; i++) {
		emu__tell("fault access=read err=5");
		for (unsigned int j = 1; j < TIER_PATIENCE; j++)
			assert_nothing_is_known();
		emu__tell("heal");
		assert_int_equal(rig__read(&rig, 1e7), 0);
		assert_null(tier__trouble(rig.tier));
		rig__assert_near("near", rig__latency(&rig, 0, RIG_NEAR)->latency_ns, 90, 0.01);
		rig__assert_near("rate", rig__latency(&rig, 1, RIG_FAR)->rate, 1e8, 0.01);
	}
}

TEST(if_nothing_can_be_read_it_ends)
{
	static const int errors[] = { EIO, 0 };

	for (unsigned int i = 0; i < 2; i++) {
		begin();
		emu__tell("fault access=read err=%d", errors[i]);
		for (unsigned int j = 1; j < TIER_PATIENCE; j++)
			assert_nothing_is_known();
		assert_true(rig__read(&rig, 1e7) < 0);
		assert_true(rig.why[0]);
		assert_null(strchr(rig.why, '\n'));
		emu__tell("heal");
		rig__finish(&rig);
	}
}

/* The other socket continues, and registers that cannot be restored are reported. */
TEST(a_cpu_may_go_offline, begin)
{
	emu__tell("offline cpu=2");
	if (!rig__read(&rig, 1e7)) {
		assert_non_null(tier__trouble(rig.tier));
		rig__assert_near("near", rig__latency(&rig, 0, RIG_NEAR)->latency_ns, 90, 0.01);
		assert_false(rig__latency(&rig, 1, RIG_NEAR)->latency_known);
	}
	assert_true(rig__close(&rig) < 0);
	assert_true(rig.why[0]);
}

/* In this /sys, CPUs 0 and 1 are of socket 0, 2 and 3 of socket 1. */
TEST(another_cpu_of_the_socket_stands_in)
{
	char *root = unit_tmpdir();

	unit_write(root, "sys/devices/system/cpu/online", "0-3\n");
	for (unsigned int i = 0; i < 4; i++)
		unit_write_socket(root, i, i / 2);
	setup = six;
	setup.root = root;
	rig__machine(&setup);
	rig__start(&rig, &setup);
	assert_int_equal(tier__sockets(rig.tier), 2);
	rig_closed = true;
	assert_int_equal(rig__read(&rig, 1e7), 0);
	emu__tell("offline cpu=2");
	assert_trouble("CPU 2");
	emu__tell("offline cpu=0");
	rig__finish(&rig);
	rig_closed = false;
	unit_remove(root);
}

TEST(a_cpu_may_be_online_again_before_the_end, begin)
{
	rig_closed = true;
	emu__tell("offline cpu=2");
	rig__read(&rig, 1e7);
	emu__tell("offline cpu=2 on=0");
	rig__finish(&rig);
	rig_closed = false;
}

/* Fault 9: the event of another tool must not count as occupancy; the other tool restores it. */
TEST(a_counter_that_was_stolen_is_noticed, begin)
{
	uint64_t value;

	emu__tell("advance ns=5e6");
	emu__tell("poke socket=1 reg=%#x value=0x400000", CONTROL);
	assert_trouble("");
	assert_int_equal(rig__latency(&rig, 1, RIG_NEAR)->boxes, 2);
	rig__close(&rig);
	assert_int_equal(emu__read(2, CONTROL, &value), 0);
	assert_int_equal(value, 0x400000);
}

/* All problems of one interval are reported with the first, and the socket has no values. */
TEST(every_box_that_was_stolen_is_counted, begin)
{
	for (unsigned int i = 0; i < 6; i++)
		emu__tell("poke socket=1 reg=%#x value=0x400000", 0xe01 + 0xe * i);
	assert_int_equal(rig__read(&rig, 1e7), 0);
	assert_has(tier__trouble(rig.tier), "CHA 0 (CPU 2) and 5 more: reprogrammed");
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(rig__latency(&rig, 0, i)->boxes_lost, 0);
		assert_int_equal(rig__latency(&rig, 1, i)->boxes_lost, 6);
		assert_false(rig__latency(&rig, 1, i)->latency_known);
	}
	assert_int_equal(rig__read(&rig, 1e7), 0);
	assert_null(tier__trouble(rig.tier));
	assert_int_equal(rig__latency(&rig, 1, RIG_NEAR)->boxes_lost, 6);
	rig__close(&rig);
}

/* Read too late, counters may have wrapped any number of times: two hours make 90 ns of 31. */
TEST(a_late_read_is_no_value, begin, finish)
{
	assert_int_equal(rig__read(&rig, 7200 * EMU_SECOND), 0);
	assert_has(tier__trouble(rig.tier), "and 11 more: not read for 120 min");
	for (unsigned int i = 0; i < 4; i++) {
		assert_false(rig.samples[i].latency.latency_known);
		assert_false(rig.samples[i].latency.rate_known);
	}
	assert_int_equal(rig__read(&rig, 1e7), 0);
	assert_null(tier__trouble(rig.tier));
	rig__assert_near("near", rig__latency(&rig, 1, RIG_NEAR)->latency_ns, 90, 0.01);
}

TEST(a_box_that_cannot_be_written_is_reported, begin, finish)
{
	emu__tell("fault access=write socket=0 reg=%#x err=5", BOX);
	assert_trouble("CHA 2 (CPU 0): cannot be written: Input/output error");
}

/* The same when another tool has changed the filter of all counters of a box. */
TEST(a_filter_that_was_changed_is_noticed)
{
	struct rig_setup skx = { .gen = &rig_generations[0], .boxes = 6 };

	rig__machine(&skx);
	rig__start(&rig, &skx);
	assert_int_equal(rig__read(&rig, 1e7), 0);
	emu__tell("poke reg=0xe26 value=0x3b");
	assert_int_equal(rig__read(&rig, 1e7), 0);
	assert_non_null(tier__trouble(rig.tier));
	rig__assert_near("near", rig__latency(&rig, 0, RIG_NEAR)->latency_ns, 90, 0.01);
	rig__assert_near("far", rig__latency(&rig, 0, RIG_FAR)->latency_ns, 180, 0.01);
	rig__close(&rig);
}

/* A count that went back by less than 2^48 looks like a wrap: 2^48 clocks in 10 ms are none. */
TEST(a_counter_that_was_reset_is_noticed)
{
	for (unsigned int i = 0; i < 3; i++) {
		begin();
		emu__tell("poke socket=1 reg=%#x value=0", COUNTER + i);
		assert_trouble("");
		rig__finish(&rig);
	}
}

/* Another program resets the box and leaves it, or freezes it. */
TEST(a_box_that_was_reset_or_frozen_is_noticed)
{
	static const unsigned int values[] = { 0x1, 0x2, 0x3, 0x100 };

	for (unsigned int i = 0; i < COUNT_OF(values); i++) {
		begin();
		for (unsigned int j = 0; j < 3; j++)
			assert_int_equal(rig__read(&rig, 1e7), 0);
		emu__tell("advance ns=5e6");
		emu__tell("poke socket=1 reg=%#x value=%#x", BOX, values[i]);
		assert_trouble("");
		rig__close(&rig);
	}
}

/* If another tool freezes all boxes of a socket, nothing can be measured there. */
TEST(a_frozen_socket_is_not_idle, begin, finish)
{
	emu__tell("poke socket=1 reg=0x700 value=0x8000000000000000");
	assert_int_equal(rig__read(&rig, 1e7), 0); /* it still counted before */
	if (!rig__read(&rig, 1e7)) {
		assert_non_null(tier__trouble(rig.tier));
		assert_false(rig__latency(&rig, 1, RIG_NEAR)->rate_known);
	}
}

/* With three tiers most boxes count no clocks: box 2 counts none, box 3 one in counter 1. */
static void begin_three(void)
{
	setup = six;
	setup.tiers = "local-ddr,remote-ddr,local-pmm";
	setup.boxes = 8;
	rig__machine(&setup);
	emu__tell("stream name=pmm memory=pmm rate=5e7 latency=300");
	rig__start(&rig, &setup);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(rig__read(&rig, 1e7), 0);
	assert_null(tier__trouble(rig.tier));
}

static void assert_box_is_lost(void)
{
	assert_trouble("(CPU 2)");
	assert_int_equal(rig__latency(&rig, 1, RIG_NEAR)->boxes_lost, 1);
	rig__assert_near("rate", rig__latency(&rig, 1, RIG_NEAR)->rate, 2e8, 0.01);
	rig__assert_near("rate", rig__latency(&rig, 1, RIG_FAR)->rate, 1e8, 0.01);
	rig__close(&rig);
}

TEST(boxes_without_a_clock_are_watched_too)
{
	static const unsigned int boxes[] = { BOX, BOX + 0xe }, values[] = { 0x2, 0x3, 0x100 };

	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int j = 0; j < TIER_COUNTERS; j++) {
			begin_three();
			emu__tell("poke socket=1 reg=%#x value=0", boxes[i] + 8 + j);
			assert_box_is_lost();
			begin_three();
			emu__tell("poke socket=1 reg=%#x value=0x400001", boxes[i] + 1 + j);
			assert_box_is_lost();
		}
		for (unsigned int j = 0; j < COUNT_OF(values); j++) {
			begin_three();
			emu__tell("poke socket=1 reg=%#x value=%#x", boxes[i], values[j]);
			assert_box_is_lost();
		}
	}
}

/* The boxes without a clock stand still like idle ones; those with a clock show the fault. */
TEST(a_frozen_socket_of_three_tiers_is_not_idle, begin_three, finish)
{
	emu__tell("poke socket=1 reg=0x700 value=0x8000000000000000");
	assert_int_equal(rig__read(&rig, 1e7), 0);
	assert_int_equal(rig__read(&rig, 1e7), 0);
	assert_has(tier__trouble(rig.tier), "frozen by another program");
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(rig__latency(&rig, 0, i)->rate_known);
		assert_false(rig__latency(&rig, 1, i)->rate_known);
		assert_false(rig__latency(&rig, 1, i)->latency_known);
	}
}

static void assert_refused(int err, const char *fault)
{
	make_machine();
	emu__tell("%s", fault);
	if (rig__open(&rig, &setup) != err)
		fail_msg("%s: %s", fault, rig.why);
	assert_true(rig.why[0]);
	assert_null(strchr(rig.why, '\n'));
	emu__tell("heal");
	assert_int_equal(rig__left_behind(), 0);
}

TEST(permission_errors_refuse_the_start)
{
	assert_refused(-EACCES, "fault access=open err=1");
	assert_refused(-EACCES, "fault access=open err=13");
	assert_refused(-EACCES, "fault access=write err=1"); /* lockdown allows to read */
	assert_refused(-EIO, "fault access=read err=5");
}

/* Each access of the start fails in turn: it may fail or not, but leaves nothing behind. */
TEST(every_step_of_the_start_unwinds)
{
	setup = six;
	setup.sockets = 1;
	setup.boxes = 3;
	for (unsigned int i = 1;; i++) {
		double accesses;
		int err;

		setup.litter = i;
		rig__machine(&setup);
		emu__tell("after accesses=%u fault access=%s err=5 times=1", i / 2 + 1,
			  i % 2 ? "read" : "write");
		err = rig__open(&rig, &setup);
		accesses = emu__number("/accesses");
		emu__tell("heal");
		if (err)
			assert_int_equal(rig__left_behind(), 0);
		else
			rig__finish(&rig);
		if (i / 2 + 1 > accesses)
			break;
	}
}

/* The same at the end: a register that cannot be restored does not prevent the others. */
TEST(the_end_puts_back_what_it_can)
{
	static const struct {
		const char *access;
		unsigned int reg;
		bool left_behind;
	} faults[] = {
		{ "write", CONTROL, true }, /* as found it has other bits */
		{ "write", CONTROL + 3, true },
		{ "read", CONTROL, false }, /* owner unknown, but it was ours */
		{ "read", CONTROL + 3, false },
		{ "read", CONTROL + 4, false }, /* its filter */
	};

	for (unsigned int i = 0; i < COUNT_OF(faults); i++) {
		int err;

		begin();
		emu__tell("fault access=%s socket=0 reg=%#x err=5", faults[i].access,
			  faults[i].reg);
		err = rig__close(&rig);
		assert_true(faults[i].left_behind ? err < 0 && rig.why[0] : !err);
		emu__tell("heal");
		assert_int_equal(rig__left_behind(), faults[i].left_behind);
	}
}

static pid_t victim;
static unsigned int writes_left;

/* Not in the restore process, which has a copy of the memory from before. */
static void die_of_write(void)
{
	if (getpid() == victim && !--writes_left)
		kill(victim, SIGKILL);
}

/* Killed after so many writes. False: it made fewer. */
static bool is_killed_after(const struct rig_setup *machine, unsigned int writes)
{
	int status;

	victim = fork();
	if (!victim) {
		victim = getpid();
		writes_left = writes;
		rig_wrote = die_of_write;
		rig__start(&rig, machine);
		for (unsigned int i = 0; i < 2; i++)
			rig__read(&rig, 1e7);
		_exit(tier__close(rig.tier, rig.why));
	}
	assert_int_equal(waitpid(victim, &status, 0), victim);
	if (WIFEXITED(status)) {
		assert_int_equal(WEXITSTATUS(status), 0);
		return false;
	}
	/* Its restore process, now a child of this one, if it was already started. */
	assert_true(waitpid(-1, &status, 0) > 0);
	assert_true(WIFEXITED(status));
	return true;
}

/* At any write, also while the filter of a box changes to another tier. */
TEST(killed_it_leaves_nothing_behind)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (unsigned int i = 0; i < 2; i++) {
		const struct rig_setup two = {
			.gen = &rig_generations[2 * i], .boxes = 2, .take = true, .restore = true
		};

		rig__machine(&two);
		for (unsigned int writes = 1;; writes++) {
			bool killed = is_killed_after(&two, writes);

			if (rig__left_behind())
				fail_msg("%s, killed after %u writes", two.gen->name, writes);
			if (!killed)
				break;
		}
	}
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/* The restore process is root and may reopen registers, unlike the process that measures. */
TEST(the_restore_process_restores_what_its_parent_cannot)
{
	struct rig_setup restoring = six;

	restoring.restore = true;
	for (unsigned int both = 0; both < 2; both++) {
		rig__machine(&restoring);
		rig__start(&rig, &restoring);
		rig__read(&rig, 1e7);
		rig_denied = getpid();
		if (both)
			emu__tell("fault access=write socket=0 reg=%#x err=5", CONTROL);
		assert_int_equal(rig__close(&rig) < 0, both);
		rig_denied = 0;
		emu__tell("heal");
		assert_int_equal(rig__left_behind() > 0, both);
	}
}

UNIT_FIXTURES(.all = { emu__begin, emu__end })
