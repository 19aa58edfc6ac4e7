// SPDX-License-Identifier: BSD-2-Clause
/* The sums of accounts: parts and life of each reading, and what is new since the last one. */
#include "unit.h"

#include <probes/where/sums.h>

static struct where_sums sums;
static const struct where_window window = { .opened_ns = 1000, .closed_ns = UINT64_MAX };

static void begin(void)
{
	memset(&sums, 0, sizeof(sums));
}

static void end(void)
{
	sums__free(&sums);
}

/* A thread that began before the window, has slept for 300 of it and has a CPU since 1300. */
static struct where_report report_of(uint32_t id, uint64_t at_ns)
{
	struct where_report report = {
		.of = { .start = 500, .id = id },
		.start_ns = 500,
		.at_ns = at_ns,
		.tgid = id,
		.comm = "worker",
		.account = { .task = 1, .what = WHERE_ON_CPU, .since_ns = 1300, .begin_ns = 900 },
	};

	report.account.ns[WHERE_TIMER] = 300;
	report.account.sleeps[0] = (struct where_sleep){ WHERE_WHAT(WHERE_TIMER, 35), 1, 300 };
	return report;
}

static void add_thread(struct where_report report)
{
	assert_int_equal(sums__add_thread(&sums, &window, &report), 0);
}

static uint64_t parts_of(const struct where_sum *sum)
{
	uint64_t ns = 0;

	for (int i = 0; i < WHERE_STATES; i++)
		ns += sum->ns[i];
	return ns;
}

TEST(parts_and_the_open_one_sum_to_the_life_in_the_window)
{
	sums__begin(&sums);
	add_thread(report_of(7, 1500));
	add_thread(report_of(7, 1600));
	assert_int_equal(sums.nr, 1);
	assert_int_equal(sums.ones[0]->living, 2);
	assert_int_equal(sums.ones[0]->now.life_ns, 500 + 600);
	assert_int_equal(parts_of(&sums.ones[0]->now), 500 + 600);
	assert_int_equal(sums.ones[0]->now.ns[WHERE_CPU], 200 + 300);
	assert_int_equal(sums.ones[0]->reasons[0].ns, 600);
	assert_int_equal(sums.ones[0]->reasons[0].times, 2);
}

TEST(time_after_the_close_does_not_count)
{
	const struct where_window closed = { .opened_ns = 1000, .closed_ns = 1400 };
	struct where_report report = report_of(7, 1500);

	sums__begin(&sums);
	assert_int_equal(sums__add_thread(&sums, &closed, &report), 0);
	assert_int_equal(sums.ones[0]->now.life_ns, 400);
	assert_int_equal(parts_of(&sums.ones[0]->now), 400);
}

TEST(a_thread_without_an_account_is_unknown)
{
	struct where_report report = report_of(7, 1500);

	report.account.task = 0;
	sums__begin(&sums);
	add_thread(report);
	assert_int_equal(sums.ones[0]->now.ns[WHERE_UNKNOWN], 500);
	assert_int_equal(parts_of(&sums.ones[0]->now), sums.ones[0]->now.life_ns);
	assert_int_equal(sums.without_ns, 500);
}

TEST(the_open_part_of_a_sleep_has_its_reason)
{
	struct where_report report = report_of(7, 1500);

	report.account.what = WHERE_WHAT(WHERE_FUTEX, 202);
	sums__begin(&sums);
	add_thread(report);
	assert_int_equal(sums.ones[0]->nr_reasons, 2);
	assert_int_equal(sums.ones[0]->reasons[1].what, WHERE_WHAT(WHERE_FUTEX, 202));
	assert_int_equal(sums.ones[0]->reasons[1].ns, 200);
}

