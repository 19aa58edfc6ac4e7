// SPDX-License-Identifier: BSD-2-Clause
#include "sample.h"
#include "sheet.h"

#include "core/why.h"
#include "print/why.h"
#include "stats/why.h"
#include <probes/iolat/types.h>
#include <probes/runqlat/types.h>

static struct run_probe probe; /* runqlat, if a test makes no other */
static struct run around; /* that it is part of, as far as a test says */

static void new_probe(const char *name)
{
	why__free(probe.why);
	memset(&probe, 0, sizeof(probe));
	strcpy(probe.name, name);
	assert_int_equal(why__new(&probe.why, probe.name), 0);
	probe.why->over_low_ns = probe.why->over_high_ns = 1000;
}

static void begin(void)
{
	new_probe("runqlat");
}

static void end(void)
{
	memset(&around, 0, sizeof(around));
	why__free(probe.why);
	memset(&probe, 0, sizeof(probe));
}

/* culprit NULL: the part has none. */
static void add(const char *victim, const char *part, const char *culprit, int64_t ns)
{
	struct table *table = probe.why->parts;

	assert_int_equal(table__add_row(table, 0), 0);
	assert_int_equal(table__set_text(table, WHY_VICTIM, victim), 0);
	assert_int_equal(table__set_text(table, WHY_PART, part), 0);
	assert_int_equal(table__set_text(table, WHY_CULPRIT, culprit), 0);
	table__set_integer(table, WHY_NS, ns);
	table__set_integer(table, WHY_EVENTS, 1);
	probe.why->slow++;
	probe.why->slow_ns += (uint64_t)ns;
}

/* Ends an interval. */
static void fold(void)
{
	assert_int_equal(why__sum(probe.why), 0);
	assert_int_equal(table__fold(probe.why->parts), 0);
}

/* The sentence about the pairs so far. */
static void assert_sentence(const char *sentence)
{
	struct why_summary summary;

	fold();
	assert_int_equal(why_summary__of(&summary, &probe, &around), 0);
	assert_string_equal(summary.sentence, sentence);
	why_summary__clear(&summary);
}

TEST(little_slow_time_is_said_to_be_little)
{
	add("web (1)", "other", "backup (2)", 1000);
	around.duration_ns = 1000000;
	assert_sentence("web (1) waited most: 100 % of all slow time. For all of that, backup (2) "
			"had the CPU");
	around.duration_ns = 1000001;
	assert_sentence("Little was slow (0.10 % of the window). web (1) waited most: 100 % of all "
			"slow time. For all of that, backup (2) had the CPU");
}

/* The newest pair; NULL: nothing sets them apart. */
static void set_traits(const char *victim, const char *culprit)
{
	struct table *table = probe.why->parts;

	assert_int_equal(table__set_text(table, WHY_VICTIM_TRAITS, victim), 0);
	assert_int_equal(table__set_text(table, WHY_CULPRIT_TRAITS, culprit), 0);
}

TEST(what_sets_a_culprit_and_a_victim_apart_is_said)
{
	add("web (1)", "realtime", "audio (2)", 80);
	set_traits("nice 10", "SCHED_FIFO 50");
	add("web (1)", "kernel", "kworker/1:1 (35)", 20);
	set_traits("nice 10", "workqueue events");
	assert_sentence("web (1), nice 10, waited most: 100 % of all slow time. For 80 % of that, "
			"the real-time task audio (2), SCHED_FIFO 50, had the CPU; for 20 %, the "
			"kernel thread kworker/1:1 (35), workqueue events, had the CPU");
}

TEST(of_several_workqueues_the_sentence_names_none)
{
	add("web (1)", "kernel", "kworker/1:1 (35)", 94);
	set_traits(NULL, "workqueue events");
	add("web (1)", "kernel", "kworker/1:1 (35)", 6);
	set_traits(NULL, "workqueue writeback");
	assert_sentence("web (1) waited most: 100 % of all slow time. For all of that, the kernel "
			"thread kworker/1:1 (35) had the CPU");
	add("web (1)", "kernel", "kworker/1:1 (35)", 26); /* 120 of 126 */
	set_traits(NULL, "workqueue events");
	assert_sentence("web (1) waited most: 100 % of all slow time. For all of that, the kernel "
			"thread kworker/1:1 (35), workqueue events, had the CPU");
}

