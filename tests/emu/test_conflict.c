// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two users of the same registers. A second latscope is refused; if it avoids the lock (in a
 * container with its own device files, for example), it is noticed; and what a killed one left is
 * reset.
 */
#include "rig.h"

#include <sys/file.h>

#define RACES 25
#define ICX 2 /* rig_generations */

static struct rig_setup setup;
static struct rig rig;

static void machine(unsigned int generation, unsigned int sockets)
{
	setup = (struct rig_setup){ .gen = &rig_generations[generation],
				    .sockets = sockets,
				    .boxes = 6 };
	rig__machine(&setup);
}

static void assert_says(const char *text, const char *says)
{
	assert_has(text, says);
	assert_null(strchr(text, '\n'));
}

TEST(a_second_one_is_refused)
{
	struct rig first, second;

	machine(ICX, 2);
	rig__start(&first, &setup);
	for (unsigned int i = 0; i < 4; i++) {
		setup.take = i & 1;
		setup.reset = i & 2;
		assert_int_equal(rig__open(&second, &setup), -EBUSY);
		assert_says(second.why, unit_text(", PID %d", getpid()));
	}
	assert_int_equal(rig__read(&first, 1e7), 0);
	assert_null(tier__trouble(first.tier));
	rig__assert_near("near", rig__latency(&first, 0, RIG_NEAR)->latency_ns, 90, 0.01);
	rig__finish(&first);
	setup.take = setup.reset = false;
	rig__start(&second, &setup);
	rig__finish(&second);
}

/* 1: it ran. 0: it was refused. */
static int race(int start)
{
	char byte;
	int err;

	if (read(start, &byte, 1) < 0)
		return 3;
	err = rig__open(&rig, &setup);
	if (err)
		return err == -EBUSY ? 0 : 2;
	usleep(20000); /* so that it still runs when the other one starts */
	return tier__close(rig.tier, rig.why) ? 4 : 1;
}

TEST(one_of_two_concurrent_starts_runs)
{
	for (unsigned int i = 0; i < RACES; i++) {
		int start[2], status, ran = 0;

		machine(i % 2 ? ICX : 0, 1);
		emu__tell("mark");
		setup.take = i & 2; /* which is about others than latscope */
		assert_int_equal(pipe(start), 0);
		for (unsigned int j = 0; j < 2; j++) {
			if (fork())
				continue;
			close(start[1]);
			_exit(race(start[0]));
		}
		close(start[0]);
		close(start[1]);
		for (unsigned int j = 0; j < 2; j++) {
			assert_true(wait(&status) > 0);
			assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
			ran += WEXITSTATUS(status);
		}
		assert_int_equal(ran, 1);
		assert_int_equal(rig__left_behind(), 0);
	}
}

/* A process without access to the registers cannot take the lock. */
TEST(others_cannot_hold_the_lock)
{
	char *const directories[] = { (char *)emu__root() };
	int fd = open(directories[0], O_RDONLY | O_DIRECTORY);

	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	machine(ICX, 1);
	rig__start(&rig, &setup);
	rig__finish(&rig);
	close(fd);
}

/* Programs exactly the same and resets the counts, at any time: even before they got anywhere. */
TEST(a_reset_by_another_latscope_is_noticed)
{
	static const double after[] = { 1e4, 1e7, 1e9 };

	for (unsigned int i = 0; i < COUNT_OF(after); i++) {
		machine(ICX, 2);
		rig__start(&rig, &setup);
		assert_int_equal(rig__read(&rig, after[i]), 0);
		for (unsigned int j = 0; j < 6; j++)
			emu__tell("poke socket=1 reg=%#x value=0x2", 0xe00 + 0xe * j);
		/* Longer than before, so that all counts are above those of the last read. */
		assert_int_equal(rig__read(&rig, 10 * after[i]), 0);
		assert_says(tier__trouble(rig.tier),
			    "CHA 0 (CPU 2) and 5 more: reset by another program");
		assert_false(rig__latency(&rig, 1, RIG_NEAR)->latency_known);
		rig__assert_near("near", rig__latency(&rig, 0, RIG_NEAR)->latency_ns, 90, 0.01);
		/* The other one still runs: the values cannot be trusted any more. */
		assert_int_equal(rig__read(&rig, 1e7), 0);
		assert_int_equal(rig__latency(&rig, 1, RIG_NEAR)->boxes_lost, 6);
		rig__finish(&rig);
	}
}

TEST(if_all_are_reset_it_ends)
{
	/* whose boxes take turns: another latscope's turns would look like its own */
	machine(0, 1);
	rig__start(&rig, &setup);
	assert_int_equal(rig__read(&rig, 1e6), 0);
	for (unsigned int j = 0; j < 6; j++)
		emu__tell("poke reg=%#x value=0x2", 0xe00 + 0x10 * j);
	assert_int_equal(rig__read(&rig, 1e8), -EBUSY);
	assert_says(rig.why, "reprogrammed or reset");
	rig__finish(&rig);
}

static void assert_clock(double first, double second, const char *says)
{
	const char *trouble;

	machine(ICX, 2);
	emu__tell("clock hz=%g", first);
	rig__start(&rig, &setup);
	assert_int_equal(rig__read(&rig, 1e7), 0);
	emu__tell("clock socket=1 hz=%g", second);
	assert_int_equal(rig__read(&rig, 1e7), 0);
	trouble = tier__trouble(rig.tier);
	if (says) {
		assert_says(trouble, says);
		assert_int_equal(rig__latency(&rig, 1, RIG_NEAR)->boxes_lost, 6);
		assert_false(rig__latency(&rig, 1, RIG_NEAR)->latency_known);
	} else {
		assert_null(trouble);
		rig__assert_near("near", rig__latency(&rig, 1, RIG_NEAR)->latency_ns, 90, 0.01);
	}
	rig__assert_near("near", rig__latency(&rig, 0, RIG_NEAR)->latency_ns, 90, 0.01);
	rig__finish(&rig);
}