/* As if a thread of it ended between two readings: its parts are those of the ended ones then. */
TEST(what_has_ended_stays_in_the_sums)
{
	const struct where_key key = { .start = 500, .id = 7, .pass = 1 };
	struct where_ended ended = { .life_ns = 450, .threads = 1, .comm = "worker" };
	const struct where_sleep sleep = { WHERE_WHAT(WHERE_TIMER, 35), 2, 350 };

	ended.ns[WHERE_TIMER] = 350;
	ended.ns[WHERE_CPU] = 100;
	sums__begin(&sums);
	add_thread(report_of(7, 1400));
	add_thread(report_of(7, 1400));
	sums__keep(&sums);
	assert_int_equal(sums.ones[0]->before.life_ns, 800);

	sums__begin(&sums);
	add_thread(report_of(7, 1500));
	assert_int_equal(sums__add_ended(&sums, &key, &ended), 0);
	assert_int_equal(sums__add_sleep(&sums, &key, &sleep), 0);
	assert_int_equal(sums.nr, 1);
	assert_int_equal(sums.ones[0]->now.life_ns, 500 + 450);
	assert_int_equal(parts_of(&sums.ones[0]->now), 500 + 450);
	assert_int_equal(sums.ones[0]->reasons[0].ns - sums.ones[0]->reasons[0].ns_before,
			 300 + 350 - 600);
	sums__keep(&sums);

	sums__begin(&sums); /* it is not read again */
	add_thread(report_of(7, 1600));
	assert_int_equal(sums.ones[0]->now.life_ns, 600 + 450);
	assert_int_equal(sums.ones[0]->ended, 1);
}

/* It seemed to sleep, but a switch of it was hidden: the time is unknown. */
TEST(what_turns_out_to_be_unknown_is_made_good)
{
	struct where_report report = report_of(7, 1500);
	uint64_t told[WHERE_STATES] = { 0 }, ns[WHERE_STATES], life = 0;

	report.account.what = WHERE_WHAT(WHERE_FUTEX, 202); /* since 1300 */
	for (int reading = 0; reading < 3; reading++) {
		sums__begin(&sums);
		add_thread(report);
		life += sums__parts(sums.ones[0], ns);
		for (int i = 0; i < WHERE_STATES; i++)
			told[i] += ns[i];
		sums__keep(&sums);
		assert_int_equal(parts_of(&sums.ones[0]->before), life);
		if (reading)
			report.account.ns[WHERE_FUTEX] = 200;
		report.account.ns[WHERE_UNKNOWN] = 250;
		report.account.since_ns = reading ? 1750 : 1550;
		report.at_ns = report.account.since_ns;
	}
	assert_int_equal(life, 750);
	assert_int_equal(told[WHERE_TIMER], 300);
	assert_int_equal(told[WHERE_FUTEX], 200);
	assert_int_equal(told[WHERE_UNKNOWN], 250);
}

TEST(the_kernel_is_asked_for_the_wait_that_goes_on_too)
{
	struct where_report report = report_of(7, 1500);

	report.kernel.queue_ns = 40;
	report.account.what = WHERE_IS_READY; /* since 1300 */
	sums__begin(&sums);
	add_thread(report);
	assert_int_equal(sums.ones[0]->now.kernel.queue_ns, 40 + 200);
	report.account.what = WHERE_WHAT(WHERE_TIMER, 35);
	report.account.woken_ns = 1490;
	sums__begin(&sums);
	add_thread(report);
	assert_int_equal(sums.ones[0]->now.kernel.queue_ns, 40 + 10);
}

TEST(the_wait_for_a_disk_that_goes_on_is_added_to_delay_accounting)
{
	struct where_report report = report_of(7, 1500);

	report.kernel.io_ns = 40;
	report.account.what = WHERE_WHAT(WHERE_DISK, 74); /* since 1300 */
	sums__begin(&sums);
	add_thread(report);
	assert_int_equal(sums.ones[0]->now.kernel.io_ns, 40 + 200);
	report.account.woken_ns = 1490; /* the kernel has added it by then */
	sums__begin(&sums);
	add_thread(report);
	assert_int_equal(sums.ones[0]->now.kernel.io_ns, 40);
	assert_int_equal(sums.ones[0]->now.kernel.no_io, 0);
}

TEST(an_id_that_is_used_again_is_another_process)
{
	struct where_report report = report_of(7, 1500);

	sums__begin(&sums);
	add_thread(report);
	report.of.start = 1200;
	report.start_ns = 1200;
	report.account.task = 0;
	add_thread(report);
	assert_int_equal(sums.nr, 2);
	assert_int_equal(sums.ones[1]->now.life_ns, 300);
}

