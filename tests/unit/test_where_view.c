// SPDX-License-Identifier: BSD-2-Clause
/* What where prints of an account: who comes first, what is not explained, and mismatches. */
#include "unit.h"

#include <print/probe_view.h>
#include <print/text.h>
#include <core/sleep_stacks.h>
#include <core/why.h>
#include <probes/where/columns.h>
#include <probes/where/waits.h>
#include <symbols/symbols.h>

#define SEC 1000000000LL

static struct run *run;
static struct run_probe *probe;

int symbols__add(struct symbols *symbols, uint32_t tgid, const uint64_t *addresses, size_t nr)
{
	return 0;
}

static void begin(void)
{
	run = calloc(1, sizeof(*run));
	assert_non_null(run);
	run->nr_probes = 1;
	run->duration_ns = 10 * SEC;
	probe = &run->probes[0];
	assert_int_equal(
		columns__new(&probe->table, &probe->more[RUN_SLEEPS], &probe->more[RUN_GAPS]), 0);
	assert_int_equal(waits__new_tables(probe->more), 0);
}

static void end(void)
{
	run__free(run);
}

/* A process of one thread, on a CPU for a second, and in a state for the rest of 10 s. */
static void add_process(int pid, const char *comm, unsigned int state)
{
	struct table *table = probe->table;

	assert_int_equal(table__add_row(table, 10 * SEC), 0);
	table__set_integer(table, PARTS_PID, pid);
	assert_int_equal(table__set_text(table, PARTS_COMM, comm), 0);
	assert_int_equal(table__set_text(table, PARTS_CGROUP, "/"), 0);
	for (unsigned int column = PARTS_LIFE_NS; column < PARTS_COLUMNS; column++)
		if (column != PARTS_IO_NS)
			table__set_integer(table, column, 0);
	table__set_integer(table, PARTS_LIFE_NS, 10 * SEC);
	table__set_integer(table, PARTS_STATES + WHERE_CPU, SEC);
	table__set_integer(table, PARTS_STATES + state, 9 * SEC);
	table__set_integer(table, PARTS_USER_NS, SEC);
	table__set_integer(table, PARTS_RUN_NS, SEC);
	table__set_integer(table, PARTS_QUEUE_NS, state == WHERE_READY ? 9 * SEC : 0);
	table__set_integer(table, PARTS_THREADS, 1);
}

static const char *print_as(const struct text_style style)
{
	assert_int_equal(run__end_rows(run, true), 0);
	assert_non_null(probe_view__of(probe));
	assert_int_equal(probe_view__of(probe)->print(unit_print(), run, probe, &style), 0);
	return unit_printed();
}

static const char *print(uint32_t by)
{
	return print_as((struct text_style){ .top = 10, .by = by });
}

/* Of record --disk and of record -- COMMAND, the account is of the whole machine. */
TEST(the_title_has_the_filters_of_the_account_alone)
{
	run->filter = strdup("disk vda (iolat)");
	run->workload = strdup("make");
	add_process(1, "one", WHERE_DISK);
	add_process(2, "two", WHERE_DISK);
	assert_has(print(0), "the machine: 2 threads of 2 processes lived");
	add_process(1, "one", WHERE_DISK);
	add_process(2, "two", WHERE_DISK);
	probe->filter = strdup("the workload, comm one");
	assert_has(print(0), "the workload, comm one: ");
}

/* How often the text has it, with the method of each probe or without. */
static int said(bool all_metrics, const char *part)
{
	const char *at = print_as((struct text_style){ .top = 10, .all_metrics = all_metrics });
	int times = 0;

	for (; (at = strstr(at, part)); at++)
		times++;
	return times;
}

TEST(what_the_kernel_does_not_show_is_said_once)
{
	snprintf(probe->mechanism, sizeof(probe->mechanism), "own clock; %sits locks", where_lacks);
	add_process(1, "one", WHERE_DISK);
	add_process(2, "two", WHERE_DISK);
	assert_int_equal(said(false, "this kernel does not show its locks"), 1);
	assert_int_equal(said(false, "own clock"), 0);
	assert_int_equal(said(true, "does not show"), 1);
}

TEST(those_without_work_do_not_lead)
{
	const char *text;

	add_process(1, "pool", WHERE_FUTEX);
	add_process(2, "daemon", WHERE_WORK);
	add_process(3, "shop", WHERE_DISK);
	text = print(0);
	assert_has(text, "the machine: 3 threads of 3 processes lived 30.0 s in 10.0 s",
		   "shop (3)                9.00 s  90.0  disk 90");
	assert_true(strstr(text, "shop (3)") < strstr(text, "2 others"));
	assert_lacks(text, "pool", "daemon", "MISMATCH");
}