TEST(a_clock_that_no_uncore_has_is_refused)
{
	assert_clock(2e9, 0.1e9, "clock outside 0.2 to 5 GHz; interval dropped (0.1");
	assert_clock(2e9, 5.5e9, "clock outside 0.2 to 5 GHz; interval dropped (5.");
	assert_clock(2e9, 0.4e9, "clock that jumped; interval dropped (0.4");
	assert_clock(0.9e9, 4.5e9, "clock that jumped; interval dropped (4.");
	assert_clock(0.8e9, 2.8e9, NULL);
	assert_clock(2.8e9, 0.8e9, NULL);
}

/* The state after a kill -9 of latscope and of its restore process: nothing is restored. */
static void leave_running(void)
{
	pid_t pid = fork();

	if (!pid) {
		rig__start(&rig, &setup);
		rig__read(&rig, 1e7);
		raise(SIGKILL);
	}
	waitpid(pid, NULL, 0);
}

/* Nothing counts, and the filters are as after power-on. */
static void assert_power_on(unsigned int base, unsigned int stride, uint64_t filter1)
{
	uint64_t value;

	for (unsigned int b = 0; b < setup.boxes; b++) {
		for (unsigned int i = 0; i < 6 + !!filter1; i++) {
			assert_int_equal(emu__read(0, base + stride * b + i, &value), 0);
			assert_int_equal(value, i == 6 ? filter1 : 0);
		}
	}
}

static const struct {
	unsigned int generation, base, stride;
	uint64_t filter1;
	const char *tiers;
} lakes[] = {
	{ 0, 0xe00, 0x10, 0x3b, NULL },
	{ 0, 0xe00, 0x10, 0x3b, "remote" },
	{ ICX, 0xe00, 0xe, 0, NULL },
	{ ICX, 0xe00, 0xe, 0, "remote-ddr" },
	{ ICX, 0xe00, 0xe, 0, "local-pmm,local-ddr,remote-ddr" },
};

#define LAKES COUNT_OF(lakes)

static void leave_lake_running(unsigned int lake)
{
	machine(lakes[lake].generation, 1);
	setup.tiers = lakes[lake].tiers;
	leave_running();
}

TEST(registers_of_a_killed_latscope_are_recognised)
{
	for (unsigned int i = 0; i < LAKES; i++) {
		leave_lake_running(i);
		setup.tiers = NULL;
		assert_int_equal(rig__open(&rig, &setup), -EBUSY);
		assert_says(rig.why, "a killed latscope left the CHAs programmed");
		assert_says(rig.todo, "--reset");
		/* Registers that a killed latscope left are reset, not restored. */
		setup.take = true;
		rig__start(&rig, &setup);
		assert_says(tier__mechanism(rig.tier), "a killed latscope left them programmed");
		assert_int_equal(rig__read(&rig, 1e7), 0);
		assert_int_equal(rig__read(&rig, 1e7), 0);
		rig__assert_near("far", rig__latency(&rig, 0, RIG_FAR)->latency_ns, 180, 0.01);
		assert_int_equal(rig__close(&rig), 0);
		assert_power_on(lakes[i].base, lakes[i].stride, lakes[i].filter1);
	}
}

/* Frozen, as during a read, they are not in use, but there is still nothing to restore. */
TEST(boxes_frozen_by_a_killed_latscope_are_not_restored)
{
	machine(ICX, 1);
	leave_running();
	for (unsigned int i = 0; i < 6; i++)
		emu__tell("poke reg=%#x value=0x100", 0xe00 + 0xe * i);
	rig__start(&rig, &setup);
	assert_int_equal(rig__close(&rig), 0);
	assert_power_on(0xe00, 0xe, 0);
}

/* One register shows that another program uses the box; that register is restored as found. */
TEST(counters_of_other_tools_are_not_mistaken_for_ours)
{
	machine(ICX, 1);
	leave_running();
	emu__tell("poke reg=%#x value=0x400000", 0xe01 + 0xe * 5 + 3);
	emu__tell("mark");
	assert_int_equal(rig__open(&rig, &setup), -EBUSY);
	assert_says(rig.why, "counter 0 of CHA 0 is in use");
	setup.take = true;
	rig__start(&rig, &setup);
	assert_lacks(tier__mechanism(rig.tier), "killed");
	rig__finish(&rig);
}

TEST(a_reset_is_as_after_power_on)
{
	for (unsigned int i = 0; i < LAKES; i++) {
		leave_lake_running(i);
		setup.reset = true;
		assert_int_equal(rig__open(&rig, &setup), 0);
		assert_says(rig.done, "reset 6 CHAs on 1 socket");
		assert_says(rig.done, "6 counted, as a latscope that was killed left them");
		assert_power_on(lakes[i].base, lakes[i].stride, lakes[i].filter1);
		assert_int_equal(rig__open(&rig, &setup), 0);
		assert_says(rig.done, "after power-on; 0 counted");
		emu__tell("mark");
		setup.reset = false;
		rig__start(&rig, &setup);
		rig__finish(&rig);
	}
	machine(ICX, 1);
	emu__tell("litter seed=3");
	emu__tell("poke reg=0xe01 value=0x400135");
	emu__tell("poke reg=0xe00 value=0");
	setup.reset = true;
	assert_int_equal(rig__open(&rig, &setup), 0);
	assert_says(rig.done, "1 counted, as another program had set them");
	assert_power_on(0xe00, 0xe, 0);
}

UNIT_FIXTURES(.all = { emu__begin, emu__end })