TEST(processes_without_threads_are_forgotten)
{
	struct where_ended ended = { .life_ns = 500, .threads = 1, .comm = "worker" };

	ended.ns[WHERE_TIMER] = 300;
	ended.ns[WHERE_CPU] = 200;
	sums__begin(&sums);
	for (uint32_t id = 1; id <= 1000; id++)
		add_thread(report_of(id, 1500));
	assert_int_equal(sums.nr, 1000);
	sums__keep(&sums);
	sums__begin(&sums);
	for (uint32_t id = 1; id <= 1000; id++) {
		const struct where_key key = { .start = 500, .id = id };

		if (id % 2)
			add_thread(report_of(id, 1500));
		else
			assert_int_equal(sums__add_ended(&sums, &key, &ended), 0);
	}
	sums__keep(&sums);
	assert_int_equal(sums.nr, 500);
	for (size_t i = 0; i < sums.nr; i++)
		assert_int_equal(sums.ones[i]->key.id % 2, 1);
}

/* Its last thread ended: the reading no longer finds it, and not yet what it had. */
TEST(a_thread_that_a_reading_misses_counts_once)
{
	const struct where_key key = { .start = 500, .id = 7, .pass = 1 };
	struct where_ended ended = { .life_ns = 600, .threads = 1, .comm = "worker" };

	ended.ns[WHERE_TIMER] = 300;
	ended.ns[WHERE_CPU] = 300;
	sums__begin(&sums);
	add_thread(report_of(7, 1500));
	sums__keep(&sums);
	sums__begin(&sums);
	assert_false(sums__is_whole(sums.ones[0]));
	sums__keep(&sums);
	assert_int_equal(sums.nr, 1);

	sums__begin(&sums);
	assert_int_equal(sums__add_ended(&sums, &key, &ended), 0);
	assert_true(sums__is_whole(sums.ones[0]));
	assert_int_equal(sums.ones[0]->now.life_ns - sums.ones[0]->before.life_ns, 100);
	sums__keep(&sums);
	assert_int_equal(sums.nr, 0);
}

TEST(what_never_comes_is_given_up)
{
	sums__begin(&sums);
	add_thread(report_of(7, 1500));
	sums__keep(&sums);
	for (int i = 0; i < 20; i++) {
		sums__begin(&sums);
		sums__keep(&sums);
	}
	assert_int_equal(sums.nr, 0);
}

/* What was new since the last reading, of the cgroup of that ID; 0: it is not there. */
static uint64_t gained(uint64_t cgroup, enum where_state state)
{
	for (size_t i = 0; i < sums.nr; i++)
		if (sums.ones[i]->key.start == cgroup)
			return sums.ones[i]->now.ns[state] - sums.ones[i]->before.ns[state];
	return 0;
}

/* By cgroup: the program says in `of` where the thread was, and in `cgroup` where it is. */
TEST(what_a_thread_did_before_it_moved_stays_with_its_cgroup)
{
	struct where_report report = report_of(7, 1500);
	struct where_key ended_of = { .start = 20 };
	struct where_ended ended = { .life_ns = 800, .threads = 1 };

	report.of = (struct where_key){ .start = 10 };
	report.cgroup = 10;
	sums__begin(&sums);
	add_thread(report);
	sums__keep(&sums);

	report.cgroup = 20;
	report.at_ns = 1600;
	sums__begin(&sums);
	add_thread(report);
	assert_int_equal(gained(10, WHERE_CPU), 100);
	assert_int_equal(gained(20, WHERE_CPU), 0);
	for (size_t i = 0; i < sums.nr; i++)
		assert_true(sums__is_whole(sums.ones[i]));
	sums__keep(&sums);

	report.of.start = 20;
	report.at_ns = 1700;
	sums__begin(&sums);
	add_thread(report);
	assert_int_equal(gained(10, WHERE_CPU), 0);
	assert_int_equal(gained(20, WHERE_CPU), 100);
	assert_int_equal(gained(20, WHERE_TIMER), 0);
	assert_int_equal(sums.ones[sums.nr - 1]->reasons[0].ns, 0);
	sums__keep(&sums);

	ended.ns[WHERE_TIMER] = 300;
	ended.ns[WHERE_CPU] = 500;
	sums__begin(&sums);
	assert_int_equal(sums__add_ended(&sums, &ended_of, &ended), 0);
	assert_int_equal(gained(20, WHERE_CPU), 100);
	sums__keep(&sums);
	assert_int_equal(sums.nr, 0);
}

UNIT_FIXTURES(.each = { begin, end })