TEST(one_process_has_all_its_parts)
{
	const char *text;

	add_process(3, "shop", WHERE_FUTEX);
	text = print(0);
	assert_has(text, "shop (3): 1 thread lived 10.0 s in 10.0 s; the parts below are all of it",
		   "  on a CPU                1.00 s  10.0 %  user 1.00 s, system 0 ns",
		   "  waited for a futex      9.00 s  90.0 %\n",
		   "checked against: life by the kernel's stamps: 0 ns off; scheduler: run time\n"
		   "  +0.00 %");
	assert_lacks(text, "MISMATCH", "timer", "who waited");
}

TEST(a_difference_to_the_kernel_is_a_mismatch)
{
	add_process(3, "shop", WHERE_READY);
	table__set_integer(probe->table, PARTS_RUN_NS, 2 * SEC);
	assert_has(print(0),
		   "MISMATCH: time on a CPU is 1.00 s here, and 2.00 s by the scheduler's run "
		   "time:\n  switches were not seen");
}

TEST(run_delay_that_the_kernel_does_not_keep_is_a_mismatch)
{
	add_process(3, "shop", WHERE_READY);
	table__set_integer(probe->table, PARTS_QUEUE_NS, 0);
	assert_has(print(0), "MISMATCH: waiting for a CPU is 9.00 s here, and 0 ns by",
		   "this kernel does not keep it");
}

static void set_io(int64_t ns)
{
	add_process(3, "shop", WHERE_DISK);
	table__set_integer(probe->table, PARTS_IO_NS, ns);
}

TEST(delay_accounting_is_a_witness_of_the_disk)
{
	const char *text;

	set_io(9 * SEC - SEC / 10);
	text = print(0);
	assert_has(text, "delay accounting: disk +1.1 %");
	assert_lacks(text, "MISMATCH");
}

TEST(delay_accounting_that_differs_is_a_mismatch)
{
	set_io(8 * SEC);
	assert_has(print(0), "MISMATCH: waiting for a disk is 9.00 s here, and 8.00 s by the "
			     "kernel's delay\n  accounting");
}

TEST(delay_accounting_is_compared_where_the_kernel_keeps_it)
{
	const char *text;

	set_io(9 * SEC);
	add_process(4, "old", WHERE_DISK); /* began while it was off */
	text = print(0);
	assert_has(text, "delay accounting: disk +0.00 %");
	assert_lacks(text, "MISMATCH");
}

TEST(parts_that_are_not_the_life_are_a_mismatch)
{
	add_process(3, "shop", WHERE_DISK);
	table__set_integer(probe->table, PARTS_LIFE_NS, 10 * SEC + 5);
	assert_has(print(0), "stamps: 5 ns off", "MISMATCH: the parts are not the life");
}

TEST(what_is_unknown_has_a_reason)
{
	struct gaps before = { .times = { 0 } },
		    now = { .times = { [GAP_SWITCH] = 12 }, .ns = { [GAP_LATE] = SEC } };

	add_process(3, "shop", WHERE_UNKNOWN);
	assert_int_equal(columns__add_gaps(probe->more[RUN_GAPS], 10 * SEC, &now, &before), 0);
	assert_has(
		print(0),
		"not explained: unknown 9.00 s, 90 %; 12 switches of the machine that no program\n"
		"  saw\n");
}

TEST(processes_that_are_asked_for_have_a_row_each)
{
	const char *text;

	add_process(1, "shop", WHERE_DISK);
	add_process(2, "shop", WHERE_READY);
	text = print(1U << LAT_BY_PROCESS);
	assert_has(text, "shop (1)               10.0 s 10.0   0.0 90.0",
		   "shop (2)               10.0 s 10.0  90.0  0.0");
	assert_lacks(text, "2 tasks");
}

TEST(those_of_one_name_are_a_row)
{
	add_process(1, "shop", WHERE_DISK);
	add_process(2, "shop", WHERE_DISK);
	add_process(3, "web", WHERE_WORK);
	assert_has(print(0), "shop (2 tasks)          18.0 s  90.0  disk 90");
}

/* ---- who caused waits ---- */