TEST(what_others_of_the_name_are_does_not_matter)
{
	add("web (1)", "other", "sh (2)", 60);
	set_traits(NULL, NULL);
	add("web (1)", "realtime", "sh (3)", 40);
	set_traits(NULL, "SCHED_RR 1");
	add("db (9)", "other", "sh (4)", 10);
	set_traits("nice 5", "nice 19");
	assert_sentence("web (1) waited most: 91 % of all slow time. For 60 % of that, sh (2) had "
			"the CPU; for 40 %, the real-time task sh (3), SCHED_RR 1, had the CPU");
}

static struct run_probe runqlat; /* next to memlat */

/* What was added is runqlat's; memlat has page faults of web that waited for a CPU. */
static void begin_memlat(void)
{
	fold();
	runqlat = probe;
	probe.why = NULL;
	new_probe("memlat");
	add("web (1)", "runnable", NULL, 100);
}

/* The run has runqlat, too. */
static void assert_sentence_with_runqlat(const char *sentence)
{
	around.probes[around.nr_probes++] = runqlat;
	assert_sentence(sentence);
	why__free(runqlat.why);
}

TEST(a_fault_that_waited_for_a_cpu_was_behind_whom_runqlat_names)
{
	add("web (1)", "other", "backup (2)", 62);
	add("web (1)", "idle", NULL, 38);
	add("db (3)", "other", "hog (4)", 1000);
	begin_memlat();
	assert_sentence("web (1) waited most: 100 % of all slow time. For all of that, page faults "
			"waited for a CPU");
	assert_sentence_with_runqlat(
		"web (1) waited most: 100 % of all slow time. For all of that, page faults "
		"waited for a CPU (backup (2) had it for 62 % of its slow waits for a CPU)");
}

TEST(a_fault_that_waited_for_a_cpu_was_not_behind_a_quota)
{
	add("web (1)", "quota", "/shop (20 % of a CPU)", 60);
	add("web (1)", "other", "backup (2)", 40);
	begin_memlat();
	assert_sentence_with_runqlat(
		"web (1) waited most: 100 % of all slow time. For all of that, page faults "
		"waited for a CPU (backup (2) had it for 40 % of its slow waits for a CPU)");
}

TEST(a_fault_that_waited_for_a_cpu_has_no_culprit_with_a_small_share)
{
	add("web (1)", "other", "backup (2)", 24);
	add("web (1)", "idle", NULL, 76);
	begin_memlat();
	assert_sentence_with_runqlat(
		"web (1) waited most: 100 % of all slow time. For all of that, page faults "
		"waited for a CPU");
}

TEST(parts_sum_to_the_whole)
{
	struct why_summary summary;

	add("web (1)", "other", "backup (2)", 62);
	add("web (1)", "quota", NULL, 21);
	add("web (1)", "other", "backup (2)", 7);
	add("db (3)", "idle", NULL, 10);
	fold();
	assert_int_equal(why_summary__of(&summary, &probe, &around), 0);
	assert_int_equal(summary.total_ns, 100);
	assert_int_equal(summary.part_ns[WHY_RUNQLAT_OTHER], 69);
	assert_int_equal(summary.part_ns[WHY_RUNQLAT_QUOTA], 21);
	assert_int_equal(summary.part_ns[WHY_RUNQLAT_IDLE], 10);
	assert_int_equal(summary.nr_lines, 3);
	assert_int_equal(summary.lines[0].ns, 69);
	assert_int_equal(summary.lines[0].events, 2);
	assert_string_equal(summary.lines[0].culprit, "backup (2)");
	assert_null(summary.lines[1].culprit);
	why_summary__clear(&summary);
}

TEST(the_main_victim_is_the_subject)
{
	add("web (1)", "other", "backup (2)", 62);
	add("web (1)", "quota", NULL, 21);
	add("web (1)", "kernel", "kworker (9)", 17);
	add("db (3)", "idle", NULL, 50);
	assert_sentence("web (1) waited most: 67 % of all slow time. For 62 % of that, backup (2) "
			"had the CPU; for 21 %, web (1) was out of its CPU quota (cpu.max); for 17 "
			"%, the kernel thread kworker (9) had the CPU");
}

TEST(the_cgroup_of_a_quota_is_named)
{
	add("web (1)", "quota", "/shop (20 % of a CPU)", 90);
	add("web (1)", "quota", NULL, 10);
	assert_sentence("web (1) waited most: 100 % of all slow time. For 90 % of that, web (1) "
			"was out of the quota of /shop (20 % of a CPU); for 10 %, web (1) was out "
			"of its CPU quota (cpu.max)");
}