static void add_cause(const char *state, const char *cause, int64_t ns)
{
	struct table *table = probe->more[RUN_CAUSES];

	assert_int_equal(table__add_row(table, 10 * SEC), 0);
	table__set_integer(table, CAUSES_PID, 3);
	assert_int_equal(table__set_text(table, CAUSES_COMM, "worker"), 0);
	assert_int_equal(table__set_text(table, CAUSES_STATE, state), 0);
	assert_int_equal(table__set_text(table, CAUSES_CAUSE, cause), 0);
	table__set_integer(table, CAUSES_NS, ns);
	table__set_integer(table, CAUSES_EXPLAINED_NS, ns);
	table__set_integer(table, CAUSES_TIMES, 1);
}

TEST(a_queue_of_threads_for_a_lock_is_one_cause)
{
	const char *text;

	add_process(3, "db", WHERE_FUTEX);
	for (int i = 0; i < 9; i++) {
		char cause[128];

		snprintf(cause, sizeof(cause), "w (%d): futex < w (%d): futex < w (%d): disk", i,
			 i + 1, i + 2);
		add_cause("futex", cause, SEC / 2);
		snprintf(cause, sizeof(cause), "w (%d): disk", i);
		add_cause("futex", cause, SEC / 3);
	}
	text = print(0);
	assert_has(text, "50 % ended by w: futex < w: disk, 33 %\n", "  ended by w: disk\n");
	assert_lacks(text, "w (");
}

TEST(a_cause_that_is_alone_keeps_its_thread)
{
	add_process(3, "db", WHERE_FUTEX);
	add_cause("futex", "cache (12): timer", 9 * SEC);
	assert_has(print(0), "100 % ended by cache (12): timer\n");
}

TEST(the_row_of_a_process_names_who_made_it_wait_or_its_wait_for_a_disk)
{
	add_process(1, "web", WHERE_DISK);
	add_process(3, "db", WHERE_FUTEX);
	add_cause("futex", "db (3): futex < w (5): disk", 9 * SEC);
	assert_has(print(0), "futex 90               w: disk 100 %\n");
}

TEST(the_row_of_a_process_names_the_thread_that_ended_its_waits)
{
	add_process(1, "web", WHERE_DISK);
	add_process(3, "db", WHERE_FUTEX);
	add_cause("futex", "db (3): futex < w (5): timer", 9 * SEC);
	assert_has(print(0), "futex 90               w (5) 100 %\n");
}

TEST(processes_of_one_name_in_two_cgroups_have_their_own_causes)
{
	const char *text;

	add_process(3, "db", WHERE_FUTEX);
	add_process(4, "db", WHERE_FUTEX);
	assert_int_equal(table__set_text(probe->table, PARTS_CGROUP, "/other"), 0);
	add_cause("futex", "cache (12): timer", 9 * SEC);
	text = print(0);
	assert_has(text,
		   "db (3)                  9.00 s  90.0  futex 90               cache (12) 100 %");
	assert_lacks(text, "db (4)");
}

/* Its name looks like the next link of a chain. */
TEST(a_name_with_an_angle_bracket_is_no_link)
{
	add_process(1, "web", WHERE_DISK);
	add_process(3, "db", WHERE_FUTEX);
	add_cause("futex", "a<b (5): timer", 9 * SEC);
	assert_int_equal(run__end_rows(run, true), 0);
	assert_int_equal(probe_view__of(probe)->print_answer(unit_print(), run, probe), 0);
	assert_has(unit_printed(), "waited for a<b, which slept (timer), for 100 % of that");
}

/* ---- who the disk served ---- */

static void add_blame(struct run_why *why, const char *part, const char *culprit, int64_t ns)
{
	assert_int_equal(table__add_row(why->parts, 10 * SEC), 0);
	assert_int_equal(table__set_text(why->parts, WHY_VICTIM, "db (3)"), 0);
	assert_int_equal(table__set_text(why->parts, WHY_PART, part), 0);
	assert_int_equal(table__set_text(why->parts, WHY_CULPRIT, culprit), 0);
	table__set_integer(why->parts, WHY_NS, ns);
	table__set_integer(why->parts, WHY_EVENTS, 1);
}

TEST(whom_the_disk_served_and_nothing_of_what_is_unknown)
{
	struct run_probe *iolat = &run->probes[run->nr_probes++];
	const char *text;

	strcpy(iolat->name, "iolat");
	assert_int_equal(why__new(&iolat->why, "iolat"), 0);
	add_process(3, "db", WHERE_DISK);
	add_blame(iolat->why, "other", "backup (12)", 3 * SEC);
	add_blame(iolat->why, "unknown", NULL, 2 * SEC);
	text = print(0);
	assert_has(text, "waited for a disk       9.00 s  90.0 %  33 % served backup (12)\n");
	assert_lacks(text, "not known");
}