TEST(cgroups_are_no_tasks)
{
	add("/web", "other", "/web", 50);
	add("/web", "kernel", "/", 30);
	add("/web", "realtime", "/audio", 20);
	assert_sentence("/web waited most: 100 % of all slow time. For 50 % of that, its other "
			"processes had the CPU; for 30 %, kernel threads had the CPU; for 20 %, "
			"real-time tasks of /audio had the CPU");
}

TEST(without_a_main_victim_all_are_the_subject)
{
	add("a (1)", "realtime", "audio (7)", 30);
	add("b (2)", "realtime", "audio (7)", 30);
	add("c (3)", "idle", NULL, 35);
	add("c (3)", "moved", NULL, 5);
	assert_sentence("For 60 % of the slow time, the real-time task audio (7) had the CPU; for "
			"35 %, the CPU was idle, and took that long to wake up");
}

/* The sentence about each part of a probe, if web waits for that alone. */
static void assert_phrases(const char *name, const char *culprit, const char *const *phrases)
{
	for (unsigned int i = 0; i < why__words(name)->nr_parts; i++) {
		if (!phrases[i])
			continue;
		new_probe(name);
		add("web (1)", why__part(name, i)->name, culprit, 5);
		assert_sentence(unit_text(
			"web (1) waited most: 100 %% of all slow time. For all of that, %s",
			phrases[i]));
	}
	assert_null(why__part(name, why__words(name)->nr_parts)->name);
}

TEST(each_part_has_a_phrase)
{
	static const char *const phrases[] = {
		[WHY_RUNQLAT_UNKNOWN] = "the reason is unknown",
		[WHY_RUNQLAT_OWN] = "its own threads had the CPU",
		[WHY_RUNQLAT_OTHER] = "other processes had the CPU",
		[WHY_RUNQLAT_KERNEL] = "kernel threads had the CPU",
		[WHY_RUNQLAT_REALTIME] = "real-time tasks had the CPU",
		[WHY_RUNQLAT_LATSCOPE] = NULL,
		[WHY_RUNQLAT_INTERRUPTS] = "interrupts had the CPU",
		[WHY_RUNQLAT_STEAL] = "the hypervisor had the CPU",
		[WHY_RUNQLAT_IDLE] = "the CPU was idle, and took that long to wake up",
		[WHY_RUNQLAT_FORCED] = "the CPU had to stay idle: core scheduling",
		[WHY_RUNQLAT_SCHEDULER] =
			"the CPU was idle, and the sched_ext scheduler kept it queued",
		[WHY_RUNQLAT_QUOTA] = "web (1) was out of its CPU quota (cpu.max)",
		[WHY_RUNQLAT_BUDGET] = "the real-time or deadline budget was used up",
		[WHY_RUNQLAT_MOVED] = "it was queued for another CPU, before a move",
	};

	assert_int_equal(why__words("runqlat")->nr_parts, WHY_RUNQLAT_PARTS);
	assert_phrases("runqlat", NULL, phrases);
	assert_int_equal(why__find_part("runqlat", "quota"), WHY_RUNQLAT_QUOTA);
	assert_int_equal(why__find_part("runqlat", "none"), -ENOENT);
}

TEST(each_part_of_a_request_has_a_phrase)
{
	static const char *const phrases[] = {
		[WHY_IOLAT_UNKNOWN] = "the reason is unknown",
		[WHY_IOLAT_QUEUED] = "requests waited in the queue",
		[WHY_IOLAT_DEVICE] = "the disk itself took the time",
		[WHY_IOLAT_OWN] = "other requests of the same process kept the disk busy",
		[WHY_IOLAT_OTHER] = "backup (2) kept the disk busy",
		[WHY_IOLAT_LATSCOPE] = NULL,
		[WHY_IOLAT_FLUSH] = "backup (2) had the disk flush its cache",
		[WHY_IOLAT_DISCARD] = "backup (2) had the disk discard blocks",
		[WHY_IOLAT_REQUEUED] = "the driver gave requests back",
		[WHY_IOLAT_JOURNAL] = "backup (2) wrote the journal of a file system",
		[WHY_IOLAT_WRITEBACK] = NULL,
	};

	assert_int_equal(why__words("iolat")->nr_parts, WHY_IOLAT_PARTS);
	assert_phrases("iolat", "backup (2)", phrases);
	assert_int_equal(why__words("iolat")->metric, 2); /* total */
	assert_int_equal(why__words("runqlat")->metric, 0);
}

TEST(latscope_itself_is_told_and_is_no_answer)
{
	new_probe("runqlat");
	add("web (1)", "latscope", NULL, 900);
	assert_sentence("all of the slow time is due to latscope itself");
	add("web (1)", "other", "hog (2)", 75);
	add("db (3)", "kernel", "kworker/0:1 (4)", 25);
	assert_sentence("web (1) waited most: 75 % of all slow time without latscope itself (900 "
			"ns). For all of that, hog (2) had the CPU");
	new_probe("runqlat");
	add("web (1)", "latscope", NULL, 90);
	add("web (1)", "other", "hog (2)", 9);
	assert_sentence("web (1) waited most: 100 % of all slow time without latscope itself (90 "
			"ns). For all of that, hog (2) had the CPU");
	new_probe("runqlat");
	add("web (1)", "latscope", NULL, 9);
	add("web (1)", "other", "hog (2)", 91);
	assert_sentence("web (1) waited most: 100 % of all slow time. For all of that, hog (2) had "
			"the CPU");
}

TEST(asynchronous_writes_never_lead)
{
	new_probe("iolat");
	add("stream (9)", "writeback", NULL, 940);
	add("db (3)", "other", "stream (9)", 45);
	add("db (3)", "device", NULL, 15);
	add("web (1)", "device", NULL, 20);
	assert_sentence("db (3) waited most: 75 % of all slow time that tasks wait. For 75 % of "
			"that, stream (9) kept the disk busy; for 25 %, the disk itself took the "
			"time");
}

TEST(asynchronous_writes_come_last)
{
	struct why_summary summary;

	new_probe("iolat");
	add("stream (9)", "writeback", NULL, 940);
	add("db (3)", "other", "stream (9)", 45);
	fold();
	assert_int_equal(why_summary__of(&summary, &probe, &around), 0);
	assert_int_equal(summary.total_ns, 985);
	assert_int_equal(summary.unwaited_ns, 940);
	assert_string_equal(summary.names[0].victim, "db");
	assert_string_equal(summary.lines[1].victim, "stream (9)");
	why_summary__clear(&summary);
}

TEST(if_nobody_waits_no_one_is_to_blame)
{
	new_probe("iolat");
	add("stream (9)", "writeback", NULL, 940);
	assert_sentence("only asynchronous writes were slow: no task waits for them");
}

TEST(tasks_of_one_name_are_one_neighbour)
{
	new_probe("iolat");
	for (int i = 1; i <= 4; i++)
		add("db (9)", "other", unit_text("fio (%d)", i), 20);
	add("db (9)", "journal", "jbd2/vda-8 (5)", 20);
	assert_sentence("db (9) waited most: 100 % of all slow time. For 80 % of that, fio (4 "
			"tasks) kept the disk busy; for 20 %, jbd2/vda-8 (5) wrote the journal of "
			"a file system");
}

TEST(tasks_with_the_name_of_the_victim_are_others)
{
	add("job (1)", "other", "job (2)", 60);
	add("job (1)", "other", "hog (3)", 40);
	assert_sentence("job (1) waited most: 100 % of all slow time. For 60 % of that, "
			"other tasks called job had the CPU; for 40 %, hog (3) had the CPU");
}

TEST(many_small_culprits_are_one_reason)
{
	for (int i = 0; i < 8; i++) {
		add("web (1)", "other", unit_text("job%c (%d)", 'a' + i, i), 10);
	}
	add("web (1)", "idle", NULL, 20);
	assert_sentence("web (1) waited most: 100 % of all slow time. For 80 % of that, other "
			"processes had the CPU; for 20 %, the CPU was idle, and took that long to "
			"wake up");
}

TEST(tasks_of_one_name_are_one_reason)
{
	for (int i = 0; i < 8; i++) {
		const char *culprit = unit_text("cc (%d)", i);

		add("web (1)", "other", culprit, 10);
		add("web (2)", "other", culprit, 10);
	}
	add("web (2)", "other", "cc (x)", 20); /* no ID */
	assert_sentence("web (2 tasks) waited most: 100 % of all slow time. For 89 % of that, cc "
			"(8 tasks) had the CPU; for 11 %, cc (x) had the CPU");
}