/* ---- locks ---- */

static void add_function(uint64_t address, const char *name)
{
	const struct frame frame = { .address = address, .name = name, .place = "" };

	assert_int_equal(frames__add(&run->frames, &frame), 0);
	frames__sort(&run->frames);
}

static void add_sleep(const char *stack, int64_t ns)
{
	struct table *table = probe->more[RUN_STACKS];

	assert_int_equal(table__add_row(table, 10 * SEC), 0);
	table__set_integer(table, SLEEP_STACKS_PID, 3);
	assert_int_equal(table__set_text(table, SLEEP_STACKS_COMM, "w"), 0);
	assert_int_equal(table__set_text(table, SLEEP_STACKS_STATE, "lock"), 0);
	assert_int_equal(table__set_text(table, SLEEP_STACKS_CALL, "write"), 0);
	assert_int_equal(table__set_text(table, SLEEP_STACKS_STACK, stack), 0);
	table__set_integer(table, SLEEP_STACKS_NS, ns);
	table__set_integer(table, SLEEP_STACKS_TIMES, 1);
}

TEST(a_lock_has_the_name_of_the_function_that_takes_it)
{
	add_function(0x10, "schedule+0x1d");
	add_function(0x11, "rwsem_down_write_slowpath+0x1");
	add_function(0x12, "down_write+0x40");
	add_function(0x20, "ext4_buffered_write_iter.isra.0+0x12");
	add_function(0x21, "vm_mmap_pgoff+0x7");
	add_function(0x22, "downfall_lock+0x7");
	add_function(0x30, "vfs_write+0x2");
	add_process(3, "db", WHERE_LOCK);
	add_sleep("10 11 12 20 30", 3 * SEC);
	add_sleep("20 30", SEC);
	add_sleep("21 30", 2 * SEC);
	add_sleep("22 30", SEC);
	assert_has(print(0),
		   "90.0 %  inode lock in ext4_buffered_write_iter\n"
		   "                                          4.00 s, mmap_lock 2.00 s\n");
}

TEST(a_lock_without_a_stack_or_a_function_has_no_name)
{
	add_function(0x10, "schedule+0x1d");
	add_process(3, "db", WHERE_LOCK);
	add_sleep("10", SEC);
	add_sleep("10 99", SEC);
	add_sleep(NULL, SEC);
	assert_has(print(0), "waited for kernel lock  9.00 s  90.0 %\n");
}

/* ---- what a file may contain ---- */

/* Rows without a text, and a chain that is longer than any that latscope writes. */
static void add_bare_rows(void)
{
	char chain[1000];

	memset(chain, 'a', sizeof(chain) - 1);
	chain[sizeof(chain) - 1] = '\0';
	for (unsigned int i = RUN_SLEEPS; i <= RUN_GAPS; i++) {
		assert_int_equal(table__add_row(probe->more[i], 10 * SEC), 0);
		if (i == RUN_WAITS)
			table__set_integer(probe->more[i], WAITS_EXPLAINED_NS, SEC);
	}
	assert_int_equal(table__add_row(probe->more[RUN_WAITS], 10 * SEC), 0);
	assert_int_equal(table__set_text(probe->more[RUN_WAITS], WAITS_STATE, "futex"), 0);
	assert_int_equal(table__set_text(probe->more[RUN_WAITS], WAITS_CHAIN, chain), 0);
	table__set_integer(probe->more[RUN_WAITS], WAITS_EXPLAINED_NS, SEC);
}

TEST(texts_that_a_file_lacks_are_unknown)
{
	add_process(1, "web", WHERE_OTHER);
	add_process(3, "db", WHERE_FUTEX);
	add_bare_rows();
	assert_has(print(1U << LAT_BY_THREAD), "worst waits", "aaaa");
	assert_int_equal(probe_view__of(probe)->print_answer(unit_print(), run, probe), 0);
	assert_has(unit_printed(), "Not explained");
}

TEST(a_further_table_that_lacks_columns_is_not_read)
{
	static const struct table_column columns[] = {
		{ .name = "pid", .unit = "", .what = "", .kind = TABLE_INTEGER, .key = true },
	};

	add_process(3, "db", WHERE_FUTEX);
	table__free(probe->more[RUN_CAUSES]);
	assert_int_equal(table__new(&probe->more[RUN_CAUSES], columns, 1), 0);
	assert_null(probe_view__of(probe));
}

UNIT_FIXTURES(.each = { begin, end })