/* Each of 80 waits for each: more pairs than the sketch holds. */
TEST(many_tasks_leave_no_time_out)
{
	struct why_summary summary;
	char name[WHY_CROWD];

	for (int i = 0; i < 80; i++) {
		for (int j = 0; j < 80; j++)
			add(unit_text("job (%d)", i), "other", unit_text("job (%d)", j), 5);
		add(unit_text("job (%d)", i), "other", "hog (99)", 200);
		add(unit_text("job (%d)", i), "idle", NULL, 100 - i % 2);
	}
	fold();
	assert_true(table__others_keys(probe.why->parts) > 0);
	assert_int_equal(why_summary__of(&summary, &probe, &around), 0);
	assert_int_equal(summary.part_ns[WHY_RUNQLAT_OTHER], 80 * (80 * 5 + 200));
	assert_int_equal(summary.part_ns[WHY_RUNQLAT_IDLE], 80 * 100 - 40);
	assert_int_equal(summary.total_ns, 80 * (80 * 5 + 200) + 80 * 100 - 40);
	assert_int_equal(summary.nr_names, 3);
	assert_string_equal(summary.names[0].culprit, "job");
	assert_int_equal(summary.names[0].ns, 80 * 80 * 5);
	assert_has(why_summary__victim(&summary, summary.names, name), "job (more than ");
	assert_string_equal(why_summary__culprit(&summary, &summary.names[1], name), "hog (99)");
	assert_string_equal(why_summary__culprit(&summary, &summary.names[2], name), "-");
	why_summary__clear(&summary);
}

TEST(nothing_slow_gives_no_sentence)
{
	assert_sentence("");
}

static void add_event(int64_t ns)
{
	struct table *table = probe.why->events;

	assert_int_equal(table__add_row(table, 7), 0);
	table__set_integer(table, WHY_SLOW_NS, ns);
	table__set_integer(table, WHY_SLOW_PID, ns + 1);
	assert_int_equal(table__set_text(table, WHY_SLOW_PROCESS, "web"), 0);
	table__set_integer(table, WHY_SLOW_PARTS + WHY_RUNQLAT_OTHER, ns);
}

TEST(the_slowest_events_are_kept)
{
	static const int64_t slowest[WHY_SLOWEST] = { 90, 80, 70, 60, 50 };

	for (int64_t ns = 10; ns <= 40; ns += 10)
		add_event(ns);
	why__keep_slowest(probe.why);
	assert_int_equal(probe.why->nr_slowest, 4);
	assert_int_equal(table__fold(probe.why->events), 0);
	for (int64_t ns = 90; ns >= 50; ns -= 10)
		add_event(ns);
	why__keep_slowest(probe.why);
	assert_int_equal(probe.why->nr_slowest, WHY_SLOWEST);
	for (unsigned int i = 0; i < WHY_SLOWEST; i++) {
		assert_int_equal(probe.why->slowest[i].ns, slowest[i]);
		assert_int_equal(probe.why->slowest[i].pid, slowest[i] + 1);
		assert_int_equal(probe.why->slowest[i].part_ns[WHY_RUNQLAT_OTHER], slowest[i]);
	}
}

static void add_request(const char *op, int64_t sector, int64_t bytes)
{
	const unsigned int column = WHY_SLOW_PARTS + WHY_IOLAT_PARTS;
	struct table *table;

	new_probe("iolat");
	table = probe.why->events;
	add("victim", "other", "culprit", 70);
	add_event(70);
	assert_int_equal(table__set_text(table, column + WHY_REQUEST_DISK, "vda"), 0);
	assert_int_equal(table__set_text(table, column + WHY_REQUEST_OP, op), 0);
	table__set_integer(table, column + WHY_REQUEST_SECTOR, sector);
	table__set_integer(table, column + WHY_REQUEST_BYTES, bytes);
	why__keep_slowest(probe.why);
}

static const char *text(void)
{
	const struct run run = { 0 };

	fold();
	assert_int_equal(why_text__print(unit_print(), &run, &probe, 5), 0);
	return unit_printed();
}

TEST(each_task_that_something_sets_apart_is_listed)
{
	add("web (1)", "kernel", "kworker/1:1 (35)", 25);
	set_traits("nice 10", "workqueue events");
	add("web (1)", "kernel", "kworker/1:1 (35)", 50);
	set_traits("nice 10", "workqueue writeback");
	add("db (9)", "kernel", "kworker/1:1 (35)", 15);
	set_traits(NULL, "workqueue events");
	add("db (9)", "other", "web (1)", 10);
	set_traits(NULL, NULL);
	assert_has(text(), "\nculprit               traits                                   share"
			   "        time\n"
			   "kworker/1:1 (35)      workqueue writeback                     50.0 %"
			   "       50 ns\n"
			   "kworker/1:1 (35)      workqueue events                        40.0 %"
			   "       40 ns\n"
			   "\nvictim                traits                                   share"
			   "        time\n"
			   "web (1)               nice 10                                 75.0 %"
			   "       75 ns\n");
}

TEST(where_nothing_sets_a_task_apart_nothing_is_listed)
{
	add("web (1)", "other", "backup (2)", 25);
	set_traits(NULL, NULL);
	assert_lacks(text(), "traits");
}

TEST(a_slow_request_has_its_disk)
{
	const struct why_slow *slow;

	add_request("read", 2048, 4096);
	slow = &probe.why->slowest[0];
	assert_string_equal(slow->disk, "vda");
	assert_string_equal(slow->op, "read");
	assert_int_equal(slow->sector, 2048);
	assert_int_equal(slow->bytes, 4096);
	for (unsigned int i = WHY_IOLAT_PARTS; i < WHY_PARTS; i++)
		assert_int_equal(slow->part_ns[i], 0);
}

/* The kernel says -1 for its sector. */
TEST(a_flush_has_no_sector)
{
	add_request("read", 2048, 4096);
	assert_has(text(), "read of 4 KiB on vda, sector");
	add_request("flush", -1, 0);
	assert_has(text(), "flush of 0 B on vda");
	assert_lacks(text(), "sector");
}

/* The longest names that the kernel has, and a sentence with three of them. */
TEST(text_stays_within_80_columns)
{
	size_t len = 0;

	for (int i = 0; i < 20; i++) {
		const char *name = unit_text("/a.slice/b-%d.service/%.40s", i,
					     "cccccccccccccccccccccccccccccccccccccccccc");

		add(name, "other", name, 1000000000LL * (i + 1));
		add_event(1000000000LL * (i + 1));
		assert_int_equal(table__set_text(probe.why->events, WHY_SLOW_CGROUP, name), 0);
		assert_int_equal(table__set_text(probe.why->events, WHY_SLOW_KERNEL_STACK,
						 "ffffffff81000000 ffffffff81000001"),
				 0);
	}
	why__keep_slowest(probe.why);
	assert_has(text(), "15 more\n");
	for (const char *at = text(); *at; at++) {
		len = *at == '\n' ? 0 : len + 1;
		assert_true(len <= 80);
	}
}

static const char *printed(const char *name, const struct lat_in_flight *open, const char *of)
{
	static struct run run;

	new_probe(name);
	probe.in_flight = *open;
	probe.in_flight_age_known = true;
	strcpy(probe.in_flight_of, of);
	assert_int_equal(why_text__print(unit_print(), &run, &probe, 0), 0);
	return flat(unit_printed());
}

/* The threshold is 1 us. */
TEST(a_wait_that_has_not_ended_is_told)
{
	const struct lat_in_flight one = { .count = 1, .oldest_ns = 2000000000 };
	const struct lat_in_flight two = { .count = 2, .oldest_ns = 3000000, .before = 1 };

	assert_has(printed("memlat", &one, "python3 (123)"),
		   "1 page fault of python3 (123) has lasted 2.00 s and has not ended; ",
		   "ended; it is in no sum");
	assert_has(printed("runqlat", &two, "web (7)"),
		   "2 waits for a CPU have not ended; one of web (7) has lasted at least ",
		   "at least 3.00 ms; they are in no sum");
	assert_has(printed("iolat", &one, ""),
		   "1 block request has lasted 2.00 s and has not ended; it is in no sum");
}

TEST(a_short_wait_that_has_not_ended_is_not)
{
	const struct lat_in_flight one = { .count = 1, .oldest_ns = 999 };

	assert_lacks(printed("memlat", &one, "python3 (123)"), "not ended");
	assert_lacks(printed("memlat", &(struct lat_in_flight){ 0 }, ""), "not ended");
}

UNIT_FIXTURES(.each = { begin, end })
